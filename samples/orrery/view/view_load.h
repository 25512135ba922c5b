// Files load on a thread of their own, while the window shows how far they are.
#pragma once

#include "samples/orrery/view/background.h"
#include "samples/orrery/view/panel.h"

struct viewer;

typedef struct view_load {
    bool going; // the loading thread has the engine: nothing else may call it
    bool stop;  // the user wants no more of it
    bool failed;
    background background;
    orr_result (*load)(struct viewer *v, const char *path, orr_error *error);
    const char *path;
    orr_result result;
    orr_error error;
    pthread_mutex_t mutex; // of the rest, which the loading thread writes
    bool stopping;
    panel_loading progress;
    char warning[512]; // the last line of the log; empty: none
} view_load;

// Runs load(v, path) on the loading thread and shows its progress until it ends. Escape or closing the window
// stops it: ORR_ERROR_INTERRUPTED, and where nothing is shown yet the program ends at once.
orr_result view_load_run(struct viewer *v, const char *path,
                         orr_result (*load)(struct viewer *v, const char *path, orr_error *error),
                         orr_error *error);
// Ends what is being read, and waits for that; when nothing is, it does nothing.
void view_load_end(struct viewer *v);
// Shows why the first file was not loaded, until the window is closed.
void view_load_show_failure(struct viewer *v, const orr_error *error);
// For the engine, from any thread.
bool view_load_progress(void *user, const char *path, const char *stage, double share);
void view_load_warn(view_load *load, const char *line);
