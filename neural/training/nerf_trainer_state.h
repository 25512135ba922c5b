// A radiance field's trainer from inside: nerf_trainer.c makes it and shows what it has, nerf_trainer_step.c takes its steps on the CPU.
#pragma once

#include "neural/cuda/nerf_trainer.h"
#include "neural/training/nerf_batch.h"
#include "neural/training/nerf_trainer.h"

enum {
    ORR_NERF_BUNDLE_SAMPLES = 4096, // a bundle is cut to so many, so that it stays in cache
    ORR_NERF_BUNDLE_RAYS_MIN = 16,
    ORR_NERF_UPDATE_SAMPLES = 1 << 15, // per kind of sample and update of the occupancy grid
};

struct orr_nerf_trainer {
    orr_nerf_trainer_desc desc;
    orr_field *field;
    const orr_field_parts *parts;
    orr_ray_camera *cameras;
    orr_occupancy occupancy;                              // with a device: as of the last refresh
    float *network_average, *rgb_average, *table_average; // of the last refresh
    float *exposures;                                     // 3 per image
    orr_nerf_training_progress progress;
    orr_profile profile;
    uint64_t stage_start;
    orr_cuda_nerf_trainer *device; // takes the steps; the CPU then has nothing of what follows
    orr_nerf_model model;          // of the parameters being trained
    orr_mlp_weights *network_weights, *rgb_weights;
    orr_optimizer *network_optimizer, *rgb_optimizer, *table_optimizer;
    orr_optimizer *exposure_optimizer; // NULL: no exposures
    float *network_gradient, *rgb_gradient, *table_gradient;
    float *exposure_gradient;       // 3 per image
    uint32_t *touched;              // a bit per 16 floats of the table
    orr_proposal_trainer *proposal; // NULL: the occupancy grid says where to march
    orr_nerf_worker *workers;
    orr_nerf_group groups[ORR_NERF_GROUPS];
    uint32_t *cells; // of the occupancy grid, being sampled
    float (*places)[3];
    float *densities;
    int place_count;
};

// How long the strides of a step are, in the smallest.
double orr_nerf_trainer_coarseness(const orr_nerf_trainer *trainer);
void orr_nerf_trainer_begin_stage(orr_nerf_trainer *trainer);
void orr_nerf_trainer_end_stage(orr_nerf_trainer *trainer, const char *name, int64_t items);
// Weights as the CPU's machine wants them, from the parameters.
void orr_nerf_trainer_set_weights(orr_nerf_trainer *trainer);
// A step on the CPU.
void orr_nerf_trainer_step_cpu(orr_nerf_trainer *trainer, orr_nerf_step_report *report);
