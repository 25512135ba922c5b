// The position stage: what follows from qpos.
#pragma once

#include "physics/lanes/inertia.h"
#include "physics/lanes/transmission.h"

LANE_FN void positions(const lane_model *m, lane_data *d)
{
    kinematics(m, d);
    centres_of_mass(m, d);
    tendons(m, d);
    transmissions(m, d);
    inertia_matrix(m, d);
    if (m->ntendon > 0) {
        if (team_leads(d)) {
            tendon_inertia(m, d);
        }
        team_wait(d);
    }
}
