// Drawing a field as one CUDA kernel: rays, their samples, encoding, networks and compositing. Nothing of a
// sample leaves the chip but the rows of the table that it reads.
#pragma once

#include "engine/maths/clip_plane.h"
#include "neural/capture/ray_formula.h"
#include "neural/cuda/model_pass.h"
#include "neural/fields/field.h"
#include "neural/nerf/march_cpu.h"

// One picture of one field; all memory is the device's.
typedef struct orr_cuda_march {
    orr_field_kind kind;
    orr_cuda_shape network, rgb; // rgb: of a radiance field, whose encoding is that of directions
    const void *network_weights, *rgb_weights, *table; // halves
    ray_camera camera;                                 // its size is the picture's
    orr_nerf_space space;                              // radiance field
    float half_side;                                   // of the cube that is marched
    float to_unit[12], to_sun[3];                      // signed distances: as in fields/draw.h
    clip_plane clip;                                   // of the lens, in the camera's space
    const float *far_depth;                            // nothing behind it is drawn; NULL: no bound
    // Planes: premultiplied red, green, blue, and alpha; depth, infinity where nothing is.
    float *colour, *depth;
    bool over;      // what the planes hold, which is undefined otherwise
    uint32_t *next; // 0 before the call
} orr_cuda_march;

// Shared memory of a thread block: weights, and rows of features.
int orr_cuda_march_bytes(const orr_cuda_march *march);
// Launches so many thread blocks; all matrices must fit into their shared memory, and networks have one
// width.
cudaError_t orr_cuda_march_launch(cudaStream_t stream, const orr_cuda_march *march, int blocks);
