// Writes the pairs of a tile and a splat that reaches it, splats from front to back.
#version 460
#include "shaders/control.glsl"
#include "shaders/splats/tiles.glsl"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push { ivec2 tiles; }
push;
layout(binding = 0, scalar) readonly buffer Control { control_block control; };
layout(binding = 1, scalar) readonly buffer Order { uint order[]; };
layout(binding = 2, scalar) readonly buffer Centres { vec4 centres[]; };
layout(binding = 3, scalar) readonly buffer Shapes { vec4 shapes[]; };
layout(binding = 4, scalar) readonly buffer Counts { uint tile_counts[]; };
layout(binding = 5, scalar) readonly buffer Sums { uint sums[]; };
layout(binding = 6, scalar) writeonly buffer PairTiles { uint pair_tiles[]; };
layout(binding = 7, scalar) writeonly buffer PairSplats { uint pair_splats[]; };

#include "shaders/splats/scan.glsl"

void main()
{
    uint i = gl_GlobalInvocationID.x;
    bool there = i < control.counts[COUNT_VISIBLE];
    uint total;
    uint to = sums[gl_WorkGroupID.x] + exclusive_sum(there ? tile_counts[i] : 0u, total);
    if (there) {
        uint splat = order[i];
        splat_footprint footprint = footprint_of(centres[splat], shapes[splat]);
        ivec2 rows = tile_rows(footprint, push.tiles);
        for (int row = rows.x; row <= rows.y; row++) {
            ivec2 tiles = tiles_of_row(footprint, row, push.tiles);
            for (int column = tiles.x; column <= tiles.y; column++) {
                pair_tiles[to] = uint(row * push.tiles.x + column);
                pair_splats[to] = splat;
                to++;
            }
        }
    }
}
