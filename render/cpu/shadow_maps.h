// The shadow maps of a frame, drawn by the CPU.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "render/shadow/self_shadow.h"

typedef struct orr_shadow_maps {
    orr_shadow_plan plan;
    const float *texels;   // plan.texels: depth along the light's axis; infinity: nothing
    const float *captured; // those of the list's self_shadow; NULL: there is none
} orr_shadow_maps;

// The list's maps, in the arena.
orr_result orr_shadow_maps_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                orr_shadow_maps *maps, orr_error *error);
