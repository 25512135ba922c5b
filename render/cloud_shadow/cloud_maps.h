// The opacity maps of a frame's clouds as devices draw them and look them up: all maps behind one another.
#pragma once

#include "render/cloud_shadow/cloud_shadow.h"
#include "render/splat/splat_lens.h"

// A cloud that casts shadows, for lookups.
typedef struct orr_cloud_row {
    uint32_t first, end; // its records among the list's, in the order of the layers
    // as in orr_shadow_plan, but texels are counted through the maps of all casters
    int32_t light_of[ORR_DRAW_LIGHTS + 1];
    orr_shadow_values values[ORR_SHADOW_LIGHTS];
    int32_t firsts[ORR_SHADOW_LIGHTS];
} orr_cloud_row;

// What devices read.
typedef struct orr_cloud_table {
    int32_t count;
    int32_t captured_light; // of orr_cloud_captured_light
    orr_cloud_row casters[ORR_CLOUD_CASTERS];
} orr_cloud_table;

// A map: size x size texels from `first` on.
typedef struct orr_cloud_map {
    int32_t layer; // of the list's splats
    int32_t size, first;
    splat_lens_values lens;
} orr_cloud_map;

// Zero is empty.
typedef struct orr_cloud_maps {
    orr_cloud_table table;
    orr_cloud_map *maps; // map_count, in the order of the casters
    int map_count, map_capacity;
    int64_t texels; // of all maps
} orr_cloud_maps;

// firsts: where the records of each of the list's clouds begin, and one more; NULL: each splat has one.
// meshes: the plan of the list's shadow maps, nullable. Of a list without clouds that cast shadows the
// table's count is 0.
orr_result orr_cloud_maps_find(orr_jobs *jobs, orr_arena *arena, const orr_draw_list *list,
                               const uint32_t *firsts, const orr_shadow_plan *meshes, orr_cloud_maps *maps,
                               orr_error *error);
void orr_cloud_maps_free(orr_cloud_maps *maps);
