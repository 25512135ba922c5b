// Trainers: making them, their steps, what they are.
#include "engine/training/trainer.h"

#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/loop/devices.h"

#include <math.h>

enum {
    HOLDOUT = 8,          // when nobody says
    SPLAT_STEPS = 30000,  // likewise, as in the papers
    BATCH_LEAST = 64,     // samples
    BATCH_MOST = 1 << 22, // likewise
    STEPS_PER_POINT = 16  // of the curve of the loss
};
static const double LOSS_WEIGHT = 0.05; // of a new step

// ---- time ----

double orr_trainer_seconds(const orr_trainer *t)
{
    return t->worked + (t->entered ? (double)(orr_clock_nanoseconds() - t->entered) * 1e-9 : 0.0);
}

orr_result orr_trainer_enter(orr_trainer *t, orr_error *error)
{
    ORR_TRY(t ? ORR_OK : orr_fail(error, ORR_CODE_ARGUMENT, "the trainer is NULL"));
    ORR_TRY(orr_engine_check(t->engine, error));
    t->entered = orr_clock_nanoseconds();
    return ORR_OK;
}

void orr_trainer_leave(orr_trainer *t)
{
    t->worked = orr_trainer_seconds(t);
    t->entered = 0;
}

// Steps of splats begin with small pictures and few splats, and take a third of the time of later ones. By
// this share of the time about the share of the steps is over that a plan of steps would have taken then.
static double progress_of_time(const orr_trainer *t, double share)
{
    return t->kind->functions->cloud ? sqrt(share) : share;
}

static double time_of_progress(const orr_trainer *t, double progress)
{
    return t->kind->functions->cloud ? progress * progress : progress;
}

// By steps or by time, whichever is farther. Time goes on from where the training was.
double orr_trainer_progress(const orr_trainer *t)
{
    const orr_training_plan *plan = &t->plan;
    const double steps = (double)(t->steps_before + t->steps);
    const double by_steps = plan->steps > 0 ? steps / (double)plan->steps : 0.0;
    const double of_time = plan->seconds > 0.0 ? (orr_trainer_seconds(t) - plan->from) / plan->seconds : 0.0;
    const double then = time_of_progress(t, plan->progress_then);
    const double by_time = progress_of_time(t, then + (1.0 - then) * of_time);
    return fmin(fmax(by_steps, by_time), 1.0);
}

static double seconds_left(const orr_trainer *t)
{
    const orr_training_plan *plan = &t->plan;
    const double seconds = orr_trainer_seconds(t);
    const double by_time = plan->seconds > 0.0 ? plan->from + plan->seconds - seconds : INFINITY;
    const double steps = (double)(plan->steps - t->steps_before - t->steps);
    const double by_steps =
        plan->steps > 0 ? steps * (seconds - t->load_seconds) / fmax((double)t->steps, 1.0) : INFINITY;
    return fmax(fmin(by_time, by_steps), 0.0);
}

// ---- making one ----

static orr_result check(const orr_train_desc *desc, orr_error *error)
{
    ORR_REQUIRE(desc->data, error);
    if (!orr_learner_kind_of(desc->kind)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "kind %d: expected one of orr_trainer_kind",
                        (int)desc->kind);
    }
    if (desc->holdout < -1 && desc->holdout != ORR_HOLDOUT_TEST) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "holdout %d: expected -2, -1, 0 or more", desc->holdout);
    }
    if (desc->kind == ORR_TRAINER_SPLATS) {
        if (desc->splats < 0 || desc->splats > 1 << 28) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%d splats: expected 0 to 2^28", desc->splats);
        }
        if (desc->sh_degree < -1 || desc->sh_degree > 3) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "harmonics of degree %d: expected -1 to 3",
                            desc->sh_degree);
        }
        if ((unsigned)desc->masks > ORR_MASKS_EMPTY) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "masks %d: expected one of orr_train_masks",
                            (int)desc->masks);
        }
        if ((unsigned)desc->lenses > ORR_LENSES_KEEP) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "lenses %d: expected one of orr_train_lenses",
                            (int)desc->lenses);
        }
        if ((unsigned)desc->strategy > ORR_STRATEGY_MCMC) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "strategy %d: expected one of orr_train_strategy",
                            (int)desc->strategy);
        }
        return ORR_OK;
    }
    if (desc->batch != 0 && (desc->batch < BATCH_LEAST || desc->batch > BATCH_MOST)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "batch %d: expected 0, or %d to %d", desc->batch,
                        BATCH_LEAST, BATCH_MOST);
    }
    if ((unsigned)desc->sampling > ORR_SAMPLING_PROPOSAL ||
        (desc->sampling != ORR_SAMPLING_AUTO && desc->kind != ORR_TRAINER_NERF)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "sampling %d: expected one of orr_nerf_sampling, of a radiance field",
                        (int)desc->sampling);
    }
    return ORR_OK;
}

