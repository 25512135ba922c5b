// What kernels read of the clouds that cast shadows: how much of the lights passes them.
#pragma once

#include "render/cloud_shadow/cloud_maps.h"

// Both in the device's memory.
typedef struct orr_cuda_cloud_light {
    const orr_cloud_table *table; // NULL: no cloud casts a shadow
    const float *texels;          // ORR_CLOUD_TEXEL each
} orr_cuda_cloud_light;
