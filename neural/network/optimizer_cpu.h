// The optimisers' arithmetic on one block of parameters, for optimizer.c; all pointers aligned to 64 bytes
// but the step counts, to 32.
#pragma once

#include "engine/core/isa.h"
#include "neural/network/optimizer_state.h"

// What is the same for all parameters of one step.
typedef struct orr_optimizer_pass {
    orr_optimizer_rule rule;
    const float *correction; // as orr_optimizer_tables has it
    int correction_last;
} orr_optimizer_pass;

// Pointers to the block's ORR_PARAMETER_BLOCK values.
typedef struct orr_parameter_block {
    float *weight, *gradient; // the gradient is set to 0
    float *first, *second;    // moments
    uint16_t *steps;
    float *sum; // of the average, not divided by the sum of its weights
    orr_average_factors average;
} orr_parameter_block;

typedef void orr_optimizer_kernel(const orr_optimizer_pass *pass, const orr_parameter_block *block);
orr_optimizer_kernel orr_optimizer_block_baseline, orr_optimizer_block_avx2, orr_optimizer_block_avx512;
