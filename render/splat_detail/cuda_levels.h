// Merged splats on CUDA: all levels of a cloud in the device's memory, and the nodes that a picture shows.
// The host chooses them, as it does for its own pictures (orr_splat_cut_...).
#pragma once

#include "engine/core/jobs.h"
#include "engine/device/cuda_gpu.h"
#include "render/cuda/splats.h"
#include "render/splat_detail/draw_detail.h"
#include "render/splat_detail/splat_detail.h"

typedef struct orr_cuda_levels_kept {
    orr_cuda_levels levels; // on the device
    uint64_t key;           // of the cloud
    const orr_splat_detail *of;
} orr_cuda_levels_kept;

typedef struct orr_cuda_level_store {
    orr_cuda_levels_kept *kept;
    int count, capacity;
} orr_cuda_level_store;

// The levels of a cloud that is merged; uploaded when its key or what merges it is new.
orr_result orr_cuda_level_store_take(orr_cuda *cuda, orr_cuda_level_store *store,
                                     const orr_draw_splats *splats, orr_cuda_levels *levels,
                                     orr_error *error);
void orr_cuda_level_store_release(orr_cuda_level_store *store, uint64_t key);
void orr_cuda_level_store_destroy(orr_cuda_level_store *store);

// The nodes of all clouds of one frame in flight, one cloud behind the other. Zero is empty.
typedef struct orr_cuda_nodes {
    uint32_t *staged; // pinned, capacity
    size_t count, capacity;
    orr_cuda_buffer memory; // device: the same
} orr_cuda_nodes;

// Begins a frame; makes room for all nodes that the clouds of a list may show.
orr_result orr_cuda_nodes_begin(orr_cuda *cuda, orr_cuda_nodes *nodes, const orr_draw_list *list,
                                orr_error *error);
// Adds those of a cloud, in the order of the file; *count: how many.
orr_result orr_cuda_nodes_add(orr_jobs *jobs, orr_arena *arena, orr_cuda_nodes *nodes,
                              const orr_draw_splats *splats, const splat_lens_values *lens, size_t *count,
                              orr_error *error);
// Copies them to the device.
orr_result orr_cuda_nodes_send(orr_cuda *cuda, const orr_cuda_nodes *nodes, orr_error *error);
void orr_cuda_nodes_close(orr_cuda_nodes *nodes);
