// An encoding and its network on a CUDA device, for values and gradients: what fields/field.h is on the CPU,
// to the rounding of halves. Parameters come and go in the CPU's order, so that a model learnt on one machine
// is used on the other.
//
// Memory out: ORR_CODE_DEVICE_MEMORY, and the CPU still has everything.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "neural/cuda/model_pass.h"
#include "neural/network/mlp.h"

typedef struct orr_cuda_model {
    orr_cuda *cuda; // borrowed
    orr_cuda_shape shape;
    int64_t table_parameters;
    void *weights, *table; // halves
    orr_cuda_buffer positions, output, output_gradient, input_gradient, weight_sums, losses, scratch, floats;
} orr_cuda_model;

// Fills in the shape, with the parts on the device; they are freed by the caller.
orr_result orr_cuda_shape_create(orr_cuda *cuda, const orr_encoding *encoding, const orr_mlp *network,
                                 orr_cuda_shape *shape, orr_error *error);

// Both shapes are copied; the parameters are undefined until they are set.
orr_result orr_cuda_model_create(orr_cuda *cuda, const orr_encoding *encoding, const orr_mlp *network,
                                 orr_cuda_model *model, orr_error *error);
void orr_cuda_model_destroy(orr_cuda_model *model); // all zeros are allowed
// network.parameter_count and encoding.parameter_count floats of the host.
orr_result orr_cuda_model_set(orr_cuda_model *model, const float *network, const float *table,
                              orr_error *error);

// Values of `count` samples in blocks of ORR_SAMPLES (block.h); host memory: positions (input_dims x
// ORR_SAMPLES per block), output (output_dims x ORR_SAMPLES per block). What output has beyond the last
// sample is undefined.
orr_result orr_cuda_model_values(orr_cuda_model *model, const float *positions, int64_t count, float *output,
                                 orr_error *error);

// Where gradients go, in host memory; NULL: not computed.
typedef struct orr_cuda_gradients {
    float *output;  // the values, as above
    float *network; // sums over the samples
    float *table;
    float *input; // input_dims x ORR_SAMPLES per block
} orr_cuda_gradients;
// From output_gradient, d loss / d output of every sample (output_dims x ORR_SAMPLES per block), of a size
// around 1: gradients are halves within the networks, scaled by 16.
orr_result orr_cuda_model_gradients(orr_cuda_model *model, const float *positions, int64_t count,
                                    const float *output_gradient, const orr_cuda_gradients *gradients,
                                    orr_error *error);

// ---- for training ----

enum {
    ORR_CUDA_LOSS_SCALE = 16, // of a sample's gradients as halves: 2^-24 / 16 is the least, 2048 the greatest
    // thread blocks that a multiprocessor has work for: training has a copy of all weights' gradients per
    // block
    ORR_CUDA_TRAINING_BLOCKS = 2,
    ORR_CUDA_INFERENCE_BLOCKS = 8
};

static inline int orr_cuda_model_blocks(const orr_cuda_model *model, int64_t count)
{
    return orr_cuda_pass_blocks(count, model->cuda->info.processors * ORR_CUDA_TRAINING_BLOCKS);
}

// Memory for a training pass over so many samples, and the pass but for what it learns from.
orr_result orr_cuda_model_pass(orr_cuda_model *model, int64_t count, orr_cuda_pass *pass, orr_error *error);
