// Index of the first pair of each workgroup of tile_count, and the number of all pairs. One workgroup. Beyond
// the capacity no pairs are written; the host, which reads pairs_needed, draws the frame again with larger
// buffers.
#version 460
#include "shaders/control.glsl"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push { uint pair_capacity; }
push;
layout(binding = 0, scalar) buffer Control { control_block control; };
layout(binding = 1, scalar) buffer Sums { uint sums[]; };

#include "shaders/splats/scan.glsl"

shared float totals[GROUP];

void main()
{
    uint i = gl_LocalInvocationIndex;
    uint groups = divide_up(control.counts[COUNT_VISIBLE], GROUP);
    uint before = 0u;
    float mine = 0.0; // as a float, because the sum may exceed 2^32
    for (uint first = 0u; first < groups; first += GROUP) {
        uint k = first + i;
        uint value = k < groups ? sums[k] : 0u;
        uint total;
        uint sum = exclusive_sum(value, total);
        if (k < groups) {
            sums[k] = before + sum;
        }
        before += total;
        mine += float(value);
    }
    totals[i] = mine;
    barrier();
    if (i == 0u) {
        float pairs = 0.0;
        for (uint k = 0u; k < GROUP; k++) {
            pairs += totals[k];
        }
        uint needed = pairs < 4.2e9 ? before : 0xffffffffu;
        uint made = needed <= push.pair_capacity ? needed : 0u;
        control.pairs_needed = needed;
        control.counts[COUNT_PAIRS] = made;
        control.pair_blocks = uint[3](divide_up(made, SORT_BLOCK), 1u, 1u);
        // above the capacity: tile_emit writes nothing
        if (made != needed) {
            control.visible_groups[0] = 0u;
        }
    }
}
