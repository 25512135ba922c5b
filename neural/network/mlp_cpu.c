// The fused MLP in fp32 lanes, compiled once per instruction set.
//
// All three products of a layer are the same sum, C[m][n] = sum over k of A[m][k] B[k][n], with A read one
// number at a time and B a vector at a time:
//
//                    A                      B                      C
//     forward        weights                inputs                 outputs            (n: samples)
//     backward       weights, transposed    output gradients       input gradients    (n: samples)
//     weights        output gradients       inputs, transposed     weight gradients   (n: inputs, k: samples)
//
// A tile of C stays in registers while k runs: 16 sums with AVX-512's 32 registers and 8 with 16 registers,
// which covers the latency of the multiply-add (4 cycles, 2 at a time) and loads less than it multiplies.
#include "engine/core/isa.h"
#include "neural/network/mlp_lanes.h"

enum {
    VECTORS = ORR_SAMPLES / ORR_LANES, // of one member of a block
    TILE_VECTORS = ORR_LANES == 16 ? 4 : 2,
    TILE_ROWS = 4,
    VALUES_MAX = ORR_MLP_DIMS_MAX * ORR_SAMPLES
};

// sum[r][v] += over k: a[r][k] b[k][v]
#define PRODUCT(sum, rows, vectors, a, a_stride, b, b_stride, depth)                                         \
    for (int k = 0; k < (depth); k++) {                                                                      \
        const float *b_row = (b) + (ptrdiff_t)k * (b_stride);                                                \
        real b_value[vectors];                                                                               \
        _Pragma("GCC unroll 16") for (int v = 0; v < (vectors); v++)                                         \
        {                                                                                                    \
            b_value[v] = real_load(b_row + v * ORR_LANES);                                                   \
        }                                                                                                    \
        _Pragma("GCC unroll 16") for (int r = 0; r < (rows); r++)                                            \
        {                                                                                                    \
            real a_value = real_splat((a) + (ptrdiff_t)r * (a_stride) + k);                                  \
            _Pragma("GCC unroll 16") for (int v = 0; v < (vectors); v++)                                     \
            {                                                                                                \
                (sum)[r][v] = fma_(a_value, b_value[v], (sum)[r][v]);                                        \
            }                                                                                                \
        }                                                                                                    \
    }

// to[m][sample] = sum over k of matrix[m][k] from[k][sample] for m < rows, through ReLU or as it is. The
// matrix has rows up to the next multiple of TILE_ROWS.
static void multiply(const float *matrix, int matrix_stride, int depth, const float *from, float *to,
                     int rows, bool relu_after)
{
    for (int m = 0; m < rows; m += TILE_ROWS) {
        const float *a = matrix + (ptrdiff_t)m * matrix_stride;
        for (int first = 0; first < ORR_SAMPLES; first += TILE_VECTORS * ORR_LANES) {
            real sum[TILE_ROWS][TILE_VECTORS] = {0};
            PRODUCT(sum, TILE_ROWS, TILE_VECTORS, a, matrix_stride, from + first, ORR_SAMPLES, depth)
#pragma GCC unroll 16
            for (int r = 0; r < TILE_ROWS; r++) {
                if (m + r < rows) {
#pragma GCC unroll 16
                    for (int v = 0; v < TILE_VECTORS; v++) {
                        real value = relu_after ? relu(sum[r][v]) : sum[r][v];
                        real_store(to + (m + r) * ORR_SAMPLES + first + v * ORR_LANES, value);
                    }
                }
            }
        }
    }
}

// One layer forward: sums, then activation; the sums are kept when `sums` is given.
static void layer_forward(const orr_mlp_layer *layer, orr_activation activation, const float *from, float *to,
                          float *sums, int rows)
{
    multiply(layer->rows, layer->inputs, layer->inputs, from, to, rows, activation == ORR_ACTIVATION_RELU);
    if (activation == ORR_ACTIVATION_RELU) {
        return;
    }
    size_t count = (size_t)rows * ORR_SAMPLES;
    if (sums) {
        memcpy(sums, to, count * sizeof(float));
    }
    activate(activation, to, count);
}

static void forward(const orr_mlp_weights *w, const float *input, float *output, float *activations)
{
    _Alignas(64) float padding[VALUES_MAX], hidden[2][128 * ORR_SAMPLES];
    const orr_mlp *mlp = &w->mlp;
    const orr_mlp_config *config = &mlp->config;
    const float *from = pad_input(mlp, input, padding);
    for (int i = 0; i < config->hidden_layers; i++) {
        float *to = activations ? activations + orr_mlp_value_offset(mlp, i) : hidden[i & 1];
        bool keep = activations && orr_activation_keeps_sums(config->activation);
        layer_forward(&w->layers[i], config->activation, from, to,
                      keep ? activations + orr_mlp_sum_offset(mlp, i) : NULL, config->width);
        from = to;
    }
    bool keep = activations && orr_activation_keeps_sums(config->output_activation);
    layer_forward(&w->layers[w->layer_count - 1], config->output_activation, from, output,
                  keep ? activations + orr_mlp_output_sum_offset(mlp) : NULL, mlp->output_dims);
}

// ---- backward ----

// to[sample][k] = from[k][sample]
static void transpose(const float *from, float *to, int count)
{
    for (int k = 0; k < count; k += ORR_LANES) {
        for (int v = 0; v < VECTORS; v++) {
            real tile[ORR_LANES];
            for (int i = 0; i < ORR_LANES; i++) {
                tile[i] = real_load(from + (k + i) * ORR_SAMPLES + v * ORR_LANES);
            }
            real_transpose(tile);
            for (int i = 0; i < ORR_LANES; i++) {
                real_store(to + (v * ORR_LANES + i) * count + k, tile[i]);
            }
        }
    }
}

