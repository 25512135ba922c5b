// Ambient occlusion in a picture of meshes, drawn by the CPU.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "render/occlusion/occlusion.h"

typedef struct orr_occlusion_map {
    orr_occlusion_values values;
    const float *depth; // height x width, of opaque meshes along the camera's axis; infinity: none. NULL:
                        // nothing is occluded
    float *above, *all_around; // height x width, sums of each pixel; 0 where there is no mesh
    float *bounds;             // height x 6: the least x, y, z of what each row shows, and the greatest
    float low[3], high[3];     // of all rows, and the radius around them: nothing is occluded outside
} orr_occlusion_map;

// The list's, in the arena.
orr_result orr_occlusion_map_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                  orr_occlusion_map *map, orr_error *error);

// The sums of a row of pixels, and its bounds.
void orr_occlusion_row_baseline(const orr_occlusion_map *map, int row);
void orr_occlusion_row_avx2(const orr_occlusion_map *map, int row);
void orr_occlusion_row_avx512(const orr_occlusion_map *map, int row);
