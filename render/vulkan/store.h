// Clouds and meshes that stay in the device's memory between frames, each under its key. When memory runs
// out, the least recently used are freed.
#pragma once

#include "render/vulkan/clouds.h"
#include "render/vulkan/meshes.h"

typedef struct orr_vulkan_stored {
    uint64_t key;
    uint64_t last_frame;     // number of the frame that used it last
    orr_vulkan_cloud *cloud; // one of cloud and mesh
    orr_vulkan_mesh *mesh;
} orr_vulkan_stored;

typedef struct orr_vulkan_store {
    orr_vulkan_upload upload;
    orr_vulkan_samplers samplers; // of the meshes' textures
    orr_vulkan_stored *items;     // count
    int count, capacity;
    size_t uploads; // so far
} orr_vulkan_store;

orr_result orr_vulkan_store_create(orr_vk *vk, orr_vulkan_store *store, orr_error *error);
void orr_vulkan_store_destroy(orr_vulkan_store *store);

// The uploaded form of splats or of a mesh (the other is NULL); uploaded now when its key is new. `frame`:
// number of the frame that uses it; `oldest_frame`: of the oldest in flight: what it or a later frame uses is
// not freed. *item is valid until the next call.
orr_result orr_vulkan_store_take(orr_vulkan_store *store, const orr_draw_splats *splats,
                                 const orr_draw_mesh *mesh, uint64_t frame, uint64_t oldest_frame,
                                 const orr_vulkan_stored **item, orr_error *error);

bool orr_vulkan_store_has(const orr_vulkan_store *store, uint64_t key);
void orr_vulkan_store_forget(orr_vulkan_store *store, uint64_t key); // no frame may use it