// CUDA where it is asked for.
static orr_result take_device(orr_trainer *t, orr_learner_setup *setup, orr_error *error)
{
    orr_device_kind device;
    ORR_TRY(orr_device_resolve(setup->desc->device, &device, error));
    if (!orr_device_is_cuda(device)) {
        return ORR_OK;
    }
    ORR_TRY(orr_engine_take_cuda(t->engine, &setup->cuda, error));
    orr_log_line(t->engine->log, ORR_LOG_INFO, ORR_CODE_DEVICE_CHOSEN, "trains on %s",
                 orr_cuda_describe(setup->cuda)->name);
    return ORR_OK;
}

// What is chosen: by the desc, by the model to go on from, or else by default.
static orr_model_training choose(const orr_train_desc *desc, const orr_model_training *before)
{
    orr_model_training c = {.batch = desc->batch,
                            .holdout = desc->holdout == 0    ? HOLDOUT
                                       : desc->holdout == -1 ? 0
                                                             : desc->holdout,
                            .seed = desc->seed,
                            .known = true,
                            .exposures = desc->exposures};
    if (before->known) {
        c.batch = c.batch ? c.batch : before->batch;
        c.holdout = desc->holdout ? c.holdout : before->holdout;
        c.seed = c.seed ? c.seed : before->seed;
        c.exposures = before->exposures;
    }
    return c;
}

static orr_result make_learner(orr_trainer *t, orr_learner_setup *setup, orr_error *error)
{
    ORR_TRY(take_device(t, setup, error));
    ORR_TRY(orr_progress_at(&setup->progress, "reading", 0.0, error));
    ORR_TRY(t->kind->functions->create(setup, &t->learner, error));
    double progress;
    t->kind->functions->past(t->learner, &t->steps_before, &progress);
    t->plan =
        (orr_training_plan){.steps = t->kind->functions->cloud ? SPLAT_STEPS : 0, .progress_then = progress};
    return ORR_OK;
}

static orr_result make(orr_trainer *t, const orr_train_desc *desc, orr_error *error)
{
    char state[4096];
    orr_field_model model = {0};
    orr_learner_setup setup = {.kind = t->kind,
                               .desc = desc,
                               .jobs = t->engine->jobs,
                               .isa = t->engine->isa,
                               .log = t->engine->log,
                               .progress = {.report = t->engine->desc.progress,
                                            .user = t->engine->desc.progress_user,
                                            .path = desc->data,
                                            .to = 1.0}};
    orr_result result = orr_mlp_machine_choose(setup.isa, &setup.machine, error);
    if (result == ORR_OK && desc->resume && t->kind->functions->cloud) {
        result = orr_training_state_path(desc->resume, state, sizeof state, error);
        setup.state = state;
    } else if (result == ORR_OK && desc->resume) {
        result = orr_training_resume(&setup, &model, error);
        setup.resume = &model;
    }
    t->choices = setup.choices = choose(desc, &model.training);
    if (result == ORR_OK) {
        result = make_learner(t, &setup, error);
    }
    orr_field_model_free(&model);
    return result;
}

orr_result orr_trainer_create_sized(orr_engine *engine, const orr_train_desc *given, size_t size,
                                    orr_trainer **out, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_TRY(orr_engine_check(engine, error));
    ORR_REQUIRE(given, error);
    orr_train_desc desc;
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, size, "orr_train_desc", error));
    ORR_TRY(check(&desc, error));
    orr_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a training");
    }
    t->engine = engine;
    t->kind = orr_learner_kind_of(desc.kind);
    t->entered = orr_clock_nanoseconds();
    orr_result result = make(t, &desc, error);
    if (result != ORR_OK) {
        orr_trainer_destroy(t);
        return result;
    }
    orr_trainer_leave(t);
    t->load_seconds = t->plan.from = t->worked;
    *out = t;
    return ORR_OK;
}

void orr_trainer_destroy(orr_trainer *t)
{
    if (!t || !orr_jobs_here(t->engine->jobs)) {
        return;
    }
    if (t->learner) {
        t->kind->functions->destroy(t->learner);
    }
    orr_free(t);
}

// ---- steps ----

orr_result orr_trainer_plan(orr_trainer *t, int64_t steps, double seconds, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_trainer_enter(t, error));
    orr_trainer_leave(t);
    if (steps < 0 || !(seconds >= 0.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a plan of %lld steps and %g s: expected 0 or more",
                        (long long)steps, seconds);
    }
    t->plan =
        (orr_training_plan){.steps = steps,
                            .seconds = isfinite(seconds) ? seconds : 0.0,
                            .from = t->worked,
                            .progress_then = t->steps > 0 ? orr_trainer_progress(t) : t->plan.progress_then};
    if (t->kind->functions->plan && t->steps == 0) {
        t->kind->functions->plan(t->learner, steps > 0 ? 0.0 : t->plan.seconds);
    }
    return ORR_OK;
}

