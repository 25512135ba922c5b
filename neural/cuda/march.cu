// A field as a picture. A warp marches 32 rays, one sample of each at a time: networks are products of the
// whole warp.
//
// Blocks of threads stay until all rays are taken. A warp has 32 rays, each going from sample to sample (over
// empty cells, or by the distance) until at least 24 are at one; then the warp encodes and multiplies as in
// model_kernels.cu, the second network of a radiance field only where a sample shows. A thread whose ray ends
// takes the next ray at once, so that products stay full. What a ray has seen stays in registers; it writes
// its pixel, in front of or behind what is there. Rays that meet a surface wait until 16 do, or no other ray
// continues; the backward pass that finds their normals computes the layers' values again instead of keeping
// them. All formulas are the CPU's (ray_, nerf_, field_formula.h), and a pixel's bits do not depend on the
// thread that took it.
#include "neural/cuda/encode_device.h"
#include "neural/cuda/network_device.h"
#include "neural/cuda/ray_device.h"

enum : int {
    SAMPLES = ORR_CUDA_TILE_SAMPLES,
    ENOUGH = 24, // samples of a warp that are worth a product
    HITS = 16,   // hits on surfaces that are worth a backward pass for their normals
    SCALE = 16   // of gradients while they are halves
};

// What a thread and its warp have in shared memory.
typedef struct workplace {
    const __half *weights, *rgb_weights;
    __half *tile, *rgb_tile; // the inputs of its warp's samples
    int stride, rgb_stride;
    float4 *values;            // the first outputs of its warp's samples
    float *position, *turning; // this thread's: position of the sample, and a gradient
} workplace;

static __host__ __device__ __forceinline__ int stride_of(const orr_cuda_shape *s)
{
    return s->input_padded + ORR_CUDA_WEIGHT_PAD;
}

// ---- networks ----

// The first four of 16 x 16 outputs, sample by sample.
static __device__ __forceinline__ void keep_values(float4 *values, const float outputs[4])
{
    int g = (int)orr_lane() / 4, t = (int)orr_lane() % 4;
    if (t < 2) {
        ((float2 *)(values + g))[t] = make_float2(outputs[0], outputs[1]);
        ((float2 *)(values + g + 8))[t] = make_float2(outputs[2], outputs[3]);
    }
}

// The first outputs of the warp's samples; all 16, as halves, go where the next network reads them.
template <int width>
static __device__ void infer_warp(const orr_cuda_shape *s, const __half *weights, const __half *tile,
                                  int stride, float4 *values, __half *next, int next_stride)
{
    constexpr int rows = tiling<width>::rows, steps = tiling<width>::steps;
    __half *all = (__half *)weights; // resident: nothing is fetched
    __syncwarp();                    // inputs are written, and the values before are no longer read
    for (int row = 0; row < ORR_WARP; row += 16 * rows) {
        uint32_t a[rows][steps][4];
        float outputs[rows][2][4];
        infer_hidden<width>(s, NULL, true, all, tile + row * stride, stride, a);
        infer_outputs<width>(s, weights + layer_of(s, s->hidden_layers).shared_first, tile + row * stride,
                             stride, a, 0, outputs);
        ORR_UNROLL
        for (int r = 0; r < rows; r++) {
            keep_values(values + row + 16 * r, outputs[r][0]);
            if (next) {
                store_values(next, next_stride, row + 16 * r, 0, outputs[r][0]);
                store_values(next, next_stride, row + 16 * r, 8, outputs[r][1]);
            }
        }
    }
    __syncwarp();
}

