// The shadow maps of a frame, drawn by the CPU.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "render/shadow/shadow.h"

typedef struct orr_shadow_maps {
    orr_shadow_plan plan;
    const float *texels; // plan.texels: depth along the light's axis; infinity: nothing
    // plan.texels / ORR_SHADOW_TILE^2, in the same order: for each tile the least depth of it and of the
    // ORR_SHADOW_BEYOND columns and rows after it, so that one number says of all 4 x 4 texels of a lookup
    // that begins in it that light reaches the point
    const float *lowest;
} orr_shadow_maps;

enum { ORR_SHADOW_TILE = 8, ORR_SHADOW_BEYOND = 3 }; // [texels]

// The list's maps, in the arena.
orr_result orr_shadow_maps_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                orr_shadow_maps *maps, orr_error *error);
