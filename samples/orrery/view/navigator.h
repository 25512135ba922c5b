// Navigator: the viewer's camera and how input moves it. Pure arithmetic: no window, no clock.
//
// The camera is at a position and points along yaw and pitch against an `up` that stays level (a turntable:
// no roll). `distance` ahead of it lies the focus, which orbiting turns around and dollying closes in on.
// Drags are in fractions of the window's height, so that they feel the same at every size and resolution.
#pragma once

#include "engine/orrery.h"

typedef enum navigator_mode { NAVIGATOR_ORBIT = 0, NAVIGATOR_FLY } navigator_mode;

typedef struct navigator_pose {
    double position[3]; // scene units
    double yaw;         // [rad], turning right
    double pitch;       // [rad], looking up, short of +-90 degrees
    double distance;    // from the position to the focus, along the view, > 0
} navigator_pose;

typedef struct navigator {
    navigator_mode mode; // what the wheel does: dolly when orbiting, speed when flying
    navigator_pose pose;
    double axes[9];          // columns: right, up, forward of yaw = pitch = 0, in the world
    double field_of_view;    // vertical [rad]
    double speed;            // of flying [scene units/s]
    bool orthographic;       // as large at the focus as the perspective picture
    navigator_pose from, to; // a move under way
    double progress;         // of that move, 0 .. 1; 1: none
} navigator;

// Takes over a camera's view exactly. Its up becomes the level one: the nearest axis of the world when the
// camera does not roll against it, otherwise the camera's own.
void navigator_adopt(navigator *navigator, const orr_camera *camera);
// The same, and sets distance and speed for a scene that fills the sphere (centre, radius).
void navigator_start(navigator *navigator, const orr_camera *camera, const float centre[3], float radius);
orr_camera navigator_camera(const navigator *navigator, int width, int height);

void navigator_orbit(navigator *navigator, double right, double down);
void navigator_look(navigator *navigator, double right,
                    double down); // what was under the cursor stays under it
void navigator_pan(navigator *navigator, double right, double down); // likewise, at the focus
void navigator_wheel(navigator *navigator, double notches);
// Moves along (right, up, forward) with each in -1 .. 1: right and forward as seen, up as levelled.
void navigator_fly(navigator *navigator, const double direction[3], double seconds);
void navigator_zoom(navigator *navigator, double notches); // field of view, 10 to 120 degrees

// Begin a short move: to look at a point from here; to see a whole sphere from this side; to a camera's view.
void navigator_focus(navigator *navigator, const float point[3]);
void navigator_see(navigator *navigator, const float centre[3], float radius);
void navigator_go_to(navigator *navigator, const orr_camera *camera, double distance);
// Goes on with a move; false when there was none.
bool navigator_step(navigator *navigator, double seconds);
