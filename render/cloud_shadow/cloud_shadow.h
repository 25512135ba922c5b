// Which splat clouds of a frame cast shadows, and the lenses through which their opacity maps are drawn
// (cloud_shadow_formula.h). Each has maps of its own, fitted to it: they take no texels from the shadow maps
// of meshes, and a cloud can be left out where it is itself lit, because its colours have the shadows that it
// casts on itself in them.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "render/shadow/shadow.h"
#include "render/shadow/shadow_casters.h"

enum {
    ORR_CLOUD_CASTERS = 4,           // of a frame, the first in the list
    ORR_CLOUD_SHADOW_SIZE_MAX = 256, // a side of a map [texels]
    ORR_CLOUD_TEXEL = 6,             // floats of a texel: members of cloud_texel
};

typedef struct orr_cloud_caster {
    int32_t layer;        // of the list's splats
    orr_shadow_plan plan; // of its maps, `first` and `firsts` in texels
} orr_cloud_caster;

// Does a cloud of the list cast a shadow in some light?
bool orr_has_cloud_shadows(const orr_draw_list *list);
// The first clouds that cast shadows and of which something is seen, with the plans of their maps.
orr_result orr_cloud_casters_find(orr_jobs *jobs, orr_arena *arena, const orr_draw_list *list,
                                  orr_cloud_caster casters[ORR_CLOUD_CASTERS], int *count, orr_error *error);
// Whose shadows fall on splats and fields, of orr_draw_light_up: the first of the meshes' maps, if there are
// any, or else of the clouds'; -1: none. meshes: the plan of the list's shadow maps, nullable.
int orr_cloud_captured_light(const orr_cloud_caster *casters, int count, const orr_shadow_plan *meshes);
// What map `index` of a caster shows.
orr_draw_list orr_cloud_shadow_list(const orr_draw_list *list, const orr_cloud_caster *caster,
                                    orr_draw_splats *cloud, int index);
