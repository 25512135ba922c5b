// orrery train: trains a field, shows how it goes, and leaves a model, a plot and a report.
#define _GNU_SOURCE
#include "samples/orrery/train/train_samples.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/image/plot.h"
#include "render/formats/splat_formats.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CURVE_MAX = 4096, HOLDOUT = 8 };

static const double SCORE_SHARE = 0.04; // of the time may go to looking at how it goes
static const double SCORE_SECONDS = 2.0;

// What was seen over time, for the plot.
typedef struct curve {
    double seconds[CURVE_MAX], values[CURVE_MAX];
    int count;
} curve;

typedef struct training {
    const learner_kind *kind;
    learner *learner;
    const char *model_path, *preview;
    bool seed_given;
    bool small;                 // saved without the state to go on from
    orr_model_training choices; // as saved
    int64_t steps_max;          // 0: no bound
    double seconds_max;
    uint64_t start;                             // of the command
    double seconds_loading;                     // until the first step
    double checkpoint_seconds, next_checkpoint; // between two; of the next, since the start
    double evaluation_seconds, evaluation_end;  // at most; since the start
    int64_t steps, samples;
    int64_t steps_before; // of `steps`, those of trainings that this one goes on from
    double share_before;  // how much of the training was over then
    double loss, score;
    double next_score; // [s] since the start
    int previews;
    curve losses, scores;
} training;

