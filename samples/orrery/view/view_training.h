// A radiance field that learns while the window shows it: the photos, the field, its trainer, and the layer
// of the scene that draws it. One thread does both: each turn of the viewer's loop gives the trainer some
// time (training_pace.h).
#pragma once

#include "engine/scene/scene.h"
#include "neural/training/nerf_trainer.h"
#include "samples/orrery/view/training_figures.h"
#include "samples/orrery/view/training_pace.h"

typedef struct view_training {
    orr_capture *capture;
    int *images; // indices: all are learned from
    orr_field *field;
    orr_nerf_trainer *trainer;
    orr_layer layer;
    training_pace pace;
    training_figures figures; // of network samples
    bool ahead;               // learned something that drawing does not know yet
} view_training;

// Loads a capture and makes a scene of the field to be trained on it; its cameras are the photos'. On failure
// there is nothing to free.
orr_result view_training_open(orr_engine *engine, const char *path, uint32_t seed, orr_scene **scene,
                              view_training **training, orr_error *error);
// After the scene, before the engine. NULL is allowed.
void view_training_close(view_training *training);

// False when paused, and once its layer was taken out of the scene.
bool view_training_is_going(const view_training *training, const orr_scene *scene);
// Learns for as long as one turn of the loop has time. True: a new picture should be drawn now.
bool view_training_turn(view_training *training, double now, bool moving);
void view_training_refresh(view_training *training); // what is drawn next shows all that was learned
// The model, with the state to go on from: orrery train nerf CAPTURE --holdout 0 --resume MODEL.
orr_result view_training_save(view_training *training, const char *path, orr_error *error);
