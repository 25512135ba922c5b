// What a caller gives to training of a radiance field, and what a step reports: for nerf_trainer.h and
// nerf_cpu_trainer.h.
#pragma once

#include "engine/core/jobs.h"
#include "neural/capture/capture.h"

struct orr_cuda;

typedef struct orr_nerf_trainer_desc {
    const orr_capture *capture; // borrowed, as are the next two
    const int *images;          // image_count indices into the capture: those to learn from
    int image_count;
    orr_jobs *jobs;
    // samples with a gradient per step that the number of rays is adapted to; 0: 2^15, on CUDA 2^18
    int target_samples;
    bool exposures; // learn a gain per image and channel
    // Scatter without order or locks: the bits then depend on chance, and a few additions that two threads
    // make to one entry at once are lost. The small field of proposals is scattered in order all the same.
    bool fast_scatter;
    uint32_t seed;
    // The device that takes the steps; NULL: the CPU. Borrowed. Factors are halves there and sums have no
    // fixed order, so that a training repeats to roundings. It does not train fields with proposals
    // (ORR_CODE_FEATURE_ABSENT).
    struct orr_cuda *cuda;
} orr_nerf_trainer_desc;

typedef struct orr_nerf_step_report {
    int64_t step;      // steps done
    double loss;       // mean over the step's rays and channels
    int64_t rays;      // drawn
    int64_t evaluated; // densities evaluated: network samples
    int64_t samples;   // of these, with a colour and a gradient
} orr_nerf_step_report;
