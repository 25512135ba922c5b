// A trainer from the inside: a learner, its figures, and the plan that says how much of the training is over.
// trainer.c makes and steps it, trainer_quality.c compares, trainer_file.c saves and goes on, trainer_layer.c
// shows it in a scene.
#pragma once

#include "engine/training/curve.h"
#include "engine/training/learner.h"

#include <stdatomic.h>

// How long the training is to be.
typedef struct orr_training_plan {
    int64_t steps;        // since the very beginning; 0: no bound
    double seconds;       // of work, from `from` on; 0: no bound
    double from;          // [s] of work
    double progress_then; // how much of the training was over
} orr_training_plan;

// Held-out photos beside one colour, those that have more than one.
typedef struct orr_held_out {
    double psnr, constant_psnr; // [dB] sums, of those evaluated since the last step
    int count, evaluated;       // in the sums; with those of one colour
    bool warned;                // early
    bool mismatch;              // of the last measure
} orr_held_out;

struct orr_trainer {
    orr_engine *engine;
    const orr_learner_kind *kind;
    orr_learner *learner;
    orr_model_training choices; // as saved
    orr_training_plan plan;
    atomic_bool cancelled;
    double worked;                // [s] spent in calls that have returned
    uint64_t entered;             // of the call under way [ns]; 0: there is none
    double load_seconds;          // of creation
    int64_t steps_before;         // since the very beginning, when it was created
    int64_t steps, samples;       // since then
    double loss_sum, loss_weight; // of recent steps: the loss of single ones jumps
    bool ahead;                   // a field has learned what it does not show
    bool measured;
    orr_train_quality quality; // of the last measure
    orr_held_out held_out;
    orr_curve losses, scores;
};

double orr_trainer_seconds(const orr_trainer *trainer);  // of work
double orr_trainer_loss(const orr_trainer *trainer);     // 0 before the first step
double orr_trainer_progress(const orr_trainer *trainer); // how much of the training is over, 0 .. 1
// What every call begins and ends with. ORR_ERROR_ARGUMENT: no trainer, or one of this process's parent.
orr_result orr_trainer_enter(orr_trainer *trainer, orr_error *error);
void orr_trainer_leave(orr_trainer *trainer);
// Whether held-out photos tell that photos do not belong to their cameras.
bool orr_trainer_mismatch(const orr_trainer *trainer);
// Makes a field show all that was learned.
orr_result orr_trainer_refresh(orr_trainer *trainer, orr_error *error);

// The model to go on from, checked: of this kind, and with the state of its training. Free it, on failure
// too.
orr_result orr_training_resume(const orr_learner_setup *setup, orr_field_model *model, orr_error *error);
// Of a cloud: the file to go on from.
orr_result orr_training_state_path(const char *cloud, char *path, size_t size, orr_error *error);
