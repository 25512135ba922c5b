#include "samples/orrery/view/view_training.h"

#include <stdio.h>
#include <stdlib.h>

static const double SPLAT_SECONDS = 180.0;                  // of steps, as orrery train splats
static const double MEASURE_SECONDS = 2.0, MEASURES = 0.04; // between two, at least; their share of the time

static orr_result open(orr_engine *engine, const orr_train_desc *desc, orr_scene *scene, view_training *t,
                       orr_error *error)
{
    static const char *const names[] = {"splats", "radiance field", "signed distances", "image", "volume"};
    t->kind = desc->kind;
    t->scene = scene;
    ORR_TRY(orr_trainer_create(engine, desc, &t->trainer, error));
    if (t->kind == ORR_TRAINER_SPLATS) {
        ORR_TRY(orr_trainer_plan(t->trainer, 0, SPLAT_SECONDS, error));
    }
    ORR_TRY(orr_scene_add_trainer(scene, names[t->kind], t->trainer, NULL, &t->layer, error));
    ORR_TRY(orr_trainer_describe(t->trainer, &t->figures.info, error));
    t->saved = t->figures.info.steps; // of the model that it goes on from
    return ORR_OK;
}

orr_result view_training_open(orr_engine *engine, const orr_train_desc *desc, orr_scene **out,
                              view_training **training, orr_error *error)
{
    *training = NULL;
    *out = NULL;
    orr_scene *scene;
    ORR_TRY(orr_scene_create(engine, &scene, error));
    view_training *t = calloc(1, sizeof *t);
    orr_result result = t ? open(engine, desc, scene, t, error)
                          : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", desc->data);
    if (result != ORR_OK) {
        orr_scene_destroy(scene);
        view_training_close(t);
        return result;
    }
    *out = scene;
    *training = t;
    return ORR_OK;
}

void view_training_close(view_training *t)
{
    if (t) {
        background_finish(&t->step);
        orr_trainer_destroy(t->trainer);
        free(t);
    }
}

static double worked(const view_training *t)
{
    orr_train_info info = {0};
    orr_trainer_describe(t->trainer, &info, NULL);
    return info.seconds;
}

static void take_step(void *context)
{
    view_training *t = context;
    const double start = worked(t);
    t->result = orr_trainer_step(t->trainer, 1, 0.0, &t->error);
    const double stepped = worked(t);
    if (t->result == ORR_OK && t->measures) {
        t->result = orr_trainer_measure(t->trainer, &t->error);
        t->measure_seconds = worked(t) - stepped;
    }
    t->step_seconds = worked(t) - start;
}

bool view_training_is_busy(const view_training *t)
{
    return background_is_busy(&t->step);
}

// The plan is over, or nothing can be learned any more: a pause, which a key ends.
static void rest(view_training *t)
{
    const orr_train_info *info = &t->figures.info;
    if (t->result != ORR_OK) {
        t->figures.paused = true;
        snprintf(t->news, sizeof t->news, "%s", t->error.message);
    } else if (info->progress >= 1.0 && !t->finished) {
        t->figures.paused = t->finished = true;
        snprintf(t->news, sizeof t->news, "The training is over: M saves, T goes on.");
    }
}

void view_training_wait(view_training *t)
{
    if (t && background_finish(&t->step)) {
        const int64_t before = t->figures.info.samples;
        training_pace_step(&t->pace, 1e3 * t->step_seconds);
        t->ahead = true;
        t->measured_at = t->measures ? t->figures.seconds + t->step_seconds : t->measured_at;
        if (orr_trainer_describe(t->trainer, &t->figures.info, NULL) == ORR_OK) {
            training_figures_add(&t->figures, t->figures.info.loss, t->figures.info.samples - before,
                                 t->step_seconds);
        }
        rest(t);
    }
}

bool view_training_begin_step(view_training *t, bool moving, bool drawing)
{
    view_training_wait(t);
    if (!t->in_turn) {
        training_pace_turn(&t->pace, moving);
    }
    t->in_turn = !t->figures.paused && training_pace_allows_step(&t->pace);
    if (t->in_turn) {
        const double since = t->figures.seconds - t->measured_at;
        t->measures = !drawing && since > MEASURE_SECONDS && since > t->measure_seconds / MEASURES;
        background_start(&t->step, take_step, t, t->step_ended);
    }
    return t->in_turn;
}

bool view_training_picture_due(const view_training *t, double now)
{
    return t->ahead && training_pace_picture_due(&t->pace, now);
}

orr_result view_training_refresh(view_training *t, orr_error *error)
{
    const bool ahead = t->ahead;
    t->ahead = false;
    return ahead ? orr_scene_refresh_trainer(t->scene, t->layer, t->trainer, error) : ORR_OK;
}

const char *view_training_ending(const view_training *t)
{
    return t->kind == ORR_TRAINER_SPLATS ? ".ply" : ".ingp";
}

bool view_training_is_unsaved(const view_training *t)
{
    return t->figures.info.steps > t->saved;
}

orr_result view_training_save(view_training *t, const char *path, orr_error *error)
{
    return orr_trainer_save(t->trainer, path, true, error);
}