// From the features of the warp's samples to the gradients of their first output by these, in place, times a
// scale. What the layers had is computed again in the backward pass: it would not fit into registers.
template <int width>
static __device__ void turn_warp(const orr_cuda_shape *s, const __half *weights, __half *tile, int stride)
{
    constexpr int rows = tiling<width>::rows, steps = tiling<width>::steps, count = rows * 2 * steps * 4;
    __half *all = (__half *)weights;
    __syncwarp();
    for (int row = 0; row < ORR_WARP; row += 16 * rows) {
        __half *features = tile + row * stride;
        uint32_t back[rows][steps][4], top[rows][1][4];
        uint32_t one = orr_lane() % 4 == 0 ? orr_pack_halves((float)SCALE, 0.0f) : 0;
        for (int r = 0; r < rows; r++) { // of the first output only
            top[r][0][0] = top[r][0][1] = one;
            top[r][0][2] = top[r][0][3] = 0;
        }
        for (int l = s->hidden_layers; l > 0; l--) {
            const __half *matrix = weights + layer_of(s, l).shared_first;
            float gradients[rows][2 * steps][4], forward[rows][2 * steps][4];
            if (l == s->hidden_layers) {
                multiply_registers<rows, 1, steps, true>(gradients, top, matrix, width + ORR_CUDA_WEIGHT_PAD,
                                                         0);
            } else {
                multiply_registers<rows, steps, steps, true>(gradients, back, matrix,
                                                             width + ORR_CUDA_WEIGHT_PAD, 0);
            }
            infer_sums<width>(s, l, NULL, true, all, features, stride, forward);
            if (!orr_activation_keeps_sums(s->activation)) {
                activate<count>(s->activation, &forward[0][0][0]);
            }
            backward_activation<count>(s->activation, &gradients[0][0][0], &forward[0][0][0]);
            pack_tile<rows, steps>(back, gradients);
        }
        __syncwarp(); // the features are not needed any more
        for (int n = 0; n < s->input_padded; n += 16) {
            float gradients[rows][2][4];
            multiply_registers<rows, steps, 1, true>(gradients, back, weights, stride, n);
            for (int r = 0; r < rows; r++) {
                store_values(features, stride, 16 * r, n, gradients[r][0]);
                store_values(features, stride, 16 * r, n + 8, gradients[r][1]);
            }
        }
    }
    __syncwarp();
}

// ---- samples ----

// The direction's encoding stays in the second network's inputs as long as the ray does.
static __device__ void encode_direction(const orr_cuda_march *m, const march_ray *r, const workplace *w)
{
    __half *row = w->rgb_tile + orr_lane() * w->rgb_stride;
    write_position(w->position, make_real3(direction_input(r->direction.x), direction_input(r->direction.y),
                                           direction_input(r->direction.z)));
    encode_features(&m->rgb, NULL, w->position, row + ORR_NERF_FEATURES);
    pad_row(&m->rgb, row);
}

// Gives every thread of the warp a sample, as far as there are any: most of them are enough.
template <int kind>
static __device__ void find_samples(const orr_cuda_march *m, march_ray *r, const workplace *w, bool *more)
{
    for (bool enough = false; !enough;) {
        bool idle = r->state == RAY_NONE;
        take_rays<kind>(m, r, more);
        if (kind == ORR_FIELD_NERF && idle && r->state == RAY_SEEKING) {
            encode_direction(m, r, w);
        }
        if (r->state == RAY_SEEKING) {
            seek_sample<kind>(m, r, w->position);
        }
        bool pending = r->state == RAY_SEEKING || (r->state == RAY_NONE && *more);
        enough = !__any_sync(ORR_ALL_LANES, pending) ||
                 __popc(__ballot_sync(ORR_ALL_LANES, r->state == RAY_READY)) >= ENOUGH;
    }
}

template <int width>
static __device__ void use_radiance(const orr_cuda_march *m, march_ray *r, const workplace *w)
{
    bool ready = r->state == RAY_READY;
    radiance_sample sample = {0.0f, 0.0f};
    if (ready) {
        float density = radiance_density(w->values[orr_lane()].x);
        sample = radiance_composite(r->transmittance, radiance_alpha(density, r->step));
    }
    bool shows = sample.weight >= R(RADIANCE_WEIGHT_MIN);
    if (__any_sync(ORR_ALL_LANES, shows)) {
        infer_warp<width>(&m->rgb, w->rgb_weights, w->rgb_tile, w->rgb_stride, w->values, NULL, 0);
        if (shows) {
            float4 raw = w->values[orr_lane()];
            real3 colour = {radiance_colour(raw.x), radiance_colour(raw.y), radiance_colour(raw.z)};
            r->light = field_add(r->light, sample.weight, colour, r->t, r->per_distance);
        }
    }
    if (ready) {
        pass_nerf_sample(m, r, sample.transmittance);
    }
}

template <int kind, int width>
static __device__ void use_samples(const orr_cuda_march *m, march_ray *r, const workplace *w)
{
    if (r->state == RAY_READY) {
        encode_sample(&m->network, (const __half *)m->table, w->position, w->tile + orr_lane() * w->stride);
    }
    infer_warp<width>(&m->network, w->weights, w->tile, w->stride, w->values,
                      kind == ORR_FIELD_NERF ? w->rgb_tile : NULL, w->rgb_stride);
    if (kind == ORR_FIELD_NERF) {
        use_radiance<width>(m, r, w);
    } else if (r->state == RAY_READY) {
        float4 value = w->values[orr_lane()];
        if (kind == ORR_FIELD_IMAGE) {
            use_image(m, r, value);
        } else if (kind == ORR_FIELD_SDF) {
            use_distance(m, r, value.x);
        } else {
            use_volume(m, r, value);
        }
    }
}

