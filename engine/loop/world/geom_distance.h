// The signed distance of a point from a geom of any shape, as soft bodies touch it.
#pragma once

#include "physics/model/model.h"

typedef struct orr_geom_distance {
    double distance;  // m, negative inside; INFINITY: nothing is there
    double normal[3]; // unit, outward, in the geom's frame
} orr_geom_distance;

// p: in the geom's frame, m. Exact near the surface: an ellipsoid's is of first order, a hull's and a height
// field's is that of the nearest plane.
orr_geom_distance orr_geom_distance_at(const orr_model *model, int geom, const double p[3]);
