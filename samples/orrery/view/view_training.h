// A radiance field that learns while the window shows it: the photos, the field, its trainer, and the layer
// of the scene that draws it. Steps and drawing take turns (training_pace.h). A step runs on a thread of its
// own, so that the panel answers while it does.
#pragma once

#include "engine/scene/scene.h"
#include "neural/training/nerf_trainer.h"
#include "samples/orrery/view/background.h"
#include "samples/orrery/view/training_figures.h"
#include "samples/orrery/view/training_pace.h"

typedef struct view_training {
    orr_capture *capture;
    int *images; // indices: all are learned from
    orr_field *field;
    orr_nerf_trainer *trainer;
    orr_layer layer;
    training_pace pace;
    training_figures figures;    // of network samples
    bool ahead;                  // learned something that drawing does not know yet
    background step;             // one under way: it uses the engine's threads, so nothing is drawn meanwhile
    bool in_turn;                // between the first step of a turn and its last
    orr_nerf_step_report report; // of that step
    double step_seconds;
    void (*step_ended)(void); // called on its thread
} view_training;

// Loads a capture and makes a scene of the field to be trained on it; its cameras are the photos'. On failure
// there is nothing to free.
orr_result view_training_open(orr_engine *engine, const char *path, uint32_t seed, orr_scene **scene,
                              view_training **training, orr_error *error);
// After the scene, before the engine. NULL is allowed.
void view_training_close(view_training *training);

// Begins a step, if the turn of the loop has time for another; false: it is drawing's turn. A step under way
// is waited for.
bool view_training_begin_step(view_training *training, bool moving);
bool view_training_is_busy(const view_training *training); // a step is under way
void view_training_wait(view_training *training);          // for that step; NULL is allowed
bool view_training_picture_due(const view_training *training, double now);
void view_training_refresh(view_training *training); // what is drawn next shows all that was learned
// The model, with the state to go on from: orrery train nerf CAPTURE --holdout 0 --resume MODEL.
orr_result view_training_save(view_training *training, const char *path, orr_error *error);
