// The force of a contact, from the forces of its rows.
#pragma once

#include "physics/lanes/parameters.h"

// force: normal, two tangents, torques about them: what the first geom does to the second
// (MuJoCo's mj_contactForce); what adhesion pulls is subtracted. 0 in the lanes that do not have the contact.
LANE_FN void contact_force(const lane_model *m, const lane_data *d, int i, real force[6])
{
    const orr_pair *pair = lane_pair(m, d, d->contact[i].pair);
    int row = d->contact[i].row, dim = pair->condim;
    for (int k = 0; k < 6; k++) {
        force[k] = R(0.0);
    }
    if (row < 0) { // within the gap
        return;
    }
    if (dim == 1 || m->opt.cone == ORR_CONE_ELLIPTIC) {
        for (int k = 0; k < dim; k++) {
            force[k] = d->efc_force[row + k];
        }
    } else {
        for (int k = 0; k < dim - 1; k++) { // two edges of the pyramid per direction
            real up = d->efc_force[row + 2 * k], down = d->efc_force[row + 2 * k + 1];
            force[0] = force[0] + up + down;
            force[1 + k] = pair_number(m, d, d->contact[i].pair, k) * (up - down);
        }
    }
    if (pair->adhesion != 0.0) {
        mask pulls = d->contact_dist[i] <= R(pair->margin);
        force[0] = force[0] - sel(pulls, R(pair->adhesion), R(0.0));
    }
}
