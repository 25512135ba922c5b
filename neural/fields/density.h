// Density volumes: a grid of a .npy file, sampled by trilinear interpolation.
#pragma once

#include "engine/core/result.h"

typedef struct orr_density {
    int size[3];   // voxels along x, y, z; z is the array's first axis, x its last
    float *values; // x fastest
} orr_density;

// float32, float64, uint8, uint16 (little endian; integers as they are stored), C and Fortran order, shape
// (z, y, x). Errors name the key of the header. `name` is for messages. Free with orr_density_free.
orr_result orr_density_parse(const void *data, size_t size, const char *name, orr_density *density,
                             orr_error *error);
orr_result orr_density_load(const char *path, orr_density *density, orr_error *error);
void orr_density_free(orr_density *density);

// At (x, y, z) of the unit cube, whose longest side the grid fills; voxels' middles hold their values, the
// border's continue to the grid's edge, and outside is 0.
float orr_density_at(const orr_density *density, const float position[3]);
