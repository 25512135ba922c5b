// Accelerations of bodies, external forces on them and forces between them (MuJoCo's mj_rnePostConstraint);
// momentum of subtrees (mj_subtreeVel).
#pragma once

#include "physics/lanes/equality.h"
#include "physics/lanes/forces.h"
#include "physics/lanes/sensors/contact_force.h"
#include "physics/lanes/velocity.h"

// Adds a force and a torque at a point of a body to cfrc_ext, times `sign`; not for the world.
FN void push_body(const lane_model *m, lane_data *d, int body, real3 at, real3 force, real3 torque,
                  double sign)
{
    if (body == 0) {
        return;
    }
    spatial whole = force_at(force, torque, arm_to(m, d, body, at));
    store_spatial(d->cfrc_ext, body, add_scaled_spatial(load_spatial(d->cfrc_ext, body), whole, R(sign)));
}

LANE_FN void push_by_contacts(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < d->contact_count; i++) {
        const orr_pair *pair = lane_pair(m, d, d->contact[i].pair);
        real local[6];
        contact_force(m, d, i, local);
        matrix3 rows = load_matrix(d->contact_frame, i);
        real3 force = rotate_inverse(rows, make_real3(local[0], local[1], local[2]));
        real3 torque = rotate_inverse(rows, make_real3(local[3], local[4], local[5]));
        real3 at = load3(d->contact_pos, i);
        push_body(m, d, m->geom_bodyid[pair->geom1], at, force, torque, -1.0);
        if (pair->geom2 >= 0) {
            push_body(m, d, m->geom_bodyid[pair->geom2], at, force, torque, 1.0);
        }
    }
}

// Rows of equalities come first, in their order.
LANE_FN void push_by_equalities(const lane_model *m, lane_data *d)
{
    if (m->opt.disableflags & (ORR_DISABLE_CONSTRAINT | ORR_DISABLE_EQUALITY)) {
        return;
    }
    int row = 0;
    for (int i = 0; i < m->neq; i++) {
        int weld = m->eq_type[i] == ORR_EQUALITY_WELD;
        if (!any(equality_active(d, i))) {
            continue;
        }
        if (!weld && m->eq_type[i] != ORR_EQUALITY_CONNECT) {
            row += equality_row_count(m, i);
            continue;
        }
        lane_joined joined = load_joined(m, d, i);
        real3 force = load3(d->efc_force + row, 0);
        real3 torque = zero3();
        if (weld) { // of rows that are half of conj(q2) w q1, times the scale
            real3 f = load3(d->efc_force + row, 1);
            quaternion turning = multiply_quaternions(
                multiply_quaternions(joined.turned[1], make_quaternion(R(0.0), f.x, f.y, f.z)),
                conjugate(joined.turned[0]));
            real scale = R(0.5) * R(m->eq_data[ORR_NEQDATA * i + 10]);
            torque = scale3(make_real3(turning.x, turning.y, turning.z), scale);
        }
        push_body(m, d, joined.body[0], joined.anchor[0], force, torque, 1.0);
        push_body(m, d, joined.body[1], joined.anchor[1], force, torque, -1.0);
        row += equality_row_count(m, i);
    }
}

// The forces along a tendon of the rows of its equalities, its friction and its limits. Rows of equalities
// come first, then those of friction, in the order of dofs and tendons that have it.
LANE_FN real tendon_row_forces(const lane_model *m, lane_data *d, int tendon)
{
    real force = R(0.0);
    int row = 0, friction = 0;
    for (int i = 0; i < m->neq && !(m->opt.disableflags & ORR_DISABLE_EQUALITY) && row < d->row_count; i++) {
        int type = m->eq_type[i], other = m->eq_obj2id[i];
        if (!any(equality_active(d, i))) {
            continue;
        }
        if (type == ORR_EQUALITY_TENDON && m->eq_obj1id[i] == tendon) {
            force = force + d->efc_force[row];
        }
        if (type == ORR_EQUALITY_TENDON && other == tendon) {
            real x = d->ten_length[other] - R(m->tendon_length0[other]);
            force = force - d->efc_force[row] * polynomial_slope(m->eq_data + ORR_NEQDATA * i, x);
        }
        row += equality_row_count(m, i);
    }
    for (int i = 0; i < m->nv; i++) {
        friction += (double)m->dof_frictionloss[i] > 0.0;
    }
    for (int i = 0; i < tendon; i++) {
        friction += (double)m->tendon_frictionloss[i] > 0.0;
    }
    friction = (double)m->tendon_frictionloss[tendon] > 0.0 ? friction : -1;
    reals arms = tendon_arms(m, d, tendon);
    for (int i = 0; i < d->row_count; i++) {
        int rubs = d->row[i].type == LANE_ROW_FRICTION && friction-- == 0;
        if (!rubs && d->row[i].limit != 1 + m->njnt + tendon) {
            continue;
        }
        real along = R(0.0); // a row is the tendon's arms, or their opposite
        for (int k = 0; k < d->row[i].count; k++) {
            along = fma_(d->efc_J[d->row[i].J + k], arms[k], along);
        }
        force = force + sel(along < R(0.0), -d->efc_force[i], d->efc_force[i]);
    }
    return force;
}

