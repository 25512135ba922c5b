// Contacts that pull (MJCF's adhesion of geoms and pairs), as in MuJoCo: a passive force along the normal,
// and forces of the constraint that begin so much earlier. What a contact carries is the difference, down to
// -adhesion; friction's cone is that of the constraint's force.
#pragma once

#include "physics/lanes/parameters.h"

// The adhesion of a contact that has rows, else 0.
FN double contact_adhesion(const lane_model *m, const lane_data *d, int contact)
{
    return d->contact[contact].row >= 0 ? lane_pair(m, d, d->contact[contact].pair)->adhesion : 0.0;
}

// A force f of a row moves its acceleration by f / D. Of a pyramid each edge has its share. Needs the final
// efc_D; where a row does not exist that is 0.
LANE_FN void shift_adhesive_rows(const lane_model *m, lane_data *d)
{
    for (int i = team_first(d); i < d->contact_count; i += team_size(d)) {
        double adhesion = contact_adhesion(m, d, i);
        int first = d->contact[i].row;
        if (adhesion == 0.0) {
            continue;
        }
        int edges = d->row[first].basis == d->row[first].dim ? 1 : d->row[first].dim;
        for (int k = first; k < first + edges; k++) {
            mask exists = d->efc_D[k] > R(0.0);
            real shift = R(adhesion / edges) / sel(exists, d->efc_D[k], R(1.0));
            d->efc_aref[k] = d->efc_aref[k] + sel(exists, shift, R(0.0));
        }
    }
    team_wait(d);
}

// Adds the pull to qfrc_passive. The first rows of a contact's Jacobian are its normal.
LANE_FN void adhesive_forces(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < d->contact_count; i++) {
        double adhesion = contact_adhesion(m, d, i);
        if (adhesion == 0.0) {
            continue;
        }
        const lane_row *row = &d->row[d->contact[i].row];
        real pull = sel(d->efc_D[d->contact[i].row] > R(0.0), R(adhesion), R(0.0));
        for (int e = 0; e < row->count; e++) {
            int dof = row->dof[e];
            d->qfrc_passive[dof] = fma_(-pull, d->efc_J[row->J + e], d->qfrc_passive[dof]);
        }
    }
}