static const learner_kind kinds[] = {
    {"image", ORR_FIELD_IMAGE, "PSNR", 60.0, &learner_of_samples, &truth_image},
    {"sdf", ORR_FIELD_SDF, "IoU", 60.0, &learner_of_samples, &truth_sdf},
    {"nerf", ORR_FIELD_NERF, "PSNR", 120.0, &learner_of_photos, NULL},
    {"splats", ORR_FIELD_NERF, "PSNR", 180.0, &learner_of_splats, NULL},
    {"volume", ORR_FIELD_VOLUME, "PSNR", 60.0, &learner_of_samples, &truth_volume},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

// ---- for learners ----

static orr_result read_config(const char *path, orr_field_kind kind, orr_field_config *config,
                              orr_error *error)
{
    ORR_TRY(orr_field_config_base(kind, config, error));
    orr_result result = orr_field_config_load(path, config, error);
    if (result != ORR_OK) {
        orr_field_config_free(config);
    } else if (config->ignored[0]) {
        fprintf(stderr, "orrery: warning: %s: %s: known, and without effect here\n", path, config->ignored);
    }
    return result;
}

orr_result train_field(const train_options *options, orr_field_desc desc,
                       orr_result (*own)(orr_field_config *, orr_error *), orr_field **field,
                       orr_error *error)
{
    if (options->resume) {
        *field = options->resume->field;
        options->resume->field = NULL; // it is the learner's now
        return ORR_OK;
    }
    desc.seed = options->seed;
    desc.isa = options->isa;
    desc.machine = options->machine;
    ORR_TRY(options->config ? read_config(options->config, desc.kind, &desc.config, error)
                            : own(&desc.config, error));
    orr_result result = orr_field_create(&desc, field, error);
    orr_field_config_free(&desc.config);
    return result;
}

static void add_photo(cJSON *photos, const char *file, double psnr, double ssim)
{
    if (photos) {
        cJSON *photo = cJSON_CreateObject();
        cJSON_AddStringToObject(photo, "file", file);
        cJSON_AddNumberToObject(photo, "PSNR", psnr);
        cJSON_AddNumberToObject(photo, "SSIM", ssim);
        cJSON_AddItemToArray(photos, photo);
    }
}

orr_result train_compare(learner *l, const held_out_photos *held_out, const orr_nerf_stop *stop, cJSON *json,
                         orr_error *error)
{
    orr_nerf_score sum = {0};
    cJSON *photos = json ? cJSON_AddArrayToObject(json, "held out") : NULL;
    progress p;
    progress_begin(&p, "held-out photos", held_out->count);
    for (int i = 0; i < held_out->count && !stop->asked(stop->context); i++) {
        orr_nerf_score one = {0};
        ORR_TRY(held_out->compare(l, held_out->images[i], stop, &one, error));
        if (one.photos == 0) {
            break;
        }
        sum.psnr += one.psnr;
        sum.ssim += one.ssim;
        sum.photos++;
        add_photo(photos, held_out->capture->images[held_out->images[i]].path, one.psnr, one.ssim);
        progress_show(&p, i + 1);
    }
    progress_end(&p);
    train_figure(json, "training photos", held_out->capture->count - held_out->count, "");
    train_figure(json, "held-out photos", held_out->count, "");
    if (sum.photos < held_out->count) {
        train_figure(json, "compared photos", sum.photos, "");
    }
    if (sum.photos > 0) {
        train_figure(json, "PSNR", sum.psnr / sum.photos, "dB");
        train_figure(json, "SSIM", sum.ssim / sum.photos, "");
    }
    return ORR_OK;
}

void train_figure(cJSON *json, const char *name, double value, const char *unit)
{
    if (json) {
        cJSON_AddNumberToObject(json, name, value);
    } else {
        fprintf(stderr, "  %-24s %.6g%s%s\n", name, value, unit[0] ? " " : "", unit);
    }
}

// ---- curves ----

// A full curve loses every second point, so that a long training keeps its whole course.
static void curve_add(curve *c, double seconds, double value)
{
    if (c->count == CURVE_MAX) {
        for (int i = 0; i < CURVE_MAX / 2; i++) {
            c->seconds[i] = c->seconds[2 * i];
            c->values[i] = c->values[2 * i];
        }
        c->count = CURVE_MAX / 2;
    }
    c->seconds[c->count] = seconds;
    c->values[c->count++] = value;
}

static double elapsed(const training *t)
{
    return (double)(orr_clock_nanoseconds() - t->start) * 1e-9;
}

// ---- the loop ----

static void show(training *t, progress *p)
{
    if (!progress_due(p)) {
        return;
    }
    double seconds = progress_seconds(p), taken = (double)(t->steps - t->steps_before);
    double by_time = t->seconds_max - elapsed(t);
    double by_steps = t->steps_max > 0 ? seconds / taken * (double)(t->steps_max - t->steps) : INFINITY;
    int64_t left = (int64_t)(fmax(fmin(by_time, by_steps), 0.0) + 0.5);
    progress_line(p, "%lld steps, %.1f steps/s, %.2f M samples/s, loss %.3g, %s %.4g, %lld:%02lld left",
                  (long long)t->steps, taken / seconds, (double)t->samples / seconds * 1e-6, t->loss,
                  t->kind->score_name, t->score, (long long)(left / 60), (long long)(left % 60));
}

static orr_result save_preview(training *t, orr_error *error)
{
    char path[4096];
    int size[2];
    float *rgba;
    uint8_t *bytes;
    snprintf(path, sizeof path, "%s/%s_%04d.png", t->preview, t->kind->name, t->previews++);
    ORR_TRY(t->kind->functions->picture(t->learner, size, &rgba, error));
    int64_t pixels = (int64_t)size[0] * size[1];
    for (int64_t i = 0; i < pixels; i++) { // over white
        for (int k = 0; k < 3; k++) {
            rgba[4 * i + k] += 1.0f - rgba[4 * i + 3];
        }
        rgba[4 * i + 3] = 1.0f;
    }
    ORR_ALLOC(bytes, 4 * pixels, path, error);
    orr_image_quantise(rgba, pixels, bytes);
    orr_result result = orr_png_save(path, bytes, size[0], size[1], error);
    orr_free(bytes);
    return result;
}

static orr_result take_picture(training *t, orr_error *error)
{
    double before = elapsed(t);
    ORR_TRY(t->kind->functions->score(t->learner, &t->score, error));
    if (t->preview) {
        ORR_TRY(save_preview(t, error));
    }
    double now = elapsed(t), cost = now - before;
    curve_add(&t->scores, now, t->score);
    t->next_score = now + fmax(SCORE_SECONDS, cost / SCORE_SHARE);
    return ORR_OK;
}

// Of a cloud: the file to go on from.
static orr_result state_path(const char *cloud, char *path, size_t size, orr_error *error)
{
    return snprintf(path, size, "%s.training", cloud) < (int)size
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "%.64s...: expected a shorter name", cloud);
}

