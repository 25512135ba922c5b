// The optimisers' arithmetic on one block of 16 parameters, for optimizer.c; all pointers aligned to 64 bytes but the
// step counts, to 32.
#pragma once

#include "engine/core/isa.h"

enum { ORR_PARAMETER_BLOCK = 16 };

// What is the same for all parameters of one step.
typedef struct orr_optimizer_pass {
    float beta1, beta2, epsilon, l2_reg, learning_rate;
    bool sgd;
    bool lazy;               // parameters with gradient 0 stay as they are
    const float *correction; // by the parameter's own steps: sqrt(1 - beta2^t) / (1 - beta1^t)
    int correction_last;     // steps from which the correction stays the same
    float average_new;       // 1 - decay of the average; 0: none
} orr_optimizer_pass;

// Pointers to the block's 16 values.
typedef struct orr_parameter_block {
    float *weight, *gradient; // the gradient is set to 0
    float *first, *second;    // moments
    uint16_t *steps;
    float *sum;                       // of the average, not yet divided by the sum of its weights
    float average_keep, average_rest; // factors of `sum` and of the weight before this step
} orr_parameter_block;

typedef void orr_optimizer_kernel(const orr_optimizer_pass *pass, const orr_parameter_block *block);
orr_optimizer_kernel orr_optimizer_block_baseline, orr_optimizer_block_avx2, orr_optimizer_block_avx512;
