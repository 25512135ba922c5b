// What the schedules of the fused MLP do with lanes besides products: padding, activations, their derivatives.
#pragma once

#include "engine/core/lanes.h"
#include "neural/network/activation_formula.h"
#include "neural/network/mlp_kernels.h"

#include <string.h>

// The input with its padding: itself when there is none, otherwise a copy in `room`.
static inline const float *pad_input(const orr_mlp *mlp, const float *input, float *room)
{
    if (mlp->input_dims == mlp->input_padded) {
        return input;
    }
    size_t given = (size_t)mlp->input_dims * ORR_SAMPLES;
    memcpy(room, input, given * sizeof(float));
    for (size_t i = given; i < (size_t)mlp->input_padded * ORR_SAMPLES; i++) {
        room[i] = mlp->input_padding;
    }
    return room;
}

#define ORR_EACH_LANE(count, expression)                                                                     \
    for (size_t i = 0; i < (count); i += ORR_LANES) {                                                        \
        real x = real_load(values + i);                                                                      \
        real_store(values + i, expression);                                                                  \
    }                                                                                                        \
    break;

// Activates `count` sums where they stand, a multiple of ORR_SAMPLES. ReLU is cheap enough for the registers in which
// the sums are made; this is for the others, right after the sums were stored.
static inline void activate(orr_activation activation, float *values, size_t count)
{
    switch (activation) {
    case ORR_ACTIVATION_NONE:
        break;
    case ORR_ACTIVATION_RELU:
        ORR_EACH_LANE(count, relu(x))
    case ORR_ACTIVATION_LEAKY_RELU:
        ORR_EACH_LANE(count, leaky_relu(x))
    case ORR_ACTIVATION_SILU:
        ORR_EACH_LANE(count, silu(x))
    case ORR_ACTIVATION_EXPONENTIAL:
        ORR_EACH_LANE(count, exponential(x))
    case ORR_ACTIVATION_SINE:
        ORR_EACH_LANE(count, sine(x))
    case ORR_ACTIVATION_SIGMOID:
        ORR_EACH_LANE(count, sigmoid(x))
    case ORR_ACTIVATION_SQUAREPLUS:
        ORR_EACH_LANE(count, squareplus(x))
    case ORR_ACTIVATION_SOFTPLUS:
        ORR_EACH_LANE(count, softplus(x))
    case ORR_ACTIVATION_TANH:
        ORR_EACH_LANE(count, hyperbolic_tangent(x))
    }
}
#undef ORR_EACH_LANE

// `y` stands for the kept sums when the activation needs those
#define ORR_EACH_LANE(count, slope)                                                                          \
    for (size_t i = 0; i < (count); i += ORR_LANES) {                                                        \
        real y = real_load(kept + i);                                                                        \
        real_store(gradients + i, (slope)*real_load(from + i));                                              \
    }                                                                                                        \
    break;

// gradients = from x derivative, lane by lane; kept: the activation's values, or its sums where orr_mlp_keeps_sums.
// `from` may be `gradients`.
static inline void multiply_slope(orr_activation activation, const float *kept, const float *from,
                                  float *gradients, size_t count)
{
    switch (activation) {
    case ORR_ACTIVATION_NONE:
        if (from != gradients) {
            memcpy(gradients, from, count * sizeof(float));
        }
        break;
    case ORR_ACTIVATION_RELU:
        ORR_EACH_LANE(count, relu_slope(y))
    case ORR_ACTIVATION_LEAKY_RELU:
        ORR_EACH_LANE(count, leaky_relu_slope(y))
    case ORR_ACTIVATION_SILU:
        ORR_EACH_LANE(count, silu_slope(y))
    case ORR_ACTIVATION_EXPONENTIAL:
        ORR_EACH_LANE(count, y)
    case ORR_ACTIVATION_SINE:
        ORR_EACH_LANE(count, sine_slope(y))
    case ORR_ACTIVATION_SIGMOID:
        ORR_EACH_LANE(count, sigmoid_slope(y))
    case ORR_ACTIVATION_SQUAREPLUS:
        ORR_EACH_LANE(count, squareplus_slope(y))
    case ORR_ACTIVATION_SOFTPLUS:
        ORR_EACH_LANE(count, softplus_slope(y))
    case ORR_ACTIVATION_TANH:
        ORR_EACH_LANE(count, hyperbolic_tangent_slope(y))
    }
}
#undef ORR_EACH_LANE

// What multiply_slope wants for hidden layer i and for the output.
static inline const float *kept_of_hidden(const orr_mlp *mlp, const float *activations, int i)
{
    bool sums = orr_mlp_keeps_sums(mlp->config.activation);
    return activations + (sums ? orr_mlp_sum_offset(mlp, i) : orr_mlp_value_offset(mlp, i));
}

static inline const float *kept_of_output(const orr_mlp *mlp, const float *activations, const float *output)
{
    bool sums = orr_mlp_keeps_sums(mlp->config.output_activation);
    return sums ? activations + orr_mlp_output_sum_offset(mlp) : output;
}
