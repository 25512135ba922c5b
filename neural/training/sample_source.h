// Where the samples of a field with one network come from, and what the field should be there.
#pragma once

#include "neural/network/block.h"

// Where samples come from. Both functions are called by several threads at once, and are pure: the same
// arguments give the same samples, whatever the number of threads, and after a resume.
typedef struct orr_sample_source {
    void *context;
    // Positions of samples first .. first + count - 1 of the `total` in batch number `batch`: count x dims,
    // each in 0 .. 1
    void (*draw)(void *context, uint32_t batch, int first, int count, int total, float *positions);
    // The values of the field at one block of positions (dims x ORR_SAMPLES): targets (channels x
    // ORR_SAMPLES). A sample whose target is not finite teaches nothing.
    void (*truth)(void *context, const float *positions, float *targets);
    // Truth that costs more than a step (distances to a mesh) is used more than once: so many batches stay in
    // memory, and the oldest of them is drawn anew every so many steps. 1 and 1: every step has samples of
    // its own.
    int batches_kept, steps_per_batch;
    // Above zero: samples 2 i and 2 i + 1 are drawn near each other and stay side by side, and the field's
    // slope from one to the other is compared with the truth's, as L1 with this weight ("Sobolev training",
    // Czarnecki et al. 2017, by finite differences). Values alone leave the slope of a field free below the
    // distance between samples.
    float slope_weight;
} orr_sample_source;
