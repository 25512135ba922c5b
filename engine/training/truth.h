// What a field learns from samples of (learn_samples.c): a picture, a shape, a volume.
#pragma once

#include "engine/training/learner.h"
#include "neural/training/sample_source.h"

// All functions but `config` are given the memory that `open` filled.
typedef struct orr_sample_truth {
    size_t size; // [bytes] of that memory, which is zero at first
    int batch;   // samples per step, when nobody says
    orr_result (*config)(orr_field_config *config, orr_error *error); // the kind's own
    // Loads desc->data of the setup, and puts into `field` what the field depends on.
    orr_result (*open)(void *truth, const orr_learner_setup *setup, orr_field_desc *field, orr_error *error);
    void (*close)(void *truth); // also after a failed open
    orr_sample_source (*source)(void *truth);
    // A quick figure, and the final ones.
    orr_result (*measure)(const void *truth, const orr_field *field, orr_jobs *jobs,
                          orr_train_quality *quality, orr_error *error);
    orr_result (*evaluate)(const void *truth, const orr_field *field, orr_jobs *jobs,
                           orr_train_quality *quality, orr_error *error);
    // How large a picture of the field is; NULL: it is drawn from a corner above.
    void (*picture_size)(const void *truth, int size[2]);
    void (*set_bounds)(const void *truth, orr_field_model *model); // of the model; NULL: the unit cube
} orr_sample_truth;

extern const orr_sample_truth orr_truth_image, orr_truth_sdf, orr_truth_volume;
