// The surfaces of a list that start rays, drawn by the CPU for a device that draws everything else: the
// device looks their colours up where it shades them.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "render/draw.h"

typedef struct orr_traced {
    // height x width x 4, display-referred, as the CPU's picture shows them, haze included: of what such
    // surfaces show in a pixel the mean colour, and 1; beside their rims that of the pixels around, and 1;
    // elsewhere 0. NULL: the list has no rays
    const float *rgba;
    const float *mesh_depth; // height x width, of opaque meshes, as orr_mesh_picture says; NULL: no meshes
} orr_traced;

// In the arena. The list's camera is undistorted, and the bodies of its robots are known to the host.
// ORR_ERROR_MEMORY, and what orr_mesh_raster and orr_ray_trees_hold say.
orr_result orr_traced_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                           orr_traced *traced, orr_error *error);
