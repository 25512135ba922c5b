// Splat clouds in the device's memory, under the keys of their packs.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "render/cuda/splats.h"

typedef struct orr_cuda_clouds {
    orr_cuda_cloud *clouds;
    int count, capacity;
} orr_cuda_clouds;

// The cloud of a pack; uploaded when its key is new. The pointer is valid until the next call.
orr_result orr_cuda_clouds_take(orr_cuda *cuda, orr_cuda_clouds *clouds, const orr_draw_splats *splats,
                                const orr_cuda_cloud **cloud, orr_error *error);
void orr_cuda_clouds_release(orr_cuda_clouds *clouds, uint64_t key);
void orr_cuda_clouds_destroy(orr_cuda_clouds *clouds);
