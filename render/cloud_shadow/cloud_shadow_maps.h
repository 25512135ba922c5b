// The opacity maps of a frame's clouds, drawn by the CPU.
#pragma once

#include "engine/core/isa.h"
#include "render/cloud_shadow/cloud_shadow.h"

typedef struct orr_cloud_shadows {
    int count;
    orr_cloud_caster casters[ORR_CLOUD_CASTERS]; // count
    const float *texels[ORR_CLOUD_CASTERS];      // plan.texels x ORR_CLOUD_TEXEL
    int captured_light; // of orr_draw_light_up: whose shadows fall on splats and fields; -1: none
} orr_cloud_shadows;

// meshes: the plan of the list's shadow maps, nullable.
orr_result orr_cloud_shadows_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                  const orr_shadow_plan *meshes, orr_cloud_shadows *shadows,
                                  orr_error *error);
