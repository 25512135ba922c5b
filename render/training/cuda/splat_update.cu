// The splats' part of a step, a thread per splat: its rows summed in order, gradients from the screen to what
// is stored, Adam, and the form that the next frame draws. What a splat has on many tiles is summed by its
// warp, so that no thread runs long.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/training/cuda/splat_pass.h"
#include "render/training/splat_views.h"
}
#include "neural/network/optimizer_formula.h"
#include "render/cuda/pack_device.h"
#include "render/formula_inputs.h"
#include "render/splat/splat_photo_inputs.h"
#include "render/splat/splat_unscented_backward_formula.h"
#include "render/training/splat_update_formula.h"

enum : int { THREADS = 128, WARPS = THREADS / ORR_WARP, ALONE = 8 };

// ---- gradients ----

// The sums of a splat's rows; all lanes of a warp take part.
template <int members>
static __device__ __forceinline__ void sum_rows(const float *rows, uint32_t first, uint32_t count,
                                                float sums[members])
{
    const unsigned int lane = orr_lane();
    for (int k = 0; k < members; k++) {
        sums[k] = 0.0f;
    }
    for (uint32_t n = 0; count <= ALONE && n < count; n++) {
        const float *row = rows + (size_t)(first + n) * members;
        for (int k = 0; k < members; k++) {
            sums[k] += row[k];
        }
    }
    for (unsigned int large = __ballot_sync(ORR_ALL_LANES, count > ALONE); large; large &= large - 1) {
        const int of = __ffs((int)large) - 1;
        const uint32_t begin = __shfl_sync(ORR_ALL_LANES, first, of);
        const uint32_t number = __shfl_sync(ORR_ALL_LANES, count, of);
        float parts[members] = {0.0f};
        for (uint32_t n = lane; n < number; n += ORR_WARP) {
            const float *row = rows + (size_t)(begin + n) * members;
            for (int k = 0; k < members; k++) {
                parts[k] += row[k];
            }
        }
        for (int k = 0; k < members; k++) {
            for (int by = ORR_WARP / 2; by > 0; by /= 2) {
                parts[k] += __shfl_xor_sync(ORR_ALL_LANES, parts[k], by);
            }
            sums[k] = (int)lane == of ? parts[k] : sums[k];
        }
    }
}

typedef struct splat_sums {
    splat_moments moments;
    real3 colour;
    real2 magnitude;
    float depth;
    bool visible;
} splat_sums;

template <int magnitude, int depth>
static __device__ splat_sums find_sums(const orr_cuda_rows &r, uint32_t splat, bool exists)
{
    enum : int { MEMBERS = ORR_MOMENTS + depth + 2 * magnitude };
    float s[MEMBERS];
    const uint32_t count = exists ? r.counts[splat] : 0;
    sum_rows<MEMBERS>(r.rows, exists ? r.first[splat] : 0, count, s);
    splat_sums sums = {{s[0], s[1], s[2], s[3], s[4], s[5]},
                       {s[6], s[7], s[8]},
                       {0.0f, 0.0f},
                       depth ? s[MEMBERS - 1 - 2 * magnitude] : 0.0f,
                       count > 0};
    if (magnitude) {
        sums.magnitude = make_real2(s[MEMBERS - 2], s[MEMBERS - 1]);
    }
    if (sums.visible) { // where a colour is clamped at 0 it has no derivative
        const float4 seen = ((const float4 *)r.records.colours)[splat];
        sums.colour =
            make_real3(seen.x > 0.0f ? s[6] : 0.0f, seen.y > 0.0f ? s[7] : 0.0f, seen.z > 0.0f ? s[8] : 0.0f);
    }
    return sums;
}

// ---- Adam ----

static __device__ float adam_move(float *const arrays[3], size_t at, float gradient, float rate,
                                  float correction)
{
    adam_moments m = {arrays[1][at], arrays[2][at]};
    m = adam_advance(m, gradient, SPLAT_BETA1, SPLAT_BETA2);
    arrays[1][at] = m.first;
    arrays[2][at] = m.second;
    return arrays[0][at] - adam_step(m, correction, rate, SPLAT_EPSILON);
}

