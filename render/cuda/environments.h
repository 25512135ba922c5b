// The texels of a frame's environments, and where captured surfaces shadow one another, in the memory of a
// CUDA device.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "render/shadow/self_shadow.h"

// Of one frame in flight. Zero is empty.
typedef struct orr_cuda_environments {
    orr_cuda_buffer texels; // of all maps, behind one another
    uint64_t keys[ORR_DRAW_ENVIRONMENTS];
    int count;
    uint64_t self_key;        // of the list's self_shadow; 0: it had none
    const float *self_depths; // behind all maps; NULL: there are none
} orr_cuda_environments;

// Copies those of the list behind what is in the stream, unless they are there already.
orr_result orr_cuda_environments_take(orr_cuda *cuda, orr_cuda_environments *environments,
                                      const orr_draw_list *list, orr_error *error);
void orr_cuda_environments_release(orr_cuda_environments *environments);
