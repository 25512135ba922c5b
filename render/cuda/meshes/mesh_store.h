// Meshes in the device's memory, under their keys.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "render/appearance/neural_material.h"
#include "render/draw.h"

// A material that is a network, in the device's memory.
typedef struct orr_cuda_network {
    orr_neural_weights *weights;
    uint32_t *latents[2]; // with their mip chains
} orr_cuda_network;

typedef struct orr_cuda_mesh {
    uint64_t key;
    int32_t variant; // of orr_draw_mesh
    orr_mesh_vertex *vertices;
    float *second_uv; // NULL: there are none
    uint32_t *indices;
    uint32_t *
        *textures; // on the host: of each texture its mip chain, on the device; NULL: no material has it
    int texture_count;
    orr_cuda_network *networks; // network_count, the number of materials; NULL: no material is one
    int network_count;
} orr_cuda_mesh;

typedef struct orr_cuda_mesh_store {
    orr_cuda_mesh *meshes;
    int count, capacity;
} orr_cuda_mesh_store;

// The device's copy of a mesh; uploaded when its key and variant are new. The pointer is valid until the next
// call.
orr_result orr_cuda_mesh_store_take(orr_cuda *cuda, orr_cuda_mesh_store *store, const orr_draw_mesh *drawn,
                                    const orr_cuda_mesh **mesh, orr_error *error);
// Frees all variants under a key.
void orr_cuda_mesh_store_release(orr_cuda_mesh_store *store, uint64_t key);
void orr_cuda_mesh_store_destroy(orr_cuda_mesh_store *store);