// The harmonics' gradient and step; returns the derivative by the direction.
template <int degree>
static __device__ real3 move_harmonics(const orr_cuda_update &u, const orr_splat_rates &rates, uint32_t splat,
                                       real3 direction, const splat_sums &g)
{
    enum : int { FUNCTIONS = (degree + 1) * (degree + 1) };
    const size_t at = member_at(splat, 3 * FUNCTIONS);
    const sh_band1 one = sh_degree1(direction);
    const sh_band2 two = sh_degree2(direction);
    const sh_band3 three = sh_degree3(direction);
    const float basis[16] = {SH_0,  one.a,   one.b,   one.c,   two.a,   two.b,   two.c,   two.d,
                             two.e, three.a, three.b, three.c, three.d, three.e, three.f, three.g};
    const float by_colour[3] = {g.colour.x, g.colour.y, g.colour.z};
    float by[16] = {0.0f};
    ORR_UNROLL
    for (int k = 0; k < FUNCTIONS; k++) {
        const float rate = k == 0 ? rates.colour : rates.harmonics;
        const float correction = k == 0 ? rates.correction : rates.harmonics_correction;
        for (int c = 0; c < 3; c++) {
            const size_t member = at + (size_t)(3 * k + c) * ORR_PACK_BLOCK;
            by[k] = fmaf(u.params.harmonics[0][member], by_colour[c], by[k]);
            if (rate > 0.0f) {
                const float gradient = splat_tamed(g.visible, basis[k] * by_colour[c]);
                u.params.harmonics[0][member] =
                    adam_move(u.params.harmonics, member, gradient, rate, correction);
            }
        }
    }
    real3 turn = {0.0f, 0.0f, 0.0f};
    if (degree >= 1) {
        turn = sh_degree1_backward(sh_band1{by[1], by[2], by[3]});
    }
    if (degree >= 2) {
        turn = add3(turn, sh_degree2_backward(direction, sh_band2{by[4], by[5], by[6], by[7], by[8]}));
    }
    if (degree >= 3) {
        turn = add3(turn, sh_degree3_backward(
                              direction, sh_band3{by[9], by[10], by[11], by[12], by[13], by[14], by[15]}));
    }
    return turn;
}

// ---- all of a splat ----

typedef struct stored_splat {
    real3 mean, log_scale;
    real4 rotation;
    real logit;
} stored_splat;

static __device__ stored_splat load_stored(const float *from)
{
    float m[ORR_STORED];
    for (int k = 0; k < ORR_STORED; k++) {
        m[k] = from[k * ORR_PACK_BLOCK];
    }
    return stored_splat{{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8], m[9]}, m[10]};
}

static __device__ void prepare_splat(const orr_cuda_splat_params &params, uint32_t splat)
{
    const stored_splat s = load_stored(params.stored[0] + member_at(splat, ORR_STORED));
    const splat_axes axes = splat_make_shape(s.log_scale, s.rotation).axes;
    const float members[ORR_PACK_GEOMETRY] = {s.mean.x,
                                              s.mean.y,
                                              s.mean.z,
                                              axes.a.x,
                                              axes.a.y,
                                              axes.a.z,
                                              axes.b.x,
                                              axes.b.y,
                                              axes.b.z,
                                              axes.c.x,
                                              axes.c.y,
                                              axes.c.z,
                                              splat_opacity(s.logit)};
    float *to = params.geometry + member_at(splat, ORR_PACK_GEOMETRY);
    for (int k = 0; k < ORR_PACK_GEOMETRY; k++) {
        to[k * ORR_PACK_BLOCK] = members[k];
    }
}

static __global__ void prepare(orr_cuda_splat_params params)
{
    const uint32_t splat = blockIdx.x * THREADS + threadIdx.x;
    if (splat < params.count) {
        prepare_splat(params, splat);
    }
}

