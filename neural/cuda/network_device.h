// A layer of a network on tensor cores, for kernels: products between matrices of halves in shared memory and
// registers.
//
// A warp has 32 samples (rows of a tile in shared memory, each padded so that eight rows lie in different
// banks) and works on them 16 at a time, `rows` times over at once. Weights are as stored: [outputs][inputs],
// rows padded too.
#pragma once

#include "engine/device/cuda_matrix.h"

extern "C" {
#include "neural/cuda/model_pass.h"
}
#include "neural/network/activation_kind.h"

enum : int { WARPS = ORR_CUDA_TILE_SAMPLES / ORR_WARP };

template <int width> struct tiling {
    enum : int {
        rows =
            width == 128 ? 1 : 2, // times 16 samples whose sums are in registers at once: 64 of them per lane
        steps = width / 16        // of a sum over the layer before
    };
};

// the 16 x 16 halves at (row, column) of a matrix, as A
static __device__ __forceinline__ void load_a(uint32_t a[4], const __half *matrix, int stride, int row,
                                              int column)
{
    int lane = (int)orr_lane();
    orr_matrix_load(a, matrix + (row + lane % 16) * stride + column + lane / 16 * 8);
}

// Weights as B of two products: for inputs k .. k + 15 and outputs n .. n + 15.
static __device__ __forceinline__ void load_b(uint32_t b[4], const __half *weights, int stride, int n, int k)
{
    int lane = (int)orr_lane();
    orr_matrix_load(b, weights + (n + lane / 16 * 8 + lane % 8) * stride + k + lane / 8 % 2 * 8);
}

// The same for the backward pass: from outputs k .. k + 15 to inputs n .. n + 15.
static __device__ __forceinline__ void load_b_transposed(uint32_t b[4], const __half *weights, int stride,
                                                         int n, int k)
{
    int lane = (int)orr_lane();
    orr_matrix_load_transposed(b, weights + (k + lane % 16) * stride + n + lane / 16 * 8);
}

// sums = tile (16 rows x 16 k_steps) times weights, for 16 `pairs` outputs from `first`
template <int rows, int pairs, bool backward>
static __device__ __forceinline__ void multiply_tile(float sums[rows][2 * pairs][4], const __half *tile,
                                                     int tile_stride, int k_steps, const __half *weights,
                                                     int stride, int first)
{
    ORR_UNROLL
    for (int r = 0; r < rows; r++) {
        ORR_UNROLL
        for (int n = 0; n < 2 * pairs; n++) {
            sums[r][n][0] = sums[r][n][1] = sums[r][n][2] = sums[r][n][3] = 0.0f;
        }
    }
    for (int k = 0; k < k_steps; k++) {
        uint32_t a[rows][4];
        ORR_UNROLL
        for (int r = 0; r < rows; r++) {
            load_a(a[r], tile, tile_stride, 16 * r, 16 * k);
        }
        ORR_UNROLL
        for (int p = 0; p < pairs; p++) {
            uint32_t b[4];
            if (backward) {
                load_b_transposed(b, weights, stride, first + 16 * p, 16 * k);
            } else {
                load_b(b, weights, stride, first + 16 * p, 16 * k);
            }
            ORR_UNROLL
            for (int r = 0; r < rows; r++) {
                orr_matrix_multiply(sums[r][2 * p], a[r], b);
                orr_matrix_multiply(sums[r][2 * p + 1], a[r], b + 2);
            }
        }
    }
}

// The same with the tile in registers, as pack_tile makes it.
template <int rows, int k_steps, int pairs, bool backward = false>
static __device__ __forceinline__ void multiply_registers(float sums[rows][2 * pairs][4],
                                                          uint32_t a[rows][k_steps][4], const __half *weights,
                                                          int stride, int first)
{
    ORR_UNROLL
    for (int p = 0; p < pairs; p++) {
        ORR_UNROLL
        for (int r = 0; r < rows; r++) {
            ORR_UNROLL
            for (int i = 0; i < 4; i++) {
                sums[r][2 * p][i] = sums[r][2 * p + 1][i] = 0.0f;
            }
        }
        ORR_UNROLL
        for (int k = 0; k < k_steps; k++) {
            uint32_t b[4];
            if (backward) {
                load_b_transposed(b, weights, stride, first + 16 * p, 16 * k);
            } else {
                load_b(b, weights, stride, first + 16 * p, 16 * k);
            }
            ORR_UNROLL
            for (int r = 0; r < rows; r++) {
                orr_matrix_multiply(sums[r][2 * p], a[r][k], b);
                orr_matrix_multiply(sums[r][2 * p + 1], a[r][k], b + 2);
            }
        }
    }
}

