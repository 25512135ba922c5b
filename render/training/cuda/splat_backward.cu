// The picture's gradient back to its splats: a block of threads per tile of 16 x 16 pixels, two pixels per
// thread, splats again from front to back. A splat's sums are taken over the warp by exchanging halves of the
// values, so that eight of them take nine shuffles, then over the block's warps in order, and become the
// row of this splat and tile. No atomics: a step repeats to the bit.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/training/cuda/splat_pass.h"
}
#include "render/cuda/splats_device.h"
#include "render/splat/splat_backward_formula.h"

enum : int {
    PLAN_THREADS = 256,
    ROWS = 2,                                     // pixels of a thread, one below the other
    BATCH = ORR_CUDA_TILE * ORR_CUDA_TILE / ROWS, // splats in shared memory, one per thread
    WARPS = BATCH / ORR_WARP,
    WARP_ROWS = ORR_CUDA_TILE / WARPS, // of pixels
    PACKED = 8,                        // sums that are taken together; others after them
};

// From the middle of a warp's rows to the centres of the outermost; a hundredth of a pixel covers rounding.
static const float REACH = 0.5f * (float)(WARP_ROWS - 1) + 0.01f;

// ---- rows ----

static __global__ void plan(orr_cuda_rows r)
{
    const uint32_t i = blockIdx.x * PLAN_THREADS + threadIdx.x, visible = r.control->visible;
    if (i < visible) {
        const uint32_t end = i + 1 < visible ? r.begins[i + 1] : r.control->needed;
        r.first[r.order[i]] = r.begins[i];
        r.counts[r.order[i]] = end - r.begins[i];
    }
}

// The row of a splat and a tile that it reaches: pairs are emitted row by row of tiles.
static __device__ uint32_t row_of(const orr_cuda_rows &r, uint32_t splat, const splat_footprint *s)
{
    const int2 rows = tile_rows(s, r.tiles_y);
    uint32_t row = r.first[splat];
    for (int y = rows.x; y < (int)blockIdx.y; y++) {
        const int2 tiles = tiles_of_row(s, y, r.tiles_x);
        row += (uint32_t)max(tiles.y - tiles.x + 1, 0);
    }
    return row + blockIdx.x - (uint32_t)tiles_of_row(s, (int)blockIdx.y, r.tiles_x).x;
}

// ---- backward ----

// Sums over the warp of `values` numbers of each lane, a power of two. Behind it v[0] of lane l is the sum of
// number l / (32 / values).
template <int values> static __device__ __forceinline__ void warp_sums(float *v)
{
    const unsigned int lane = orr_lane();
    ORR_UNROLL
    for (int by = ORR_WARP / 2; by > 0; by /= 2) {
        const int half = values * by / ORR_WARP;
        if (half == 0) {
            v[0] += __shfl_xor_sync(ORR_ALL_LANES, v[0], by);
        }
        ORR_UNROLL
        for (int i = 0; i < half; i++) { // a half of the lanes keeps a half of the numbers
            const bool upper = (lane & (unsigned int)by) != 0;
            const float keeps = upper ? v[half + i] : v[i], gives = upper ? v[i] : v[half + i];
            v[i] = keeps + __shfl_xor_sync(ORR_ALL_LANES, gives, by);
        }
    }
}

typedef struct pixel_state {
    splat_replay replay;
    real3 gradient;
    float by_alpha, by_depth; // of the pixel's sums of weights and of weights times depths
} pixel_state;

template <int depth> static __device__ pixel_state begin_pixel(const orr_cuda_compare &c, int x, int y)
{
    pixel_state p = {{-1.0f, 0.0f}, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f}; // beyond the picture
    if (x >= c.width || y >= c.height) {
        return p;
    }
    const int at = y * c.width + x;
    const float4 drawn = ((const float4 *)c.rgba)[at];
    const float *red = c.gradient.values + (int64_t)y * c.gradient.stride + ORR_LOSS_MARGIN + x;
    const int64_t plane = (int64_t)c.height * c.gradient.stride;
    const float behind = c.by_alpha ? 0.0f : 1.0f; // by_alpha has the background's part
    p.gradient = make_real3(red[0], red[plane], red[2 * plane]);
    p.by_alpha = c.by_alpha ? c.by_alpha[at] : 0.0f;
    p.replay.transmittance = 1.0f;
    p.replay.rest = splat_replay_rest(
        p.gradient, make_real3(drawn.x, drawn.y, drawn.z), drawn.w,
        make_real3(behind * c.background[0], behind * c.background[1], behind * c.background[2]), p.by_alpha);
    if (depth) {
        p.by_depth = c.by_depth[at];
        p.replay.rest = splat_replay_rest_depth(p.replay.rest, p.by_depth, c.depth[at], drawn.w);
    }
    return p;
}

