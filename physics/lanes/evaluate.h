// Computes what can be read of a state, which does not change.
#pragma once

#include "physics/lanes/complete.h"
#include "physics/lanes/step.h"

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
