// The way of a spatial tendon through space, as it is drawn.
#pragma once

#include "physics/model/model.h"

typedef struct orr_tendon_point {
    double at[3];
    bool goes_on; // a straight piece leads to the next point
    bool on_geom; // that piece lies on a geom
} orr_tendon_point;

// Points on the way that orr_tendon_path can need for a tendon.
int orr_tendon_points(const orr_model *model, int tendon);
// Where the tendon passes when the bodies stand at xpos (nbody x 3) and xquat (nbody x 4); returns the number of points. A
// fixed tendon has none.
int orr_tendon_path(const orr_model *model, int tendon, const double *xpos, const double *xquat,
                    orr_tendon_point *points);
