// Photos become a cloud of splats.
#include "engine/core/file.h"
#include "neural/capture/capture.h"
#include "render/formats/splat_formats.h"
#include "render/training/splat_trainer.h"
#include "samples/orrery/progress.h"
#include "samples/orrery/train/train.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCORE_SIDE = 400, // [px] of the pictures that are compared while training, about
    SPLATS = 150000,  // when nobody says
    SH_DEGREE = 3
};

struct learner {
    orr_jobs *jobs;
    orr_capture *capture;
    int *images; // those to learn from, then those held out
    int train_count;
    orr_splat_trainer *trainer;
    orr_arena arena;
    orr_splat_comparison seen; // in the arena, of the last score
    float *rgba;               // likewise
};

static void destroy(learner *l)
{
    orr_splat_trainer_destroy(l->trainer);
    orr_capture_destroy(l->capture);
    orr_arena_destroy(&l->arena);
    orr_free(l->images);
    orr_free(l);
}

static orr_result read_masks(const char *name, orr_splat_masks *masks, orr_error *error)
{
    *masks = name && strcmp(name, "empty") == 0 ? ORR_SPLAT_MASKS_EMPTY : ORR_SPLAT_MASKS_IGNORE;
    return !name || *masks == ORR_SPLAT_MASKS_EMPTY || strcmp(name, "ignore") == 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "train: --masks %s: expected ignore or empty", name);
}

static orr_result open(const train_options *options, learner *l, orr_error *error)
{
    orr_splat_masks masks;
    ORR_TRY(read_masks(options->masks, &masks, error));

    ORR_TRY(orr_capture_load(options->data, options->jobs, command_log(), &l->capture, error));
    ORR_ALLOC(l->images, l->capture->count, options->data, error);
    l->train_count = orr_capture_split(l->capture->count, options->holdout, l->images);
    const orr_splat_trainer_desc desc = {.capture = l->capture,
                                         .images = l->images,
                                         .image_count = l->train_count,
                                         .jobs = options->jobs,
                                         .isa = options->isa,
                                         .splats = options->splats ? options->splats : SPLATS,
                                         .sh_degree =
                                             options->sh_degree >= 0 ? options->sh_degree : SH_DEGREE,
                                         .antialias = options->antialias,
                                         .exposures = options->exposures,
                                         .masks = masks,
                                         .refine_poses = options->refine_poses,
                                         .seed = options->seed,
                                         .resume = options->state};
    orr_error why;
    orr_result result = orr_splat_trainer_create(&desc, &l->trainer, &why);
    return result == ORR_OK ? ORR_OK
                            : orr_fail(error, (orr_code)why.code, "%s: %s", options->data, why.message);
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

static orr_result step(learner *l, double share, double *loss, int64_t *samples, orr_error *error)
{
    orr_splat_step_report report;
    ORR_TRY(orr_splat_trainer_step(l->trainer, share, &report, error));
    *loss = report.loss;
    *samples = report.evaluated;
    return ORR_OK;
}

// ---- looking ----

static orr_result compare(learner *l, int image, int shrink, double *psnr, double *ssim, orr_error *error)
{
    orr_arena_reset(&l->arena);
    ORR_TRY(orr_splat_trainer_compare(l->trainer, image, shrink, &l->arena, &l->seen, error));
    return orr_splat_comparison_score(&l->seen, l->jobs, psnr, ssim, error);
}

// of the first photo that is held out; without any, of the first of all
static orr_result score(learner *l, double *psnr, orr_error *error)
{
    int image = l->images[l->train_count < l->capture->count ? l->train_count : 0], shrink = 1;
    const orr_capture_image *photo = &l->capture->images[image];
    int side = photo->width < photo->height ? photo->width : photo->height;
    while (side / (2 * shrink) >= SCORE_SIDE) {
        shrink *= 2;
    }
    double ssim;
    return compare(l, image, shrink, psnr, &ssim, error);
}

static orr_result picture(learner *l, int size[2], float **rgba, orr_error *error)
{
    const int64_t pixels = (int64_t)l->seen.width * l->seen.height;
    l->rgba = orr_arena_take(&l->arena, (size_t)pixels, 4 * sizeof(float));
    if (!l->rgba) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture");
    }
    for (int64_t i = 0; i < pixels; i++) {
        for (int k = 0; k < 3; k++) {
            l->rgba[4 * i + k] = l->seen.drawn[3 * i + k];
        }
        l->rgba[4 * i + 3] = 1.0f;
    }
    size[0] = l->seen.width;
    size[1] = l->seen.height;
    *rgba = l->rgba;
    return ORR_OK;
}

