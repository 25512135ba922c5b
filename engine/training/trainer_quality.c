// How good what a trainer has learned is: figures, pictures, and the course of both.
#include "engine/training/trainer.h"

#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/image/plot.h"

#include <math.h>
#include <stdio.h>

// [dB] over one colour, of photos that belong to their cameras: in the mean of those held out; of a single
// one early, which may be seen from where no other photo was taken
static const double MARGIN = 5.0, EARLY_MARGIN = 1.0;
static const double EARLY_SHARE = 0.1; // of the training, before which there is nothing to tell by

// ---- photos that do not belong to their cameras ----

bool orr_trainer_mismatch(const orr_trainer *t)
{
    const orr_held_out *h = &t->held_out;
    return h->evaluated > 0 ? h->count > 0 && h->psnr - h->constant_psnr < MARGIN * h->count : h->mismatch;
}

static void warn(const orr_trainer *t, double psnr, double constant_psnr, double margin)
{
    orr_log_line(t->engine->log, ORR_LOG_WARNING, ORR_CODE_CAMERA_FILE,
                 "%s: held-out photos at %.1f dB, and at %.1f dB by one colour: expected at least %.0f dB "
                 "more from photos that belong to their cameras",
                 t->kind->functions->photos(t->learner)->path, psnr, constant_psnr, margin);
}

// What the photo of a measure tells, when enough was learned to tell.
static void doubt_measured(orr_trainer *t)
{
    const orr_photo_set *photos = t->kind->functions->photos(t->learner);
    if (!photos || photos->held_out_count == 0 || orr_trainer_progress(t) < EARLY_SHARE) {
        return;
    }
    const double constant = orr_photo_set_constant_psnr(photos, orr_photo_set_shown(photos));
    t->held_out.mismatch = isfinite(constant) && t->quality.psnr - constant < EARLY_MARGIN;
    if (t->held_out.mismatch && !t->held_out.warned && orr_trainer_progress(t) < 1.0) {
        warn(t, t->quality.psnr, constant, EARLY_MARGIN);
        t->held_out.warned = true;
    }
}

static void doubt_evaluated(orr_trainer *t, const orr_photo_set *photos, const orr_train_quality *quality)
{
    orr_held_out *h = &t->held_out;
    h->evaluated++;
    if (isfinite(quality->constant_psnr)) {
        h->psnr += quality->psnr;
        h->constant_psnr += quality->constant_psnr;
        h->count++;
    }
    if (h->evaluated == photos->held_out_count && orr_trainer_mismatch(t)) {
        warn(t, h->psnr / h->count, h->constant_psnr / h->count, MARGIN);
    }
}

// ---- figures and pictures ----

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
    doubt_measured(t);
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
    const orr_photo_set *photos = t->kind->functions->photos(t->learner);
    deadline end = {t, milliseconds > 0.0 ? orr_trainer_seconds(t) + 1e-3 * milliseconds : INFINITY};
    const orr_nerf_stop stop = {is_over, &end};
    if (atomic_load(&t->cancelled)) {
        return orr_fail(error, ORR_CODE_INTERRUPTED, "the evaluation was stopped");
    }
    ORR_TRY(orr_trainer_refresh(t, error));
    ORR_TRY(t->kind->functions->evaluate(t->learner, index, &stop, quality, error));
    if (photos) {
        quality->constant_psnr =
            orr_photo_set_constant_psnr(photos, photos->images[photos->train_count + index]);
        doubt_evaluated(t, photos, quality);
    }
    return ORR_OK;
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
