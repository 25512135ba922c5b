// What one camera sees of a frame: the picture's, or that of what a mirror shows (render/mirror/mirror.h).
#pragma once

#include "render/occlusion/occlusion.h"
#include "render/vulkan/meshes.h"
#include "render/vulkan/splats.h"
#include "render/vulkan/store.h"

typedef struct orr_vulkan_view {
    orr_vulkan_layer *layers; // layer_count
    int layer_count, layer_capacity;
    orr_vulkan_mesh_item *meshes; // mesh_count
    int mesh_count, mesh_capacity;
    orr_lens lens;
    orr_draw_lighting lighting;
    orr_shadow_plan shadows;
    orr_cloud_maps clouds;          // that cast shadows
    orr_shadow_eye eye;             // of the draw list
    orr_occlusion_values occlusion; // radius 0: none
    orr_shadow_values self_shadow;  // of captured surfaces on one another; size 0: none
    bool has_backdrop, has_blended, has_networks, has_second_uv;
    bool smooth; // of the draw list, where there are meshes
    bool opaque;
    bool environment_behind;
    orr_sky_values sky;
} orr_vulkan_view;

void orr_vulkan_view_free(orr_vulkan_view *view); // all zeros are allowed

// Takes over what the list draws; uploads what is new of clouds and meshes. frame, oldest: as of
// orr_vulkan_store_take. allocations: grows by those that are made. jobs, arena: to find clouds that cast
// shadows
orr_result orr_vulkan_view_take(orr_vulkan_store *store, orr_vulkan_view *view, uint64_t frame,
                                uint64_t oldest, const orr_draw_list *list, orr_jobs *jobs, orr_arena *arena,
                                size_t *allocations, orr_error *error);
