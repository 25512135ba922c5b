// The plane that a point of a soft body touches in a step: of the surface where the step is expected to end.
// That of its start would hold back what slides or rolls over a round surface.
#pragma once

#include "engine/loop/world/geom_distance.h"
#include "engine/loop/world/soft/soft_contact.h"

typedef struct orr_soft_plane { // as orr_soft_touch has them
    double normal[3], distance, ahead[3];
} orr_soft_plane;

// point, velocity: in the scene, m and m/s; now: the distance of the point from the geom.
orr_soft_plane orr_soft_plane_ahead(const orr_model *model, const orr_soft_found *found,
                                    const orr_soft_near *geom, const double point[3],
                                    const double velocity[3], const orr_geom_distance *now, double time_step);
// From the point, at the step's start, to where the force on the body acts: what the plane's distance has
// more (m) is not between the two.
void orr_soft_plane_reach(const orr_soft_plane *plane, double more, double reach[3]);