// One layer's values as the next one's A: the part of C that a lane has is what it needs of A.
template <int rows, int k_steps>
static __device__ __forceinline__ void pack_tile(uint32_t a[rows][k_steps][4],
                                                 float values[rows][2 * k_steps][4])
{
    ORR_UNROLL
    for (int r = 0; r < rows; r++) {
        ORR_UNROLL
        for (int k = 0; k < k_steps; k++) {
            float *left = values[r][2 * k], *right = values[r][2 * k + 1];
            a[r][k][0] = orr_pack_halves(left[0], left[1]);
            a[r][k][1] = orr_pack_halves(left[2], left[3]);
            a[r][k][2] = orr_pack_halves(right[0], right[1]);
            a[r][k][3] = orr_pack_halves(right[2], right[3]);
        }
    }
}

// Writes 16 x 8 values as halves into a tile, and reads them back.
static __device__ __forceinline__ void store_values(__half *tile, int stride, int row, int column,
                                                    const float values[4])
{
    int g = (int)orr_lane() / 4, t = (int)orr_lane() % 4;
    __half *at = tile + (row + g) * stride + column + 2 * t;
    *(__half2 *)at = __floats2half2_rn(values[0], values[1]);
    *(__half2 *)(at + 8 * stride) = __floats2half2_rn(values[2], values[3]);
}

static __device__ __forceinline__ void load_values(const __half *tile, int stride, int row, int column,
                                                   float values[4])
{
    int g = (int)orr_lane() / 4, t = (int)orr_lane() % 4;
    const __half *at = tile + (row + g) * stride + column + 2 * t;
    float2 upper = __half22float2(*(const __half2 *)at),
           lower = __half22float2(*(const __half2 *)(at + 8 * stride));
    values[0] = upper.x;
    values[1] = upper.y;
    values[2] = lower.x;
    values[3] = lower.y;
}

// ---- activations ----

// The activation's values, or (kept: what activation_slope takes) gradients by the values turned into those
// by the sums.
template <int count, orr_activation kind>
static __device__ __forceinline__ void apply_activation(float *values, const float *kept)
{
    ORR_UNROLL
    for (int i = 0; i < count; i++) {
        values[i] = kept ? values[i] * activation_slope(kind, kept[i]) : activation_value(kind, values[i]);
    }
}

// The kind becomes a constant here, so that nothing is chosen value by value.
template <int count>
static __device__ __forceinline__ void apply_activation_kind(orr_activation kind, float *values,
                                                             const float *kept)
{
    switch (kind) {
    case ORR_ACTIVATION_NONE:
        break;
    case ORR_ACTIVATION_RELU:
        return apply_activation<count, ORR_ACTIVATION_RELU>(values, kept);
    case ORR_ACTIVATION_LEAKY_RELU:
        return apply_activation<count, ORR_ACTIVATION_LEAKY_RELU>(values, kept);
    case ORR_ACTIVATION_SILU:
        return apply_activation<count, ORR_ACTIVATION_SILU>(values, kept);
    case ORR_ACTIVATION_EXPONENTIAL:
        return apply_activation<count, ORR_ACTIVATION_EXPONENTIAL>(values, kept);
    case ORR_ACTIVATION_SINE:
        return apply_activation<count, ORR_ACTIVATION_SINE>(values, kept);
    case ORR_ACTIVATION_SIGMOID:
        return apply_activation<count, ORR_ACTIVATION_SIGMOID>(values, kept);
    case ORR_ACTIVATION_SQUAREPLUS:
        return apply_activation<count, ORR_ACTIVATION_SQUAREPLUS>(values, kept);
    case ORR_ACTIVATION_SOFTPLUS:
        return apply_activation<count, ORR_ACTIVATION_SOFTPLUS>(values, kept);
    case ORR_ACTIVATION_TANH:
        return apply_activation<count, ORR_ACTIVATION_TANH>(values, kept);
    }
}

