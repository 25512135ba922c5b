// The multilayer perceptron in double, one sample after the other, with libm: the reference of the fused
// machines.
#pragma once

#include "neural/network/mlp.h"

// bf16: factors of products are rounded to bf16 where the bf16 machines round them, and nothing else is.
// input: input_dims x ORR_SAMPLES; output: output_dims x ORR_SAMPLES.
void mlp_reference_forward(const orr_mlp *mlp, bool bf16, const double *weights, const double *input,
                           double *output);
// Adds to weight_gradient (parameter_count) and writes input_gradient (input_dims x ORR_SAMPLES).
void mlp_reference_backward(const orr_mlp *mlp, bool bf16, const double *weights, const double *input,
                            const double *output_gradient, double *weight_gradient, double *input_gradient);
