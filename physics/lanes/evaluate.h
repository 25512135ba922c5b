// What can be read of a state that does not move.
#pragma once

#include "physics/lanes/reaction.h"
#include "physics/lanes/sensors.h"
#include "physics/lanes/step.h"

// How much is worked out; each with all before it.
typedef enum lane_depth {
    LANE_DEPTH_POSITIONS,
    LANE_DEPTH_VELOCITIES,
    LANE_DEPTH_ACCELERATIONS,
    LANE_DEPTH_SENSORS
} lane_depth;

// The state, its acceleration included, stays as it is; d->qacc is the one that was found.
LANE_FN void evaluate(const lane_model *m, lane_data *d, int depth)
{
    d->qacc = d->work;
    d->work = d->work + m->nv;
    positions(m, d);
    cameras(m, d);
    if (depth >= LANE_DEPTH_VELOCITIES) {
        velocities(m, d);
        subtree_velocities(m, d);
        energies(m, d);
    }
    if (depth >= LANE_DEPTH_ACCELERATIONS) {
        accelerations(m, d);
        reactions(m, d);
    }
    if (depth >= LANE_DEPTH_SENSORS) {
        sensors(m, d);
    }
}
