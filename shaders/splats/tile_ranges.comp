// Where the pairs of each tile begin and end; ranges of tiles without any stay 0.
#version 460
#include "shaders/control.glsl"

layout(local_size_x = 256) in;
layout(binding = 0, scalar) readonly buffer Control { control_block control; };
layout(binding = 1, scalar) readonly buffer PairTiles { uint pair_tiles[]; };
layout(binding = 2, scalar) writeonly buffer Ranges { uvec2 ranges[]; };

void main()
{
    uint pairs = control.counts[COUNT_PAIRS];
    uint first = gl_WorkGroupID.x * SORT_BLOCK;
    for (uint k = first + gl_LocalInvocationIndex; k < min(first + SORT_BLOCK, pairs); k += GROUP) {
        uint tile = pair_tiles[k];
        if (k == 0u || pair_tiles[k - 1u] != tile) {
            ranges[tile].x = k;
        }
        if (k + 1u == pairs || pair_tiles[k + 1u] != tile) {
            ranges[tile].y = k + 1u;
        }
    }
}
