#define _GNU_SOURCE
// Photos become a cloud of splats.
#include "engine/training/learner.h"

#include "engine/core/file.h"
#include "render/training/splat_schedule.h"
#include "render/training/splat_trainer.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCORE_SIDE = 400, // [px] of the pictures that are compared while training, about
    SH_DEGREE = 3
};

struct orr_learner {
    orr_jobs *jobs;
    orr_photo_set photos;
    orr_splat_points points;
    orr_splat_trainer *trainer;
    bool chooses_splats; // how many there may be: neither the desc nor a state says so
    orr_arena arena;
    orr_splat_comparison seen; // in the arena, of the last score
};

static void destroy(orr_learner *l)
{
    orr_splat_trainer_destroy(l->trainer);
    orr_photo_set_free(&l->photos);
    orr_splat_points_free(&l->points);
    orr_arena_destroy(&l->arena);
    orr_free(l);
}

// What does not fit the device, or what it cannot do, is trained on the CPU, and a line says so.
static orr_result create_trainer(orr_learner *l, orr_splat_trainer_desc desc, orr_log log, orr_error *error)
{
    orr_error why;
    orr_result result = orr_splat_trainer_create(&desc, &l->trainer, &why);
    if (desc.cuda &&
        (result == ORR_ERROR_DEVICE || result == ORR_ERROR_MEMORY || result == ORR_ERROR_UNSUPPORTED)) {
        orr_log_line(log, ORR_LOG_WARNING, (orr_code)why.code, "%s; trains on the CPU", why.message);
        desc.cuda = NULL;
        return orr_splat_trainer_create(&desc, &l->trainer, error);
    }
    if (result != ORR_OK && error) {
        *error = why;
    }
    return result;
}

// What splats do not learn from is said.
static void tell_fisheyes(const orr_capture *capture, const char *name, orr_log log)
{
    int count = 0, last = 0;
    for (int i = 0; i < capture->count; i++) {
        count += capture->images[i].fisheye;
        last = capture->images[i].fisheye ? i : last;
    }
    if (count > 0) {
        const orr_capture_image *image = &capture->images[last];
        const double degrees = 180.0 / acos(-1.0);
        const double half_width = atan(0.5 * image->width / (double)image->focal[0]);
        const double half_height = atan(0.5 * image->height / (double)image->focal[1]);
        orr_log_line(
            log, ORR_LOG_WARNING, ORR_CODE_IGNORED,
            "%s: %d of %d photos are a fisheye's: splats learn from what a pinhole of the same focal "
            "length sees of them, the middle %.0f x %.0f degrees",
            name, count, capture->count, 2.0 * degrees * half_width, 2.0 * degrees * half_height);
    }
}

static orr_result open(const orr_learner_setup *setup, orr_learner *l, orr_error *error)
{
    const orr_train_desc *given = setup->desc;
    ORR_TRY(
        orr_photo_set_load(given->data, setup->choices.holdout, setup->jobs, setup->log, &l->photos, error));
    if (l->photos.train_count < 2 && l->photos.held_out_count > 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: %d photo%s to learn splats from and %d held out: expected 2 or more",
                        given->data, l->photos.train_count, l->photos.train_count == 1 ? "" : "s",
                        l->photos.held_out_count);
    }
    ORR_TRY(orr_splat_points_load(l->photos.capture, setup->log, &l->points, error));
    ORR_TRY(orr_progress_at(&setup->progress, "first splats", 0.5, error));
    const orr_splat_trainer_desc desc = {
        .capture = l->photos.capture,
        .images = l->photos.images,
        .image_count = l->photos.train_count,
        .points = &l->points,
        .jobs = setup->jobs,
        .isa = setup->isa,
        .splats = given->splats ? given->splats : orr_splat_count_for(0.0),
        .sh_degree = given->sh_degree == 0  ? SH_DEGREE
                     : given->sh_degree < 0 ? 0
                                            : given->sh_degree,
        .antialias = given->antialias,
        .exposures = given->exposures,
        .bilateral_grid = given->bilateral_grid,
        .masks = given->masks == ORR_MASKS_EMPTY ? ORR_SPLAT_MASKS_EMPTY : ORR_SPLAT_MASKS_IGNORE,
        .lenses = given->lenses == ORR_LENSES_KEEP ? ORR_SPLAT_LENSES_KEEP : ORR_SPLAT_LENSES_UNDISTORT,
        .refine_poses = given->refine_poses,
        .depth_weight = given->depth_weight,
        .prune = given->prune,
        .strategy = given->strategy == ORR_STRATEGY_MCMC ? ORR_SPLAT_MCMC : ORR_SPLAT_ADC,
        .seed = setup->choices.seed,
        .cuda = setup->cuda,
        .resume = setup->state};
    l->chooses_splats = given->splats == 0 && !setup->state;
    orr_error why;
    orr_result result = create_trainer(l, desc, setup->log, &why);
    if (result == ORR_OK && !orr_splat_trainer_progress(l->trainer).keeps_lenses) {
        tell_fisheyes(l->photos.capture, given->data, setup->log);
    }
    return result == ORR_OK ? ORR_OK
                            : orr_fail(error, (orr_code)why.code, "%s: %s", given->data, why.message);
}

static orr_result create(const orr_learner_setup *setup, orr_learner **made, orr_error *error)
{
    orr_learner *l = orr_alloc_zero(1, sizeof *l);
    if (!l) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", setup->desc->data);
    }
    l->jobs = setup->jobs;
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
    orr_splat_step_report report;
    ORR_TRY(orr_splat_trainer_step(l->trainer, share, &report, error));
    step->loss = report.loss;
    step->samples = report.evaluated;
    return ORR_OK;
}

