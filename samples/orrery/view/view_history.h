// What the user has changed and can take back: layers removed, added or moved, and the keys of the camera
// path. A
// change holds what it replaced, so that undoing it and making it again are the same exchange. A removed
// layer stays in the scene, hidden, for as long as the viewer runs.
#pragma once

#include "samples/orrery/view/camera_recorder.h"

struct viewer;

typedef struct view_change {
    char name[96];                // "remove room.ply"
    int first_layer, layer_count; // those of the scene that it hides or brings back; none: it is of the path
    bool moves;                   // the first layer: `transform` is the other one
    orr_transform transform;
    camera_recorder path; // the other keys
} view_change;

typedef struct view_layer_state {
    bool hidden;
    bool was_visible;
} view_layer_state;

typedef struct view_history {
    view_change *changes; // count; the first `done` can be undone, the others made again
    int count, capacity, done;
    view_layer_state *layers; // layer_count, by the layer's index in the scene; those after it are not hidden
    int layer_count, layer_capacity;
} view_history;

bool view_history_hides(const view_history *history, int layer);
void view_history_remove(struct viewer *v, int layer);
void view_history_added(struct viewer *v, int first_layer, int layer_count, const char *file);
void view_history_moved(struct viewer *v, int layer, const orr_transform *before);
// Before the keys of the path change; false: memory is out, and they must not.
bool view_history_keep_path(struct viewer *v, const char *name);
void view_history_undo(struct viewer *v);
void view_history_redo(struct viewer *v);
// The change that would be undone, or made again; NULL: none.
const char *view_history_to_undo(const view_history *history);
const char *view_history_to_redo(const view_history *history);
void view_history_free(view_history *history);
