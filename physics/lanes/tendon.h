// Tendons: lengths, moment arms, and what they add to forces and inertia. The length of a fixed tendon is a
// weighted sum of joint positions; a spatial one takes the shortest path through sites and around geoms.
#pragma once

#include "physics/lanes/kinematics.h"
#include "physics/lanes/tendon_wrap.h"

FN orr_chain tendon_chain(const lane_model *m, int tendon)
{
    return m->plan->chain[m->plan->tendon_chain + tendon];
}

// Moment arms: d length / d dof, for the dofs of the tendon's chain.
FN reals tendon_arms(const lane_model *m, const lane_data *d, int tendon)
{
    return d->ten_J + (tendon_chain(m, tendon).first - m->plan->tendon_entry);
}

// A straight piece of a tendon's path, between points of two bodies.
typedef struct tendon_piece {
    int body[2];
    real3 at[2];
} tendon_piece;

// Adds a piece, times `share`, to the tendon's arms; returns its length times `share`.
FN real add_piece(const lane_model *m, lane_data *d, int tendon, tendon_piece piece, real share)
{
    real3 span = sub3(piece.at[1], piece.at[0]);
    real length = length3(span);
    if (piece.body[0] == piece.body[1]) {
        return length * share;
    }
    real3 along = scale3(normalise3(span), share);
    orr_chain chain = tendon_chain(m, tendon);
    reals arms = tendon_arms(m, d, tendon);
    for (int k = 0; k < chain.count; k++) {
        int dof = m->plan->chain_dof[chain.first + k];
        int end = dof_moves(m, dof, piece.body[1]);
        if (end != dof_moves(m, dof, piece.body[0])) {
            real pull = dot3(along, point_velocity(m, d, dof, piece.at[end]));
            arms[k] = end ? arms[k] + pull : arms[k] - pull;
        }
    }
    return length * share;
}

// Does a piece of a spatial tendon's path start at entry k? Then entry *next is its other end, and the entry
// between, if any, a geom. A pulley sets the divisor of the pieces that follow.
FN int starts_piece(const lane_model *m, int k, int end, int *next, double *divisor)
{
    if (m->wrap_type[k] == ORR_WRAP_PULLEY) {
        *divisor = (double)m->wrap_prm[k];
    }
    if (m->wrap_type[k] != ORR_WRAP_SITE || k + 1 >= end || m->wrap_type[k + 1] == ORR_WRAP_PULLEY) {
        return 0;
    }
    *next = m->wrap_type[k + 1] == ORR_WRAP_SITE ? k + 1 : k + 2;
    return 1;
}

FN tendon_piece site_piece(const lane_model *m, const lane_data *d, int from, int to)
{
    int site0 = m->wrap_objid[from], site1 = m->wrap_objid[to];
    tendon_piece piece = {{m->site_bodyid[site0], m->site_bodyid[site1]},
                          {load3(d->site_xpos, site0), load3(d->site_xpos, site1)}};
    return piece;
}

// What is between the ends of a piece: straight where there is no geom or it does not touch, else two pieces
// and an arc between them.
typedef struct tendon_span {
    int count; // of the straight pieces
    tendon_piece piece[3];
    real share[3]; // 1 / divisor of the pulley, 0 where the piece is not part of the path
    real arc;      // length [m], times the share
} tendon_span;

LANE_FN tendon_span span_of(const lane_model *m, const lane_data *d, int from, int to, double divisor)
{
    tendon_span span;
    span.count = 1;
    span.piece[0] = site_piece(m, d, from, to);
    span.share[0] = R(1.0 / divisor);
    span.arc = R(0.0);
    if (to == from + 1) {
        return span;
    }
    int wrap = from + 1, geom = m->wrap_objid[wrap], side = (int)m->wrap_prm[wrap],
        body = m->geom_bodyid[geom];
    tendon_piece whole = span.piece[0];
    real3 pos = load3(d->geom_xpos, geom);
    tendon_wrap wrapped = wrap_tendon(whole.at[0], whole.at[1], pos, load_matrix(d->geom_xmat, geom),
                                      geom_size(m, d, 3 * geom), m->wrap_type[wrap] == ORR_WRAP_CYLINDER,
                                      side >= 0, side >= 0 ? load3(d->site_xpos, side) : pos);
    real share = span.share[0], around = sel(wrapped.touches, share, R(0.0));
    tendon_piece before = {{whole.body[0], body}, {whole.at[0], wrapped.touch[0]}};
    tendon_piece after = {{body, whole.body[1]}, {wrapped.touch[1], whole.at[1]}};
    span.count = 3;
    span.share[0] = sel(wrapped.touches, R(0.0), share);
    span.piece[1] = before;
    span.piece[2] = after;
    span.share[1] = span.share[2] = around;
    span.arc = any(around > R(0.0)) ? wrapped.arc * around : R(0.0);
    return span;
}

LANE_FN void spatial_tendon(const lane_model *m, lane_data *d, int tendon)
{
    int end = m->tendon_adr[tendon] + m->tendon_num[tendon], next;
    double divisor = 1.0;
    real length = R(0.0);
    for (int k = m->tendon_adr[tendon]; k < end; k++) {
        if (!starts_piece(m, k, end, &next, &divisor)) {
            continue;
        }
        tendon_span span = span_of(m, d, k, next, divisor);
        real sum = R(0.0);
        for (int i = 0; i < span.count; i++) {
            if (any(span.share[i] > R(0.0))) {
                sum = sum + add_piece(m, d, tendon, span.piece[i], span.share[i]);
            }
            if (i == 0) {
                sum = sum + span.arc;
            }
        }
        length = length + sum;
    }
    d->ten_length[tendon] = length;
}

