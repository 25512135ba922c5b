// Fully fused multilayer perceptrons: no biases, widths 16, 32, 64, 128, evaluated block by block with all weights and
// activations in cache (Müller 2021, "Real-time neural radiance caching", section on fully fused networks).
#pragma once

#include "neural/block.h"
#include "neural/config.h"

typedef struct orr_mlp {
    orr_mlp_config config;
    int input_dims; // padded to a multiple of 16 in storage; padding inputs are 0 (tiny-cuda-nn pads with 1; see .c)
    int output_dims; // padded to a multiple of 16 in storage
    int input_padded, output_padded;
    int64_t
        parameter_count; // as stored: width x input_padded, then width x width ..., then output_padded x width
} orr_mlp;

orr_result orr_mlp_create(const orr_mlp_config *config, int input_dims, int output_dims, orr_mlp *mlp,
                          orr_error *error);
// Xavier uniform, a pure function of the seed.
void orr_mlp_initialise(const orr_mlp *mlp, uint32_t seed, float *weights);

// How the products are computed: what the CPU has, from the most exact to the fastest.
typedef enum orr_mlp_machine {
    ORR_MLP_FP32 = 0, // lanes of the instruction set
    ORR_MLP_BF16,     // AVX-512 BF16 dot products, fp32 sums
    ORR_MLP_AMX       // AMX bf16 tiles, fp32 sums
} orr_mlp_machine;

// The fastest this CPU has; ORR_MLP=fp32|bf16|amx in the environment forces one.
orr_result orr_mlp_machine_choose(orr_isa isa, orr_mlp_machine *machine, orr_error *error);
const char *orr_mlp_machine_name(orr_mlp_machine machine);

// Weights as a machine wants them, made once per step from the fp32 master weights.
typedef struct orr_mlp_weights orr_mlp_weights;
orr_result orr_mlp_weights_create(const orr_mlp *mlp, orr_isa isa, orr_mlp_machine machine,
                                  orr_mlp_weights **weights, orr_error *error);
void orr_mlp_weights_set(orr_mlp_weights *weights, const float *master);
void orr_mlp_weights_destroy(orr_mlp_weights *weights);

// Floats of scratch one block needs for orr_mlp_forward with `activations`.
size_t orr_mlp_activation_floats(const orr_mlp *mlp);

// One block. input: input_dims x ORR_SAMPLES; output: output_dims x ORR_SAMPLES.
// activations: NULL for inference, otherwise scratch that orr_mlp_backward reads. 64-byte aligned throughout.
void orr_mlp_forward(const orr_mlp_weights *weights, const float *input, float *output, float *activations);

// One block: output_gradient (output_dims x ORR_SAMPLES) is d loss / d output, zero for samples that do not count.
// Adds to weight_gradient (parameter_count floats; NULL: not wanted) and writes input_gradient (input_dims x ORR_SAMPLES;
// NULL: not wanted). `input` and `output` are those of the forward pass.
void orr_mlp_backward(const orr_mlp_weights *weights, const float *input, const float *output,
                      const float *activations, const float *output_gradient, float *weight_gradient,
                      float *input_gradient);
