// The same on CUDA: planes of fields in the device's memory, in the light of lamps.
#pragma once

#include "render/cuda/cloud_light.h"
#include "render/field_light/field_lamps.h"

#include <cuda_runtime_api.h>

typedef struct orr_cuda_field_light {
    orr_field_lamps lamps;
    const float *captured;          // texels of the list's self_shadow, or NULL
    const orr_shadow_plan *shadows; // of the device
    const float *shadow_maps;       // NULL: there are none
    orr_cuda_cloud_light clouds;
    const float *depth; // height x width
    float *colour;      // 4 planes
} orr_cuda_field_light;

void orr_cuda_field_light_planes(cudaStream_t stream, const orr_cuda_field_light *light);