LANE_FN void fixed_tendon(const lane_model *m, lane_data *d, int tendon)
{
    orr_chain chain = tendon_chain(m, tendon);
    reals arms = tendon_arms(m, d, tendon);
    real length = R(0.0);
    for (int k = m->tendon_adr[tendon]; k < m->tendon_adr[tendon] + m->tendon_num[tendon]; k++) {
        int joint = m->wrap_objid[k], entry = 0;
        length = length + m->wrap_prm[k] * d->qpos[m->jnt_qposadr[joint]];
        while (m->plan->chain_dof[chain.first + entry] != m->jnt_dofadr[joint]) {
            entry++;
        }
        arms[entry] = arms[entry] + R(m->wrap_prm[k]);
    }
    d->ten_length[tendon] = length;
}

LANE_FN void tendons(const lane_model *m, lane_data *d)
{
    for (int i = team_first(d); i < m->ntendon; i += team_size(d)) {
        reals arms = tendon_arms(m, d, i);
        for (int k = 0; k < tendon_chain(m, i).count; k++) {
            arms[k] = R(0.0);
        }
        if (m->wrap_type[m->tendon_adr[i]] == ORR_WRAP_JOINT) {
            fixed_tendon(m, d, i);
        } else {
            spatial_tendon(m, d, i);
        }
    }
    team_wait(d);
}

// The rate of a chain's length when the dofs have velocities x.
FN real chain_rate(const lane_model *m, orr_chain chain, reals arms, reals x)
{
    real rate = R(0.0);
    for (int k = 0; k < chain.count; k++) {
        rate = fma_(arms[k], x[m->plan->chain_dof[chain.first + k]], rate);
    }
    return rate;
}

// x += arms^T pull
FN void chain_pull(const lane_model *m, orr_chain chain, reals arms, real pull, reals x)
{
    for (int k = 0; k < chain.count; k++) {
        int dof = m->plan->chain_dof[chain.first + k];
        x[dof] = fma_(arms[k], pull, x[dof]);
    }
}

// H += scale arms^T arms, in the entries that the inertia matrix has; MuJoCo leaves out the others, too.
LANE_FN void chain_square(const lane_model *m, orr_chain chain, reals arms, real scale, reals H)
{
    const int32_t *dof = m->plan->chain_dof + chain.first;
    for (int a = 0; a < chain.count; a++) {
        int adr = m->M_rowadr[dof[a]], c = m->M_rownnz[dof[a]] - 1;
        for (int b = a; b < chain.count; b++) {
            while (c >= 0 && m->M_colind[adr + c] > dof[b]) {
                c--;
            }
            if (c >= 0 && m->M_colind[adr + c] == dof[b]) {
                H[adr + c] = fma_(scale * arms[a], arms[b], H[adr + c]);
            }
        }
    }
}

LANE_FN void tendon_velocities(const lane_model *m, lane_data *d)
{
    for (int i = team_first(d); i < m->ntendon; i += team_size(d)) {
        d->ten_velocity[i] = chain_rate(m, tendon_chain(m, i), tendon_arms(m, d, i), d->qvel);
    }
    team_wait(d);
}

// Adds the armature of tendons to M: it moves with the tendon's length.
LANE_FN void tendon_inertia(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->ntendon; i++) {
        if ((double)tendon_mass(m, i) != 0.0) {
            chain_square(m, tendon_chain(m, i), tendon_arms(m, d, i), R(tendon_mass(m, i)), d->qM);
        }
    }
}

// The acceleration of a tendon's length at qacc = 0: J' qvel. Uses cacc of newton_euler; gravity in it
// accelerates both ends of a piece alike and cancels.
LANE_FN real tendon_drift(const lane_model *m, const lane_data *d, int tendon)
{
    int end = m->tendon_adr[tendon] + m->tendon_num[tendon], next;
    double divisor = 1.0;
    real drift = R(0.0);
    for (int k = m->tendon_adr[tendon]; k < end; k++) {
        if (!starts_piece(m, k, end, &next, &divisor)) {
            continue;
        }
        tendon_piece piece = site_piece(m, d, k, next);
        real3 velocity = zero3(), acceleration = zero3();
        for (int side = 0; side < 2; side++) {
            int body = piece.body[side];
            spatial v = load_spatial(d->cvel, body), a = load_spatial(d->cacc, body);
            real3 arm = arm_to(m, d, body, piece.at[side]);
            velocity = add_scaled3(velocity, velocity_at(v, arm), R(side ? 1.0 : -1.0));
            acceleration = add_scaled3(acceleration, acceleration_at(v, a, arm), R(side ? 1.0 : -1.0));
        }
        real3 span = sub3(piece.at[1], piece.at[0]);
        real3 along = normalise3(span);
        real stretch = dot3(along, velocity);
        real3 across = add_scaled3(velocity, along, -stretch);
        real turning = dot3(across, across) / max_(length3(span), R(LANE_TINY));
        drift = drift + (dot3(along, acceleration) + turning) * R(1.0 / divisor);
    }
    return drift;
}

// Adds the force that the armature of tendons needs for the motion of newton_euler, without qacc.
LANE_FN void tendon_euler(const lane_model *m, const lane_data *d, reals result)
{
    for (int i = 0; i < m->ntendon; i++) {
        if ((double)tendon_mass(m, i) != 0.0 && m->wrap_type[m->tendon_adr[i]] != ORR_WRAP_JOINT) {
            chain_pull(m, tendon_chain(m, i), tendon_arms(m, d, i), tendon_mass(m, i) * tendon_drift(m, d, i),
                       result);
        }
    }
}
