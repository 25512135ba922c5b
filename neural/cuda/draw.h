// Fields on a CUDA device, for drawing: what nerf_draw.h and field_draw.h are on the CPU, to the rounding of halves.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "neural/cuda/march.h"
#include "neural/cuda/model.h"
#include "neural/occupancy.h"

typedef struct orr_cuda_field {
    orr_cuda *cuda; // borrowed
    const orr_field *field;
    const orr_occupancy *grid;
    orr_cuda_model network, rgb; // rgb: of a radiance field
    void *bits, *blocks, *next;
    uint64_t field_version, grid_version; // what is on the device
} orr_cuda_field;

// Borrows both and uploads nothing yet. grid: of a radiance field. DEVICE_ABSENT: the device cannot draw it, and why.
orr_result orr_cuda_field_create(orr_cuda *cuda, const orr_field *field, const orr_occupancy *grid,
                                 orr_cuda_field *out, orr_error *error);
void orr_cuda_field_destroy(orr_cuda_field *field); // all zeros are allowed
// Uploads what has changed since the last time: all of it at first, what a refresh has made afterwards.
orr_result orr_cuda_field_update(orr_cuda_field *field, orr_error *error);

typedef struct orr_cuda_field_picture {
    const orr_lens *lens;
    float world_to_unit[12];
    float to_sun[3];        // signed distances: unit direction in the world
    const float *far_depth; // a plane of the device: nothing at or behind it is drawn; NULL: no bound
    float *colour,
        *depth; // planes of the device: premultiplied red, green, blue, alpha; infinity where nothing is
    bool over;  // what the planes hold, which is undefined otherwise
} orr_cuda_field_picture;

// Draws in the device's stream and does not wait.
orr_result orr_cuda_field_draw(orr_cuda_field *field, const orr_cuda_field_picture *picture,
                               orr_error *error);