// The force along a spatial tendon: of its spring and damper, its actuators, its rows and its armature.
// Positive: it pushes its ends apart. Uses cacc at qacc = 0.
LANE_FN real tendon_tension(const lane_model *m, lane_data *d, int tendon)
{
    real force = R(0.0);
    lane_drag spring = tendon_spring(m, tendon), drag = tendon_drag(m, tendon);
    if (!(m->opt.disableflags & ORR_DISABLE_SPRING) && drags(&spring)) {
        force = spring_force(&spring, tendon_extension(m, d, tendon, d->ten_length[tendon]));
    }
    if (!(m->opt.disableflags & ORR_DISABLE_DAMPER)) {
        force = force + drag_force(&drag, d->ten_velocity[tendon]);
    }
    for (int i = 0; i < m->nactuator; i++) {
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON && m->actuator_trnid[2 * i] == tendon) {
            int output = m->actuator_outadr[i];
            force = fma_(R(m->actuator_gear[6 * output]), d->actuator_force[output], force);
        }
    }
    if ((double)tendon_mass(m, tendon) != 0.0) {
        real rate = chain_rate(m, tendon_chain(m, tendon), tendon_arms(m, d, tendon), d->qacc);
        force = force - tendon_mass(m, tendon) * (rate + tendon_drift(m, d, tendon));
    }
    return force + tendon_row_forces(m, d, tendon);
}

LANE_FN void push_by_tendons(const lane_model *m, lane_data *d)
{
    for (int t = 0; t < m->ntendon; t++) {
        int end = m->tendon_adr[t] + m->tendon_num[t], next;
        double divisor = 1.0;
        real tension = tendon_tension(m, d, t);
        if (m->wrap_type[m->tendon_adr[t]] == ORR_WRAP_JOINT || !any(abs_(tension) > R(0.0))) {
            continue;
        }
        for (int k = m->tendon_adr[t]; k < end; k++) {
            if (!starts_piece(m, k, end, &next, &divisor)) {
                continue;
            }
            tendon_span span = span_of(m, d, k, next, divisor);
            for (int i = 0; i < span.count; i++) {
                tendon_piece piece = span.piece[i];
                real3 along = normalise3(sub3(piece.at[1], piece.at[0]));
                real3 force = scale3(along, tension * span.share[i]);
                push_body(m, d, piece.body[0], piece.at[0], force, zero3(), -1.0);
                push_body(m, d, piece.body[1], piece.at[1], force, zero3(), 1.0);
            }
        }
    }
}

// cacc, cfrc_ext, cfrc_int
LANE_FN void reactions(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->nbody; i++) {
        store_spatial(d->cfrc_ext, i, make_spatial(zero3(), zero3()));
        push_body(m, d, i, load3(d->xipos, i), load3(d->xfrc_applied, 2 * i),
                  load3(d->xfrc_applied, 2 * i + 1), 1.0);
    }
    push_by_contacts(m, d);
    push_by_equalities(m, d);
    push_by_tendons(m, d);
    newton_euler_with_qacc(m, d, d->work); // cfrc_body: force that a body and all below it need
    for (int i = 0; i < 6 * m->nbody; i++) {
        d->cfrc_int[i] = -d->cfrc_ext[i];
    }
    for (int i = m->nbody - 1; i > 0; i--) {
        spatial whole = load_spatial(d->cfrc_int, i);
        int parent = m->body_parentid[i];
        store_spatial(d->cfrc_int, parent, add_spatial(load_spatial(d->cfrc_int, parent), whole));
    }
    for (int i = 1; i < m->nbody; i++) {
        spatial needed = load_spatial(d->cfrc_body, i);
        store_spatial(d->cfrc_int, i, add_spatial(load_spatial(d->cfrc_int, i), needed));
        if (m->body_parentid[i] == 0) {
            store_spatial(d->cfrc_int, 0, add_spatial(load_spatial(d->cfrc_int, 0), needed));
        }
    }
}

// subtree_linvel and subtree_angmom
LANE_FN void subtree_velocities(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->nbody; i++) {
        real3 arm = arm_to(m, d, i, load3(d->xipos, i));
        store3(d->subtree_linvel, i, scale3(velocity_at(load_spatial(d->cvel, i), arm), body_mass(m, d, i)));
    }
    for (int i = m->nbody - 1; i >= 0; i--) {
        real3 momentum = load3(d->subtree_linvel, i);
        if (i > 0) {
            int parent = m->body_parentid[i];
            store3(d->subtree_linvel, parent, add3(load3(d->subtree_linvel, parent), momentum));
        }
        store3(d->subtree_linvel, i,
               scale3(momentum, R(1.0) / max_(body_subtreemass(m, d, i), R(LANE_TINY))));
    }
    for (int i = 0; i < m->nbody; i++) { // of the body alone, about the centre of its subtree
        spatial v = load_spatial(d->cvel, i);
        matrix3 frame = load_matrix(d->ximat, i);
        real3 local = rotate_inverse(frame, v.r), moments = body_moments(m, d, i);
        real3 spin = rotate(frame, make_real3(local.x * moments.x, local.y * moments.y, local.z * moments.z));
        real3 arm = arm_to(m, d, i, load3(d->xipos, i));
        real3 moving = sub3(velocity_at(v, arm), load3(d->subtree_linvel, i));
        real3 from_centre = sub3(load3(d->xipos, i), load3(d->subtree_com, i));
        store3(d->subtree_angmom, i, add3(spin, scale3(cross3(from_centre, moving), body_mass(m, d, i))));
    }
    for (int i = m->nbody - 1; i > 0; i--) {
        int parent = m->body_parentid[i];
        real3 apart = sub3(load3(d->subtree_com, i), load3(d->subtree_com, parent));
        real3 moving = sub3(load3(d->subtree_linvel, i), load3(d->subtree_linvel, parent));
        real3 whole =
            add_scaled3(load3(d->subtree_angmom, i), cross3(apart, moving), body_subtreemass(m, d, i));
        store3(d->subtree_angmom, parent, add3(load3(d->subtree_angmom, parent), whole));
    }
}
