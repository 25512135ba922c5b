// A splat cloud of a room that is lit by a known sun: y is down, the floor is at 0. For tests of the sun's
// estimate.
#pragma once

#include "engine/orrery.h"

typedef struct lit_cloud_desc {
    double sun[3];   // towards it, unit
    double strength; // of the sun, of the light from around
    double crevices; // share of that light that the foot of a box takes
    double noise;    // of brightness, of its logarithm
} lit_cloud_desc;

void lit_cloud_aim(lit_cloud_desc *desc, double azimuth, double height); // degrees

// A point of that room.
typedef struct lit_point {
    double position[3];
    double distance;   // to the nearest surface, negative in the floor and in boxes
    double brightness; // of that surface, linear, without noise
} lit_point;
void lit_cloud_look(const lit_cloud_desc *desc, lit_point *points, int count); // fills in the rest

// Fails the test where it cannot be made. The caller destroys it.
orr_splats *lit_cloud(const lit_cloud_desc *desc);
