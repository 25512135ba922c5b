// A frame's clouds that cast shadows (render/cloud_shadow), on CUDA: found by the host, which has their
// packs, and stored by value, so that a frame may be drawn again.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "render/cuda/cloud_light.h"
#include "render/cuda/splats.h"

enum { ORR_CUDA_CLOUD_MAPS = ORR_CLOUD_CASTERS * ORR_SHADOW_MAPS };

// What is copied to the device: the table, and the counts of each map.
typedef struct orr_cuda_cloud_staged {
    orr_cloud_table table;
    orr_cuda_control counted[ORR_CUDA_CLOUD_MAPS];
} orr_cuda_cloud_staged;

// Of one frame in flight. Zero is empty.
typedef struct orr_cuda_cloud_shadows {
    orr_cloud_maps found;
    orr_cuda_cloud_staged *staged; // pinned
    orr_cuda_buffer memory;        // device: the same
} orr_cuda_cloud_shadows;

// As orr_cloud_maps_find.
orr_result orr_cuda_cloud_shadows_find(orr_cuda *cuda, orr_jobs *jobs, orr_arena *arena,
                                       const orr_draw_list *list, const uint32_t *firsts,
                                       const orr_shadow_plan *meshes, orr_cuda_cloud_shadows *shadows,
                                       orr_error *error);
void orr_cuda_cloud_shadows_close(orr_cuda_cloud_shadows *shadows);
