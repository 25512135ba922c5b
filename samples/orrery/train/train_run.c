// A training from its first step to what is left behind.
#include "samples/orrery/train/train.h"

#include "samples/orrery/interrupt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SCORE_SHARE = 0.04; // of the time may go to looking at how it goes
static const double SCORE_SECONDS = 2.0;

const char *train_score_name(const training *t)
{
    return t->desc.kind == ORR_TRAINER_SDF ? "IoU" : "PSNR";
}

double train_score(const training *t)
{
    return t->desc.kind == ORR_TRAINER_SDF ? t->info.iou : t->info.psnr;
}

static double elapsed(const training *t)
{
    return progress_seconds(&t->clock);
}

static void show(const training *t, progress *p)
{
    if (!progress_due(p)) {
        return;
    }
    const double seconds = progress_seconds(p), taken = (double)(t->info.steps - t->first_step);
    const int64_t left = (int64_t)(t->info.seconds_left + 0.5);
    progress_line(p, "%lld steps, %.1f steps/s, %.2f M samples/s, loss %.3g, %s %.4g, %lld:%02lld left",
                  (long long)train_steps(t), taken / seconds, (double)t->info.samples / seconds * 1e-6,
                  t->info.loss, train_score_name(t), train_score(t), (long long)(left / 60),
                  (long long)(left % 60));
}

// A preview that cannot be written does not end a training.
static orr_result look(training *t, orr_error *error)
{
    const double before = elapsed(t);
    ORR_TRY(orr_trainer_measure(t->trainer, error));
    if (t->preview) {
        orr_error why;
        if (train_preview_save(t, &why) != ORR_OK) {
            fprintf(stderr, "orrery: warning: %s: no more previews\n", why.message);
            t->preview = NULL;
        }
    }
    const double now = elapsed(t);
    t->next_score = now + fmax(SCORE_SECONDS, (now - before) / SCORE_SHARE);
    return orr_trainer_describe(t->trainer, &t->info, error);
}

// What was learned so far, so that a crash costs minutes alone. A disk that is full does not end a training:
// there may be room at the next one.
static void save_checkpoint(training *t)
{
    orr_error why;
    if (orr_trainer_save(t->trainer, t->model_path, !t->small, &why) != ORR_OK) {
        fprintf(stderr, "orrery: warning: %s: no checkpoint, the training goes on\n", why.message);
    }
    t->next_checkpoint = elapsed(t) + t->checkpoint_seconds;
}

// The model alone where there is no room for what a training goes on from; an error all the same.
static orr_result save_model(const training *t, orr_error *error)
{
    orr_error why;
    const orr_result result = orr_trainer_save(t->trainer, t->model_path, !t->small, error);
    if (result != ORR_OK && !t->small && orr_trainer_save(t->trainer, t->model_path, false, &why) == ORR_OK) {
        fprintf(stderr, "orrery: warning: %s is saved, without the state that --resume needs\n",
                t->model_path);
    }
    return result;
}

static bool is_over(const training *t)
{
    return interrupt_requested() || (t->steps_max > 0 && train_steps(t) >= t->steps_max) ||
           elapsed(t) >= t->seconds_max;
}

static orr_result begin(training *t, orr_error *error)
{
    ORR_TRY(orr_trainer_describe(t->trainer, &t->info, error));
    t->first_step = t->info.steps;
    t->steps_before = t->desc.kind == ORR_TRAINER_SPLATS ? 0 : t->info.steps;
    t->seconds_loading = elapsed(t);
    t->next_score = t->seconds_loading + SCORE_SECONDS / 2.0;
    t->next_checkpoint = t->checkpoint_seconds > 0.0 ? t->seconds_loading + t->checkpoint_seconds : INFINITY;
    const double left = fmax(t->seconds_max - t->seconds_loading, 1e-3);
    return orr_trainer_plan(t->trainer, t->steps_max > 0 ? t->steps_before + t->steps_max : 0, left, error);
}

static orr_result step(training *t, orr_error *error)
{
    ORR_TRY(orr_trainer_step(t->trainer, 1, 0.0, error));
    ORR_TRY(orr_trainer_describe(t->trainer, &t->info, error));
    ORR_TRY(elapsed(t) >= t->next_score ? look(t, error) : ORR_OK);
    if (elapsed(t) >= t->next_checkpoint) {
        save_checkpoint(t);
    }
    return ORR_OK;
}

static orr_result run_steps(training *t, orr_error *error)
{
    progress p;
    orr_result result = begin(t, error);
    progress_begin(&p, "steps", t->steps_max);
    while (result == ORR_OK && !is_over(t)) {
        result = step(t, error);
        show(t, &p);
    }
    progress_end(&p);
    return result == ORR_ERROR_INTERRUPTED ? ORR_OK : result; // between two steps
}

// the model's name with .training.png in place of its ending, which names no picture it was trained on
static orr_result save_plot(const training *t, orr_error *error)
{
    char path[4096], title[256];
    const char *slash = strrchr(t->model_path, '/'), *name = slash ? slash + 1 : t->model_path;
    const char *ending = strrchr(name, '.');
    const int length = ending ? (int)(ending - t->model_path) : (int)strlen(t->model_path);
    snprintf(path, sizeof path, "%.*s.training.png", length, t->model_path);
    snprintf(title, sizeof title, "%s: %s", t->kind->name, name);
    return orr_trainer_save_plot(t->trainer, title, path, error);
}

static void cancel(void *trainer)
{
    orr_trainer_cancel(trainer);
}

orr_result train_run(training *t, struct cJSON *json, orr_error *error)
{
    interrupt_begin(); // from here on Ctrl-C saves
    interrupt_call(cancel, t->trainer);
    ORR_TRY(run_steps(t, error));
    ORR_TRY(look(t, error));
    ORR_TRY(save_model(t, error));
    ORR_TRY(save_plot(t, error));
    return train_report(t, json, error);
}
