// Training radiance fields from photos (Müller et al. 2022), on any number of cores with the same bits.
//
// Steps are taken on the CPU (nerf_cpu_trainer.h) or on a CUDA device (neural/cuda/nerf_trainer.h); this
// header is for callers of either.
#pragma once

#include "engine/core/profile.h"
#include "neural/fields/field.h"
#include "neural/fields/occupancy.h"
#include "neural/training/nerf_training.h"

typedef struct orr_nerf_trainer orr_nerf_trainer;

// The configuration for training on a few cores: instant-ngp's base, with a learning rate that falls by 0.85
// every 1000 steps from step 2000 on, since steps here are eight times smaller.
orr_result orr_nerf_training_config(orr_field_config *config, orr_error *error);

// The field (a NeRF with the capture's aabb_scale) is borrowed, and trained from its parameters.
orr_result orr_nerf_trainer_create(orr_field *field, const orr_nerf_trainer_desc *desc,
                                   orr_nerf_trainer **trainer, orr_error *error);
void orr_nerf_trainer_destroy(orr_nerf_trainer *trainer); // NULL is allowed
// Only CUDA can fail, here and below. There the report is of a step that is done, a few (ORR_CUDA_NERF_AHEAD)
// before this one.
orr_result orr_nerf_trainer_step(orr_nerf_trainer *trainer, orr_nerf_step_report *report, orr_error *error);
// Makes the field ready for inference: drawing, saving. Its parameters for inference are a copy, which
// training does not change; the occupancy grid goes on to change, with CUDA at the next refresh.
orr_result orr_nerf_trainer_refresh(orr_nerf_trainer *trainer, orr_error *error);
int64_t orr_nerf_trainer_steps(const orr_nerf_trainer *trainer); // done, those before a resume among them
const orr_occupancy *orr_nerf_trainer_occupancy(const orr_nerf_trainer *trainer);
// What inference uses, for saving: as of the last refresh.
typedef struct orr_nerf_parameters {
    const float *network, *rgb_network, *table;
} orr_nerf_parameters;
orr_nerf_parameters orr_nerf_trainer_parameters(const orr_nerf_trainer *trainer);
const float *orr_nerf_trainer_exposures(const orr_nerf_trainer *trainer); // 3 per image, log2; NULL: none
// Where the time went since the last reset: stages that run inside groups are booked as thread time /
// threads.
orr_profile *orr_nerf_trainer_profile(orr_nerf_trainer *trainer);

// Everything a trainer needs to go on to the same bits, as one piece of memory. It is for a trainer created
// with the same desc, on any device; ORR_ERROR_FORMAT otherwise. With CUDA, saving sets the field's
// parameters as trained.
size_t orr_nerf_trainer_state_size(const orr_nerf_trainer *trainer);
orr_result orr_nerf_trainer_state_save(orr_nerf_trainer *trainer, void *state, orr_error *error);
orr_result orr_nerf_trainer_state_load(orr_nerf_trainer *trainer, const void *state, size_t size,
                                       orr_error *error);
