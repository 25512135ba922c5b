// A gizmo: handles in the window by which a layer is moved. Arrows along three axes, a square in the ground
// plane, a ring about up, and a handle of its scale. Pure arithmetic: no window, no clock.
#pragma once

#include "engine/orrery.h"

typedef enum gizmo_part {
    GIZMO_NONE = -1,
    GIZMO_RIGHT,
    GIZMO_UP,
    GIZMO_FORWARD,
    GIZMO_GROUND, // moves right and forward
    GIZMO_TURN,   // about up
    GIZMO_SCALE,
    GIZMO_PARTS
} gizmo_part;

typedef struct gizmo {
    orr_camera camera; // that it is seen by
    double window[2];  // size
    double axes[9];    // columns: right, up, forward
    double origin[3];  // what it turns and scales about, in the scene
    double reach;      // length of the arrows [scene units]
} gizmo;

enum { GIZMO_POINTS = 49 };

// How a handle is drawn, in window coordinates; its last point is the tip.
typedef struct gizmo_line {
    double point[GIZMO_POINTS][2];
    int count; // 0: it is not seen
} gizmo_line;

// As large in the window from any distance. false: the origin is behind the camera.
bool gizmo_open(gizmo *g, const orr_camera *camera, const double window[2], const double axes[9],
                const double origin[3]);
void gizmo_draw(const gizmo *g, gizmo_part part, gizmo_line *line);
// The handle under the cursor, GIZMO_NONE: none.
gizmo_part gizmo_find(const gizmo *g, const double cursor[2]);
// The transform of a layer that was `before` when the handle was taken at the cursor `from`, now that it is
// at `to`. false: it stays, as the handle is seen from ahead.
bool gizmo_drag(const gizmo *g, gizmo_part part, const double from[2], const double to[2],
                const orr_transform *before, orr_transform *after);
