// The viewer's state, shared by its files: view.c (the command and its loop), view_input.c (keys and mouse),
// view_picture.c (what to draw when; presenting), view_draw.c (drawing), view_actions.c (what keys and
// buttons ask for), view_save.c (files, and what is left behind), view_history.c (undo), view_cameras.c
// (cameras to choose from), view_region.c (a box to cut clouds with), edit/view_place.c (layers put in place,
// and the scene saved), edit/view_light.c (its sun and lamps), edit/view_hand.c (pulling at what moves),
// view_training.c (what learns meanwhile) and view_robot.c (robots that move meanwhile).
#pragma once

#include "samples/orrery/look_options.h"
#include "samples/orrery/view/edit/view_hand.h"
#include "samples/orrery/view/panel.h"
#include "samples/orrery/view/view_cameras.h"
#include "samples/orrery/view/view_history.h"
#include "samples/orrery/view/view_load.h"
#include "samples/orrery/view/view_robot.h"
#include "samples/orrery/view/view_training.h"

#include "engine/loop/window.h"
#include "engine/scene/scene.h"
#include "render/vulkan/image.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

enum {
    VIEW_PATH_SIZE = 256,
    VIEW_DROPPED = 16,
    VIEW_FLIGHT_KEYS = 6,
    VIEW_STAGES = 32,
    VIEW_DEVICES = ORR_DEVICE_CUDA + 1
};

typedef enum view_drag {
    VIEW_DRAG_NONE = 0,
    VIEW_DRAG_ORBIT,
    VIEW_DRAG_LOOK,
    VIEW_DRAG_PAN,
    VIEW_DRAG_PULL,
    VIEW_DRAG_REGION,
    VIEW_DRAG_GIZMO,
    VIEW_DRAG_SUN
} view_drag;

typedef enum view_purpose {
    VIEW_FIRST = 0, // of a view: as rough as it takes
    VIEW_SHARPER,   // or anew, of what is shown already
    VIEW_FOR_SCREENSHOT
} view_purpose;

// The gizmo that moves a layer.
typedef struct view_gizmo {
    orr_layer layer; // {0}: it is hidden
    panel_gizmo panel;
    gizmo start; // when a handle was taken
    gizmo_part held;
    double from[2]; // [window coordinates]
    orr_transform before;
} view_gizmo;

// What a file that is dropped finds.
typedef struct view_surroundings {
    bool has_default_sun;
    orr_draw_sun sun;
} view_surroundings;

// The picture in the making.
typedef struct view_drawing {
    bool going;
    orr_camera camera;
    float scale; // of the window's size
    view_purpose purpose;
    double begun_at;     // [s]
    double milliseconds; // spent on it
    bool for_reading;    // ends in memory; what the window shows stays as it is
    orr_frame *frame;    // that it was submitted to; NULL: not yet
} view_drawing;

// A layer that shows what another one collides with.
typedef struct view_shape {
    orr_layer surface, of;
} view_shape;

typedef struct viewer {
    const char *scene_path;
    uint64_t seed;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    const char *train, *resume;               // what to train, and from which model; NULL: not given
    orr_trainer_kind learns;                  // what a capture becomes
    view_training *training;                  // NULL: nothing is trained
    char checkpoint[VIEW_PATH_SIZE];          // its file, which the next save takes over; empty: none
    double checkpoint_minutes, checkpoint_at; // between two, 0: none are written; of the last [s]
    view_robot robot;
    view_hand hand;
    orr_frame *frames[VIEW_DEVICES]; // by device, each made when it is first chosen
    orr_device_kind device;          // that draws
    orr_present *present;
    orr_vk *vk; // the engine's, with which the window presents; NULL: not attached
    GLFWwindow *window;
    double ui_scale;
    const char *first_camera; // its index or name; NULL: the first
    panel *panel;
    bool panel_hidden, help;
    char message[512];

    navigator navigator;
    resolution resolution;
    camera_recorder recorder;
    view_load load;
    char *dropped[VIEW_DROPPED]; // files that are still to be added
    int dropped_count;
    double dropped_at[2]; // [window coordinates]
    view_gizmo gizmo;
    panel_light light;
    bool scene_changed;               // since it was saved
    char saved_scene[VIEW_PATH_SIZE]; // its file; empty: none yet
    view_history history;
    panel_cameras cameras;
    panel_region region;
    int region_face; // that is dragged
    bool colliders;  // are shown
    view_shape *shapes;
    int shape_count, shape_capacity;
    orr_camera home;
    bool playing;
    bool path_changed; // since it was saved
    double path_time;  // [s]

    bool flight_held[VIEW_FLIGHT_KEYS];   // without Ctrl, Alt or Super
    bool flight_tapped[VIEW_FLIGHT_KEYS]; // since the last move: a tap between two frames counts
    view_drag drag;
    double cursor[2];  // [window coordinates]
    double last_click; // [s]
    double last_click_at[2];

    look_options look;      // its switches and numbers change with keys and the panel
    orr_frame *shown;       // whose picture the window shows: where that is, the frame says; NULL: none
    orr_vulkan_image image; // the picture, where it is on the device
    bool readable;          // the two below hold the picture: always where it is in memory
    orr_image8 picture;     // as presented
    float *rgba;
    int64_t pixel_capacity;
    uint64_t revision; // counts the pictures
    orr_camera drawn;  // the picture's
    float drawn_scale; // the picture's, of the window's size
    double drawn_cost; // of the picture [ms]
    orr_camera seen;   // the camera of the loop's last round, window-sized
    double seen_at;    // when it last changed [s]
    bool moving;       // in the loop's last round
    bool stale;        // the picture does not show what is there
    bool again;        // it does, and is to be drawn once more
    view_drawing drawing;
    char screenshot[VIEW_PATH_SIZE]; // to be written of the view as it is drawn next; empty: none
    orr_stage_time stages[VIEW_STAGES];
    int stage_count;

    int attention; // frames to present although nothing moves: the panel follows events
    double presented_at;
    double interval; // between presented frames, smoothed [s]; 0: at rest
    int64_t presented;
    uint64_t presented_revision;
    int64_t limit; // quit after so many frames; 0: never
} viewer;

