// Photos become a radiance field.
#include "engine/core/memory.h"
#include "neural/metrics.h"
#include "neural/nerf_evaluate.h"
#include "neural/nerf_train.h"
#include "train.h"

#include <string.h>

enum { SCORE_SHRINK = 4, CHANNELS = 3 };

struct learner {
    orr_jobs *jobs;
    orr_capture *capture;
    int *images; // those to learn from, then those held out
    int train_count;
    orr_field *field;
    orr_nerf_trainer *trainer;
    orr_nerf_drawer *drawer;
    orr_arena arena;
};

static void destroy(learner *l)
{
    orr_nerf_drawer_destroy(l->drawer);
    orr_nerf_trainer_destroy(l->trainer);
    orr_field_destroy(l->field);
    orr_capture_destroy(l->capture);
    orr_arena_destroy(&l->arena);
    orr_free(l->images);
    orr_free(l);
}

// What the device has no room for, or cannot do, is trained on the CPU, and a line says so.
static orr_result create_trainer(learner *l, orr_nerf_train_desc desc, orr_error *error)
{
    orr_error why;
    orr_result result = orr_nerf_trainer_create(l->field, &desc, &l->trainer, &why);
    if (desc.cuda &&
        (result == ORR_ERROR_DEVICE || result == ORR_ERROR_MEMORY || result == ORR_ERROR_UNSUPPORTED)) {
        fprintf(stderr, "orrery: warning: %s; trains on the CPU\n", why.message);
        desc.cuda = NULL;
        return orr_nerf_trainer_create(l->field, &desc, &l->trainer, error);
    }
    if (result != ORR_OK && error) {
        *error = why;
    }
    return result;
}

static orr_result open(const train_options *options, learner *l, orr_error *error)
{
    ORR_TRY(orr_capture_load(options->data, options->jobs, command_log(), &l->capture, error));
    ORR_ALLOC(l->images, l->capture->count, options->data, error);
    l->train_count = orr_capture_split(l->capture->count, options->holdout, l->images);
    const orr_field_desc field = {
        .kind = ORR_FIELD_NERF, .aabb_scale = l->capture->aabb_scale, .unbounded = options->unbounded};
    ORR_TRY(train_field(options, field, orr_nerf_train_config, &l->field, error));
    const orr_nerf_train_desc desc = {.capture = l->capture,
                                      .images = l->images,
                                      .image_count = l->train_count,
                                      .jobs = options->jobs,
                                      .target_samples = options->batch,
                                      .fast_scatter = options->fast_scatter,
                                      .seed = options->seed,
                                      .cuda = options->cuda};
    ORR_TRY(create_trainer(l, desc, error));
    if (options->resume) {
        ORR_TRY(orr_nerf_trainer_state_load(l->trainer, options->resume->state.data,
                                            options->resume->state.size, error));
    }
    return orr_nerf_drawer_create(l->field, options->jobs, &l->drawer, error);
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
    orr_nerf_step report;
    ORR_TRY(orr_nerf_trainer_step(l->trainer, &report, error));
    *loss = report.loss;
    *samples = report.evaluated;
    return ORR_OK;
}

// ---- looking ----

// A photo of the capture and the field's view from there, both over white, width x height x 3; and the latter as drawn.
typedef struct comparison {
    int width, height;
    float *truth, *drawn;
    float *rgba;
} comparison;

// mean of shrink x shrink pixels over white
static void average_pixel(const orr_capture_image *image, int x, int y, int shrink, float colour[CHANNELS])
{
    memset(colour, 0, CHANNELS * sizeof *colour);
    for (int i = 0; i < shrink * shrink; i++) {
        size_t at =
            (size_t)(y * shrink + i / shrink) * (size_t)image->width + (size_t)(x * shrink + i % shrink);
        const uint8_t *pixel = image->pixels + at * (size_t)image->channels;
        float alpha = image->channels == 4 ? pixel[3] / 255.0f : 1.0f;
        for (int k = 0; k < CHANNELS; k++) {
            colour[k] += (alpha * (pixel[k] / 255.0f) + 1.0f - alpha) / (float)(shrink * shrink);
        }
    }
}

