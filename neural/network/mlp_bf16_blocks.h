// The fused MLP with factors in bf16 and sums in fp32: the schedule that mlp_bf16.c and mlp_amx.c share. A
// file that includes this has defined `multiply_strip` and is compiled with AVX-512 BF16.
//
// Factors travel in words of two bf16 numbers, because both machines multiply and add two at a time. Of the
// three products (see mlp_cpu.c) the first factor's words run along k in its rows, and the second's are side
// by side:
//
//     weights            [output][input / 2]       their transpose     [input][output / 2]
//     inputs, gradients  [member / 2][sample]      ("pairs")
//     for weight gradients: out gradients [output][sample / 2], inputs [sample / 2][input]
//
// Activations and gradients that leave a call are fp32, as in the other machines, and are rounded where they
// are read.
#pragma once

#include "neural/network/mlp_lanes.h"

enum {
    VALUES_MAX = ORR_MLP_DIMS_MAX * ORR_SAMPLES,
    STRIP_ROWS = 16,
    STRIP_FLOATS = STRIP_ROWS * ORR_SAMPLES,
    SAMPLE_PAIRS = ORR_SAMPLES / 2
};

// Words of two bf16 from two vectors of floats, lane by lane, rounded to nearest even.
static inline sint pair_words(real low, real high)
{
    __m512i low_half = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)low));
    __m512i high_half = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)high));
    return (sint)_mm512_or_si512(low_half, _mm512_slli_epi32(high_half, 16));
}

// pairs[row / 2][sample] from rows of floats, an even number of them
static inline void pack_pairs(const float *from, uint32_t *pairs, int rows, bool relu_before)
{
    for (int i = 0; i < rows; i += 2, from += 2 * ORR_SAMPLES, pairs += ORR_SAMPLES) {
        for (int s = 0; s < ORR_SAMPLES; s += ORR_LANES) {
            real low = real_load(from + s), high = real_load(from + ORR_SAMPLES + s);
            sint words = relu_before ? pair_words(relu(low), relu(high)) : pair_words(low, high);
            sint_store((int32_t *)pairs + s, words);
        }
    }
}

// Products run over a depth that is a multiple of 32: zeros for the rest.
static inline void clear_tail(uint32_t *pairs, int rows)
{
    if (rows % 32) {
        memset(pairs + rows / 2 * ORR_SAMPLES, 0, sizeof(uint32_t) * 8 * ORR_SAMPLES);
    }
}

// words[row][sample / 2] from a row of floats
static inline void pack_row(const float *from, uint32_t *words)
{
    for (int s = 0; s < ORR_SAMPLES; s += 2 * ORR_LANES) {
        real low = real_load(from + s), high = real_load(from + s + ORR_LANES);
        sint_store((int32_t *)words + s / 2, (sint)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low));
    }
}

// words[sample / 2][k] from rows [k][sample] of floats, a multiple of 16 of them
static inline void pack_transposed(const float *from, uint32_t *words, int rows)
{
    for (int k = 0; k < rows; k += ORR_LANES) {
        uint32_t packed[ORR_LANES][SAMPLE_PAIRS];
        for (int i = 0; i < ORR_LANES; i++) {
            pack_row(from + (k + i) * ORR_SAMPLES, packed[i]);
        }
        for (int s = 0; s < SAMPLE_PAIRS; s += ORR_LANES) {
            real tile[ORR_LANES];
            for (int i = 0; i < ORR_LANES; i++) {
                tile[i] = (real)sint_load((const int32_t *)packed[i] + s);
            }
            real_transpose(tile);
            for (int i = 0; i < ORR_LANES; i++) {
                sint_store((int32_t *)words + (s + i) * rows + k, (sint)tile[i]);
            }
        }
    }
}

// A hidden layer: 16 outputs at a time, from sums to the pairs of the next layer.
static void hidden_forward(const orr_mlp *mlp, const orr_mlp_layer *layer, const uint32_t *from, uint32_t *to,
                           float *values, float *sums)
{
    _Alignas(64) float strip[STRIP_FLOATS];
    orr_activation activation = mlp->config.activation;
    int stride = (layer->inputs + 31) / 32 * 16;
    bool in_registers = !values && activation == ORR_ACTIVATION_RELU;
    for (int m = 0; m < layer->outputs; m += STRIP_ROWS) {
        float *at = values ? values + m * ORR_SAMPLES : strip;
        multiply_strip(at, (const uint32_t *)layer->rows + m * stride, stride, from, ORR_SAMPLES,
                       layer->inputs / 2, ORR_SAMPLES);
        if (sums) {
            memcpy(sums + m * ORR_SAMPLES, at, sizeof strip);
        }
        if (!in_registers) {
            activate(activation, at, STRIP_FLOATS);
        }
        pack_pairs(at, to + m / 2 * ORR_SAMPLES, STRIP_ROWS, in_registers);
    }
    clear_tail(to, layer->outputs);
}

