// Equality constraints: connect and weld of two bodies, polynomials between joints or tendons, the strain of
// soft bodies.
#pragma once

#include "physics/lanes/constraint_rows.h"
#include "physics/lanes/flex_rows.h"
#include "physics/lanes/kinematics.h"

// The two frames that a connect or weld joins: their bodies, anchors and rotations.
typedef struct lane_joined {
    int body[2];
    real3 anchor[2];
    quaternion turned[2];
} lane_joined;

LANE_FN lane_joined load_joined(const lane_model *m, const lane_data *d, int i)
{
    lane_joined joined;
    const uniform_real *data = m->eq_data + ORR_NEQDATA * i;
    int weld = m->eq_type[i] == ORR_EQUALITY_WELD;
    for (int side = 0; side < 2; side++) {
        int id = side ? m->eq_obj2id[i] : m->eq_obj1id[i];
        if (m->eq_objtype[i] == ORR_OBJECT_SITE) {
            joined.body[side] = m->site_bodyid[id];
            joined.anchor[side] = load3(d->site_xpos, id);
            joined.turned[side] = multiply_quaternions(load_quaternion(d->xquat, m->site_bodyid[id]),
                                                       uniform4(m->site_quat, id));
            continue;
        }
        // a weld's data start with the anchor of body 2
        real3 local = uniform3(data + 3 * (weld ? 1 - side : side), 0);
        joined.body[side] = id;
        joined.anchor[side] = add3(load3(d->xpos, id), rotate(load_matrix(d->xmat, id), local));
        joined.turned[side] = load_quaternion(d->xquat, id);
        if (weld && side == 0) {
            joined.turned[0] = multiply_quaternions(joined.turned[0], uniform4(data + 6, 0));
        }
    }
    return joined;
}

// Angular velocity, and velocity of the anchor, that a dof gives to side 1 minus side 2.
LANE_FN spatial joined_column(const lane_model *m, const lane_data *d, const lane_joined *joined, int dof,
                              int part)
{
    spatial motion = load_spatial(d->cdof, dof), column = make_spatial(zero3(), zero3());
    for (int side = 0; side < 2; side++) {
        if (part & (side ? ORR_CHAIN_SECOND : ORR_CHAIN_FIRST)) {
            real3 linear = point_velocity(m, d, dof, joined->anchor[side]);
            column = add_scaled_spatial(column, make_spatial(motion.r, linear), R(side ? -1.0 : 1.0));
        }
    }
    return column;
}

// J' qvel of the rows, of side 1 minus side 2: anchors, then rotation.
LANE_FN void joined_drift(const lane_model *m, const lane_data *d, const lane_joined *joined, orr_chain chain,
                          real torque_scale, real drift[6])
{
    real3 linear = zero3(), angular = zero3(), turning[2];
    for (int side = 0; side < 2; side++) {
        int body = joined->body[side], bit = side ? ORR_CHAIN_SECOND : ORR_CHAIN_FIRST;
        spatial a = make_spatial(zero3(), zero3());
        for (int e = chain.first; e < chain.first + chain.count; e++) {
            int dof = m->plan->chain_dof[e];
            if (m->plan->chain_part[e] & bit) {
                a = add_scaled_spatial(a, load_spatial(d->cdof_dot, dof), d->qvel[dof]);
            }
        }
        spatial v = load_spatial(d->cvel, body);
        real3 rate = acceleration_at(v, a, arm_to(m, d, body, joined->anchor[side]));
        linear = add_scaled3(linear, rate, R(side ? -1.0 : 1.0));
        angular = add_scaled3(angular, a.r, R(side ? -1.0 : 1.0));
        turning[side] = v.r;
    }
    // of half conj(q2) (w1 - w2) q1, in which the quaternions change, too
    real3 apart = sub3(turning[0], turning[1]);
    quaternion inverse2 = conjugate(joined->turned[1]);
    quaternion w = make_quaternion(R(0.0), apart.x, apart.y, apart.z);
    quaternion w1 = make_quaternion(R(0.0), turning[0].x, turning[0].y, turning[0].z);
    quaternion w2 = make_quaternion(R(0.0), turning[1].x, turning[1].y, turning[1].z);
    quaternion first = multiply_quaternions(w, w1), second = multiply_quaternions(w2, w);
    quaternion rate =
        make_quaternion(R(0.5) * (first.w - second.w), angular.x + R(0.5) * (first.x - second.x),
                        angular.y + R(0.5) * (first.y - second.y), angular.z + R(0.5) * (first.z - second.z));
    rate = multiply_quaternions(multiply_quaternions(inverse2, rate), joined->turned[0]);
    real scale = R(0.5) * torque_scale;
    real parts[6] = {linear.x, linear.y, linear.z, rate.x * scale, rate.y * scale, rate.z * scale};
    for (int k = 0; k < 6; k++) {
        drift[k] = parts[k];
    }
}

