// A grid of densities becomes a small network.
#include "neural/training/volume_samples.h"

#include "engine/training/truth.h"
#include "neural/fields/density_cloud.h"

#include <string.h>

enum { SCORE_POINTS = 1 << 12, REPORT_POINTS = 1 << 17, BATCH = 1 << 15, CLOUD_SIDE = 128 };

typedef struct truth {
    orr_density density;
    orr_volume_samples samples;
} truth;

static orr_result open(void *memory, const orr_learner_setup *setup, orr_field_desc *field, orr_error *error)
{
    truth *t = memory;
    ORR_TRY(strcmp(setup->desc->data, "cloud") == 0
                ? orr_density_cloud(CLOUD_SIDE, setup->choices.seed, &t->density, error)
                : orr_density_load(setup->desc->data, &t->density, error));
    for (int k = 0; k < 3; k++) { // the longest side
        double side = t->density.size[k];
        field->desired_resolution = side > field->desired_resolution ? side : field->desired_resolution;
    }
    return orr_volume_samples_of(&t->density, setup->choices.seed, setup->desc->data, &t->samples, error);
}

static void close(void *memory)
{
    orr_density_free(&((truth *)memory)->density);
}

static orr_sample_source source(void *memory)
{
    return orr_volume_source(&((truth *)memory)->samples);
}

static orr_result measure(const void *memory, const orr_field *field, orr_jobs *jobs,
                          orr_train_quality *quality, orr_error *error)
{
    (void)jobs;
    return orr_volume_psnr(field, &((const truth *)memory)->samples, SCORE_POINTS, &quality->psnr, error);
}

static orr_result evaluate(const void *memory, const orr_field *field, orr_jobs *jobs,
                           orr_train_quality *quality, orr_error *error)
{
    (void)jobs;
    return orr_volume_psnr(field, &((const truth *)memory)->samples, REPORT_POINTS, &quality->psnr, error);
}

const orr_sample_truth orr_truth_volume = {.size = sizeof(truth),
                                           .batch = BATCH,
                                           .config = orr_volume_training_config,
                                           .open = open,
                                           .close = close,
                                           .source = source,
                                           .measure = measure,
                                           .evaluate = evaluate};
