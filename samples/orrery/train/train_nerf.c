// Photos become a radiance field.
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/image/metrics.h"
#include "neural/capture/views.h"
#include "neural/nerf/evaluate.h"
#include "neural/training/nerf_trainer.h"
#include "samples/orrery/progress.h"
#include "samples/orrery/train/train.h"

#include <string.h>

enum { SCORE_SHRINK = 4, SIDE_LEAST = 32, CHANNELS = 3 };

// What a picture of the field may take, about; and a pixel's share before any was drawn, when nothing is
// known to be empty.
static const double SCORE_SECONDS = 0.1, PICTURE_SECONDS = 0.3, FIRST_PIXEL_SECONDS = 1e-5;

struct learner {
    orr_jobs *jobs;
    orr_capture *capture;
    int *images; // those to learn from, then those held out
    int train_count;
    orr_field *field;
    orr_nerf_trainer *trainer;
    orr_nerf_drawer *drawer;
    orr_arena arena;
    double pixel_seconds; // of the last drawing
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

// What does not fit the device, or what it cannot do, is trained on the CPU, and a line says so.
static orr_result create_trainer(learner *l, orr_nerf_trainer_desc desc, orr_error *error)
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
    if (l->train_count == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: all of its photos are held out, %d: expected --holdout 0", options->data,
                        l->capture->count);
    }
    const orr_field_desc field = {
        .kind = ORR_FIELD_NERF, .aabb_scale = l->capture->aabb_scale, .unbounded = options->unbounded};
    ORR_TRY(train_field(options, field, orr_nerf_training_config, &l->field, error));
    ORR_TRY(orr_capture_check_views(l->capture, options->data, orr_field_describe(l->field)->unbounded,
                                    command_log(), error));
    const orr_nerf_trainer_desc desc = {.capture = l->capture,
                                        .images = l->images,
                                        .image_count = l->train_count,
                                        .jobs = options->jobs,
                                        .target_samples = options->batch,
                                        .exposures = options->exposures,
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
    l->pixel_seconds = FIRST_PIXEL_SECONDS;
    orr_result result = open(options, l, error);
    if (result != ORR_OK) {
        destroy(l);
        return result;
    }
    *made = l;
    return ORR_OK;
}

static orr_result step(learner *l, double share, double *loss, int64_t *samples, orr_error *error)
{
    (void)share;
    orr_nerf_step_report report;
    ORR_TRY(orr_nerf_trainer_step(l->trainer, &report, error));
    *loss = report.loss;
    *samples = report.evaluated;
    return ORR_OK;
}

// ---- looking ----

// A photo of the capture and the field's view from there, both over white, width x height x 3; and the latter
// as drawn.
typedef struct comparison {
    int width, height;
    float *truth, *drawn;
    float *rgba;
} comparison;

// How many pixels share one sample so that drawing takes about so long, by what a pixel took last time: at
// least `least`.
static int affordable(const learner *l, const orr_capture_image *image, int least, double seconds)
{
    double all = (double)image->width * image->height * l->pixel_seconds;
    int shrink = least;
    while (all / ((double)shrink * shrink) > seconds) {
        shrink *= 2;
    }
    int side = image->width < image->height ? image->width : image->height;
    while (shrink > 1 && side < SIDE_LEAST * shrink) {
        shrink /= 2;
    }
    return shrink;
}

// The camera that sees one pixel of every shrink x shrink, each by the ray of that pixel of the photo.
static orr_ray_camera camera_of_every(const learner *l, const orr_capture_image *image, int shrink)
{
    orr_ray_camera camera = orr_ray_camera_of_image(image, l->capture->to_unit);
    float shift = 0.5f * (float)(shrink - 1) - (float)(shrink / 2); // the middle of all less that of the one
    camera.width = image->width / shrink;
    camera.height = image->height / shrink;
    camera.lens.focal_x /= (float)shrink;
    camera.lens.focal_y /= (float)shrink;
    camera.lens.centre_x = (camera.lens.centre_x + shift) / (float)shrink;
    camera.lens.centre_y = (camera.lens.centre_y + shift) / (float)shrink;
    return camera;
}

// Memory is the arena's.
static orr_result compare(learner *l, int index, int least, double seconds, comparison *c, orr_error *error)
{
    const orr_capture_image *image = &l->capture->images[index];
    int shrink = affordable(l, image, least, seconds);
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
    const orr_nerf_draw_desc desc = {.camera = camera_of_every(l, image, shrink), .rgba = c->rgba};
    uint64_t start = orr_clock_nanoseconds();
    orr_nerf_draw(l->drawer, orr_nerf_trainer_occupancy(l->trainer), &desc);
    l->pixel_seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9 / (double)pixels;
    for (size_t i = 0; i < pixels; i++) {
        int x = (int)(i % (size_t)c->width) * shrink + shrink / 2;
        int y = (int)(i / (size_t)c->width) * shrink + shrink / 2;
        orr_capture_over_white(image, (int64_t)y * image->width + x, c->truth + CHANNELS * i);
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
    ORR_TRY(compare(l, shown_image(l), SCORE_SHRINK, SCORE_SECONDS, &c, error));
    *psnr = orr_psnr(c.truth, c.drawn, (int64_t)c.width * c.height * CHANNELS);
    return ORR_OK;
}

static orr_result picture(learner *l, int size[2], float **rgba, orr_error *error)
{
    comparison c;
    ORR_TRY(compare(l, shown_image(l), SCORE_SHRINK / 2, PICTURE_SECONDS, &c, error));
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

static orr_result compare_photo(learner *l, int image, const orr_nerf_stop *stop, orr_nerf_score *score,
                                orr_error *error)
{
    return orr_nerf_evaluate(l->drawer, orr_nerf_trainer_occupancy(l->trainer), l->capture, &image, 1,
                             l->jobs, stop, NULL, score, error);
}

static orr_result report(learner *l, const orr_nerf_stop *stop, cJSON *json, orr_error *error)
{
    const held_out_photos held_out = {l->capture, l->images + l->train_count,
                                      l->capture->count - l->train_count, compare_photo};
    return train_compare(l, &held_out, stop, json, error);
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