static orr_result save(training *t, orr_error *error)
{
    if (t->kind->functions->save) {
        char state[4096];
        ORR_TRY(state_path(t->model_path, state, sizeof state, error));
        return t->kind->functions->save(t->learner, t->model_path, t->small ? NULL : state, error);
    }
    orr_field_model model = {.size = 1.0};
    ORR_TRY(t->kind->functions->describe(t->learner, &model, error));
    model.loss = t->loss;
    model.training = t->choices;
    orr_bytes state = model.state;
    if (t->small) {
        model.state = (orr_bytes){0};
    }
    orr_result result = orr_field_model_save(&model, t->model_path, error);
    orr_free(state.data);
    return result;
}

// What was learnt so far, so that a crash costs minutes alone.
static orr_result save_checkpoint(training *t, orr_error *error)
{
    ORR_TRY(save(t, error));
    t->next_checkpoint = elapsed(t) + t->checkpoint_seconds;
    return ORR_OK;
}

static bool is_over(const training *t)
{
    return interrupt_requested() || (t->steps_max > 0 && t->steps >= t->steps_max) ||
           elapsed(t) >= t->seconds_max;
}

// How much of the training is over, 0 .. 1: by steps or by time, whichever is farther. Time goes on from
// where the training was.
static double share_over(const training *t)
{
    double by_steps = t->steps_max > 0 ? (double)t->steps / (double)t->steps_max : 0.0;
    double of_time = (elapsed(t) - t->seconds_loading) / (t->seconds_max - t->seconds_loading);
    double by_time = t->share_before + (1.0 - t->share_before) * of_time;
    return fmin(fmax(by_steps, by_time), 1.0);
}

static orr_result run_steps(training *t, orr_error *error)
{
    progress p;
    if (t->kind->functions->past) {
        t->kind->functions->past(t->learner, &t->steps_before, &t->share_before);
        t->steps = t->steps_before;
    }
    progress_begin(&p, "steps", t->steps_max);
    t->seconds_loading = elapsed(t);
    t->next_score = t->seconds_loading + SCORE_SECONDS / 2.0;
    t->next_checkpoint = t->checkpoint_seconds > 0.0 ? t->seconds_loading + t->checkpoint_seconds : INFINITY;
    orr_result result = ORR_OK;
    double smooth = 0.0, weight = 0.0; // the loss of single steps jumps
    while (result == ORR_OK && !is_over(t)) {
        int64_t samples = 0;
        double loss = 0.0;
        result = t->kind->functions->step(t->learner, share_over(t), &loss, &samples, error);
        t->steps++;
        t->samples += samples;
        smooth = 0.95 * smooth + 0.05 * loss;
        weight = 0.95 * weight + 0.05;
        t->loss = smooth / weight;
        if (t->steps % 16 == 1) {
            curve_add(&t->losses, elapsed(t), t->loss);
        }
        if (result == ORR_OK && elapsed(t) >= t->next_score) {
            result = take_picture(t, error);
        }
        if (result == ORR_OK && elapsed(t) >= t->next_checkpoint) {
            result = save_checkpoint(t, error);
        }
        show(t, &p);
    }
    progress_end(&p);
    return result;
}

// ---- what is left behind ----

