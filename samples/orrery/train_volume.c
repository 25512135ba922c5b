// A grid of densities becomes a small network.
#include "neural/train_volume.h"
#include "engine/core/image.h"
#include "engine/core/memory.h"
#include "neural/density_cloud.h"
#include "neural/field_draw.h"
#include "train.h"

#include <string.h>

enum {
    PREVIEW_SIDE = 256,
    SCORE_POINTS = 1 << 12,
    REPORT_POINTS = 1 << 17,
    BATCH = 1 << 15,
    CLOUD_SIDE = 128
};

struct learner {
    orr_jobs *jobs;
    orr_density density;
    orr_volume_samples samples;
    orr_field *field;
    orr_trainer *trainer;
    orr_arena arena;
};

static void destroy(learner *l)
{
    orr_trainer_destroy(l->trainer);
    orr_field_destroy(l->field);
    orr_density_free(&l->density);
    orr_arena_destroy(&l->arena);
    orr_free(l);
}

static orr_result open(const train_options *options, learner *l, orr_error *error)
{
    ORR_TRY(strcmp(options->data, "cloud") == 0
                ? orr_density_cloud(CLOUD_SIDE, options->seed, &l->density, error)
                : orr_density_load(options->data, &l->density, error));
    ORR_TRY(orr_volume_samples_of(&l->density, options->seed, options->data, &l->samples, error));
    int longest = 0;
    for (int k = 0; k < 3; k++) {
        longest = l->density.size[k] > longest ? l->density.size[k] : longest;
    }
    const orr_field_desc desc = {.kind = ORR_FIELD_VOLUME, .desired_resolution = longest};
    ORR_TRY(train_field(options, desc, orr_volume_train_config, &l->field, error));
    return train_trainer(options, l->field, orr_volume_source(&l->samples), BATCH, &l->trainer, error);
}

static orr_result create(const train_options *options, learner **made, orr_error *error)
{
    learner *l = orr_alloc_zero(1, sizeof *l);
    if (!l) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", options->data);
    }
    l->jobs = options->jobs;
    orr_result result = open(options, l, error);
    if (result != ORR_OK) {
        destroy(l);
        return result;
    }
    *made = l;
    return ORR_OK;
}

static orr_result step(learner *l, double *loss, int64_t *samples, orr_error *error)
{
    *samples = orr_trainer_batch_size(l->trainer);
    return orr_trainer_step(l->trainer, loss, error);
}

static orr_result score(learner *l, double *psnr, orr_error *error)
{
    orr_trainer_refresh(l->trainer);
    return orr_volume_psnr(l->field, &l->samples, SCORE_POINTS, psnr, error);
}

static orr_result preview(learner *l, const char *path, orr_error *error)
{
    orr_arena_reset(&l->arena);
    return train_draw(l->field, l->jobs, &l->arena, PREVIEW_SIDE, path, error);
}

static orr_result describe(learner *l, orr_field_model *model, orr_error *error)
{
    return train_describe(l->trainer, l->field, model, error);
}

static orr_result report(learner *l, cJSON *json, orr_error *error)
{
    double psnr;
    ORR_TRY(orr_volume_psnr(l->field, &l->samples, REPORT_POINTS, &psnr, error));
    train_figure(json, "PSNR", psnr, "dB of the density");
    return ORR_OK;
}

static const orr_profile *profile(learner *l)
{
    return orr_trainer_profile(l->trainer);
}

const learner_kind learner_volume = {.name = "volume",
                                     .score_name = "PSNR",
                                     .seconds = 60.0,
                                     .create = create,
                                     .step = step,
                                     .score = score,
                                     .preview = preview,
                                     .describe = describe,
                                     .report = report,
                                     .profile = profile,
                                     .destroy = destroy};