// to[m][sample] for m < rows, of a matrix with rows up to the next multiple of 16
static void multiply(const uint32_t *matrix, int stride, const uint32_t *pairs, int depth, float *to,
                     int rows)
{
    _Alignas(64) float strip[STRIP_FLOATS];
    for (int m = 0; m < rows; m += STRIP_ROWS) {
        bool whole = rows - m >= STRIP_ROWS;
        float *at = whole ? to + m * ORR_SAMPLES : strip;
        multiply_strip(at, matrix + m * stride, stride, pairs, ORR_SAMPLES, depth / 2, ORR_SAMPLES);
        if (!whole) {
            memcpy(to + m * ORR_SAMPLES, strip, sizeof(float) * (size_t)(rows - m) * ORR_SAMPLES);
        }
    }
}

static void forward_blocks(const orr_mlp_weights *w, const float *input, float *output, float *activations)
{
    _Alignas(64) float padding[VALUES_MAX];
    _Alignas(64) uint32_t pairs[2][VALUES_MAX / 2];
    const orr_mlp *mlp = &w->mlp;
    const orr_mlp_config *config = &mlp->config;
    pack_pairs(pad_input(mlp, input, padding), pairs[0], mlp->input_padded, false);
    clear_tail(pairs[0], mlp->input_padded);
    for (int i = 0; i < config->hidden_layers; i++) {
        bool keep = activations && orr_activation_keeps_sums(config->activation);
        hidden_forward(mlp, &w->layers[i], pairs[i & 1], pairs[~i & 1],
                       activations ? activations + orr_mlp_value_offset(mlp, i) : NULL,
                       keep ? activations + orr_mlp_sum_offset(mlp, i) : NULL);
    }
    const orr_mlp_layer *last = &w->layers[w->layer_count - 1];
    multiply(last->rows, (last->inputs + 31) / 32 * 16, pairs[config->hidden_layers & 1], last->inputs,
             output, mlp->output_dims);
    size_t count = (size_t)mlp->output_dims * ORR_SAMPLES;
    if (activations && orr_activation_keeps_sums(config->output_activation)) {
        memcpy(activations + orr_mlp_output_sum_offset(mlp), output, count * sizeof(float));
    }
    activate(config->output_activation, output, count);
}

static void add_weight_gradient(const float *out_gradient, const float *in, const orr_mlp_layer *layer,
                                float *gradient)
{
    _Alignas(64) uint32_t turned[VALUES_MAX / 2], rows[STRIP_ROWS * SAMPLE_PAIRS];
    _Alignas(64) float strip[STRIP_FLOATS];
    int inputs = layer->inputs;
    pack_transposed(in, turned, inputs);
    for (int m = 0; m < layer->outputs; m += STRIP_ROWS) {
        for (int r = 0; r < STRIP_ROWS; r++) {
            pack_row(out_gradient + (m + r) * ORR_SAMPLES, rows + r * SAMPLE_PAIRS);
        }
        for (int n = 0; n < inputs; n += ORR_SAMPLES) {
            int columns = inputs - n < ORR_SAMPLES ? inputs - n : ORR_SAMPLES;
            multiply_strip(strip, rows, SAMPLE_PAIRS, turned + n, inputs, SAMPLE_PAIRS, columns);
            for (int r = 0; r < STRIP_ROWS; r++) {
                float *to = gradient + (ptrdiff_t)(m + r) * inputs + n;
                for (int c = 0; c < columns; c += ORR_LANES) {
                    real_store(to + c, real_load(to + c) + real_load(strip + r * ORR_SAMPLES + c));
                }
            }
        }
    }
}

static void backward_blocks(const orr_mlp_weights *w, const float *input, const float *output,
                            const float *activations, const float *output_gradient, float *weight_gradient,
                            float *input_gradient)
{
    _Alignas(64) float padding[VALUES_MAX], gradients[VALUES_MAX];
    _Alignas(64) uint32_t pairs[VALUES_MAX / 2];
    const orr_mlp *mlp = &w->mlp;
    const orr_mlp_config *config = &mlp->config;
    const float *padded = pad_input(mlp, input, padding);
    size_t count = (size_t)mlp->output_dims * ORR_SAMPLES;
    multiply_slope(config->output_activation, kept_of_output(mlp, activations, output), output_gradient,
                   gradients, count);
    memset(gradients + count, 0, ((size_t)mlp->output_padded * ORR_SAMPLES - count) * sizeof(float));
    for (int i = w->layer_count - 1; i >= 0; i--) {
        const orr_mlp_layer *layer = &w->layers[i];
        if (weight_gradient) {
            add_weight_gradient(gradients, i > 0 ? activations + orr_mlp_value_offset(mlp, i - 1) : padded,
                                layer, weight_gradient + layer->first);
        }
        if (i == 0 && !input_gradient) {
            break;
        }
        pack_pairs(gradients, pairs, layer->outputs, false);
        clear_tail(pairs, layer->outputs);
        multiply(layer->columns, (layer->outputs + 31) / 32 * 16, pairs, layer->outputs,
                 i > 0 ? gradients : input_gradient, i > 0 ? layer->inputs : mlp->input_dims);
        if (i > 0) {
            multiply_slope(config->activation, kept_of_hidden(mlp, activations, i - 1), gradients, gradients,
                           (size_t)layer->inputs * ORR_SAMPLES);
        }
    }
}