// the model's name with .training.png in place of its ending, which names no picture it was trained on
static orr_result save_plot(const training *t, orr_error *error)
{
    if (t->losses.count < 2) {
        return ORR_OK;
    }
    char path[4096];
    const char *ending = strrchr(orr_path_name(t->model_path), '.');
    int length = ending ? (int)(ending - t->model_path) : (int)strlen(t->model_path);
    snprintf(path, sizeof path, "%.*s.training.png", length, t->model_path);
    char title[256];
    snprintf(title, sizeof title, "%s: %s", t->kind->name, orr_path_name(t->model_path));
    const orr_plot_line lines[2] = {{.name = "loss",
                                     .x = t->losses.seconds,
                                     .y = t->losses.values,
                                     .count = t->losses.count,
                                     .logarithmic = true},
                                    {.name = t->kind->score_name,
                                     .x = t->scores.seconds,
                                     .y = t->scores.values,
                                     .count = t->scores.count}};
    return orr_plot_save(path, title, "seconds", lines, t->scores.count > 1 ? 2 : 1, error);
}

// Is the time for the evaluation over? Ctrl-C ends it too: the model is saved by then.
static bool evaluation_over(void *context)
{
    training *t = context;
    return interrupt_requested() || elapsed(t) >= t->evaluation_end;
}

static orr_result report(training *t, cJSON *json, orr_error *error)
{
    t->evaluation_end = elapsed(t) + t->evaluation_seconds;
    const orr_nerf_stop stop = {evaluation_over, t};
    if (!json) {
        fprintf(stderr, "%s: %lld steps in %.1f s\n", t->model_path, (long long)t->steps, elapsed(t));
    }
    train_figure(json, "steps", (double)t->steps, "");
    train_figure(json, "samples", (double)t->samples, "");
    train_figure(json, "loss", t->loss, "");
    ORR_TRY(t->kind->functions->report(t->learner, &stop, json, error));
    train_figure(json, "seconds", elapsed(t), "s");
    train_figure(json, "load seconds", t->seconds_loading, "s");
    const orr_profile *profile = t->kind->functions->profile(t->learner);
    for (int i = 0; i < profile->count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s seconds", profile->stages[i].name);
        train_figure(json, name, profile->stages[i].milliseconds * 1e-3, "s");
    }
    return ORR_OK;
}

// ---- the command ----

static orr_result train(training *t, train_options *options, cJSON *json, orr_error *error)
{
    ORR_TRY(t->kind->functions->create(options, &t->learner, error));
    interrupt_begin(); // from here on Ctrl-C saves
    orr_result result = run_steps(t, error);
    if (result == ORR_OK) {
        result = take_picture(t, error);
    }
    if (result == ORR_OK) {
        result = save(t, error);
    }
    if (result == ORR_OK) {
        result = save_plot(t, error);
    }
    if (result == ORR_OK) {
        result = report(t, json, error);
    }
    t->kind->functions->destroy(t->learner);
    return result;
}

// The model to go on from: of this kind, and with the state of its training.
static orr_result load_resume(training *t, train_options *options, const char *path, orr_field_model *model,
                              orr_error *error)
{
    ORR_TRY(orr_field_model_load(path, options->isa, options->machine, model, error));
    orr_field_kind found = orr_field_kind_of(model->field);
    for (int i = 0; i < KIND_COUNT; i++) {
        if (kinds[i].field == found && found != t->kind->field) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a model of kind %s: expected %s", path,
                            kinds[i].name, t->kind->name);
        }
    }
    if (options->config) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "train: --config with --resume: expected none, %s has its own", path);
    }
    if (model->state.size == 0) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: no state of a training in it: expected a model of orrery train", path);
    }
    if (options->sampling && options->unbounded != orr_field_describe(model->field)->unbounded) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: not trained with --sampling %s: expected the same as before", path,
                        options->sampling);
    }
    options->resume = model;
    const orr_model_training *before = &model->training;
    if (before->known) {
        options->batch = options->batch ? options->batch : before->batch;
        options->holdout = options->holdout >= 0 ? options->holdout : before->holdout;
        options->exposures = before->exposures;
        options->seed = t->seed_given ? options->seed : before->seed;
    }
    return ORR_OK;
}

