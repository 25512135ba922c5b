// The rays of one training step. A step's rays are cut into ORR_NERF_GROUPS groups, whatever the number of
// threads; a group draws its rays, marches them, compares the colours with the photos and computes the
// gradients of what it saw: the networks' into sums of its own, the features' into blocks that are scattered
// into the table afterwards.
#pragma once

#include "neural/capture/capture.h"
#include "neural/capture/ray_camera.h"
#include "neural/nerf/march.h"
#include "neural/nerf/training_progress.h"
#include "neural/training/proposal_trainer.h"

// What all groups of a step share.
typedef struct orr_nerf_batch {
    const orr_nerf_model *model; // of the parameters being trained
    const orr_capture *capture;
    const int *images; // image_count: those to learn from
    int image_count;
    const orr_ray_camera *cameras; // one per image to learn from
    const float *exposures;        // 3 per image to learn from, log2 of the gain; NULL: none
    orr_loss_kind loss;
    orr_proposal_trainer *proposal; // learns from this step's rays; NULL: does not
    uint32_t seed;
    int64_t step;
    int ray_count;   // of the step
    int bundle_rays; // marched together, at most ORR_NERF_RAYS
    // lifts raw densities below 0, so that a thin field does not vanish (ray_loss_formula.h)
    float thin_gradient;
} orr_nerf_batch;

// What a group leaves behind.
typedef struct orr_nerf_group {
    float *network_gradient, *rgb_gradient;
    float *exposure_gradient; // 3 per image; NULL: none
    int block_capacity, block_count;
    float *positions, *feature_gradient; // block_capacity blocks
    int *counts;                         // samples per block
    double loss;                         // sum over rays and channels
    int64_t evaluated, samples, hits;    // densities; samples with a gradient; rays that found something
} orr_nerf_group;

// Scratch of one worker.
typedef struct orr_nerf_worker {
    orr_nerf_bundle *bundle;
    float *network_activations, *rgb_activations;
    float *outputs, *rgb_input, *rgb_output; // of one block
    float *output_gradient, *rgb_input_gradient, *rgb_output_gradient;
    float *sample_gradient; // 4 per sample of a bundle: red, green, blue, density
    uint64_t backward_nanoseconds;
} orr_nerf_worker;

orr_result orr_nerf_worker_create(const orr_field *field, orr_nerf_worker *worker, orr_error *error);
void orr_nerf_worker_destroy(orr_nerf_worker *worker); // a zeroed one is allowed
orr_result orr_nerf_group_create(const orr_field *field, int block_capacity, int exposure_count,
                                 orr_nerf_group *group, orr_error *error);
void orr_nerf_group_destroy(orr_nerf_group *group); // likewise

// worker_index: that of `worker` among those of the jobs.
void orr_nerf_group_run(const orr_nerf_batch *batch, int index, orr_nerf_worker *worker, int worker_index,
                        orr_nerf_group *group);