double orr_trainer_loss(const orr_trainer *t)
{
    return t->steps > 0 ? t->loss_sum / t->loss_weight : 0.0;
}

static orr_result take_step(orr_trainer *t, orr_error *error)
{
    orr_learner_step step = {0};
    ORR_TRY(t->kind->functions->step(t->learner, orr_trainer_progress(t), &step, error));
    t->ahead = true;
    t->held_out.count = t->held_out.evaluated = 0;
    t->held_out.psnr = t->held_out.constant_psnr = 0.0;
    t->steps++;
    t->samples += step.samples;
    t->loss_sum = (1.0 - LOSS_WEIGHT) * t->loss_sum + LOSS_WEIGHT * step.loss;
    t->loss_weight = (1.0 - LOSS_WEIGHT) * t->loss_weight + LOSS_WEIGHT;
    if (t->steps % STEPS_PER_POINT == 1) {
        orr_curve_add(&t->losses, orr_trainer_seconds(t), orr_trainer_loss(t));
    }
    return ORR_OK;
}

static orr_result take_steps(orr_trainer *t, int64_t steps, double milliseconds, orr_error *error)
{
    const double end = milliseconds > 0.0 ? orr_trainer_seconds(t) + 1e-3 * milliseconds : INFINITY;
    const bool beyond = orr_trainer_progress(t) >= 1.0; // of the plan
    int64_t taken = 0;
    do {
        if (atomic_exchange(&t->cancelled, false)) {
            return orr_fail(error, ORR_CODE_INTERRUPTED, "the training was stopped after %lld steps",
                            (long long)t->steps_before + (long long)t->steps);
        }
        ORR_TRY(take_step(t, error));
        taken++;
    } while ((steps == 0 || taken < steps) && orr_trainer_seconds(t) < end &&
             (beyond || orr_trainer_progress(t) < 1.0));
    return ORR_OK;
}

orr_result orr_trainer_step(orr_trainer *t, int64_t steps, double milliseconds, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    if (steps < 0 || !(milliseconds >= 0.0) || (steps == 0 && milliseconds == 0.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%lld steps in %g ms: expected 0 or more, and not both of them 0", (long long)steps,
                        milliseconds);
    }
    ORR_TRY(orr_trainer_enter(t, error));
    orr_result result = take_steps(t, steps, milliseconds, error);
    orr_trainer_leave(t);
    return result;
}

void orr_trainer_cancel(orr_trainer *t)
{
    if (t) {
        atomic_store(&t->cancelled, true);
    }
}

// ---- figures ----

orr_result orr_trainer_describe_sized(const orr_trainer *t, orr_train_info *info, size_t size,
                                      orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_REQUIRE(info, error);
    ORR_TRY(orr_engine_check(t->engine, error));
    const orr_photo_set *photos = t->kind->functions->photos(t->learner);
    const double stepping = orr_trainer_seconds(t) - t->load_seconds;
    orr_train_info own = {.kind = t->kind->id,
                          .steps = t->steps_before + t->steps,
                          .count = t->kind->functions->count(t->learner),
                          .samples = t->samples,
                          .progress = orr_trainer_progress(t),
                          .loss = orr_trainer_loss(t),
                          .psnr = t->quality.psnr,
                          .ssim = t->quality.ssim,
                          .iou = t->quality.iou,
                          .steps_per_second = t->steps > 0 ? (double)t->steps / fmax(stepping, 1e-9) : 0.0,
                          .seconds = orr_trainer_seconds(t),
                          .seconds_left = seconds_left(t),
                          .train_count = photos ? photos->train_count : 0,
                          .held_out_count = photos ? photos->held_out_count : 0,
                          .mismatch = orr_trainer_mismatch(t)};
    if (t->kind->functions->points) {
        t->kind->functions->points(t->learner, &own.points, &own.points_used);
    }
    orr_sized_write(&own, sizeof own, info, size);
    return ORR_OK;
}

int orr_trainer_stages_sized(const orr_trainer *t, orr_stage_time *stages, size_t stage_size, int capacity)
{
    if (!t) {
        return 0;
    }
    const orr_profile *profile = t->kind->functions->profile(t->learner);
    char *out = (char *)stages;
    for (int i = 0; out && i < profile->count && i < capacity; i++, out += stage_size) {
        orr_sized_write(&profile->stages[i], sizeof *stages, out, stage_size);
    }
    return profile->count;
}
