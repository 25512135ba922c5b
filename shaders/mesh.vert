// A mesh's vertices in the camera's space and on the screen.
#version 460
#include "shaders/mesh.glsl"

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 3) in vec4 colour; // as displayed
layout(location = 4) in vec2 second_uv;

layout(location = 0) out vec3 camera_position;
layout(location = 1) out vec3 camera_normal;
layout(location = 2) out vec2 texture_coordinates;
layout(location = 3) out vec4 linear_colour;
layout(location = 4) out vec2 second_coordinates;

void main()
{
    real3 p = affine_point(push.to_camera, make_real3(position.x, position.y, position.z));
    real3 n = affine_direction(push.to_camera, make_real3(normal.x, normal.y, normal.z));
    camera_position = vec3(p.x, p.y, p.z);
    camera_normal = vec3(n.x, n.y, n.z);
    texture_coordinates = uv;
    second_coordinates = second_uv;
    linear_colour =
        vec4(srgb_to_linear(colour.x), srgb_to_linear(colour.y), srgb_to_linear(colour.z), colour.w);
    // in perspective the depth buffer stores near / z, which has a float's relative precision at every
    // distance
    float w = has_flag(ORTHOGRAPHIC) ? 1.0 : p.z;
    gl_Position = vec4(push.scale * vec2(p.x, p.y) + push.offset * w, push.depth.x * p.z + push.depth.y, w);
}
