// Ambient occlusion in a picture of meshes, on the device; as render/cpu/occlusion_map.h.
#pragma once

#include "render/occlusion/occlusion.h"

typedef struct orr_cuda_occlusion {
    orr_occlusion_values values;
    float *depth;              // height x width, of opaque meshes; infinity: none. NULL: nothing is occluded
    float *above, *all_around; // height x width, sums of each pixel; 0 where there is no mesh
} orr_cuda_occlusion;
