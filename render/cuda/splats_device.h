// Splats as they are stored, and which tiles their records reach, for the kernels that project them, pair
// them with tiles and look pairs up again.
#pragma once

#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/cuda/splats.h"
}
#include "render/cuda/pack_device.h"
#include "render/splat/splat_formula.h"

// A splat of a cloud as it is stored.
typedef struct stored_splat {
    real3 mean;
    splat_axes axes;
    float opacity;
} stored_splat;

static __device__ __forceinline__ stored_splat load_splat(const float *geometry, uint32_t splat)
{
    const float *at = geometry + member_at(splat, ORR_PACK_GEOMETRY);
    float g[ORR_PACK_GEOMETRY];
    for (uint32_t k = 0; k < ORR_PACK_GEOMETRY; k++) {
        g[k] = at[k * ORR_PACK_BLOCK];
    }
    return stored_splat{
        make_real3(g[0], g[1], g[2]),
        {make_real3(g[3], g[4], g[5]), make_real3(g[6], g[7], g[8]), make_real3(g[9], g[10], g[11])},
        g[12]};
}

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
