// How good what a trainer has learned is: figures, pictures, and the course of both.
#include "engine/training/trainer.h"

#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/image/plot.h"

#include <math.h>
#include <stdio.h>

orr_result orr_trainer_refresh(orr_trainer *t, orr_error *error)
{
    if (t->ahead && t->kind->functions->refresh) {
        ORR_TRY(t->kind->functions->refresh(t->learner, error));
    }
    t->ahead = false;
    return ORR_OK;
}

static double score(const orr_trainer *t)
{
    return t->kind->field == ORR_FIELD_SDF ? t->quality.iou : t->quality.psnr;
}

static orr_result measure(orr_trainer *t, orr_error *error)
{
    orr_train_quality quality = {0};
    ORR_TRY(orr_trainer_refresh(t, error));
    ORR_TRY(t->kind->functions->measure(t->learner, &quality, error));
    t->quality = quality;
    t->measured = true;
    return ORR_OK;
}

orr_result orr_trainer_measure(orr_trainer *t, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_TRY(orr_trainer_enter(t, error));
    orr_result result = measure(t, error);
    orr_trainer_leave(t);
    if (result == ORR_OK) {
        orr_curve_add(&t->scores, t->worked, score(t));
    }
    return result;
}

orr_result orr_trainer_picture_sized(orr_trainer *t, orr_train_picture *picture, size_t size,
                                     orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_REQUIRE(picture, error);
    if (!t->measured) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "no picture: expected orr_trainer_measure before");
    }
    orr_train_picture own = {0};
    int sides[2] = {0, 0};
    ORR_TRY(orr_trainer_enter(t, error));
    orr_result result = t->kind->functions->picture(t->learner, sides, &own.rgba, error);
    orr_trainer_leave(t);
    ORR_TRY(result);
    own.width = sides[0];
    own.height = sides[1];
    orr_sized_write(&own, sizeof own, picture, size);
    return ORR_OK;
}

typedef struct deadline {
    orr_trainer *trainer;
    double seconds; // of the trainer's work
} deadline;

static bool is_over(void *context)
{
    const deadline *d = context;
    return atomic_load(&d->trainer->cancelled) || orr_trainer_seconds(d->trainer) >= d->seconds;
}

static orr_result evaluate(orr_trainer *t, int index, double milliseconds, orr_train_quality *quality,
                           orr_error *error)
{
    deadline end = {t, milliseconds > 0.0 ? orr_trainer_seconds(t) + 1e-3 * milliseconds : INFINITY};
    const orr_nerf_stop stop = {is_over, &end};
    if (atomic_load(&t->cancelled)) {
        return orr_fail(error, ORR_CODE_INTERRUPTED, "the evaluation was stopped");
    }
    ORR_TRY(orr_trainer_refresh(t, error));
    return t->kind->functions->evaluate(t->learner, index, &stop, quality, error);
}

orr_result orr_trainer_evaluate_sized(orr_trainer *t, int index, double milliseconds,
                                      orr_train_quality *quality, size_t size, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_REQUIRE(quality, error);
    const orr_photo_set *photos = t->kind->functions->photos(t->learner);
    const int count = photos ? photos->held_out_count : 1;
    if (index < 0 || index >= count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "held-out photo %d: expected one of %d, from 0", index,
                        count);
    }
    if (!(milliseconds >= 0.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%g ms: expected 0 or more", milliseconds);
    }
    orr_train_quality own = {0};
    ORR_TRY(orr_trainer_enter(t, error));
    orr_result result = evaluate(t, index, milliseconds, &own, error);
    orr_trainer_leave(t);
    if (result == ORR_ERROR_INTERRUPTED) {
        atomic_store(&t->cancelled, false);
    }
    ORR_TRY(result);
    orr_sized_write(&own, sizeof own, quality, size);
    return ORR_OK;
}

orr_result orr_trainer_save_plot(const orr_trainer *t, const char *title, const char *path, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_REQUIRE(path, error);
    ORR_TRY(orr_engine_check(t->engine, error));
    if (t->losses.count < 2) {
        return ORR_OK;
    }
    const orr_plot_line lines[2] = {{.name = "loss",
                                     .x = t->losses.seconds,
                                     .y = t->losses.values,
                                     .count = t->losses.count,
                                     .logarithmic = true},
                                    {.name = t->kind->field == ORR_FIELD_SDF ? "IoU" : "PSNR",
                                     .x = t->scores.seconds,
                                     .y = t->scores.values,
                                     .count = t->scores.count}};
    return orr_plot_save(path, title ? title : t->kind->name, "seconds", lines, t->scores.count > 1 ? 2 : 1,
                         error);
}