// by: its gradient, before what pulls at scales and opacity
static __device__ void move_stored(const orr_cuda_update &u, const orr_cuda_step_now &now, uint32_t splat,
                                   bool visible, const splat_shape &shape, float opacity, splat_gradient by)
{
    const orr_splat_rates &rates = now.rates;
    const size_t at = member_at(splat, ORR_STORED);
    by = splat_pulled(by, visible, shape, opacity, rates.opacity_pull, rates.scale_pull);
    const float gradients[ORR_STORED] = {by.mean.x,      by.mean.y,      by.mean.z,     by.log_scale.x,
                                         by.log_scale.y, by.log_scale.z, by.rotation.x, by.rotation.y,
                                         by.rotation.z,  by.rotation.w,  by.logit};
    float moved[ORR_STORED];
    for (int k = 0; k < ORR_STORED; k++) {
        const float rate = k < 3    ? rates.position
                           : k < 6  ? rates.scale
                           : k < 10 ? rates.rotation
                                    : rates.opacity;
        moved[k] =
            adam_move(u.params.stored, at + (size_t)k * ORR_PACK_BLOCK, gradients[k], rate, rates.correction);
    }
    for (int k = 3; k < 6; k++) {
        moved[k] = min_(max_(moved[k], rates.log_scale_low), rates.log_scale_high);
    }
    const float share = splat_walk_share(opacity);
    if (rates.noise > 0.0f && share > 1e-4f) {
        const real3 numbers = make_real3(orr_splat_walk_number(now.seed, now.step, splat, 0),
                                         orr_splat_walk_number(now.seed, now.step, splat, 1),
                                         orr_splat_walk_number(now.seed, now.step, splat, 2));
        const real3 step = splat_walk(shape, share * rates.noise, numbers);
        moved[0] += step.x;
        moved[1] += step.y;
        moved[2] += step.z;
    }
    for (int k = 0; k < ORR_STORED; k++) {
        u.params.stored[0][at + (size_t)k * ORR_PACK_BLOCK] = moved[k];
    }
}

// The sums over the block of what the camera gets back; all threads take part.
static __device__ void store_motion(float *to, const float motion[ORR_MOTION])
{
    __shared__ float parts[WARPS][ORR_MOTION];
    for (int k = 0; k < ORR_MOTION; k++) {
        float sum = motion[k];
        for (int by = ORR_WARP / 2; by > 0; by /= 2) {
            sum += __shfl_xor_sync(ORR_ALL_LANES, sum, by);
        }
        if (orr_lane() == 0) {
            parts[threadIdx.x / ORR_WARP][k] = sum;
        }
    }
    __syncthreads();
    if (threadIdx.x < ORR_MOTION) {
        float sum = 0.0f;
        for (int w = 0; w < WARPS; w++) {
            sum += parts[w][threadIdx.x];
        }
        to[blockIdx.x * ORR_MOTION + threadIdx.x] = sum;
    }
}

// What the splat gets back from where it is on the picture, and from its depth.
template <int more>
static __device__ __forceinline__ splat_gradient
project_backward(const orr_cuda_update &u, const orr_cuda_step_now &now, const splat_lens &lens,
                 const stored_splat &s, const splat_shape &shape, float opacity, const splat_sums &sums)
{
    splat_gradient by;
    if (more && u.distorted) {
        const splat_photo_lens photo = splat_photo_of(&now.eye.photo);
        by = splat_unscented_backward(lens, photo, s.mean, shape, opacity, sums.moments);
        if (u.rows.depth) {
            by.mean = add3(by.mean, splat_unscented_depth_backward(lens, photo, s.mean, sums.depth));
        }
        return by;
    }
    by = splat_project_backward(lens, s.mean, shape, opacity, sums.moments);
    if (more && u.rows.depth) {
        by.mean = add3(by.mean, splat_depth_backward(lens, sums.depth));
    }
    return by;
}