// The worlds in which an equality is active. Rows are made where any lane has one.
FN mask equality_active(const lane_data *d, int i)
{
    return d->eq_active[i] > R(0.5);
}

LANE_FN void frame_equality(const lane_model *m, lane_data *d, int i)
{
    orr_chain chain = m->plan->chain[m->plan->equality_chain + i];
    lane_joined joined = load_joined(m, d, i);
    int weld = m->eq_type[i] == ORR_EQUALITY_WELD, rows = weld ? 6 : 3, first = d->row_count;
    for (int k = 0; k < rows; k++) {
        add_row(d, LANE_ROW_EQUALITY, m->plan->chain_dof + chain.first, chain.count);
    }
    reals J = d->efc_J + d->row[first].J;
    real torque_scale = R(m->eq_data[ORR_NEQDATA * i + 10]);
    quaternion inverse2 = conjugate(joined.turned[1]);
    for (int e = 0; e < chain.count; e++) {
        int dof = m->plan->chain_dof[chain.first + e];
        spatial column = joined_column(m, d, &joined, dof, m->plan->chain_part[chain.first + e]);
        // half of conj(q2) w q1: the rate of the vector part of conj(q2) q1
        quaternion w = make_quaternion(R(0.0), column.r.x, column.r.y, column.r.z);
        quaternion rate = multiply_quaternions(multiply_quaternions(inverse2, w), joined.turned[0]);
        real scale = R(0.5) * torque_scale;
        real parts[6] = {column.t.x, column.t.y, column.t.z, rate.x * scale, rate.y * scale, rate.z * scale};
        for (int k = 0; k < rows; k++) {
            J[k * chain.count + e] = parts[k];
        }
    }
    real3 apart = sub3(joined.anchor[0], joined.anchor[1]);
    quaternion turn = multiply_quaternions(inverse2, joined.turned[0]);
    real r[6] = {
        apart.x, apart.y, apart.z, turn.x * torque_scale, turn.y * torque_scale, turn.z * torque_scale};
    real squared = R(0.0);
    for (int k = 0; k < rows; k++) {
        squared = squared + r[k] * r[k];
    }
    lane_impedance at =
        impedance_of(m, m->eq_solref + ORR_NREF * i, m->eq_solimp + ORR_NIMP * i, sqrt_(squared));
    real drift[6];
    joined_drift(m, d, &joined, chain, torque_scale, drift);
    for (int k = 0; k < rows; k++) {
        set_row(d, first + k, at, r[k],
                body_invweight0(m, d, 2 * joined.body[0] + k / 3) +
                    body_invweight0(m, d, 2 * joined.body[1] + k / 3),
                equality_active(d, i));
        d->efc_aref[first + k] = d->efc_aref[first + k] - drift[k];
    }
}

// Adds a tendon's arms to a row, whose dofs include theirs.
FN void add_arms(const lane_model *m, const lane_data *d, int tendon, real scale, orr_chain row, reals J)
{
    orr_chain chain = tendon_chain(m, tendon);
    reals arms = tendon_arms(m, d, tendon);
    for (int k = 0, entry = 0; k < chain.count; k++) {
        while (m->plan->chain_dof[row.first + entry] != m->plan->chain_dof[chain.first + k]) {
            entry++;
        }
        J[entry] = fma_(scale, arms[k], J[entry]);
    }
}

