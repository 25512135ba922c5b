// Inside the fused MLP: what its schedules (mlp_cpu.c, mlp_bf16.c, mlp_amx.c) share with mlp.c.
#pragma once

#include "neural/network/mlp.h"

// One matrix of the network, sizes padded. `rows` is the matrix as stored, [outputs][inputs], for the forward
// pass; `columns` its transpose, [inputs][outputs], for the backward pass. fp32: floats, rows as long as
// their name says. bf16: 16-bit numbers, each row filled up with zeros to a multiple of 32.
typedef struct orr_mlp_layer {
    int inputs, outputs;
    int64_t first; // among the parameters
    void *rows, *columns;
} orr_mlp_layer;

typedef struct orr_mlp_kernels {
    bool bf16;
    void (*forward)(const orr_mlp_weights *weights, const float *input, float *output, float *activations);
    void (*backward)(const orr_mlp_weights *weights, const float *input, const float *output,
                     const float *activations, const float *output_gradient, float *weight_gradient,
                     float *input_gradient);
    // The multiply-adds of the products with nothing to load or to store: what the machine could do at most.
    // Returns the number of floating-point operations; sums go to *sink.
    double (*peak)(int rounds, float *sink);
} orr_mlp_kernels;

struct orr_mlp_weights {
    orr_mlp mlp;
    const orr_mlp_kernels *kernels;
    int layer_count;
    orr_mlp_layer layers[ORR_MLP_LAYERS_MAX];
    void *memory; // of all rows and columns
};

extern const orr_mlp_kernels orr_mlp_kernels_baseline, orr_mlp_kernels_avx2, orr_mlp_kernels_avx512;
extern const orr_mlp_kernels orr_mlp_kernels_bf16, orr_mlp_kernels_amx;

const orr_mlp_kernels *orr_mlp_kernels_of(orr_isa isa, orr_mlp_machine machine);

// Creates the weights for these kernels, whatever the CPU supports: for orr_mlp_weights_create, and for the
// test that runs the AMX schedule on emulated tiles.
orr_result orr_mlp_weights_create_for(const orr_mlp *mlp, const orr_mlp_kernels *kernels,
                                      orr_mlp_weights **weights, orr_error *error);

// The activations of one block: the values of each hidden layer; then, where they are kept, the sums of each
// hidden layer; then, where they are kept, the sums of the output.
static inline size_t orr_mlp_hidden_floats(const orr_mlp *mlp)
{
    return (size_t)mlp->config.width * ORR_SAMPLES;
}

static inline size_t orr_mlp_value_offset(const orr_mlp *mlp, int hidden)
{
    return (size_t)hidden * orr_mlp_hidden_floats(mlp);
}

static inline size_t orr_mlp_sum_offset(const orr_mlp *mlp, int hidden)
{
    return (size_t)(mlp->config.hidden_layers + hidden) * orr_mlp_hidden_floats(mlp);
}

static inline size_t orr_mlp_output_sum_offset(const orr_mlp *mlp)
{
    int copies = orr_activation_keeps_sums(mlp->config.activation) ? 2 : 1;
    return (size_t)(copies * mlp->config.hidden_layers) * orr_mlp_hidden_floats(mlp);
}