// The panel lays itself out a frame after what changed it, and sizes itself one later.
static inline void view_attend(viewer *v)
{
    v->attention = 3;
}

void view_connect(viewer *v); // window callbacks
// Moves the camera by held keys, moves under way and the path; true while any of them goes on.
bool view_move(viewer *v, double seconds);
void view_do(viewer *v, view_action action);
void view_collider_switch(viewer *v);                        // shows or hides the surfaces that robots touch
void view_collider_follow(viewer *v);                        // moves them with their bodies
void view_region_switch(viewer *v);                          // shows or hides the box to cut with
panel_region *view_region_show(viewer *v);                   // as it is seen now
bool view_region_grab(viewer *v);                            // the handle under the cursor, if one is
void view_region_drag(viewer *v, double right, double down); // that handle, in window coordinates
void view_region_cut(viewer *v, bool soft);
void view_drop_file(viewer *v, const char *path); // it will be added
// Before a file is added; and its layer, which is put upright on the surface under the mouse. false: it stays
// where its file says, as there is none, or the file is of a scene.
view_surroundings view_place_look(const viewer *v);
bool view_place_dropped(viewer *v, const char *path, int index, const view_surroundings *before);
void view_gizmo_choose(viewer *v, int index);  // of a layer
void view_gizmo_switch(viewer *v);             // hides it, or shows that of the layer under the cursor
const panel_gizmo *view_gizmo_show(viewer *v); // as it is seen now
bool view_gizmo_grab(viewer *v);               // the handle under the cursor, if one is
void view_gizmo_drag(viewer *v);               // to where the cursor is
void view_gizmo_release(viewer *v);            // while v->drag still says what ends
void view_scene_save(viewer *v);
orr_result view_scene_write(viewer *v, const char *path, orr_error *error); // the same, into that file
panel_light *view_light_show(viewer *v);                                    // as it is
void view_light_take(viewer *v);                                            // what the panel changed
void view_light_drag(viewer *v, double right, double down); // the sun, in fractions of the window's height
void view_add_dropped(viewer *v);
void view_focus_under_cursor(viewer *v);
void view_bounds(const viewer *v, float centre[3], float *radius); // of what is visible
// The scene's name, with an addition: a file that does not exist yet.
void view_new_file(const viewer *v, const char *addition, const char *ending, char path[VIEW_PATH_SIZE]);
void view_save_path(viewer *v); // of the camera
void view_save_model(viewer *v);
void view_save(viewer *v); // Ctrl+S: what there is that is not in a file yet
// Saves the model every so often while it learns, so that what ends the viewer at once costs minutes alone.
void view_save_checkpoint(viewer *v, double now);
// The model, the camera path and the scene, as far as they changed since they were saved, into new files,
// with a line for each on stderr. It asks nothing of the window, which may be gone.
void view_keep(viewer *v);
void view_say(viewer *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Begins a picture; one in the making is dropped.
void view_draw_begin(viewer *v, const orr_camera *camera, float scale);
// Goes on with it for about so long; done: it is now the viewer's. On an error drawing is over.
orr_result view_draw_part(viewer *v, double milliseconds, bool *done, orr_error *error);
orr_picture_location view_location(const viewer *v); // of the picture that the window shows
const char *view_device_name(const viewer *v);       // that draws, for people
void view_draw_drop(viewer *v);                      // before the scene or the field that is learnt change
// A whole picture, however long it takes.
orr_result view_draw_now(viewer *v, const orr_camera *camera, float scale, bool for_reading,
                         orr_error *error);
// Brings the picture to memory when it is on the device only.
orr_result view_read_picture(viewer *v, orr_error *error);

orr_view view_of(const viewer *v, const orr_camera *camera); // what is drawn from a camera
// What is under the cursor in a picture of this camera. *hit names no layer where nothing is, or the cursor
// is outside.
orr_result view_pick(const viewer *v, const orr_camera *camera, orr_hit *hit, orr_error *error);
orr_camera view_camera(const viewer *v, int width, int height); // as things stand, the path included
bool view_is_moving(const viewer *v, double now);
// Draws a part of the picture that is wanted, if one is. What goes wrong is said in the panel.
void view_refresh(viewer *v, double now);
orr_result view_save_picture(viewer *v, const char *path, orr_error *error); // the view in full
// Shows the picture that there is under an overlay; calls nothing of the engine.
orr_result view_present(viewer *v, const orr_overlay *overlay, bool *shown, orr_error *error);
// Shows picture and panel when one of them changed.
orr_result view_show(viewer *v, double now, orr_error *error);
