// Fields on a CUDA device, for drawing: what nerf/draw.h and fields/draw.h are on the CPU, to the rounding of
// halves.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "engine/maths/camera.h"
#include "neural/cuda/march.h"
#include "neural/cuda/model.h"
#include "neural/fields/occupancy.h"

typedef struct orr_cuda_field {
    orr_cuda *cuda; // borrowed
    const orr_field *field;
    const orr_occupancy *grid;
    orr_cuda_model network, rgb; // rgb: of a radiance field
    void *bits, *blocks, *next;
    uint64_t field_version, grid_version; // what is on the device
} orr_cuda_field;

// Borrows both and uploads nothing yet. grid: of a radiance field. DEVICE_ABSENT: the device cannot draw it,
// and why.
orr_result orr_cuda_field_create(orr_cuda *cuda, const orr_field *field, const orr_occupancy *grid,
                                 orr_cuda_field *out, orr_error *error);
void orr_cuda_field_destroy(orr_cuda_field *field); // all zeros are allowed
// Uploads what has changed since the last time: all of it at first, what a refresh has made afterwards.
orr_result orr_cuda_field_update(orr_cuda_field *field, orr_error *error);

// Has the device what the field is now?
bool orr_cuda_field_is_current(const orr_cuda_field *field);

// How a lens sees a field in a picture of the lens's size: a value, which may be drawn when the field has
// gone from the host, as long as it is on the device. to_sun: for signed distances, unit direction in the
// world. Its planes (far_depth, colour, depth, over) are yet to be set.
orr_result orr_cuda_field_see(const orr_cuda_field *field, const orr_lens *lens,
                              const float world_to_unit[12], const float to_sun[3], orr_cuda_march *march,
                              orr_error *error);
// Draws in the device's stream and does not wait.
orr_result orr_cuda_field_draw(orr_cuda *cuda, const orr_cuda_march *march, orr_error *error);
