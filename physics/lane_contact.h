// A contact between two geoms, and the rows of the constraint Jacobian it becomes.
#pragma once

#include "physics/lane_rows.h"

// What one dof does to the contact: the relative velocity of the second body at the contact along normal and
// tangents, and its relative turning about them.
FN void contact_column(const lane_model *m, const lane_data *d, int dof, int part, const real3 axes[3],
                       real3 pos, real column[6])
{
    spatial motion = load_spatial(d->cdof, dof);
    real3 arm = sub3(pos, load3(d->subtree_com, m->body_rootid[m->dof_bodyid[dof]]));
    real3 linear = add3(motion.t, cross3(motion.r, arm));
    real sign = R(part == ORR_CHAIN_SECOND ? 1.0 : -1.0);
    for (int k = 0; k < 3; k++) {
        column[k] = sign * dot3(axes[k], linear);
        column[3 + k] = sign * dot3(axes[k], motion.r);
    }
}

LANE_FN void contact_rows(const lane_model *m, lane_data *d, const orr_pair *pair, const real3 axes[3],
                          real3 pos, real r, mask exists)
{
    const orr_plan *plan = m->plan;
    orr_chain chain = plan->chain[pair->chain];
    int elliptic = m->opt.cone == ORR_CONE_ELLIPTIC, dim = pair->condim;
    int rows = dim == 1 ? 1 : elliptic ? dim : 2 * (dim - 1);
    int first = d->row_count;
    for (int k = 0; k < rows; k++) {
        lane_row_type type = dim == 1 || !elliptic ? LANE_ROW_UNILATERAL
                             : k                   ? LANE_ROW_CONE_REST
                                                   : LANE_ROW_CONE;
        add_row(d, type, plan->chain_dof + chain.first, chain.count);
    }
    reals J = d->efc_J + d->row[first].J;
    for (int e = 0; e < chain.count; e++) {
        real column[6];
        contact_column(m, d, plan->chain_dof[chain.first + e], plan->chain_part[chain.first + e], axes, pos,
                       column);
        for (int k = 0; k < rows; k++) {
            if (dim == 1 || elliptic) {
                J[k * chain.count + e] = column[k];
            } else {
                real slide = R(pair->friction[k / 2]) * column[1 + k / 2];
                J[k * chain.count + e] = k % 2 ? column[0] - slide : column[0] + slide;
            }
        }
    }
    uniform_real solref[ORR_NREF], solimp[ORR_NIMP], solreffriction[ORR_NREF];
    for (int k = 0; k < ORR_NREF; k++) {
        solref[k] = (uniform_real)pair->solref[k];
        solreffriction[k] = (uniform_real)pair->solreffriction[k];
    }
    for (int k = 0; k < ORR_NIMP; k++) {
        solimp[k] = (uniform_real)pair->solimp[k];
    }
    lane_impedance at = impedance_of(m, solref, solimp, r);
    int body1 = m->geom_bodyid[pair->geom1], body2 = m->geom_bodyid[pair->geom2];
    double weight = (double)m->body_invweight0[2 * body1] + (double)m->body_invweight0[2 * body2];
    double slip = pair->friction[0], mu = slip / sqrt(m->opt.impratio);
    if (dim == 1) {
        set_row(d, first, at, r, R(weight), exists);
    } else if (!elliptic) {
        double inverse_weight = 2.0 * mu * mu * (weight + slip * slip * weight);
        for (int k = 0; k < rows; k++) {
            set_row(d, first + k, at, r, R(inverse_weight), exists);
        }
    } else {
        set_row(d, first, at, r, R(weight), exists);
        lane_impedance sliding = at;
        if (pair->solreffriction[0] != 0.0 || pair->solreffriction[1] != 0.0) {
            sliding = impedance_of(m, solreffriction, solimp, r);
            sliding.impedance = at.impedance;
        }
        sliding.stiffness = 0;
        for (int k = 1; k < dim; k++) {
            double f = pair->friction[k - 1];
            set_row(d, first + k, sliding, r, R(weight / m->opt.impratio * slip * slip / (f * f)), exists);
        }
        lane_row *cone = &d->row[first];
        cone->dim = (uint8_t)dim;
        cone->mu = mu;
        memcpy(cone->friction, pair->friction, sizeof cone->friction);
    }
}

// A contact in the lanes of `found` whose distance is below the margin. tangent: where the first tangent should
// point, of any length; below 1/2 it counts as not given.
FN void add_contact(const lane_model *m, lane_data *d, int pair_index, real distance, real3 pos, real3 normal,
                    real3 tangent, mask found)
{
    const orr_pair *pair = &m->plan->pair[pair_index];
    mask near = and_(found, distance < R(pair->margin));
    if (!any(near)) {
        return;
    }
    if (d->contact_count == m->plan->contact_capacity) {
        d->contacts_missed++;
        return;
    }
    mask given = dot3(tangent, tangent) > R(0.25);
    mask upright = abs_(normal.y) >= R(0.5);
    tangent = select3(given, tangent, select3(upright, axis3(2), axis3(1)));
    tangent = normalise3(add_scaled3(tangent, normal, -dot3(normal, tangent)));
    real3 axes[3] = {normal, tangent, cross3(normal, tangent)};
    int contact = d->contact_count++;
    d->contact[contact].pair = pair_index;
    d->contact[contact].row = -1;
    d->contact_dist[contact] = sel(near, distance, R(LANE_HUGE));
    store3(d->contact_pos, contact, pos);
    for (int k = 0; k < 3; k++) {
        store3(d->contact_frame, 3 * contact + k, axes[k]);
    }
    mask pushes = and_(near, distance < R(pair->includemargin));
    if (any(pushes)) {
        d->contact[contact].row = d->row_count;
        contact_rows(m, d, pair, axes, pos, distance - R(pair->includemargin), pushes);
    }
}
