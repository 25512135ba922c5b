// Marching an occupancy grid by one thread per ray: the turn of the CPU's march (nerf/march_cpu.c), until there is a sample.
#pragma once

#include "engine/device/cuda_kernel.h"
#include "neural/nerf/nerf_formula.h"

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
        nerf_place place = nerf_look(stepping, ray->origin, ray->direction, ray->at, distance, last_cascade);
        uint32_t cell = nerf_cell_number(place);
        if (march_bit(bits, cell)) {
            sample->place = place.position;
            sample->distance = distance;
            sample->step = place.step;
            ray->at += 1.0f;
            return true;
        }
        ray->at =
            nerf_pass(stepping, place, ray->per_direction, ray->at, distance, march_bit(blocks, cell >> 9));
    }
}
