// Density grids: what volume fields are trained on.
#pragma once

#include "engine/core/result.h"

// Densities at the middles of depth x height x width cells that fill a box in the unit cube, x fastest. The longest side of
// the box is that of the cube.
typedef struct orr_density {
    float *values; // 0 and more; the greatest is ORR_DENSITY_GREATEST
    int width, height, depth;
} orr_density;

#define ORR_DENSITY_GREATEST 20.0f // extinction per side of the unit cube

// A NumPy array of three axes (z, y, x), of float32, float64, uint8 or uint16. Values below 0 and those that are no
// numbers become 0; the rest is scaled to ORR_DENSITY_GREATEST. ORR_ERROR_FORMAT when nothing is above 0.
orr_result orr_density_load(const char *path, orr_density *density, orr_error *error);
orr_result orr_density_read(const void *data, size_t size, const char *name, orr_density *density,
                            orr_error *error);
// A cumulus of `side` cells per axis, 8 .. 1024: noise of four octaves eats into a few balls.
orr_result orr_density_cloud(int side, uint32_t seed, orr_density *density, orr_error *error);
void orr_density_free(orr_density *density);

// Trilinear, 0 outside the box.
float orr_density_at(const orr_density *density, const float place[3]);
