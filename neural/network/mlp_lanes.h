// What the schedules of the fused MLP do with lanes besides products: padding, activations, their
// derivatives.
#pragma once

#include "engine/maths/lanes.h"
#include "neural/network/activation_kind.h"
#include "neural/network/mlp_kernels.h"

#include <string.h>

// The input with its padding: itself when there is none, otherwise a copy, made in `copy`.
static inline const float *pad_input(const orr_mlp *mlp, const float *input, float *copy)
{
    if (mlp->input_dims == mlp->input_padded) {
        return input;
    }
    size_t given = (size_t)mlp->input_dims * ORR_SAMPLES;
    memcpy(copy, input, given * sizeof(float));
    for (size_t i = given; i < (size_t)mlp->input_padded * ORR_SAMPLES; i++) {
        copy[i] = mlp->input_padding;
    }
    return copy;
}

// Activates `count` sums in place, a multiple of ORR_SAMPLES. ReLU is cheap enough for the registers in which
// the sums are made; this is for the others, right after the sums were stored.
static inline void activate(orr_activation activation, float *values, size_t count)
{
    for (size_t i = 0; i < count && activation != ORR_ACTIVATION_NONE; i += ORR_LANES) {
        real_store(values + i, activation_value(activation, real_load(values + i)));
    }
}

FN void multiply_slope_lanes(orr_activation activation, const float *kept, const float *from,
                             float *gradients, size_t count)
{
    for (size_t i = 0; i < count; i += ORR_LANES) {
        real_store(gradients + i, activation_slope(activation, real_load(kept + i)) * real_load(from + i));
    }
}

// gradients = from x derivative, lane by lane; kept: the activation's values, or its sums where
// orr_activation_keeps_sums. `from` may be `gradients`.
static inline void multiply_slope(orr_activation activation, const float *kept, const float *from,
                                  float *gradients, size_t count)
{
    if (activation == ORR_ACTIVATION_NONE) {
        if (from != gradients) {
            memcpy(gradients, from, count * sizeof(float));
        }
    } else if (activation ==
               ORR_ACTIVATION_RELU) { // a constant: nothing is chosen within the loop of the commonest
        multiply_slope_lanes(ORR_ACTIVATION_RELU, kept, from, gradients, count);
    } else {
        multiply_slope_lanes(activation, kept, from, gradients, count);
    }
}

// The values of multiply_slope for hidden layer i and for the output.
static inline const float *kept_of_hidden(const orr_mlp *mlp, const float *activations, int i)
{
    bool sums = orr_activation_keeps_sums(mlp->config.activation);
    return activations + (sums ? orr_mlp_sum_offset(mlp, i) : orr_mlp_value_offset(mlp, i));
}

static inline const float *kept_of_output(const orr_mlp *mlp, const float *activations, const float *output)
{
    bool sums = orr_activation_keeps_sums(mlp->config.output_activation);
    return sums ? activations + orr_mlp_output_sum_offset(mlp) : output;
}
