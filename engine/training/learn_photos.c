// Photos become a radiance field.
#include "engine/training/learner.h"

#include "engine/image/metrics.h"
#include "neural/capture/views.h"
#include "neural/training/nerf_trainer.h"

enum { SCORE_SHRINK = 4, SIDE_LEAST = 32, CHANNELS = 3 };

// What a picture of the field may take, about; and a pixel's share before any was drawn, when nothing is
// known to be empty.
static const double SCORE_SECONDS = 0.1, PICTURE_SECONDS = 0.3, FIRST_PIXEL_SECONDS = 1e-5;

struct orr_learner {
    orr_jobs *jobs;
    orr_photo_set photos;
    orr_field *field;
    orr_nerf_trainer *trainer;
    orr_nerf_drawer *drawer;
    orr_arena arena;
    double pixel_seconds; // of the last drawing
};

static void destroy(orr_learner *l)
{
    orr_nerf_drawer_destroy(l->drawer);
    orr_nerf_trainer_destroy(l->trainer);
    orr_field_destroy(l->field);
    orr_photo_set_free(&l->photos);
    orr_arena_destroy(&l->arena);
    orr_free(l);
}

// What does not fit the device, or what it cannot do, is trained on the CPU, and a line says so.
static orr_result create_trainer(orr_learner *l, orr_nerf_trainer_desc desc, orr_log log, orr_error *error)
{
    orr_error why;
    orr_result result = orr_nerf_trainer_create(l->field, &desc, &l->trainer, &why);
    if (desc.cuda &&
        (result == ORR_ERROR_DEVICE || result == ORR_ERROR_MEMORY || result == ORR_ERROR_UNSUPPORTED)) {
        orr_log_line(log, ORR_LOG_WARNING, (orr_code)why.code, "%s; trains on the CPU", why.message);
        desc.cuda = NULL;
        return orr_nerf_trainer_create(l->field, &desc, &l->trainer, error);
    }
    if (result != ORR_OK && error) {
        *error = why;
    }
    return result;
}

static orr_result open(const orr_learner_setup *setup, orr_learner *l, orr_error *error)
{
    const char *data = setup->desc->data;
    ORR_TRY(orr_photo_set_load(data, setup->choices.holdout, setup->jobs, setup->log, &l->photos, error));
    const orr_capture *capture = l->photos.capture;
    if (l->photos.train_count == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: all of its photos are held out, %d: expected none",
                        data, capture->count);
    }
    ORR_TRY(orr_progress_at(&setup->progress, "the field", 0.5, error));
    const orr_field_desc field = {.kind = ORR_FIELD_NERF,
                                  .aabb_scale = capture->aabb_scale,
                                  .unbounded = setup->desc->sampling == ORR_SAMPLING_PROPOSAL};
    ORR_TRY(orr_learner_field(setup, field, orr_nerf_training_config, &l->field, error));
    ORR_TRY(
        orr_capture_check_views(capture, data, orr_field_describe(l->field)->unbounded, setup->log, error));
    const orr_nerf_trainer_desc desc = {.capture = capture,
                                        .images = l->photos.images,
                                        .image_count = l->photos.train_count,
                                        .jobs = setup->jobs,
                                        .target_samples = setup->choices.batch,
                                        .exposures = setup->choices.exposures,
                                        .fast_scatter = setup->desc->fast_scatter,
                                        .seed = setup->choices.seed,
                                        .cuda = setup->cuda};
    ORR_TRY(create_trainer(l, desc, setup->log, error));
    if (setup->resume) {
        ORR_TRY(orr_nerf_trainer_state_load(l->trainer, setup->resume->state.data, setup->resume->state.size,
                                            error));
    }
    return orr_nerf_drawer_create(l->field, setup->jobs, &l->drawer, error);
}

static orr_result create(const orr_learner_setup *setup, orr_learner **made, orr_error *error)
{
    orr_learner *l = orr_alloc_zero(1, sizeof *l);
    if (!l) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", setup->desc->data);
    }
    l->jobs = setup->jobs;
    l->pixel_seconds = FIRST_PIXEL_SECONDS;
    orr_result result = open(setup, l, error);
    if (result != ORR_OK) {
        destroy(l);
        return result;
    }
    *made = l;
    return ORR_OK;
}