template <int magnitude, int depth>
static __global__ void __launch_bounds__(BATCH) backward(orr_cuda_rows r, orr_cuda_compare c)
{
    enum : int {
        EXTRA = 1 + depth + 2 * magnitude,
        MEMBERS = PACKED + EXTRA,
        EXTRA_PACKED = magnitude ? 4 : 1 + depth // a power of two
    };
    static_assert(PACKED + 1 == ORR_MOMENTS, "the last moment stands by itself");
    __shared__ float4 centres[BATCH], shapes[BATCH], colours[BATCH];
    __shared__ float parts[WARPS][BATCH][MEMBERS];
    const int x = (int)blockIdx.x * ORR_CUDA_TILE + (int)(threadIdx.x % ORR_CUDA_TILE);
    const int y = (int)blockIdx.y * ORR_CUDA_TILE + (int)(threadIdx.x / ORR_CUDA_TILE) * ROWS;
    const unsigned int lane = orr_lane(), warp = threadIdx.x / ORR_WARP;
    const float middle =
        (float)((int)blockIdx.y * ORR_CUDA_TILE + (int)warp * WARP_ROWS) + 0.5f * (float)WARP_ROWS;
    pixel_state pixels[ROWS];
    for (int row = 0; row < ROWS; row++) {
        pixels[row] = begin_pixel<depth>(c, x, y + row);
    }
    const uint32_t *range = r.ranges + 2 * (blockIdx.y * gridDim.x + blockIdx.x);
    for (uint32_t first = range[0]; first < range[1]; first += BATCH) {
        const uint32_t mine = first + threadIdx.x;
        const bool has = mine < range[1];
        uint32_t to = 0;
        if (has) {
            const uint32_t splat = r.pair_splats[mine];
            const float4 centre = ((const float4 *)r.records.centres)[splat];
            const float4 shape = ((const float4 *)r.records.shapes)[splat];
            const splat_footprint s = footprint_of(centre, shape);
            centres[threadIdx.x] = centre;
            shapes[threadIdx.x] = shape;
            colours[threadIdx.x] = ((const float4 *)r.records.colours)[splat];
            to = row_of(r, splat, &s);
        }
        __syncthreads();
        const int count = (int)min(range[1] - first, (uint32_t)BATCH);
        for (int k = 0; k < count; k++) {
            const splat_footprint s = footprint_of(centres[k], shapes[k]);
            if (fabsf(s.centre.y - middle) > s.half_size.y + REACH) { // the warp's rows are beyond its box
                if (lane < MEMBERS) {
                    parts[warp][k][lane] = 0.0f;
                }
                continue;
            }
            const real3 colour = make_real3(colours[k].x, colours[k].y, colours[k].z);
            splat_moments m = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
            real3 by_colour = {0.0f, 0.0f, 0.0f};
            real2 pull = {0.0f, 0.0f};
            float by_depth = 0.0f;
            bool touched = false;
            ORR_UNROLL
            for (int row = 0; row < ROWS; row++) {
                pixel_state *p = &pixels[row];
                if (!(p->replay.transmittance > 0.0f)) {
                    continue;
                }
                const real2 d = {(float)x + 0.5f - s.centre.x, (float)(y + row) + 0.5f - s.centre.y};
                float shade = dot3(p->gradient, colour) + p->by_alpha;
                if (depth) {
                    shade = splat_shade_depth(shade, p->by_depth, colours[k].w);
                }
                const splat_replayed seen = splat_replay_one(p->replay, s.log2_opacity, d, s.shape, shade);
                p->replay = seen.next;
                touched |= seen.weight > 0.0f;
                by_colour = blend_add(by_colour, seen.weight, p->gradient);
                if (depth) {
                    by_depth = fmaf(seen.weight, p->by_depth, by_depth);
                }
                m = splat_moments_add(m, seen.slope, d);
                if (magnitude) {
                    pull = splat_magnitude_add(pull, s.shape, seen.slope, d);
                }
            }
            if (!__any_sync(ORR_ALL_LANES, touched)) {
                if (lane < MEMBERS) {
                    parts[warp][k][lane] = 0.0f;
                }
                continue;
            }
            pull = splat_magnitude(pull, s.shape);
            float packed[PACKED] = {m.one, m.x, m.y, m.xx, m.xy, m.yy, by_colour.x, by_colour.y};
            float extra[4] = {by_colour.z, depth ? by_depth : pull.x, depth ? pull.x : pull.y,
                              depth ? pull.y : 0.0f};
            warp_sums<PACKED>(packed);
            warp_sums<EXTRA_PACKED>(extra);
            if (lane % (ORR_WARP / PACKED) == 0) {
                parts[warp][k][lane / (ORR_WARP / PACKED)] = packed[0];
            }
            if (lane % (ORR_WARP / EXTRA_PACKED) == 0 && lane / (ORR_WARP / EXTRA_PACKED) < EXTRA) {
                parts[warp][k][PACKED + lane / (ORR_WARP / EXTRA_PACKED)] = extra[0];
            }
        }
        __syncthreads();
        for (int k = 0; has && k < MEMBERS; k++) {
            float sum = 0.0f;
            for (int w = 0; w < WARPS; w++) {
                sum += parts[w][threadIdx.x][k];
            }
            r.rows[(size_t)to * MEMBERS + (size_t)k] = sum;
        }
        // the next barrier comes before anything that is read here is written again
    }
}

// ---- launches ----

void orr_cuda_rows_plan_launch(cudaStream_t stream, const orr_cuda_rows *rows, size_t splats)
{
    ORR_LAUNCH(plan, orr_cuda_blocks(splats, PLAN_THREADS), PLAN_THREADS, 0, stream, *rows);
}

void orr_cuda_backward_launch(cudaStream_t stream, const orr_cuda_rows *rows, const orr_cuda_compare *compare)
{
    const dim3 tiles((unsigned int)rows->tiles_x, (unsigned int)rows->tiles_y);
    const auto plain = rows->magnitude ? backward<1, 0> : backward<0, 0>;
    const auto with_depth = rows->magnitude ? backward<1, 1> : backward<0, 1>;
    const auto backward_tiles = rows->depth ? with_depth : plain;
    ORR_LAUNCH(backward_tiles, tiles, BATCH, 0, stream, *rows, *compare);
}
