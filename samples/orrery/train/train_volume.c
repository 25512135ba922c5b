// A grid of densities becomes a small network.
#include "neural/training/volume_samples.h"

#include "neural/fields/density_cloud.h"
#include "samples/orrery/train/train_samples.h"

#include <string.h>

enum { SCORE_POINTS = 1 << 12, REPORT_POINTS = 1 << 17, BATCH = 1 << 15, CLOUD_SIDE = 128 };

typedef struct truth {
    orr_density density;
    orr_volume_samples samples;
} truth;

static orr_result open(void *memory, const train_options *options, orr_field_desc *desc, orr_error *error)
{
    truth *t = memory;
    ORR_TRY(strcmp(options->data, "cloud") == 0
                ? orr_density_cloud(CLOUD_SIDE, options->seed, &t->density, error)
                : orr_density_load(options->data, &t->density, error));
    for (int k = 0; k < 3; k++) { // the longest side
        double side = t->density.size[k];
        desc->desired_resolution = side > desc->desired_resolution ? side : desc->desired_resolution;
    }
    return orr_volume_samples_of(&t->density, options->seed, options->data, &t->samples, error);
}

static void close(void *memory)
{
    orr_density_free(&((truth *)memory)->density);
}

static orr_sample_source source(void *memory)
{
    return orr_volume_source(&((truth *)memory)->samples);
}

static orr_result score(const void *memory, const orr_field *field, orr_jobs *jobs, double *psnr,
                        orr_error *error)
{
    (void)jobs;
    return orr_volume_psnr(field, &((const truth *)memory)->samples, SCORE_POINTS, psnr, error);
}

static orr_result report(const void *memory, const orr_field *field, orr_jobs *jobs, cJSON *json,
                         orr_error *error)
{
    (void)jobs;
    double psnr;
    ORR_TRY(orr_volume_psnr(field, &((const truth *)memory)->samples, REPORT_POINTS, &psnr, error));
    train_figure(json, "PSNR", psnr, "dB of the density");
    return ORR_OK;
}

const sample_truth truth_volume = {.size = sizeof(truth),
                                   .batch = BATCH,
                                   .config = orr_volume_training_config,
                                   .open = open,
                                   .close = close,
                                   .source = source,
                                   .score = score,
                                   .report = report};