static orr_result step(orr_learner *l, double share, orr_learner_step *step, orr_error *error)
{
    (void)share;
    orr_nerf_step_report report;
    ORR_TRY(orr_nerf_trainer_step(l->trainer, &report, error));
    step->loss = report.loss;
    step->samples = report.evaluated;
    return ORR_OK;
}

static void past(const orr_learner *l, int64_t *steps, double *share)
{
    *steps = orr_nerf_trainer_steps(l->trainer);
    *share = 0.0;
}

static int64_t count(const orr_learner *l)
{
    return orr_field_parameter_count(l->field);
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
static int affordable(const orr_learner *l, const orr_capture_image *image, int least, double seconds)
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
static orr_ray_camera camera_of_every(const orr_learner *l, const orr_capture_image *image, int shrink)
{
    orr_ray_camera camera = orr_ray_camera_of_image(image, l->photos.capture->to_unit);
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
static orr_result compare(orr_learner *l, int index, int least, double seconds, comparison *c,
                          orr_error *error)
{
    const orr_capture_image *image = &l->photos.capture->images[index];
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

static orr_result measure(orr_learner *l, orr_train_quality *quality, orr_error *error)
{
    comparison c;
    const int image = orr_photo_set_shown(&l->photos);
    ORR_TRY(compare(l, image, SCORE_SHRINK, SCORE_SECONDS, &c, error));
    quality->file = l->photos.capture->images[image].path;
    quality->psnr = orr_psnr(c.truth, c.drawn, (int64_t)c.width * c.height * CHANNELS);
    return ORR_OK;
}

static orr_result picture(orr_learner *l, int size[2], const float **rgba, orr_error *error)
{
    comparison c;
    ORR_TRY(compare(l, orr_photo_set_shown(&l->photos), SCORE_SHRINK / 2, PICTURE_SECONDS, &c, error));
    size[0] = c.width;
    size[1] = c.height;
    *rgba = c.rgba;
    return ORR_OK;
}

static orr_result evaluate(orr_learner *l, int index, const orr_nerf_stop *stop, orr_train_quality *quality,
                           orr_error *error)
{
    const int image = l->photos.images[l->photos.train_count + index];
    orr_nerf_score score;
    quality->file = l->photos.capture->images[image].path;
    ORR_TRY(orr_nerf_evaluate(l->drawer, orr_nerf_trainer_occupancy(l->trainer), l->photos.capture, &image, 1,
                              l->jobs, stop, NULL, &score, error));
    quality->psnr = score.psnr;
    quality->ssim = score.ssim;
    return score.photos == 1
               ? ORR_OK
               : orr_fail(error, ORR_CODE_INTERRUPTED, "%s: not compared to the end", quality->file);
}

static const orr_photo_set *photos(const orr_learner *l)
{
    return &l->photos;
}

// ---- what is saved ----

static orr_result refresh(orr_learner *l, orr_error *error)
{
    return orr_nerf_trainer_refresh(l->trainer, error);
}

static const orr_occupancy *describe(orr_learner *l, orr_field_model *model)
{
    const orr_occupancy *grid = orr_nerf_trainer_occupancy(l->trainer);
    model->field = l->field;
    model->density_grid = grid->thickness;
    model->density_cells = grid->cells;
    for (int i = 0; i < 12; i++) {
        model->to_unit[i] = (double)l->photos.capture->to_unit[i];
    }
    model->steps = orr_nerf_trainer_steps(l->trainer);
    return grid;
}

static size_t state_size(const orr_learner *l)
{
    return orr_nerf_trainer_state_size(l->trainer);
}

static orr_result state_save(orr_learner *l, void *state, orr_error *error)
{
    return orr_nerf_trainer_state_save(l->trainer, state, error);
}

static const orr_profile *profile(orr_learner *l)
{
    return orr_nerf_trainer_profile(l->trainer);
}

const orr_learner_functions orr_learner_of_photos = {.create = create,
                                                     .step = step,
                                                     .past = past,
                                                     .count = count,
                                                     .measure = measure,
                                                     .picture = picture,
                                                     .evaluate = evaluate,
                                                     .photos = photos,
                                                     .refresh = refresh,
                                                     .describe = describe,
                                                     .state_size = state_size,
                                                     .state_save = state_save,
                                                     .profile = profile,
                                                     .destroy = destroy};
