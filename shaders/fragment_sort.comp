// Sorts each pixel's list of fragments from front to back.
#version 460
#include "shaders/control.glsl"
#include "shaders/fragments.glsl"

layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant, scalar) uniform Push { ivec2 size; }
push;
layout(binding = 0, scalar) buffer Lists { uint fragment_count; uint starts[]; };
layout(binding = 1, scalar) buffer Nodes { fragment_node nodes[]; };

bool is_before(uint a, uint b)
{
    float depth_a = nodes[a - 1u].depth;
    float depth_b = nodes[b - 1u].depth;
    return depth_a < depth_b || (depth_a == depth_b && nodes[a - 1u].order < nodes[b - 1u].order);
}

void main()
{
    ivec2 position = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(position, push.size))) {
        return;
    }
    int pixel = position.y * push.size.x + position.x;
    uint first = 0u;
    uint next;
    for (uint link = starts[pixel]; link != 0u; link = next) {
        next = nodes[link - 1u].next;
        if (first == 0u || is_before(link, first)) {
            nodes[link - 1u].next = first;
            first = link;
            continue;
        }
        uint at = first;
        for (uint after = nodes[at - 1u].next; after != 0u && !is_before(link, after);
             after = nodes[at - 1u].next) {
            at = after;
        }
        nodes[link - 1u].next = nodes[at - 1u].next;
        nodes[at - 1u].next = link;
    }
    starts[pixel] = first;
}
