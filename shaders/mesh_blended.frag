// A pixel of a transparent mesh: it joins the pixel's list, unless something opaque covers it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/mesh_surface.glsl"
#include "shaders/fragments.glsl"

layout(early_fragment_tests) in;
layout(binding = 2, scalar) buffer Lists
{
    uint count;    // of all fragments, also of those there was no room for
    uint starts[]; // per pixel: 1 + the place of a fragment; 0: the end
}
lists;
layout(binding = 3, scalar) writeonly buffer Nodes { fragment_node nodes[]; };

void main()
{
    vec4 colour = surface_colour();
    uint place = atomicAdd(lists.count, 1u);
    if (place >= uint(nodes.length())) {
        return;
    }
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    uint next = atomicExchange(lists.starts[pixel.y * push.width + pixel.x], place + 1u);
    nodes[place] = fragment_node(camera_position.z, push.order, vec4(colour.rgb * colour.a, colour.a), next);
}
