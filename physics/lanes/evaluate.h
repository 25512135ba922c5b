// Computes what can be read of a state, which does not change.
#pragma once

#include "physics/lanes/reaction.h"
#include "physics/lanes/sensors.h"
#include "physics/lanes/step.h"

// How much is computed: each stage includes those before it.
typedef enum lane_depth {
    LANE_DEPTH_POSITIONS,
    LANE_DEPTH_VELOCITIES,
    LANE_DEPTH_ACCELERATIONS,
    LANE_DEPTH_SENSORS
} lane_depth;

// What can be read after forward() but is no part of a step.
LANE_FN void complete(const lane_model *m, lane_data *d, int depth)
{
    cameras(m, d);
    if (depth >= LANE_DEPTH_VELOCITIES) {
        subtree_velocities(m, d);
        energies(m, d);
    }
    if (depth >= LANE_DEPTH_ACCELERATIONS) {
        reactions(m, d);
    }
    if (depth >= LANE_DEPTH_SENSORS) {
        sensors(m, d);
    }
}

// The state, with its qacc, is not changed: d->qacc points to the scratch, where the acceleration of the
// state is computed.
LANE_FN void evaluate(const lane_model *m, lane_data *d, int depth)
{
    d->qacc = d->work;
    d->work = d->work + m->nv;
    positions(m, d);
    if (depth >= LANE_DEPTH_VELOCITIES) {
        velocities(m, d);
    }
    if (depth >= LANE_DEPTH_ACCELERATIONS) {
        accelerations(m, d);
    }
    complete(m, d, depth);
}
