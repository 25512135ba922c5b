// The path of a spatial tendon, for drawing.
#pragma once

#include "physics/model/model.h"

typedef struct orr_tendon_point {
    double at[3];
    bool goes_on; // a straight piece leads to the next point
    bool on_geom; // that piece lies on a geom
} orr_tendon_point;

// The most points that orr_tendon_path can need for a tendon.
int orr_tendon_points(const orr_model *model, int tendon);
// The points of a tendon's path when the bodies are at xpos (nbody x 3, m) and xquat (nbody x 4); returns
// their number. A fixed tendon has none.
int orr_tendon_path(const orr_model *model, int tendon, const double *xpos, const double *xquat,
                    orr_tendon_point *points);
