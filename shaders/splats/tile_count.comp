// For each visible splat, from front to back, the number of tiles it reaches; and the sum over each
// workgroup.
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
layout(binding = 4, scalar) writeonly buffer Counts { uint tile_counts[]; };
layout(binding = 5, scalar) writeonly buffer Sums { uint sums[]; };

shared uint sum;

void main()
{
    if (gl_LocalInvocationIndex == 0u) {
        sum = 0u;
    }
    barrier();
    uint i = gl_GlobalInvocationID.x;
    if (i < control.counts[COUNT_VISIBLE]) {
        uint splat = order[i];
        splat_footprint footprint = footprint_of(centres[splat], shapes[splat]);
        ivec2 rows = tile_rows(footprint, push.tiles);
        int count = 0;
        for (int row = rows.x; row <= rows.y; row++) {
            ivec2 tiles = tiles_of_row(footprint, row, push.tiles);
            count += max(tiles.y - tiles.x + 1, 0);
        }
        tile_counts[i] = uint(count);
        atomicAdd(sum, uint(count));
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        sums[gl_WorkGroupID.x] = sum;
    }
}
