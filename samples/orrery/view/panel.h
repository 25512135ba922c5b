// The viewer's panel: Dear ImGui behind a C interface. It shows and changes what the viewer passes, and
// returns triangles; render/window/present.h draws them.
#pragma once

#include "render/window/present.h"
#include "samples/orrery/view/camera_recorder.h"
#include "samples/orrery/view/edit/gizmo.h"
#include "samples/orrery/view/navigator.h"
#include "samples/orrery/view/resolution.h"
#include "samples/orrery/view/training_figures.h"
#include "samples/orrery/view/view_history.h"

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
    VIEW_UNDO,
    VIEW_REDO,
    VIEW_SAVE, // the path, or else the model in training, or what has changed, or else a screenshot
    VIEW_SWITCH_HELP,
    VIEW_TRAINING_PAUSE, // or go on
    VIEW_MODEL_SAVE,
    VIEW_ROBOT_PAUSE,    // or go on
    VIEW_ROBOT_STEP,     // one time step, and pause
    VIEW_ROBOT_RESET,    // the pose the model is given in
    VIEW_ROBOT_KEYFRAME, // the next one
    VIEW_ROBOT_SLOWER,
    VIEW_ROBOT_FASTER,
    VIEW_ROBOT_CONTACTS, // shown, or not
    VIEW_DROP_BALL,
    VIEW_DROP_BOX,
    VIEW_DROP_SOFT,
    VIEW_SWITCH_COLLIDERS, // shown, or not
    VIEW_SWITCH_SHADOWS,   // drawn, or not
    VIEW_SWITCH_GIZMO,     // that moves the layer under the cursor: shown, or not
    VIEW_SCENE_SAVE,
    VIEW_SWITCH_REGION, // the box to cut with: shown, or not
    VIEW_REGION_CUT,
    VIEW_REGION_CUT_SOFT // and what was in the box is soft
} view_action;

// A number of a robot's state.
typedef struct panel_slider {
    const char *name;
    const char *format; // of the value, with its unit
    int index;          // in its field
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
    double *numbers; // scratch of the owner of this struct
} panel_robot;

// The box that a cloud is cut with.
typedef struct panel_region {
    bool shown;
    double centre[3], size[3]; // scene units
    double turn;               // about the scene's up [deg]
    double falloff;            // scene units
    double reach;              // the longest that sliders go [scene units]
    float line[12][4];         // lines: its edges, from x, y to x, y in window coordinates
    int lines;
    float handle[6][2]; // of the faces -x, +x, -y, ...; in window coordinates
    bool handle_seen[6];
} panel_region;

// The gizmo that a layer is moved by.
typedef struct panel_gizmo {
    bool shown;
    gizmo_line line[GIZMO_PARTS];
    gizmo_part lit; // under the cursor, or held; GIZMO_NONE: none
} panel_gizmo;

typedef struct panel_colour {
    float hue[3]; // linear, the largest is 1
    double strength;
} panel_colour;

enum { PANEL_LAMPS = 16 };

typedef struct panel_light {
    bool own_sun;              // the scene has one: changing it gives it one
    double azimuth, elevation; // [deg]
    panel_colour sun, ambient;
    double umbra; // of shadows on what is captured
    bool probes;
    panel_colour lamp[PANEL_LAMPS]; // lamps
    int lamps;
    bool sun_changed, lamps_changed; // by the user
} panel_light;

typedef struct panel_cameras {
    const char **names; // count, "" for those without
    int count;
    int current; // the view is that of this one; -1: of none
    int wanted;  // chosen by the user; -1: none
} panel_cameras;

typedef struct panel_state {
    // shown
    bool panel; // false: only the table of keys, if that is shown
    const orr_scene *scene;
    const char *device; // what draws
    const char *presenter;
    const char *message;            // what happened last; "" when nothing did
    const view_layer_state *hidden; // hidden_count, by a layer's index: removed layers
    int hidden_count;
    const char *undo, *redo;      // what those would change; NULL: nothing
    const orr_stage_time *stages; // stage_count, of the frame drawn last
    int stage_count;
    double frames_per_second; // 0: at rest
    int width, height;        // of the picture
    bool playing;
    double path_time, path_duration; // [s]
    const panel_gizmo *gizmo;
    const training_figures *training; // NULL: nothing is trained
    panel_robot *robot;               // shown and changed; NULL: there is none
    // shown and changed
    orr_world *world; // which layers are visible
    navigator *view;
    resolution *quality;
    camera_recorder *recorder;
    bool antialias, shadows, mirrors, fog;
    double exposure;         // [EV]
    double occlusion_radius; // of orr_view
    orr_tone tone;
    bool help; // the table of keys is shown
    panel_cameras *cameras;
    panel_region *region;
    panel_light *light;
    // requested
    view_action action;
    int remove;  // index of a layer; -1: none
    int move;    // that gets the gizmo; -1: none
    bool redraw; // the picture is out of date
} panel_state;

// A file that is being loaded, or why it was not.
typedef struct panel_loading {
    char file[256], stage[32];
    double share;    // of the work that is done; negative: not known
    double seconds;  // since the beginning
    char error[512]; // one line; empty: none
} panel_loading;

typedef struct panel panel;

// Takes part in the window's events: install other callbacks before. NULL when memory is out.
// scale: of text and sizes, beside that of the display.
panel *panel_create(struct GLFWwindow *window, double scale);
void panel_destroy(panel *panel); // NULL is allowed
// Lays the panel out for the next frame; the overlay stays valid until the next build.
const orr_overlay *panel_build(panel *panel, panel_state *state);
const orr_overlay *panel_build_loading(panel *panel, const panel_loading *state); // instead of the panel
bool panel_covers(const panel *panel, double x, double y); // a point of the window, as last built
bool panel_wants_keys(const panel *panel);                 // something in it is being typed into

#ifdef __cplusplus
}
#endif
