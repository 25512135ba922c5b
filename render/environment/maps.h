// The maps of an environment, made from one octahedral map of radiance.
#pragma once

#include "render/environment/environment.h"

// Allocates the maps of an environment of these sides, powers of two, and room for a grid of so many points.
orr_result orr_environment_allocate(int sharp, int rough, int points, orr_environment **environment,
                                    orr_error *error);
// The texels of its grid.
uint32_t *orr_environment_grid_texels(const orr_environment *environment);
// A texel of this radiance.
uint32_t orr_environment_encode(const float rgb[3]);
// rgb: sharp x sharp x 3, at the middles of the texels: becomes the sharp map, and what the blurred ones are
// made of.
orr_result orr_environment_fill(orr_jobs *jobs, const float *rgb, orr_environment *environment,
                                orr_error *error);
// The harmonics of such a map.
void orr_environment_project(const float *rgb, int side, float harmonics[3][9]);
// Direction at the middle of a texel, unit.
void orr_environment_direction(int side, int x, int y, float direction[3]);

// What a sum of radiance x solid angle x a polynomial of environment_sum is multiplied by, for its harmonic.
float orr_environment_harmonic(int index);
