// The viewer's panel: Dear ImGui behind a C interface. It shows and changes what the viewer passes, and
// returns triangles; render/window/present.h draws them.
#pragma once

#include "render/window/present.h"
#include "samples/orrery/view/camera_recorder.h"
#include "samples/orrery/view/navigator.h"
#include "samples/orrery/view/resolution.h"
#include "samples/orrery/view/training_figures.h"

#ifdef __cplusplus
extern "C" {
#endif

// What keys and buttons make the viewer do.
typedef enum view_action {
    VIEW_NOTHING = 0,
    VIEW_QUIT,
    VIEW_HOME,    // the view at the start
    VIEW_SEE_ALL, // every visible layer, from this side
    VIEW_SCREENSHOT,
    VIEW_KEY_ADD,
    VIEW_PATH_PLAY, // or pause
    VIEW_PATH_SAVE,
    VIEW_PATH_CLEAR,
    VIEW_SWITCH_DEVICE,
    VIEW_SWITCH_PROJECTION,
    VIEW_SWITCH_PANEL,
    VIEW_TRAINING_PAUSE, // or go on
    VIEW_MODEL_SAVE,
    VIEW_ROBOT_PAUSE,    // or go on
    VIEW_ROBOT_STEP,     // one time step, and pause
    VIEW_ROBOT_RESET,    // the pose the model is given in
    VIEW_ROBOT_KEYFRAME, // the next one
    VIEW_ROBOT_SLOWER,
    VIEW_ROBOT_FASTER,
    VIEW_ROBOT_CONTACTS // shown, or not
} view_action;

// A number of a robot's state.
typedef struct panel_slider {
    const char *name;
    int index; // in its field
    double value, low, high;
    bool changed; // by the user
} panel_slider;

typedef struct panel_robot {
    bool paused, contacts;
    unsigned char groups[3]; // of geoms, sites, tendons: switched, as in orr_view
    double speed;            // of its time, 1: as fast as ours
    double time;             // [s]
    bool driven;             // controls are set by something else
    int keyframe_count;
    panel_slider *joints, *controls; // joint_count, control_count
    int joint_count, control_count;
    double *numbers;           // scratch of the owner of this struct
    const char **camera_names; // camera_count, "" for those without
    int camera_count;
    int camera;        // the view is through it; -1: none
    int camera_wanted; // chosen; -1: none
} panel_robot;

typedef struct panel_state {
    // shown
    const orr_scene *scene;
    const char *device; // what draws
    const char *presenter;
    const char *message;          // what happened last; "" when nothing did
    const orr_stage_time *stages; // stage_count, of the frame drawn last
    int stage_count;
    double frames_per_second; // 0: at rest
    int width, height;        // of the picture
    bool playing;
    double path_time, path_duration;  // [s]
    const training_figures *training; // NULL: nothing is trained
    panel_robot *robot;               // shown and changed; NULL: there is none
    // shown and changed
    orr_world *world; // which layers are visible
    navigator *view;
    resolution *quality;
    camera_recorder *recorder;
    bool antialias;
    // requested
    view_action action;
    orr_layer remove; // {0}: none
    bool redraw;      // the picture is out of date
} panel_state;

typedef struct panel panel;

// Takes part in the window's events: install other callbacks before. NULL when memory is out.
panel *panel_create(struct GLFWwindow *window);
void panel_destroy(panel *panel); // NULL is allowed
// Lays the panel out for the next frame; the overlay stays valid until the next build.
const orr_overlay *panel_build(panel *panel, panel_state *state);
bool panel_covers(const panel *panel, double x, double y); // a point of the window, as last built
bool panel_wants_keys(const panel *panel);                 // something in it is being typed into

#ifdef __cplusplus
}
#endif
