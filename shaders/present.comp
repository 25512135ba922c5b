// The finished picture as display bytes, for presenting.
#version 460
#include "shaders/control.glsl"

layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant, scalar) uniform Push { ivec2 size; }
push;
layout(binding = 0, scalar) readonly buffer Picture { vec4 picture[]; };
layout(binding = 1, rgba8) uniform writeonly image2D bytes;

void main()
{
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(pixel, push.size))) {
        imageStore(bytes, pixel, picture[pixel.y * push.size.x + pixel.x]);
    }
}
