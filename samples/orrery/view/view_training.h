// A cloud or a field that learns while the window shows it: its trainer, and the layer of the scene that
// draws it. Steps and drawing take turns (training_pace.h). A step runs on a thread of its own, so that the
// panel answers while it does.
#pragma once

#include "engine/core/result.h"
#include "samples/orrery/view/background.h"
#include "samples/orrery/view/training_figures.h"
#include "samples/orrery/view/training_pace.h"

typedef struct view_training {
    orr_trainer *trainer;
    orr_trainer_kind kind;
    orr_scene *scene;
    orr_layer layer;
    training_pace pace;
    training_figures figures;
    bool ahead;      // learned something that drawing does not know yet
    background step; // one under way: it uses the engine's threads, so nothing is drawn meanwhile
    bool in_turn;    // between the first step of a turn and its last
    bool measures;   // the quality too, after that step
    bool finished;   // the plan: that is said once
    int64_t saved;   // steps that the user has in a file: a checkpoint is none
    double step_seconds, measure_seconds, measured_at; // of that step; of the last measure; [s] of stepping
    orr_result result;                                 // of that step
    orr_error error;
    char news[512];           // to be said; empty: nothing
    void (*step_ended)(void); // called on its thread
} view_training;

// What is learned, from desc->data, with all its photos; the scene's cameras are the photos'. On failure
// there is nothing to free.
orr_result view_training_open(orr_engine *engine, const orr_train_desc *desc, orr_scene **scene,
                              view_training **training, orr_error *error);
// After the scene, before the engine. NULL is allowed.
void view_training_close(view_training *training);

// Begins a step, if the turn of the loop has time for another; false: it is drawing's turn. A step under way
// is waited for. drawing: a picture is in the making, and what it draws must stay as it is.
bool view_training_begin_step(view_training *training, bool moving, bool drawing);
bool view_training_is_busy(const view_training *training); // a step is under way
void view_training_wait(view_training *training);          // for that step; NULL is allowed
bool view_training_picture_due(const view_training *training, double now);
// What is drawn next shows all that was learned.
orr_result view_training_refresh(view_training *training, orr_error *error);
// The ending of what it saves: ".ply" or ".ingp".
const char *view_training_ending(const view_training *training);
bool view_training_is_unsaved(const view_training *training); // it has learned since, or never was saved
// What was learned, with the state to go on from: orrery train KIND CAPTURE --holdout 0 --resume MODEL.
orr_result view_training_save(view_training *training, const char *path, orr_error *error);
