// Marching an occupancy grid by one thread per ray: one turn of the CPU's march (nerf/march_cpu.c).
#pragma once

#include "engine/device/cuda_kernel.h"
#include "neural/nerf/march_formula.h"

extern "C" {
#include "neural/nerf/march_cpu.h"
}

static __device__ __forceinline__ bool march_bit(const uint32_t *bits, uint32_t index)
{
    return __ldg(bits + (index >> 5)) >> (index & 31u) & 1u;
}

// True: `point` is a sample. Otherwise *steps moves over the empty cell, or the empty block of cells, around
// it.
static __device__ __forceinline__ bool march_turn(const orr_nerf_space *space, real3 origin, real3 direction,
                                                  real3 reciprocal, float distance, float *steps,
                                                  march_point *point)
{
    *point = march_locate(space->stepping, origin, direction, *steps, distance, space->last_cascade);
    uint32_t cell = march_cell(*point);
    bool block_occupied = march_bit(space->blocks, occupancy_block(cell));
    if (block_occupied && march_bit(space->bits, cell)) {
        return true;
    }
    *steps = march_skip_cell(space->stepping, *point, reciprocal, *steps, distance, block_occupied);
    return false;
}