// What differs between steps, for the block.
static __device__ void load_now(const orr_cuda_step_now *from, orr_cuda_step_now *to)
{
    static_assert(sizeof *to % sizeof(uint32_t) == 0, "whole words");
    for (unsigned int i = threadIdx.x; i < sizeof *to / sizeof(uint32_t); i += THREADS) {
        ((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
    }
    __syncthreads();
}

// more: of a photo whose lens is kept, or whose depths are learned
template <int degree, int magnitude, int more>
static __global__ void __launch_bounds__(THREADS) update(orr_cuda_update u)
{
    const uint32_t splat = blockIdx.x * THREADS + threadIdx.x;
    const bool exists = splat < u.params.count;
    __shared__ orr_cuda_step_now now;
    load_now(u.now, &now);
    if (u.rows.control->needed > u.rows.control->pairs || *u.halted) {
        if (splat == 0) {
            *u.halted = 1;
        }
        return; // the frame is to be drawn again
    }
    const splat_lens lens = splat_lens_of(&now.eye.lens);
    const splat_sums sums = more && u.rows.depth ? find_sums<magnitude, 1>(u.rows, splat, exists)
                                                 : find_sums<magnitude, 0>(u.rows, splat, exists);
    float motion[ORR_MOTION] = {0.0f};
    if (exists) {
        const stored_splat s = load_stored(u.params.stored[0] + member_at(splat, ORR_STORED));
        const splat_shape shape = splat_make_shape(s.log_scale, s.rotation);
        const float opacity = splat_opacity(s.logit);
        const real3 direction = splat_direction(lens, s.mean);
        const real3 turn = move_harmonics<degree>(u, now.rates, splat, direction, sums);
        splat_gradient by = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 0.0f}, 0.0f};
        if (sums.visible) {
            by = project_backward<more>(u, now, lens, s, shape, opacity, sums);
            const real3 by_direction = splat_direction_backward(lens, s.mean, direction, turn);
            const splat_camera_gradient c = splat_camera_backward(lens, s.mean, shape, by, by_direction);
            const float values[ORR_MOTION] = {c.shift.x, c.shift.y, c.shift.z, c.turn.x, c.turn.y, c.turn.z};
            for (int k = 0; k < ORR_MOTION; k++) {
                motion[k] = splat_tamed(true, values[k]);
            }
            by.mean = add3(by.mean, by_direction);
        }
        if (magnitude) {
            u.params.statistic[0][splat] +=
                splat_tamed(sums.visible, splat_magnitude_length(sums.magnitude, lens));
            u.params.statistic[1][splat] += sums.visible ? 1.0f : 0.0f;
        }
        move_stored(u, now, splat, sums.visible, shape, opacity, by);
        prepare_splat(u.params, splat);
    }
    if (u.motion_sums) {
        store_motion(u.motion_sums, motion);
    }
}

// ---- another order of splats: a thread per splat and member ----

static __global__ void gather(const float *from, float *to, const uint32_t *origin, const uint8_t *fresh,
                              uint32_t count, uint32_t members)
{
    const uint32_t splat =
        blockIdx.x * ORR_PACK_BLOCK + threadIdx.x % ORR_PACK_BLOCK; // neighbours in memory are in a block
    const uint32_t member = blockIdx.y * (THREADS / ORR_PACK_BLOCK) + threadIdx.x / ORR_PACK_BLOCK;
    if (member < members) {
        const bool keeps = splat < count && !(fresh && fresh[splat]);
        to[member_at(splat, members) + member * ORR_PACK_BLOCK] =
            keeps ? from[member_at(origin[splat], members) + member * ORR_PACK_BLOCK] : 0.0f;
    }
}

// ---- launches ----

void orr_cuda_gather_launch(cudaStream_t stream, const float *from, float *to, const uint32_t *origin,
                            const uint8_t *fresh, uint32_t count, int members)
{
    const dim3 blocks(orr_cuda_blocks(count, ORR_PACK_BLOCK),
                      orr_cuda_blocks((size_t)members, THREADS / ORR_PACK_BLOCK));
    ORR_LAUNCH(gather, blocks, THREADS, 0, stream, from, to, origin, fresh, count, (uint32_t)members);
}

int orr_cuda_update_blocks(uint32_t splats)
{
    return (int)orr_cuda_blocks(splats, THREADS);
}

template <int degree> static void launch_update(cudaStream_t stream, const orr_cuda_update *u)
{
    const unsigned int blocks = (unsigned int)orr_cuda_update_blocks(u->params.count);
    const auto plain = u->rows.magnitude ? update<degree, 1, 0> : update<degree, 0, 0>;
    const auto with_more = u->rows.magnitude ? update<degree, 1, 1> : update<degree, 0, 1>;
    const auto update_splats = u->distorted || u->rows.depth ? with_more : plain;
    ORR_LAUNCH(update_splats, blocks, THREADS, 0, stream, *u);
}

void orr_cuda_update_launch(cudaStream_t stream, const orr_cuda_update *update)
{
    const auto launch = update->params.degree == 0   ? launch_update<0>
                        : update->params.degree == 1 ? launch_update<1>
                        : update->params.degree == 2 ? launch_update<2>
                                                     : launch_update<3>;
    launch(stream, update);
}

void orr_cuda_prepare_launch(cudaStream_t stream, const orr_cuda_splat_params *params)
{
    ORR_LAUNCH(prepare, orr_cuda_blocks(params->count, THREADS), THREADS, 0, stream, *params);
}
