// A picture becomes a small network.
#include "neural/training/image_samples.h"

#include "engine/training/truth.h"

enum { PREVIEW_SIDE = 1024, SCORE_EVERY = 16, BATCH = 1 << 16 };

typedef struct truth {
    orr_picture_file *picture;
    orr_image_samples samples;
} truth;

static orr_result open(void *memory, const orr_learner_setup *setup, orr_field_desc *field, orr_error *error)
{
    truth *t = memory;
    ORR_TRY(orr_picture_load(setup->desc->data, &t->picture, error));
    if (!orr_picture_opaque(t->picture)) {
        orr_log_line(setup->log, ORR_LOG_WARNING, ORR_CODE_IGNORED,
                     "%s: its alpha is ignored: colours are learned as stored", setup->desc->data);
    }
    t->samples = (orr_image_samples){.picture = t->picture, .seed = setup->choices.seed};
    int width = orr_picture_width(t->picture), height = orr_picture_height(t->picture);
    field->desired_resolution = 0.5 * (width > height ? width : height);
    return ORR_OK;
}

static void close(void *memory)
{
    orr_picture_destroy(((truth *)memory)->picture);
}

static orr_sample_source source(void *memory)
{
    return orr_image_source(&((truth *)memory)->samples);
}

static orr_result measure(const void *memory, const orr_field *field, orr_jobs *jobs,
                          orr_train_quality *quality, orr_error *error)
{
    return orr_image_psnr(field, ((const truth *)memory)->picture, jobs, SCORE_EVERY, &quality->psnr, error);
}

static orr_result evaluate(const void *memory, const orr_field *field, orr_jobs *jobs,
                           orr_train_quality *quality, orr_error *error)
{
    return orr_image_psnr(field, ((const truth *)memory)->picture, jobs, 1, &quality->psnr, error);
}

static void picture_size(const void *memory, int size[2])
{
    const truth *t = memory;
    int width = orr_picture_width(t->picture), height = orr_picture_height(t->picture);
    int side = width > height ? width : height, shown = side < PREVIEW_SIDE ? side : PREVIEW_SIDE;
    size[0] = (int)((int64_t)width * shown / side);
    size[1] = (int)((int64_t)height * shown / side);
    for (int k = 0; k < 2; k++) {
        size[k] = size[k] > 0 ? size[k] : 1;
    }
}

static void set_bounds(const void *memory, orr_field_model *model)
{
    const truth *t = memory;
    model->width = orr_picture_width(t->picture);
    model->height = orr_picture_height(t->picture);
}

const orr_sample_truth orr_truth_image = {.size = sizeof(truth),
                                          .batch = BATCH,
                                          .config = orr_image_training_config,
                                          .open = open,
                                          .close = close,
                                          .source = source,
                                          .measure = measure,
                                          .evaluate = evaluate,
                                          .picture_size = picture_size,
                                          .set_bounds = set_bounds};
