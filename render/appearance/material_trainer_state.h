// What a trainer of a material is made of. Plain C with ORR_SCALAR.
#pragma once

#include "neural/network/mlp.h"
#include "neural/network/optimizer.h"
#include "render/appearance/material_texels.h"
#include "render/appearance/material_trainer.h"

enum {
    ENCODER_INPUTS = MATERIAL_VALUES + 2, // and logarithms of both roughnesses
    FRAME_VALUES = 6 * NEURAL_LATENTS,
    MEAN_OF = 8 // texels, at most, of which one seen from afar is the mean
};

enum { ENCODER, REFLECTED, LOBES, NETWORKS };

typedef struct network {
    orr_mlp mlp;
    int64_t first; // its parameters among all
    orr_mlp_weights *weights;
} network;

// What a worker needs for a unit of 64 texels; rows of blocks.
typedef struct unit_scratch {
    _Alignas(64) float encoded[ENCODER_INPUTS * ORR_SAMPLES];
    float latents[NEURAL_LATENTS * ORR_SAMPLES]; // 0 .. 1
    float by_latents[NEURAL_LATENTS * ORR_SAMPLES];
    float inputs[NEURAL_INPUTS * ORR_SAMPLES], by_inputs[NEURAL_INPUTS * ORR_SAMPLES];
    float values[16 * ORR_SAMPLES], by_values[16 * ORR_SAMPLES];
    material_texel texels[ORR_SAMPLES][MEAN_OF];
    material_texel mean[ORR_SAMPLES];
    int texel_count; // of texels, for each sample
    real3 to_eye[ORR_SAMPLES], to_light[ORR_SAMPLES];
    float *activations[NETWORKS];
    double loss; // so far
} unit_scratch;

struct material_trainer {
    orr_jobs *jobs;
    material_texels texels;
    network networks[NETWORKS];
    int64_t frame; // where it is among all parameters
    int64_t parameter_count;
    float *parameters, *gradient; // parameter_count
    float *unit_gradients;        // MATERIAL_UNITS x parameter_count
    double unit_errors[MATERIAL_UNITS], unit_losses[MATERIAL_UNITS];
    orr_optimizer *optimizer;
    unit_scratch *scratch; // of each worker
    int64_t steps, planned;
    uint32_t seed;
};

// What the encoder is given of a texel, into column i of a block.
void material_put_texel(const material_texel *texel, float *block, int i);
// A job: the gradient, error and loss of unit number `unit` of this step (context: the trainer).
void material_learn_unit(void *context, int unit, int worker);