// gradient[m][n] += sum over samples of out_gradient[m][sample] in[sample][n], for a whole column of tiles
#define WEIGHT_TILES(tile_rows, tile_vectors)                                                                \
    static void weight_tiles_##tile_vectors(const float *out_gradient, const float *in, int inputs,          \
                                            int rows, float *gradient)                                       \
    {                                                                                                        \
        for (int m = 0; m < rows; m += (tile_rows)) {                                                        \
            real sum[tile_rows][tile_vectors] = {0};                                                         \
            PRODUCT(sum, tile_rows, tile_vectors, out_gradient + m * ORR_SAMPLES, ORR_SAMPLES, in, inputs,   \
                    ORR_SAMPLES)                                                                             \
            _Pragma("GCC unroll 16") for (int r = 0; r < (tile_rows); r++)                                   \
            {                                                                                                \
                _Pragma("GCC unroll 16") for (int v = 0; v < (tile_vectors); v++)                            \
                {                                                                                            \
                    float *to = gradient + (ptrdiff_t)(m + r) * inputs + v * ORR_LANES;                      \
                    real_store(to, real_load(to) + sum[r][v]);                                               \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

// as many sums whatever the number of vectors in a row of inputs
#if ORR_LANES == 16
WEIGHT_TILES(16, 1)
WEIGHT_TILES(8, 2)
WEIGHT_TILES(4, 4)
#else
WEIGHT_TILES(4, 2)
#endif

// rows: a multiple of 16; those without gradient hold zeros
static void add_weight_gradient(const float *out_gradient, const float *in, int inputs, int rows,
                                float *gradient)
{
    for (int n = 0; n < inputs;) {
#if ORR_LANES == 16
        int vectors = (inputs - n) / ORR_LANES;
        if (vectors >= 4) {
            weight_tiles_4(out_gradient, in + n, inputs, rows, gradient + n);
            n += 4 * ORR_LANES;
        } else if (vectors >= 2) {
            weight_tiles_2(out_gradient, in + n, inputs, rows, gradient + n);
            n += 2 * ORR_LANES;
        } else {
            weight_tiles_1(out_gradient, in + n, inputs, rows, gradient + n);
            n += ORR_LANES;
        }
#else
        weight_tiles_2(out_gradient, in + n, inputs, rows, gradient + n);
        n += 2 * ORR_LANES;
#endif
    }
}

static void backward(const orr_mlp_weights *w, const float *input, const float *output,
                     const float *activations, const float *output_gradient, float *weight_gradient,
                     float *input_gradient)
{
    _Alignas(64) float padding[VALUES_MAX], turned[VALUES_MAX], gradients[2][VALUES_MAX];
    const orr_mlp *mlp = &w->mlp;
    const orr_mlp_config *config = &mlp->config;
    const float *padded = pad_input(mlp, input, padding);
    float *out_gradient = gradients[0], *in_gradient = gradients[1]; // of the layer's sums, of its inputs
    size_t count = (size_t)mlp->output_dims * ORR_SAMPLES;
    multiply_slope(config->output_activation, kept_of_output(mlp, activations, output), output_gradient,
                   out_gradient, count);
    memset(out_gradient + count, 0,
           ((size_t)mlp->output_padded * ORR_SAMPLES - count) * sizeof *out_gradient);
    for (int i = w->layer_count - 1; i >= 0; i--) {
        const orr_mlp_layer *layer = &w->layers[i];
        if (weight_gradient) {
            transpose(i > 0 ? activations + orr_mlp_value_offset(mlp, i - 1) : padded, turned, layer->inputs);
            add_weight_gradient(out_gradient, turned, layer->inputs, layer->outputs,
                                weight_gradient + layer->first);
        }
        int depth = i == w->layer_count - 1 ? mlp->output_dims : layer->outputs;
        if (i > 0) {
            multiply(layer->columns, layer->outputs, depth, out_gradient, in_gradient, layer->inputs, false);
            multiply_slope(config->activation, kept_of_hidden(mlp, activations, i - 1), in_gradient,
                           in_gradient, (size_t)layer->inputs * ORR_SAMPLES);
        } else if (input_gradient) {
            multiply(layer->columns, layer->outputs, depth, out_gradient, input_gradient, mlp->input_dims,
                     false);
        }
        float *swap = out_gradient;
        out_gradient = in_gradient;
        in_gradient = swap;
    }
}

static double peak(int rounds, float *sink)
{
    enum { SUMS = 12 };
    real a = real_splat(sink), b = real_splat(sink + 1), sum[SUMS];
#pragma GCC unroll 16
    for (int k = 0; k < SUMS; k++) {
        sum[k] = R(k); // all different: the compiler would compute equal sums once
    }
    for (int i = 0; i < rounds; i++) {
#pragma GCC unroll 16
        for (int k = 0; k < SUMS; k++) {
            sum[k] = fma_(sum[k], a, b);
        }
    }
#pragma GCC unroll 16
    for (int k = 1; k < SUMS; k++) {
        sum[0] += sum[k];
    }
    *sink += real_sum(sum[0]);
    return 2.0 * SUMS * ORR_LANES * rounds;
}

#define KERNELS ORR_ISA_NAME(orr_mlp_kernels)
const orr_mlp_kernels KERNELS = {.forward = forward, .backward = backward, .peak = peak};
