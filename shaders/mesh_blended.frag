// A pixel of a transparent mesh, added to the pixel's list unless an opaque surface covers it.
#version 460
#extension GL_GOOGLE_include_directive : require
#define FILMS // some materials are glass
#include "shaders/mesh_surface.glsl"
#include "shaders/fragments.glsl"

layout(early_fragment_tests) in;
layout(binding = 12, scalar) buffer Lists
{
    uint count;    // of all fragments, including those beyond the capacity
    uint starts[]; // per pixel: 1 + index of a fragment; 0: empty
}
lists;
layout(binding = 13, scalar) writeonly buffer Nodes { fragment_node nodes[]; };

void main()
{
    vec4 colour = hazy_colour(clear_colour());
    uint index = atomicAdd(lists.count, 1u);
    if (index >= uint(nodes.length())) {
        return;
    }
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uint next = atomicExchange(lists.starts[pixel.y * push.width + pixel.x], index + 1u);
    nodes[index] = fragment_node(camera_position.z, push.order, vec4(colour.rgb * colour.a, colour.a), next);
}
