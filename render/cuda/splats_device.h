// Which tiles a splat's record reaches, for the kernels that pair splats with tiles and those that look pairs
// up again.
#pragma once

#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/cuda/splats.h"
}
#include "render/splat_formula.h"

static __device__ __forceinline__ splat_footprint footprint_of(float4 centre, float4 shape)
{
    splat_footprint s = {{centre.x, centre.y}, {centre.z, centre.w, shape.x}, shape.y, {shape.z, shape.w}};
    return s;
}

// First and last row of tiles.
static __device__ __forceinline__ int2 tile_rows(const splat_footprint *s, int tiles_y)
{
    real2 range = splat_tile_box(s->centre.y, s->half_size.y, ORR_CUDA_TILE, (float)tiles_y);
    return make_int2((int)range.x, (int)range.y);
}

// First and last tile of a row that the splat reaches, exactly; empty when x > y.
static __device__ __forceinline__ int2 tiles_of_row(const splat_footprint *s, int row, int tiles_x)
{
    real2 range = splat_tile_row(*s, (float)row, ORR_CUDA_TILE, (float)tiles_x);
    return make_int2((int)range.x, (int)range.y);
}