template <int count> static __device__ __forceinline__ void activate(orr_activation kind, float *values)
{
    apply_activation_kind<count>(kind, values, NULL);
}

// values: gradients by the activation's values, and then by the sums that went in. kept: those values, or the
// sums (orr_activation_keeps_sums)
template <int count>
static __device__ __forceinline__ void backward_activation(orr_activation kind, float *values,
                                                           const float *kept)
{
    apply_activation_kind<count>(kind, values, kept);
}

// ---- weights ----

typedef struct layer {
    int inputs, outputs; // padded
    int64_t first;       // among the parameters, and among the padded rows in shared memory
    int64_t shared_first;
} layer;

static __host__ __device__ __forceinline__ layer layer_of(const orr_cuda_shape *s, int l)
{
    layer a;
    a.inputs = l == 0 ? s->input_padded : s->width;
    a.outputs = l == s->hidden_layers ? s->output_padded : s->width;
    int first_outputs = s->hidden_layers == 0 ? s->output_padded : s->width, before = l > 0 ? l - 1 : 0;
    a.first = l == 0 ? 0 : (int64_t)s->input_padded * first_outputs + (int64_t)before * s->width * s->width;
    int rows = l == 0 ? 0 : first_outputs + before * s->width; // and their padding
    a.shared_first = a.first + (int64_t)rows * ORR_CUDA_WEIGHT_PAD;
    return a;
}

// The whole thread block copies a layer's weights, 16 bytes at a time.
static __device__ void copy_weights(const __half *weights, layer a, __half *to)
{
    const uint4 *from = (const uint4 *)(weights + a.first);
    int pieces = a.inputs / 8; // of a row
    for (int i = (int)threadIdx.x; i < a.outputs * pieces; i += ORR_CUDA_TILE_SAMPLES) {
        int row = i / pieces, column = 8 * (i % pieces);
        *(uint4 *)(to + row * (a.inputs + ORR_CUDA_WEIGHT_PAD) + column) = __ldg(from + i);
    }
}

static __device__ void copy_all_weights(const orr_cuda_shape *s, const __half *weights, __half *to)
{
    for (int l = 0; l <= s->hidden_layers; l++) {
        layer a = layer_of(s, l);
        copy_weights(weights, a, to + a.shared_first);
    }
    __syncthreads();
}

// A layer's weights in shared memory: where all are, or fetched now, by the whole thread block.
static __device__ __forceinline__ const __half *fetch_weights(const __half *weights, layer a, bool resident,
                                                              __half *shared)
{
    if (resident) {
        return shared + a.shared_first;
    }
    __syncthreads(); // those before are no longer read
    copy_weights(weights, a, shared);
    __syncthreads();
    return shared;
}

// ---- values ----

// The first `layers` of the hidden layers of `rows` x 16 samples, in registers from the first to the last;
// `sums` are those of the last one, before its activation. There is at least one.
template <int width>
static __device__ __forceinline__ void
infer_sums(const orr_cuda_shape *s, int layers, const __half *all, bool resident, __half *shared,
           const __half *tile, int tile_stride, float sums[tiling<width>::rows][2 * tiling<width>::steps][4])
{
    constexpr int rows = tiling<width>::rows, steps = tiling<width>::steps;
    const __half *weights = fetch_weights(all, layer_of(s, 0), resident, shared);
    multiply_tile<rows, steps, false>(sums, tile, tile_stride, s->input_padded / 16, weights,
                                      s->input_padded + ORR_CUDA_WEIGHT_PAD, 0);
    for (int l = 1; l < layers; l++) {
        uint32_t a[rows][steps][4];
        activate<rows * 2 * steps * 4>(s->activation, &sums[0][0][0]);
        pack_tile<rows, steps>(a, sums);
        weights = fetch_weights(all, layer_of(s, l), resident, shared);
        multiply_registers<rows, steps, steps>(sums, a, weights, width + ORR_CUDA_WEIGHT_PAD, 0);
    }
}

