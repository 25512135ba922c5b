// An activation by its kind, for C and for kernels.
#pragma once

#include "neural/network/activation_formula.h"
#include "neural/network/config.h"

FN real activation_value(orr_activation kind, real x)
{
    switch (kind) {
    case ORR_ACTIVATION_NONE:
        break;
    case ORR_ACTIVATION_RELU:
        return relu(x);
    case ORR_ACTIVATION_LEAKY_RELU:
        return leaky_relu(x);
    case ORR_ACTIVATION_SILU:
        return silu(x);
    case ORR_ACTIVATION_EXPONENTIAL:
        return exponential(x);
    case ORR_ACTIVATION_SINE:
        return sine(x);
    case ORR_ACTIVATION_SIGMOID:
        return sigmoid(x);
    case ORR_ACTIVATION_SQUAREPLUS:
        return squareplus(x);
    case ORR_ACTIVATION_SOFTPLUS:
        return softplus(x);
    case ORR_ACTIVATION_TANH:
        return hyperbolic_tangent(x);
    }
    return x;
}

// The derivative. kept: the activation's value, or x for those that need it (orr_activation_keeps_sums).
FN real activation_slope(orr_activation kind, real kept)
{
    switch (kind) {
    case ORR_ACTIVATION_NONE:
        break;
    case ORR_ACTIVATION_RELU:
        return relu_slope(kept);
    case ORR_ACTIVATION_LEAKY_RELU:
        return leaky_relu_slope(kept);
    case ORR_ACTIVATION_SILU:
        return silu_slope(kept);
    case ORR_ACTIVATION_EXPONENTIAL:
        return kept;
    case ORR_ACTIVATION_SINE:
        return sine_slope(kept);
    case ORR_ACTIVATION_SIGMOID:
        return sigmoid_slope(kept);
    case ORR_ACTIVATION_SQUAREPLUS:
        return squareplus_slope(kept);
    case ORR_ACTIVATION_SOFTPLUS:
        return softplus_slope(kept);
    case ORR_ACTIVATION_TANH:
        return hyperbolic_tangent_slope(kept);
    }
    return R(1.0);
}