// What has no meaning for a cloud is refused.
static orr_result check_splats(const training *t, const train_options *options, const char *resume,
                               const common_options *common, orr_error *error)
{
    const char *given = options->config                       ? "--config"
                        : options->batch                      ? "--batch"
                        : common->device == ORR_DEVICE_CUDA   ? "--device cuda"
                        : common->device == ORR_DEVICE_VULKAN ? "--device vulkan"
                                                              : NULL;
    if (given) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "train: %s: expected none with train splats", given);
    }
    given = options->splats           ? "--splats"
            : options->sh_degree >= 0 ? "--sh"
            : options->antialias      ? "--antialias"
            : options->exposures      ? "--exposures"
            : options->refine_poses   ? "--refine-poses"
            : options->masks          ? "--masks"
            : t->seed_given           ? "--seed"
                                      : NULL;
    if (resume && given) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "train: %s with --resume: expected none, %s has its own",
                        given, resume);
    }
    return orr_splat_format_to_write(t->model_path)
               ? ORR_OK
               : orr_fail(error, ORR_CODE_FILE_TYPE,
                          "%s: expected a name that ends in .ply, .compressed.ply, .splat, .spz or .sog",
                          t->model_path);
}

static orr_result open_and_train(training *t, train_options *options, const char *resume,
                                 const common_options *common, cJSON *json, orr_error *error)
{
    const bool cloud = t->kind->functions == &learner_of_splats;
    char state[4096];
    if (cloud) {
        ORR_TRY(check_splats(t, options, resume, common, error));
        ORR_TRY(state_path(t->model_path, state, sizeof state, error));
        ORR_TRY(t->small ? ORR_OK : orr_file_try(state, error));
        if (resume) {
            ORR_TRY(state_path(resume, state, sizeof state, error));
            options->state = state;
        }
    } else if (!orr_field_model_readable(t->model_path)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a name that ends in .ingp or .msgpack",
                        t->model_path);
    }
    if (t->preview && mkdir(t->preview, 0777) != 0 && access(t->preview, W_OK) != 0) {
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write into this folder", t->preview);
    }
    ORR_TRY(orr_file_try(t->model_path, error));
    ORR_TRY(orr_isa_choose(&options->isa, error));
    ORR_TRY(orr_mlp_machine_choose(options->isa, &options->machine, error));
    orr_field_model model = {0};
    orr_result result = resume && !cloud ? load_resume(t, options, resume, &model, error) : ORR_OK;
    options->holdout = options->holdout >= 0 ? options->holdout : HOLDOUT;
    t->choices =
        (orr_model_training){options->batch, options->holdout, options->seed, true, options->exposures};
    if (result == ORR_OK) {
        result = orr_jobs_create(common->threads, NULL, NULL, &options->jobs, error);
    }
    if (result == ORR_OK && !cloud) {
        result = command_cuda(common, &options->cuda, error);
    }
    if (options->cuda) {
        fprintf(stderr, "orrery: trains on %s\n", orr_cuda_describe(options->cuda)->name);
    }
    if (result == ORR_OK) {
        result = train(t, options, json, error);
    }
    orr_cuda_destroy(options->cuda);
    orr_jobs_destroy(options->jobs);
    orr_field_model_free(&model);
    return result;
}

static const learner_kind *find_kind(const char *name, orr_error *error)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            return &kinds[i];
        }
    }
    orr_fail(error, ORR_CODE_ARGUMENT, "train: %s: expected image, sdf, nerf, splats, volume or policy",
             name);
    return NULL;
}

static orr_result read_sampling(const learner_kind *kind, train_options *options, orr_error *error)
{
    options->unbounded = strcmp(options->sampling, "proposal") == 0;
    if (kind->functions != &learner_of_photos ||
        (!options->unbounded && strcmp(options->sampling, "occupancy") != 0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "train: --sampling %s: expected occupancy or proposal, with train nerf",
                        options->sampling);
    }
    return ORR_OK;
}