static void past(const orr_learner *l, int64_t *steps, double *share)
{
    const orr_splat_progress p = orr_splat_trainer_progress(l->trainer);
    *steps = p.steps;
    *share = p.progress;
}

static int64_t count(const orr_learner *l)
{
    return orr_splat_trainer_progress(l->trainer).splats;
}

static void plan(orr_learner *l, double seconds)
{
    if (l->chooses_splats) {
        orr_splat_trainer_allow(l->trainer, orr_splat_count_for(seconds));
    }
}

static void points(const orr_learner *l, int64_t *all, int64_t *used)
{
    *all = l->points.count;
    *used = orr_splat_trainer_progress(l->trainer).seeds;
}

// ---- looking ----

static orr_result compare(orr_learner *l, int image, int shrink, orr_train_quality *quality, orr_error *error)
{
    orr_arena_reset(&l->arena);
    l->seen = (orr_splat_comparison){0};
    ORR_TRY(orr_splat_trainer_compare(l->trainer, image, shrink, &l->arena, &l->seen, error));
    quality->file = l->photos.capture->images[image].path;
    return orr_splat_comparison_score(&l->seen, l->jobs, &quality->psnr, &quality->ssim, error);
}

static orr_result measure(orr_learner *l, orr_train_quality *quality, orr_error *error)
{
    const int image = orr_photo_set_shown(&l->photos);
    const orr_capture_image *photo = &l->photos.capture->images[image];
    int side = photo->width < photo->height ? photo->width : photo->height, shrink = 1;
    while (side / (2 * shrink) >= SCORE_SIDE) {
        shrink *= 2;
    }
    return compare(l, image, shrink, quality, error);
}

static orr_result picture(orr_learner *l, int size[2], const float **rgba, orr_error *error)
{
    const int64_t pixels = (int64_t)l->seen.width * l->seen.height;
    float *opaque = orr_arena_take(&l->arena, (size_t)pixels, 4 * sizeof(float));
    if (!opaque) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture");
    }
    for (int64_t i = 0; i < pixels; i++) {
        for (int k = 0; k < 3; k++) {
            opaque[4 * i + k] = l->seen.drawn[3 * i + k];
        }
        opaque[4 * i + 3] = 1.0f;
    }
    size[0] = l->seen.width;
    size[1] = l->seen.height;
    *rgba = opaque;
    return ORR_OK;
}

static orr_result evaluate(orr_learner *l, int index, const orr_nerf_stop *stop, orr_train_quality *quality,
                           orr_error *error)
{
    (void)stop; // a picture takes no longer than a moment
    return compare(l, l->photos.images[l->photos.train_count + index], 1, quality, error);
}

static const orr_photo_set *photos(const orr_learner *l)
{
    return &l->photos;
}

static orr_result cloud(orr_learner *l, orr_splats **splats, orr_error *error)
{
    return orr_splat_trainer_cloud(l->trainer, splats, error);
}

// The cloud's path without its ending, of which .compressed.ply is one.
static int stem_length(const char *cloud)
{
    const char *dot = strrchr(orr_path_name(cloud), '.');
    const size_t length = strlen(cloud);
    return (int)(orr_path_has_ending(cloud, ".compressed.ply") ? length - strlen(".compressed.ply")
                 : dot                                         ? (size_t)(dot - cloud)
                                                               : length);
}

// NAME.transforms.json beside the cloud NAME.ply. Its photos have whole paths, so that it can be moved.
static orr_result save_cameras(orr_learner *l, const char *cloud, orr_error *error)
{
    const int count = l->photos.capture->count;
    char path[PATH_MAX], whole[PATH_MAX];
    orr_arena arena = {0};
    orr_camera *cameras = orr_arena_take(&arena, (size_t)count, sizeof *cameras);
    const char **names = orr_arena_take(&arena, (size_t)count, sizeof *names);
    bool good = cameras && names;
    for (int i = 0; good && i < count; i++) {
        const char *photo = realpath(l->photos.capture->images[i].path, whole);
        photo = photo ? photo : l->photos.capture->images[i].path;
        char *copy = orr_arena_take(&arena, strlen(photo) + 1, 1);
        good = copy;
        names[i] = copy ? strcpy(copy, photo) : NULL;
        cameras[i] = orr_splat_trainer_camera(l->trainer, i);
    }
    snprintf(path, sizeof path, "%.*s.transforms.json", stem_length(cloud), cloud);
    orr_result result = good ? orr_camera_file_save(path, cameras, names, count, error)
                             : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    orr_arena_destroy(&arena);
    return result;
}

static orr_result save(orr_learner *l, const char *cloud, const char *state, orr_error *error)
{
    ORR_TRY(state ? orr_splat_trainer_save(l->trainer, state, error) : ORR_OK);
    return orr_splat_trainer_progress(l->trainer).refines_poses ? save_cameras(l, cloud, error) : ORR_OK;
}

static const orr_profile *profile(orr_learner *l)
{
    return orr_splat_trainer_profile(l->trainer);
}

const orr_learner_functions orr_learner_of_splats = {.create = create,
                                                     .step = step,
                                                     .past = past,
                                                     .count = count,
                                                     .plan = plan,
                                                     .points = points,
                                                     .measure = measure,
                                                     .picture = picture,
                                                     .evaluate = evaluate,
                                                     .photos = photos,
                                                     .cloud = cloud,
                                                     .save = save,
                                                     .profile = profile,
                                                     .destroy = destroy};
