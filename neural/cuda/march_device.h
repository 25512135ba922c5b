// Marching an occupancy grid by one thread per ray, with the formulas of nerf_cpu.c: what includes this has included
// nerf_formula.h.
#pragma once

#include "engine/device/cuda_kernel.h"
#include "neural/nerf_formula.h"
#include "neural/occupancy_cell.h"

typedef struct march_ray {
    real3 origin, direction, per_direction;
    float at; // the next sample, in stepping space
    float end;
} march_ray;

typedef struct march_sample {
    real3 place; // in the field's space
    float distance, step;
} march_sample;

static __device__ __forceinline__ bool march_bit(const uint32_t *bits, uint32_t index)
{
    return __ldg(bits + (index >> 5)) >> (index & 31u) & 1u;
}

// Moves the ray to its next sample in a cell that is to be marched, and behind it; false: there is none before its end.
static __device__ __forceinline__ bool march_next(nerf_stepping stepping, const uint32_t *bits,
                                                  const uint32_t *blocks, float last_cascade, march_ray *ray,
                                                  march_sample *sample)
{
    for (;;) {
        float distance = nerf_distance_of(stepping, ray->at);
        if (!(distance < ray->end)) {
            return false;
        }
        float step = nerf_distance_of(stepping, ray->at + 1.0f) - distance;
        real3 p = make_real3(fma_(ray->direction.x, distance, ray->origin.x),
                             fma_(ray->direction.y, distance, ray->origin.y),
                             fma_(ray->direction.z, distance, ray->origin.z));
        float cascade = nerf_cascade(p, step, last_cascade);
        real3 cell = nerf_cell(p, exp2_(-cascade));
        uint32_t code = orr_morton_spread(to_uint(cell.x)) | orr_morton_spread(to_uint(cell.y)) << 1 |
                        orr_morton_spread(to_uint(cell.z)) << 2 | to_uint(cascade) << 21;
        if (march_bit(bits, code)) {
            sample->place = p;
            sample->distance = distance;
            sample->step = step;
            ray->at += 1.0f;
            return true;
        }
        float cells =
            march_bit(blocks, code >> 9) ? 1.0f / (float)NERF_GRID_SIDE : 8.0f / (float)NERF_GRID_SIDE;
        float size = exp2_(cascade) * cells;
        ray->at = nerf_skip(stepping, ray->at, distance + nerf_exit(p, ray->per_direction, size));
    }
}
