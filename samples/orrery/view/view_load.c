#include "samples/orrery/view/view_load.h"

#include "engine/core/file.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/view/view.h"

#include <stdio.h>
#include <unistd.h>

static const double LOOK_SECONDS = 0.1; // between two looks at the progress

bool view_load_progress(void *user, const char *path, const char *stage, double share)
{
    view_load *load = &((viewer *)user)->load;
    pthread_mutex_lock(&load->mutex);
    bool goes_on = !load->stopping;
    snprintf(load->progress.file, sizeof load->progress.file, "%s", orr_path_name(path));
    snprintf(load->progress.stage, sizeof load->progress.stage, "%s", stage);
    load->progress.share = share;
    pthread_mutex_unlock(&load->mutex);
    return goes_on;
}

void view_load_warn(view_load *load, const char *line)
{
    pthread_mutex_lock(&load->mutex);
    snprintf(load->warning, sizeof load->warning, "%s", line);
    pthread_mutex_unlock(&load->mutex);
}

static void task(void *context)
{
    viewer *v = context;
    v->load.result = v->load.load(v, v->load.path, &v->load.error);
}

static panel_loading take_progress(view_load *load, double begun)
{
    pthread_mutex_lock(&load->mutex);
    load->stopping = load->stop;
    panel_loading progress = load->progress;
    pthread_mutex_unlock(&load->mutex);
    progress.seconds = glfwGetTime() - begun;
    return progress;
}

// What cannot be shown now may be possible when the engine can be called again.
static void show(viewer *v, const panel_loading *progress)
{
    bool shown;
    if (v->vk) {
        view_present(v, panel_build_loading(v->panel, progress), &shown, NULL);
    }
}

static void stop(viewer *v)
{
    v->load.stop = true;
    if (view_location(v) == ORR_PICTURE_NOWHERE) {
        // nothing is being written, and a long step need not be waited for
        fflush(NULL);
        _exit(interrupt_requested() ? 130 : 0);
    }
}

orr_result view_load_run(viewer *v, const char *path,
                         orr_result (*load)(viewer *v, const char *path, orr_error *error), orr_error *error)
{
    view_load *l = &v->load;
    double begun = glfwGetTime();
    l->load = load;
    l->path = path;
    l->stop = l->stopping = false;
    l->warning[0] = 0;
    l->progress = (panel_loading){.stage = "opening", .share = -1.0};
    snprintf(l->progress.file, sizeof l->progress.file, "%s", orr_path_name(path));
    l->going = true;
    background_start(&l->background, task, v, glfwPostEmptyEvent);
    while (background_is_busy(&l->background)) {
        const panel_loading progress = take_progress(l, begun);
        show(v, &progress);
        glfwWaitEventsTimeout(LOOK_SECONDS);
        if (l->stop || glfwWindowShouldClose(v->window) || interrupt_requested()) {
            stop(v);
        }
    }
    background_finish(&l->background);
    l->going = false;
    view_attend(v);
    if (l->warning[0]) {
        view_say(v, "%s", l->warning);
    }
    return l->result == ORR_OK ? ORR_OK : orr_fail(error, (orr_code)l->error.code, "%s", l->error.message);
}

void view_load_end(viewer *v)
{
    view_load *load = &v->load;
    pthread_mutex_lock(&load->mutex);
    load->stop = load->stopping = true;
    pthread_mutex_unlock(&load->mutex);
    background_finish(&load->background);
}

void view_load_show_failure(viewer *v, const orr_error *error)
{
    panel_loading failure = {.share = -1.0};
    snprintf(failure.error, sizeof failure.error, "%s", error->message);
    v->load.going = true; // keys and mouse are as while loading
    v->load.stop = false;
    while (!v->load.stop && !glfwWindowShouldClose(v->window) && !interrupt_requested()) {
        show(v, &failure);
        glfwWaitEventsTimeout(LOOK_SECONDS);
    }
    v->load.going = false;
}