// All hidden layers, ready for the outputs; `a` is undefined where there are none.
template <int width>
static __device__ __forceinline__ void infer_hidden(const orr_cuda_shape *s, const __half *all, bool resident,
                                                    __half *shared, const __half *tile, int tile_stride,
                                                    uint32_t a[tiling<width>::rows][tiling<width>::steps][4])
{
    constexpr int rows = tiling<width>::rows, steps = tiling<width>::steps;
    if (s->hidden_layers > 0) {
        float sums[rows][2 * steps][4];
        infer_sums<width>(s, s->hidden_layers, all, resident, shared, tile, tile_stride, sums);
        activate<rows * 2 * steps * 4>(s->activation, &sums[0][0][0]);
        pack_tile<rows, steps>(a, sums);
    }
}

// 16 outputs from `first` on, from the last hidden layer, or from the tile where there is none. weights: of
// the last layer.
template <int width>
static __device__ __forceinline__ void infer_outputs(const orr_cuda_shape *s, const __half *weights,
                                                     const __half *tile, int tile_stride,
                                                     uint32_t a[tiling<width>::rows][tiling<width>::steps][4],
                                                     int first, float values[tiling<width>::rows][2][4])
{
    constexpr int rows = tiling<width>::rows, steps = tiling<width>::steps;
    if (s->hidden_layers == 0) {
        multiply_tile<rows, 1, false>(values, tile, tile_stride, s->input_padded / 16, weights,
                                      s->input_padded + ORR_CUDA_WEIGHT_PAD, first);
    } else {
        multiply_registers<rows, steps, 1>(values, a, weights, width + ORR_CUDA_WEIGHT_PAD, first);
    }
    activate<rows * 8>(s->output_activation, &values[0][0][0]);
}

// ---- gradients of weights ----

// The thread block adds gradient^T x tile over all its samples to sums[outputs][inputs], which it alone has;
// `begin`: they are undefined yet. Each warp has 16 outputs x 32 inputs at a time.
static __device__ __forceinline__ void add_weight_gradient(const __half *gradient, int gradient_stride,
                                                           const __half *tile, int tile_stride, layer a,
                                                           float *sums, bool begin)
{
    int lane = (int)orr_lane(), g = lane / 4, t = lane % 4;
    int columns = (a.inputs + 31) / 32, pieces = a.outputs / 16 * columns;
    for (int piece = (int)threadIdx.x / ORR_WARP; piece < pieces; piece += WARPS) {
        int output = piece / columns * 16, input = piece % columns * 32;
        bool both = input + 16 < a.inputs;
        float c[4][4] = {{0.0f}};
        for (int k = 0; k < ORR_CUDA_TILE_SAMPLES; k += 16) {
            uint32_t x[4], b[4];
            orr_matrix_load_transposed(x, gradient + (k + lane / 16 * 8 + lane % 8) * gradient_stride +
                                              output + lane / 8 % 2 * 8);
            load_b_transposed(b, tile, tile_stride, input, k);
            orr_matrix_multiply(c[0], x, b);
            orr_matrix_multiply(c[1], x, b + 2);
            if (both) {
                load_b_transposed(b, tile, tile_stride, input + 16, k);
                orr_matrix_multiply(c[2], x, b);
                orr_matrix_multiply(c[3], x, b + 2);
            }
        }
        ORR_UNROLL
        for (int n = 0; n < 4; n++) {
            if (n < 2 || both) {
                ORR_UNROLL
                for (int half = 0; half < 2; half++) {
                    float2 *at = (float2 *)(sums + (int64_t)(output + g + 8 * half) * a.inputs + input +
                                            8 * n + 2 * t);
                    float2 old = begin ? make_float2(0.0f, 0.0f) : *at;
                    *at = make_float2(old.x + c[n][2 * half], old.y + c[n][2 * half + 1]);
                }
            }
        }
    }
}
