// Three-dimensional NumPy arrays (.npy) as floats.
#pragma once

#include "engine/core/result.h"

typedef struct orr_npy_volume {
    int size[3];   // voxels along x, y, z; z is the array's first axis, x its last
    float *values; // x fastest
} orr_npy_volume;

// float32, float64, uint8, uint16 (little endian; integers as they are stored), C and Fortran order, shape
// (z, y, x). Errors name the field of the header. `name` stands in messages. Free with orr_npy_volume_free.
orr_result orr_npy_volume_parse(const void *data, size_t size, const char *name, orr_npy_volume *volume,
                                orr_error *error);
void orr_npy_volume_free(orr_npy_volume *volume);
