// From projected splats to records: for kernels that project.
#pragma once

#include "engine/device/cuda_kernel.h"
#include "render/cuda/splats_device.h"

template <int degree>
static __device__ real3 splat_colour(const float *harmonics, uint32_t splat, real3 direction)
{
    const float *own = harmonics + member_at(splat, 3 * (degree + 1) * (degree + 1));
    const auto c = [&](uint32_t k) {
        const float *at = own + k * 3 * ORR_PACK_BLOCK;
        return make_real3(at[0], at[ORR_PACK_BLOCK], at[2 * ORR_PACK_BLOCK]);
    };
    real3 sum = sh_sum0(c(0));
    if (degree >= 1) {
        sum = sh_sum1(sum, direction, c(1), c(2), c(3));
    }
    if (degree >= 2) {
        sum = sh_sum2(sum, direction, c(4), c(5), c(6), c(7), c(8));
    }
    if (degree >= 3) {
        sum = sh_sum3(sum, direction, c(9), c(10), c(11), c(12), c(13), c(14), c(15));
    }
    return sh_clamped(sum);
}

// Where projected splats go: arrays of the frame, this cloud's from `first` on.
typedef struct projected {
    uint32_t first;
    float4 *centres, *shapes, *colours;
    uint32_t *keys, *order;
} projected;

static __device__ __forceinline__ void put_key(const projected &p, uint32_t splat, bool visible, float depth)
{
    const uint32_t to = p.first + splat;
    p.keys[to] = visible ? __float_as_uint(depth) : 0xffffffffu; // positive floats sort as their bits do
    p.order[to] = to;
}

static __device__ __forceinline__ void put_record(const projected &p, uint32_t splat, const splat_screen &s,
                                                  real3 colour)
{
    const uint32_t to = p.first + splat;
    p.centres[to] = make_float4(s.centre.x, s.centre.y, s.shape.sharp_x, s.shape.lean);
    p.shapes[to] = make_float4(s.shape.sharp_y, s.log2_opacity, s.half_size.x, s.half_size.y);
    p.colours[to] = make_float4(colour.x, colour.y, colour.z, s.depth);
}

// All threads of the block take part.
static __device__ __forceinline__ void count_visible(bool visible, orr_cuda_control *control)
{
    int here = __syncthreads_count(visible);
    if (threadIdx.x == 0 && here > 0) {
        atomicAdd(&control->visible, (uint32_t)here);
    }
}

static projected projected_of(orr_cuda_records records, uint32_t first, uint32_t *keys, uint32_t *order)
{
    return projected{
        first, (float4 *)records.centres, (float4 *)records.shapes, (float4 *)records.colours, keys, order};
}