// The derivative of the polynomial of an equality's data.
FN real polynomial_slope(const uniform_real *c, real x)
{
    return R(c[1]) + x * (R(2.0 * (double)c[2]) + x * (R(3.0 * (double)c[3]) + x * R(4.0 * (double)c[4])));
}

// y - y0 = polynomial of x - x0, of joints or tendons
LANE_FN void polynomial_equality(const lane_model *m, lane_data *d, int i)
{
    const uniform_real *c = m->eq_data + ORR_NEQDATA * i;
    orr_chain chain = m->plan->chain[m->plan->equality_chain + i];
    int tendon = m->eq_type[i] == ORR_EQUALITY_TENDON;
    int id[2] = {m->eq_obj1id[i], m->eq_obj2id[i]};
    real moved[2] = {R(0.0), R(0.0)};
    real weight = R(0.0);
    for (int side = 0; side < 2 && id[side] >= 0; side++) {
        if (tendon) {
            moved[side] = d->ten_length[id[side]] - R(m->tendon_length0[id[side]]);
            weight = weight + tendon_weight(m, d, id[side]);
        } else {
            int adr = m->jnt_qposadr[id[side]];
            moved[side] = d->qpos[adr] - R(m->qpos0[adr]);
            weight = weight + dof_invweight0(m, d, m->jnt_dofadr[id[side]]);
        }
    }
    real x = moved[1];
    real target = R(c[0]), slope = R(0.0);
    if (id[1] >= 0) {
        target = R(c[0]) + x * (R(c[1]) + x * (R(c[2]) + x * (R(c[3]) + x * R(c[4]))));
        slope = polynomial_slope(c, x);
    }
    real r = moved[0] - target;
    int row = add_row(d, LANE_ROW_EQUALITY, m->plan->chain_dof + chain.first, chain.count);
    reals J = d->efc_J + d->row[row].J;
    for (int k = 0; k < chain.count; k++) {
        J[k] = tendon ? R(0.0) : m->plan->chain_part[chain.first + k] == ORR_CHAIN_FIRST ? R(1.0) : -slope;
    }
    for (int side = 0; side < 2 && tendon && id[side] >= 0; side++) {
        add_arms(m, d, id[side], side ? -slope : R(1.0), chain, J);
    }
    lane_impedance at = impedance_of(m, m->eq_solref + ORR_NREF * i, m->eq_solimp + ORR_NIMP * i, r);
    set_row(d, row, at, r, weight, equality_active(d, i));
}

FN int equality_row_count(const lane_model *m, int i)
{
    switch (m->eq_type[i]) {
    case ORR_EQUALITY_CONNECT:
        return 3;
    case ORR_EQUALITY_WELD:
        return 6;
    case ORR_EQUALITY_FLEXSTRAIN:
        return m->flexcell_modenum[m->eq_obj1id[i]];
    default:
        return 1;
    }
}

LANE_FN void equality_rows(const lane_model *m, lane_data *d)
{
    if (m->opt.disableflags & ORR_DISABLE_EQUALITY) {
        return;
    }
    for (int i = 0; i < m->neq; i++) {
        orr_chain chain = m->plan->chain[m->plan->equality_chain + i];
        if (!any(equality_active(d, i)) || chain_rests(m, d, chain)) {
            continue;
        }
        if (m->eq_type[i] == ORR_EQUALITY_CONNECT || m->eq_type[i] == ORR_EQUALITY_WELD) {
            frame_equality(m, d, i);
        } else if (m->eq_type[i] == ORR_EQUALITY_FLEXSTRAIN) {
            strain_rows(m, d, m->eq_obj1id[i], m->eq_solref + ORR_NREF * i, m->eq_solimp + ORR_NIMP * i,
                        equality_active(d, i));
        } else {
            polynomial_equality(m, d, i);
        }
    }
}