int command_train(int argc, char **argv)
{
    enum { CHECKPOINT_MINUTES = 10, EVALUATION_SECONDS = 120 };
    common_options common = {.seed = UINT64_MAX}; // not given
    if (argc > 1 && strcmp(argv[1], "policy") == 0) {
        return train_policy(argc - 1, argv + 1);
    }
    training *t = orr_alloc_zero(1, sizeof *t);
    train_options options = {.sh_degree = -1};
    const char *resume = NULL;
    int steps = 0;
    double checkpoint_minutes = CHECKPOINT_MINUTES;
    orr_error error;
    if (!t) {
        return command_fail(orr_fail(&error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a training"), &error);
    }
    t->start = orr_clock_nanoseconds();
    t->evaluation_seconds = EVALUATION_SECONDS;
    const option list[] = {
        {.name = "--output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .value = &t->model_path,
         .expect = "MODEL",
         .help =
             "the model, .ingp, or the cloud, .ply .spz .sog; a plot of the training is written beside it"},
        {.name = "--steps",
         .kind = OPTION_INT,
         .value = &steps,
         .expect = "N",
         .help = "stop after N steps",
         .low = 1,
         .high = 1e9},
        {.name = "--seconds",
         .kind = OPTION_REAL,
         .value = &t->seconds_max,
         .expect = "S",
         .help = "stop S seconds after the start (default 60, nerf 120, splats 180; none with --steps)",
         .low = 1e-3,
         .high = 1e7},
        {.name = "--config",
         .kind = OPTION_TEXT,
         .value = &options.config,
         .expect = "FILE",
         .help = "configuration of encodings and networks: JSON of instant-ngp"},
        {.name = "--batch",
         .kind = OPTION_INT,
         .value = &options.batch,
         .expect = "N",
         .help = "samples per step (default: by kind)",
         .low = 64,
         .high = 1 << 22},
        {.name = "--splats",
         .kind = OPTION_INT,
         .value = &options.splats,
         .expect = "N",
         .help = "splats: no more than N (default 150000)",
         .low = 1,
         .high = 1 << 28},
        {.name = "--sh",
         .kind = OPTION_INT,
         .value = &options.sh_degree,
         .expect = "D",
         .help = "splats: degree of the spherical harmonics, 0 to 3 (default 3)",
         .low = 0,
         .high = 3},
        {.name = "--antialias",
         .kind = OPTION_FLAG,
         .value = &options.antialias,
         .help = "splats: train with the Mip-Splatting 2D filter, for views from far away"},
        {.name = "--holdout",
         .kind = OPTION_INT,
         .value = &options.holdout,
         .expect = "K",
         .help = "nerf, splats: keep every Kth photo for testing (default 8; 0: none)",
         .low = 0,
         .high = 1e6},
        {.name = "--sampling",
         .kind = OPTION_TEXT,
         .value = &options.sampling,
         .expect = "occupancy|proposal",
         .help = "nerf: rays are sampled by an occupancy grid (default), or by a proposal field for "
                 "unbounded captures"},
        {.name = "--exposures",
         .kind = OPTION_FLAG,
         .value = &options.exposures,
         .help = "for photos of different exposures; nerf: learn a gain per photo and channel; splats: learn "
                 "an affine map of colours per photo, and compare right halves of held-out photos after a "
                 "fit to the left ones"},
        {.name = "--refine-poses",
         .kind = OPTION_FLAG,
         .value = &options.refine_poses,
         .help = "splats: learn corrections of the photos' poses too; writes NAME.transforms.json beside the "
                 "cloud NAME.ply"},
        {.name = "--masks",
         .kind = OPTION_TEXT,
         .value = &options.masks,
         .expect = "ignore|empty",
         .help = "splats: what masks beside photos leave out is not learned from (default), or is learned "
                 "as transparent, for an object without its surroundings"},
        {.name = "--fast-scatter",
         .kind = OPTION_FLAG,
         .value = &options.fast_scatter,
         .help = "nerf: add gradients in any order: about 2 % faster, bits differ between runs"},
        {.name = "--preview",
         .kind = OPTION_TEXT,
         .value = &t->preview,
         .expect = "DIR",
         .help = "write pictures during training into DIR"},
        {.name = "--resume",
         .kind = OPTION_TEXT,
         .value = &resume,
         .expect = "MODEL",
         .help =
             "continue from a model of this command, to the same bits: configuration, batch, seed, holdout "
             "and exposures are the model's; splats: from CLOUD.training beside the cloud, with the same "
             "--holdout, and --steps counts from the very beginning"},
        {.name = "--checkpoint",
         .kind = OPTION_REAL,
         .value = &checkpoint_minutes,
         .expect = "MINUTES",
         .help = "save the model every so often while training (default 10; 0: only at the end)",
         .low = 0.0,
         .high = 1e6},
        {.name = "--no-state",
         .kind = OPTION_FLAG,
         .value = &t->small,
         .help = "save without what --resume needs: a smaller file; splats: no CLOUD.training"},
        {.name = "--evaluation",
         .kind = OPTION_REAL,
         .value = &t->evaluation_seconds,
         .expect = "S",
         .help = "nerf, splats: compare held-out photos for at most S seconds at the end (default 120)",
         .low = 0.0,
         .high = 1e7},
    };
    const command_usage usage = {
        .name = "train",
        .operands = "image|sdf|nerf|splats|volume DATA -o MODEL | policy TASK ROBOT -o MODEL",
        .purpose = "Trains a field or a splat cloud until --steps, --seconds or Ctrl-C, and saves it.",
        .notes = "image: .png .jpg .webp .exr .hdr .bmp .tga .gif;  sdf: .obj .stl .glb .ply;\n"
                 "nerf, splats: transforms.json, or its folder, or a folder with a COLMAP model;\n"
                 "volume: a three-dimensional .npy, or the word cloud for a computed one;\n"
                 "policy: see orrery train policy --help.",
        .operand_min = 2,
        .operand_max = 2,
        .options = list,
        .option_count = sizeof list / sizeof list[0],
        .common = &common,
        .common_used = COMMON_DEVICE | COMMON_THREADS | COMMON_SEED | COMMON_JSON};
    int operand_count, exit_code;
    options.holdout = -1;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        orr_free(t);
        return exit_code;
    }
    options.data = argv[1];
    t->seed_given = common.seed != UINT64_MAX;
    options.seed = t->seed_given ? (uint32_t)common.seed : 0;
    t->checkpoint_seconds = 60.0 * checkpoint_minutes;
    t->kind = find_kind(argv[0], &error);
    orr_result result = t->kind ? ORR_OK : ORR_ERROR_ARGUMENT;
    if (result == ORR_OK && !t->model_path) {
        result = orr_fail(&error, ORR_CODE_ARGUMENT, "train: -o missing: expected a name for the model");
    }
    if (result == ORR_OK && options.sampling) {
        result = read_sampling(t->kind, &options, &error);
    }
    cJSON *json = common.json ? cJSON_CreateObject() : NULL;
    options.kind = t->kind;
    if (result == ORR_OK) {
        t->steps_max = steps;
        t->seconds_max = t->seconds_max > 0.0 ? t->seconds_max : steps > 0 ? INFINITY : t->kind->seconds;
        result = open_and_train(t, &options, resume, &common, json, &error);
    }
    orr_free(t);
    if (result != ORR_OK) {
        cJSON_Delete(json);
        return command_fail(result, &error);
    }
    exit_code = json ? command_print_json(json) : 0;
    return interrupt_requested() ? 130 : exit_code;
}