// ---- the end ----

// NAME.transforms.json beside the cloud NAME.ply. Its photos have whole paths, so that it can be moved.
static orr_result save_cameras(learner *l, const char *cloud, orr_error *error)
{
    const int count = l->capture->count;
    const char *name = orr_path_name(cloud), *dot = strchr(name, '.');
    char path[PATH_MAX], whole[PATH_MAX];
    orr_arena arena = {0};
    orr_camera *cameras = orr_arena_take(&arena, (size_t)count, sizeof *cameras);
    const char **names = orr_arena_take(&arena, (size_t)count, sizeof *names);
    bool good = cameras && names;
    for (int i = 0; good && i < count; i++) {
        const char *photo = realpath(l->capture->images[i].path, whole);
        photo = photo ? photo : l->capture->images[i].path;
        char *copy = orr_arena_take(&arena, strlen(photo) + 1, 1);
        good = copy;
        names[i] = copy ? strcpy(copy, photo) : NULL;
        cameras[i] = orr_splat_trainer_camera(l->trainer, i);
    }
    snprintf(path, sizeof path, "%.*s.transforms.json", (int)(dot ? dot - cloud : (int)strlen(cloud)), cloud);
    orr_result result = good ? orr_camera_file_save(path, cameras, names, count, error)
                             : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    orr_arena_destroy(&arena);
    return result;
}

// The state first: it alone decides how a training goes on, whichever cloud is beside it.
static orr_result save(learner *l, const char *path, const char *state, orr_error *error)
{
    orr_splats *splats;
    if (state) {
        ORR_TRY(orr_splat_trainer_save(l->trainer, state, error));
    }
    if (orr_splat_trainer_progress(l->trainer).refines_poses) {
        ORR_TRY(save_cameras(l, path, error));
    }
    ORR_TRY(orr_splat_trainer_cloud(l->trainer, &splats, error));
    orr_result result = orr_splats_save(splats, path, error);
    orr_splats_destroy(splats);
    return result;
}

static void past(const learner *l, int64_t *steps, double *share)
{
    const orr_splat_progress p = orr_splat_trainer_progress(l->trainer);
    *steps = p.steps;
    *share = p.progress;
}

static orr_result compare_whole(learner *l, int image, const orr_nerf_stop *stop, orr_nerf_score *score,
                                orr_error *error)
{
    (void)stop; // a picture takes no longer than a moment
    score->photos = 1;
    return compare(l, image, 1, &score->psnr, &score->ssim, error);
}

static orr_result report(learner *l, const orr_nerf_stop *stop, cJSON *json, orr_error *error)
{
    const held_out_photos held_out = {l->capture, l->images + l->train_count,
                                      l->capture->count - l->train_count, compare_whole};
    return train_compare(l, &held_out, stop, json, error);
}

static const orr_profile *profile(learner *l)
{
    return orr_splat_trainer_profile(l->trainer);
}

const learner_functions learner_of_splats = {.create = create,
                                             .step = step,
                                             .score = score,
                                             .picture = picture,
                                             .save = save,
                                             .past = past,
                                             .report = report,
                                             .profile = profile,
                                             .destroy = destroy};