// Memory is the arena's.
static orr_result compare(learner *l, int index, int shrink, comparison *c, orr_error *error)
{
    const orr_capture_image *image = &l->capture->images[index];
    shrink = image->width < 64 * shrink || image->height < 64 * shrink ? 1 : shrink;
    orr_arena_reset(&l->arena);
    c->width = image->width / shrink;
    c->height = image->height / shrink;
    size_t pixels = (size_t)c->width * (size_t)c->height;
    c->truth = orr_arena_take(&l->arena, pixels * CHANNELS, sizeof(float));
    c->drawn = orr_arena_take(&l->arena, pixels * CHANNELS, sizeof(float));
    c->rgba = orr_arena_take(&l->arena, pixels * 4, sizeof(float));
    if (!c->truth || !c->drawn || !c->rgba) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture");
    }
    orr_nerf_draw_desc desc = {.camera = orr_nerf_camera_of_image(image, l->capture->to_unit),
                               .rgba = c->rgba};
    desc.camera.width = c->width;
    desc.camera.height = c->height;
    desc.camera.lens.focal_x /= (float)shrink;
    desc.camera.lens.focal_y /= (float)shrink;
    desc.camera.lens.centre_x /= (float)shrink;
    desc.camera.lens.centre_y /= (float)shrink;
    orr_nerf_draw(l->drawer, orr_nerf_trainer_occupancy(l->trainer), &desc);
    for (size_t i = 0; i < pixels; i++) {
        average_pixel(image, (int)(i % (size_t)c->width), (int)(i / (size_t)c->width), shrink,
                      c->truth + CHANNELS * i);
        for (int k = 0; k < CHANNELS; k++) {
            c->drawn[CHANNELS * i + (size_t)k] = c->rgba[4 * i + (size_t)k] + 1.0f - c->rgba[4 * i + 3];
        }
    }
    return ORR_OK;
}

// the first photo that is held out; without any, the first of all
static int shown_image(const learner *l)
{
    return l->images[l->train_count < l->capture->count ? l->train_count : 0];
}

static orr_result score(learner *l, double *psnr, orr_error *error)
{
    comparison c;
    ORR_TRY(orr_nerf_trainer_refresh(l->trainer, error));
    ORR_TRY(compare(l, shown_image(l), SCORE_SHRINK, &c, error));
    *psnr = orr_psnr(c.truth, c.drawn, (int64_t)c.width * c.height * CHANNELS);
    return ORR_OK;
}

static orr_result picture(learner *l, int size[2], float **rgba, orr_error *error)
{
    comparison c;
    ORR_TRY(compare(l, shown_image(l), SCORE_SHRINK / 2, &c, error));
    size[0] = c.width;
    size[1] = c.height;
    *rgba = c.rgba;
    return ORR_OK;
}

// ---- the end ----

orr_result train_describe_nerf(orr_nerf_trainer *trainer, orr_field *field, const orr_capture *capture,
                               orr_field_model *model, orr_error *error)
{
    ORR_TRY(orr_nerf_trainer_refresh(trainer, error));
    const orr_occupancy *grid = orr_nerf_trainer_occupancy(trainer);
    model->field = field;
    model->density_grid = grid->thickness;
    model->density_cells = grid->cells;
    for (int i = 0; i < 12; i++) {
        model->to_unit[i] = (double)capture->to_unit[i];
    }
    model->steps = orr_nerf_trainer_steps(trainer);
    model->state.size = orr_nerf_trainer_state_size(trainer);
    ORR_ALLOC(model->state.data, model->state.size, "the state of a training", error);
    return orr_nerf_trainer_state_save(trainer, model->state.data, error);
}

static orr_result describe(learner *l, orr_field_model *model, orr_error *error)
{
    return train_describe_nerf(l->trainer, l->field, l->capture, model, error);
}

static orr_result report(learner *l, cJSON *json, orr_error *error)
{
    int count = l->capture->count - l->train_count;
    train_figure(json, "training photos", l->train_count, "");
    train_figure(json, "held-out photos", count, "");
    if (count > 0) {
        orr_nerf_score mean;
        ORR_TRY(orr_nerf_evaluate(l->drawer, orr_nerf_trainer_occupancy(l->trainer), l->capture,
                                  l->images + l->train_count, count, l->jobs, NULL, &mean, error));
        train_figure(json, "PSNR", mean.psnr, "dB");
        train_figure(json, "SSIM", mean.ssim, "");
    }
    return ORR_OK;
}

static const orr_profile *profile(learner *l)
{
    return orr_nerf_trainer_profile(l->trainer);
}

const learner_functions learner_of_photos = {.create = create,
                                             .step = step,
                                             .score = score,
                                             .picture = picture,
                                             .describe = describe,
                                             .report = report,
                                             .profile = profile,
                                             .destroy = destroy};
