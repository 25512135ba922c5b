// What pixels show besides, on CUDA: what the kernel reads, all of it on the device. The caller checks
// cudaGetLastError.
#pragma once

#include "render/cuda/meshes/mesh_stages.h"
#include "render/seen/draw_seen.h"

#include <cuda_runtime_api.h>

// Where an instance or a cloud was in the picture before.
typedef struct orr_cuda_item_before {
    int32_t known;
    // of an instance: to the space of the camera before; of a cloud: from the camera's space to that
    float matrix[12];
    const float *positions; // of an instance's vertices, x 3; NULL: they are those of now
} orr_cuda_item_before;

typedef struct orr_cuda_see {
    const uint32_t *takers;       // of orr_cuda_blend; NULL: there are no splats
    const uint32_t *cloud_firsts; // cloud_count: where each cloud's records begin
    int32_t cloud_count;
    int32_t has_meshes; // 1: the scene that was shaded last is the picture's
    const orr_item_name *instances, *clouds;
    // of the same; NULL: nothing is known
    const orr_cuda_item_before *instances_before, *clouds_before;
    orr_lens lens, lens_before;
    const float *depth; // of the picture
    int32_t *segmentation;
    float *normals, *flow; // as of orr_draw_seen
} orr_cuda_see;

void orr_cuda_seen_launch(cudaStream_t stream, const orr_cuda_mesh_scene *scene, const orr_cuda_see *see);