// The warp's hits get their normals. A hit's features are still in its row.
template <int width>
static __device__ void shade_hits(const orr_cuda_march *m, march_ray *r, const workplace *w)
{
    turn_warp<width>(&m->network, w->weights, w->tile, w->stride);
    if (r->state == RAY_HIT) {
        backward_sample(&m->network, (const __half *)m->table, w->position, w->tile + orr_lane() * w->stride,
                        1.0f, NULL, w->turning);
        real3 gradient = {w->turning[0], w->turning[ORR_SAMPLES], w->turning[2 * ORR_SAMPLES]};
        shade_hit(m, r, gradient);
    }
    __syncwarp(); // before the next features
}

template <int kind, int width> static __global__ void __launch_bounds__(SAMPLES) march(orr_cuda_march m)
{
    enum { POSITIONS = 3 * SAMPLES };
    __shared__ float4 values[SAMPLES];
    __shared__ float positions[POSITIONS], turning[kind == ORR_FIELD_SDF ? POSITIONS : 1];
    ORR_DYNAMIC_SHARED(__half, shared); // weights, then rows of inputs
    const bool nerf = kind == ORR_FIELD_NERF;
    const int warp_first = (int)threadIdx.x / ORR_WARP * ORR_WARP;
    const int at = (int)threadIdx.x / ORR_SAMPLES * 3 * ORR_SAMPLES + (int)threadIdx.x % ORR_SAMPLES;
    __half *rgb_weights = shared + m.network.weight_halves;
    __half *rows = rgb_weights + (nerf ? m.rgb.weight_halves : 0);
    workplace w = {shared, rgb_weights};
    w.stride = stride_of(&m.network);
    w.rgb_stride = nerf ? stride_of(&m.rgb) : 0;
    w.tile = rows + warp_first * w.stride;
    w.rgb_tile = rows + SAMPLES * w.stride + warp_first * w.rgb_stride;
    w.values = values + warp_first;
    w.position = positions + at;
    w.turning = kind == ORR_FIELD_SDF ? turning + at : NULL;
    copy_all_weights(&m.network, (const __half *)m.network_weights, shared);
    if (nerf) {
        copy_all_weights(&m.rgb, (const __half *)m.rgb_weights, rgb_weights);
    }
    march_ray ray = {RAY_NONE};
    for (bool more = true;;) {
        find_samples<kind>(&m, &ray, &w, &more);
        uint32_t ready = __ballot_sync(ORR_ALL_LANES, ray.state == RAY_READY);
        uint32_t hits = __ballot_sync(ORR_ALL_LANES, ray.state == RAY_HIT);
        if (kind == ORR_FIELD_SDF && hits && (!ready || __popc(hits) >= HITS)) {
            shade_hits<width>(&m, &ray, &w);
        } else if (ready) {
            use_samples<kind, width>(&m, &ray, &w);
        } else {
            break;
        }
    }
}

// ---- launches ----

int orr_cuda_march_bytes(const orr_cuda_march *m)
{
    int halves = m->network.weight_halves + SAMPLES * stride_of(&m->network);
    if (m->kind == ORR_FIELD_NERF) {
        halves += m->rgb.weight_halves + SAMPLES * stride_of(&m->rgb);
    }
    return halves * (int)sizeof(__half);
}

template <int kind, int width>
static cudaError_t launch(cudaStream_t stream, const orr_cuda_march *m, int blocks)
{
    int bytes = orr_cuda_march_bytes(m);
    cudaError_t code = cudaFuncSetAttribute((const void *)march<kind, width>,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (code != cudaSuccess) {
        return code;
    }
    ORR_LAUNCH((march<kind, width>), (unsigned int)blocks, SAMPLES, (size_t)bytes, stream, *m);
    return cudaGetLastError();
}

template <int kind> static cudaError_t launch_width(cudaStream_t stream, const orr_cuda_march *m, int blocks)
{
    switch (m->network.width) {
    case 16:
        return launch<kind, 16>(stream, m, blocks);
    case 32:
        return launch<kind, 32>(stream, m, blocks);
    case 64:
        return launch<kind, 64>(stream, m, blocks);
    default:
        return launch<kind, 128>(stream, m, blocks);
    }
}

cudaError_t orr_cuda_march_launch(cudaStream_t stream, const orr_cuda_march *m, int blocks)
{
    switch (m->kind) {
    case ORR_FIELD_IMAGE:
        return launch_width<ORR_FIELD_IMAGE>(stream, m, blocks);
    case ORR_FIELD_SDF:
        return launch_width<ORR_FIELD_SDF>(stream, m, blocks);
    case ORR_FIELD_NERF:
        return launch_width<ORR_FIELD_NERF>(stream, m, blocks);
    default:
        return launch_width<ORR_FIELD_VOLUME>(stream, m, blocks);
    }
}
