// Learning from samples, shared by images, signed distances and volumes: one field, one orr_field_trainer,
// and a truth, which is where they differ (train_image.c, train_sdf.c, train_volume.c).
#pragma once

#include "samples/orrery/train/train.h"

// What a field is to learn, from a file. All functions but `config` are given the memory that `open` filled.
typedef struct sample_truth {
    size_t size; // [bytes] of that memory, which is zero at first
    int batch;   // samples per step, when nobody says
    orr_result (*config)(orr_field_config *config, orr_error *error); // the kind's own
    // Loads options->data, and puts into `desc` what the field depends on.
    orr_result (*open)(void *truth, const train_options *options, orr_field_desc *desc, orr_error *error);
    void (*close)(void *truth); // also after a failed open
    orr_sample_source (*source)(void *truth);
    // A quick figure, and the final ones.
    orr_result (*score)(const void *truth, const orr_field *field, orr_jobs *jobs, double *score,
                        orr_error *error);
    orr_result (*report)(const void *truth, const orr_field *field, orr_jobs *jobs, cJSON *json,
                         orr_error *error);
    // How large a picture of the field is; NULL: it is drawn from a corner above.
    void (*picture_size)(const void *truth, int size[2]);
    void (*set_bounds)(const void *truth, orr_field_model *model); // of the model; NULL: the unit cube
} sample_truth;

extern const sample_truth truth_image, truth_sdf, truth_volume;
