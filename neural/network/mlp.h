// Fully fused multilayer perceptrons: no biases, widths 16, 32, 64, 128, evaluated block by block with all
// weights and activations in cache (Müller 2021, "Real-time neural radiance caching", section on fully fused
// networks).
#pragma once

#include "neural/network/block.h"
#include "neural/network/config.h"

enum { ORR_MLP_DIMS_MAX = 512, ORR_MLP_LAYERS_MAX = 17 }; // inputs or outputs; matrices: hidden layers + 1

// A network's shape. Its parameters are stored as tiny-cuda-nn stores them, so that its files can be read:
// one matrix after the other from input to output, each row-major with one row per output: width x
// input_padded, then width x width for each further hidden layer, then output_padded x width. Without hidden
// layers there is one matrix, output_padded x input_padded. Rows beyond output_dims are stored, and neither
// used nor changed.
//
// Columns beyond input_dims multiply `input_padding`. In tiny-cuda-nn the encoding decides: grids are padded
// with 0 and all other encodings with 1, which makes the column a bias that is learnt like any other weight.
// orr_mlp_create sets 0; set it to 1 before the first use of the shape for a network behind another encoding.
// (Spherical harmonics are padded in front; that is for the caller, which then passes the ones as inputs.)
typedef struct orr_mlp {
    orr_mlp_config config;
    int input_dims, output_dims;     // 1 .. ORR_MLP_DIMS_MAX
    int input_padded, output_padded; // the next multiple of 16
    float input_padding;
    int64_t parameter_count;
} orr_mlp;

// ORR_ERROR_ARGUMENT names what is out of range.
orr_result orr_mlp_create(const orr_mlp_config *config, int input_dims, int output_dims, orr_mlp *mlp,
                          orr_error *error);
// Xavier uniform (Glorot and Bengio 2010) per matrix: drawn in the order of the parameters, a pure function
// of the seed.
void orr_mlp_initialise(const orr_mlp *mlp, uint32_t seed, float *weights);

// How the products are computed: what the CPU has, from the most exact to the fastest.
typedef enum orr_mlp_machine {
    ORR_MLP_FP32 = 0, // lanes of the instruction set
    ORR_MLP_BF16,     // AVX-512 BF16 dot products, fp32 sums
    ORR_MLP_AMX       // AMX bf16 tiles, fp32 sums
} orr_mlp_machine;
enum { ORR_MLP_MACHINE_COUNT = ORR_MLP_AMX + 1 };

// The fastest this CPU has; ORR_MLP=fp32|bf16|amx in the environment forces one. bf16 and amx need the avx512
// level.
orr_result orr_mlp_machine_choose(orr_isa isa, orr_mlp_machine *machine, orr_error *error);
bool orr_mlp_machine_available(orr_isa isa, orr_mlp_machine machine);
const char *orr_mlp_machine_name(orr_mlp_machine machine);

// Weights in the layout of a machine, made once per step from the fp32 master weights; after that, any number
// of threads may evaluate. The machine must be available.
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

// One block: output_gradient (output_dims x ORR_SAMPLES) is d loss / d output, zero for samples that do not
// count. Adds to weight_gradient (parameter_count floats; NULL: not computed) and writes input_gradient
// (input_dims x ORR_SAMPLES; NULL: not computed). `input` and `output` are those of the forward pass.
void orr_mlp_backward(const orr_mlp_weights *weights, const float *input, const float *output,
                      const float *activations, const float *output_gradient, float *weight_gradient,
                      float *input_gradient);
