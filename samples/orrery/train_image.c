// A picture becomes a small network.
#include "neural/train_image.h"
#include "engine/core/image.h"
#include "engine/core/memory.h"
#include "neural/field_draw.h"
#include "train.h"

enum { PREVIEW_SIDE = 1024, SCORE_EVERY = 16, BATCH = 1 << 16 };

struct learner {
    orr_jobs *jobs;
    orr_image_samples samples;
    orr_picture_file *picture;
    orr_field *field;
    orr_trainer *trainer;
    orr_arena arena;
};

static void destroy(learner *l)
{
    orr_trainer_destroy(l->trainer);
    orr_field_destroy(l->field);
    orr_picture_destroy(l->picture);
    orr_arena_destroy(&l->arena);
    orr_free(l);
}

static orr_result open(const train_options *options, learner *l, orr_error *error)
{
    ORR_TRY(orr_picture_load(options->data, &l->picture, error));
    int width = orr_picture_width(l->picture), height = orr_picture_height(l->picture);
    l->samples = (orr_image_samples){.picture = l->picture, .seed = options->seed};
    const orr_field_desc desc = {.kind = ORR_FIELD_IMAGE,
                                 .desired_resolution = 0.5 * (width > height ? width : height)};
    ORR_TRY(train_field(options, desc, orr_image_train_config, &l->field, error));
    return train_trainer(options, l->field, orr_image_source(&l->samples), BATCH, &l->trainer, error);
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
    return orr_image_psnr(l->field, l->picture, l->jobs, SCORE_EVERY, psnr, error);
}

static orr_result preview(learner *l, const char *path, orr_error *error)
{
    int width = orr_picture_width(l->picture), height = orr_picture_height(l->picture);
    int side = width > height ? width : height;
    if (side > PREVIEW_SIDE) {
        width = (int)((int64_t)width * PREVIEW_SIDE / side);
        height = (int)((int64_t)height * PREVIEW_SIDE / side);
    }
    width = width > 0 ? width : 1;
    height = height > 0 ? height : 1;
    orr_arena_reset(&l->arena);
    float *rgba = orr_arena_take(&l->arena, (size_t)width * (size_t)height * 4, sizeof *rgba);
    uint8_t *bytes = orr_arena_take(&l->arena, (size_t)width * (size_t)height, 4);
    if (!rgba || !bytes) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    ORR_TRY(orr_field_picture(l->field, l->jobs, &l->arena, width, height, rgba, error));
    orr_image_quantise(rgba, (int64_t)width * height, bytes);
    return orr_png_save(path, bytes, width, height, error);
}

static orr_result describe(learner *l, orr_field_model *model, orr_error *error)
{
    model->width = orr_picture_width(l->picture);
    model->height = orr_picture_height(l->picture);
    return train_describe(l->trainer, l->field, model, error);
}

static orr_result report(learner *l, cJSON *json, orr_error *error)
{
    double psnr;
    ORR_TRY(orr_image_psnr(l->field, l->picture, l->jobs, 1, &psnr, error));
    train_figure(json, "PSNR", psnr, "dB");
    return ORR_OK;
}

static const orr_profile *profile(learner *l)
{
    return orr_trainer_profile(l->trainer);
}

const learner_kind learner_image = {.name = "image",
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
