// Rows of the constraint Jacobian with MuJoCo's impedance and reference acceleration (MuJoCo's documentation,
// "Computation", section "Constraint model"): the general part, friction loss and limits.
#pragma once

#include "physics/lanes/impedance.h"
#include "physics/lanes/tendon.h"

LANE_FN lane_impedance impedance_of(const lane_model *m, const uniform_real solref[ORR_NREF],
                                    const uniform_real solimp[ORR_NIMP], real r)
{
    const bool safe = !(m->opt.disableflags & ORR_DISABLE_REFSAFE);
    return impedance_at(safe ? m->opt.timestep : 0.0, solref, solimp, r);
}

// Adds a group of `dim` rows; the caller writes its Jacobian, `basis` rows of `count` entries. Returns the
// first row.
LANE_FN int add_group(lane_data *d, lane_row_type type, int dim, int basis, const int32_t *dof, int count)
{
    int first = d->row_count;
    d->group[d->group_count++] = first;
    for (int k = 0; k < dim; k++) {
        lane_row *row = &d->row[d->row_count++];
        row->type = (uint8_t)type;
        row->dim = (uint8_t)dim;
        row->basis = (uint8_t)basis;
        row->index = (uint8_t)k;
        row->dof = dof;
        row->count = count;
        row->J = d->J_count;
        row->frictionloss = 0.0;
        row->limit = 0;
    }
    d->J_count += basis * count;
    return first;
}

LANE_FN int add_row(lane_data *d, lane_row_type type, const int32_t *dof, int count)
{
    return add_group(d, type, 1, 1, dof, count);
}

// A group has a basis of 1, 3, 4 or 6 rows. Calls `function`, an FN whose last argument is that number, with
// this number as a constant (see LANE_UNROLLED_3).
#define LANE_UNROLLED_BASIS(basis, function, ...)                                                            \
    ((basis) == 1   ? function(__VA_ARGS__, 1)                                                               \
     : (basis) == 3 ? function(__VA_ARGS__, 3)                                                               \
     : (basis) == 4 ? function(__VA_ARGS__, 4)                                                               \
                    : function(__VA_ARGS__, 6))

FN void group_times_basis(const lane_data *d, int i, reals x, reals result, int basis)
{
    const lane_row *row = &d->row[i];
    reals J = d->efc_J + row->J;
    int count = row->count;
    real along[6];
    for (int k = 0; k < basis; k++) {
        along[k] = R(0.0);
    }
    for (int e = 0; e < count; e++) {
        real moving = x[row->dof[e]];
        for (int k = 0; k < basis; k++) {
            along[k] = fma_(J[k * count + e], moving, along[k]);
        }
    }
    if (basis == row->dim) {
        for (int k = 0; k < basis; k++) {
            result[i + k] = along[k];
        }
        return;
    }
    for (int k = 1; k < basis; k++) {
        real slide = row->friction[k - 1] * along[k];
        result[i + 2 * k - 2] = along[0] + slide;
        result[i + 2 * k - 1] = along[0] - slide;
    }
}

// result = J x, for the rows of the group at i
LANE_FN void group_times(const lane_data *d, int i, reals x, reals result)
{
    LANE_UNROLLED_BASIS(d->row[i].basis, group_times_basis, d, i, x, result);
}

// What a row is regularised by. inverse_weight: the regulariser is (1 - d) / d of it, with the impedance
// d; inverse: of the regulariser. exists: the lanes that have the row.
typedef struct lane_regulariser {
    real inverse_weight, inverse;
} lane_regulariser;

FN lane_regulariser regularise(lane_impedance at, real inverse_weight, mask exists)
{
    real of_row = max_((R(1.0) - at.impedance) / at.impedance * inverse_weight, R(LANE_TINY));
    lane_regulariser r = {inverse_weight, sel(exists, R(1.0) / of_row, R(0.0))};
    return r;
}

// Sets a row's regulariser and reference acceleration. r: position minus margin. efc_jv must have the row's
// velocity.
FN void set_row_of_group(lane_data *d, int i, lane_impedance at, real r, lane_regulariser regulariser)
{
    d->efc_pos[i] = r;
    d->efc_diagonal[i] = regulariser.inverse_weight;
    d->efc_D[i] = regulariser.inverse;
    d->efc_aref[i] = -(at.damping * d->efc_jv[i]) - at.stiffness * at.impedance * r;
}

// The same for a single row, whose velocity it computes.
LANE_FN void set_row(lane_data *d, int i, lane_impedance at, real r, real inverse_weight, mask exists)
{
    group_times(d, i, d->qvel, d->efc_jv);
    set_row_of_group(d, i, at, r, regularise(at, inverse_weight, exists));
}

// Do all trees that a chain of dofs moves sleep in all lanes? Those of an active constraint sleep together.
FN int chain_rests(const lane_model *m, const lane_data *d, orr_chain chain)
{
    return d->asleep != LANE_NONE_ASLEEP && chain.count > 0 &&
           tree_rests(d, m->dof_treeid[m->plan->chain_dof[chain.first]]) &&
           tree_rests(d, m->dof_treeid[m->plan->chain_dof[chain.first + chain.count - 1]]);
}

// The inverse weight of a tendon's rows. MuJoCo's is that of qpos0, 0 where no dof changes its length there,
// and the row is as stiff as 1e15: float finds no acceleration beside it. In float it is at least a millionth
// of that of the tendon's sites.
LANE_FN real tendon_weight(const lane_model *m, const lane_data *d, int tendon)
{
    real weight = tendon_invweight0(m, d, tendon);
#if !defined(ORR_SCALAR_DOUBLE)
    real of_sites = R(0.0);
    for (int k = m->tendon_adr[tendon]; k < m->tendon_adr[tendon] + m->tendon_num[tendon]; k++) {
        if (m->wrap_type[k] == ORR_WRAP_SITE) {
            int site = m->wrap_objid[k], body = m->site_bodyid[site];
            real3 lever = sub3(uniform3(m->site_pos, site), uniform3(m->body_ipos, body));
            of_sites = of_sites + body_invweight0(m, d, 2 * body);
            of_sites = of_sites + body_invweight0(m, d, 2 * body + 1) * dot3(lever, lever);
        }
    }
    weight = max_(weight, R(1e-6) * of_sites);
#endif
    return weight;
}

LANE_FN void friction_loss_rows(const lane_model *m, lane_data *d)
{
    if (m->opt.disableflags & ORR_DISABLE_FRICTIONLOSS) {
        return;
    }
    for (int n = 0; n < dof_count(m, d); n++) {
        int i = nth_dof(d, n);
        if ((double)m->dof_frictionloss[i] > 0.0 && !tree_rests(d, m->dof_treeid[i])) {
            int row = add_row(d, LANE_ROW_FRICTION, m->plan->dof_descending + m->nv - 1 - i, 1);
            d->row[row].frictionloss = (double)m->dof_frictionloss[i];
            d->efc_J[d->row[row].J] = R(1.0);
            lane_impedance at =
                impedance_of(m, m->dof_solref + ORR_NREF * i, m->dof_solimp + ORR_NIMP * i, R(0.0));
            set_row(d, row, at, R(0.0), dof_invweight0(m, d, i), everywhere());
        }
    }
    for (int i = 0; i < m->ntendon; i++) {
        orr_chain chain = tendon_chain(m, i);
        if ((double)m->tendon_frictionloss[i] > 0.0 && !chain_rests(m, d, chain)) {
            int row = add_row(d, LANE_ROW_FRICTION, m->plan->chain_dof + chain.first, chain.count);
            d->row[row].frictionloss = (double)m->tendon_frictionloss[i];
            for (int k = 0; k < chain.count; k++) {
                d->efc_J[d->row[row].J + k] = tendon_arms(m, d, i)[k];
            }
            lane_impedance at = impedance_of(m, m->tendon_solref_fri + ORR_NREF * i,
                                             m->tendon_solimp_fri + ORR_NIMP * i, R(0.0));
            set_row(d, row, at, R(0.0), tendon_weight(m, d, i), everywhere());
        }
    }
}

LANE_FN void ball_limit_row(const lane_model *m, lane_data *d, int joint)
{
    int dof = m->jnt_dofadr[joint];
    quaternion at = normalise_quaternion(load_quaternion(d->qpos + m->jnt_qposadr[joint], 0));
    real3 turned = quaternion_velocity(at);
    real angle = length3(turned);
    real3 axis = normalise3(turned);
    double most = fmax((double)m->jnt_range[2 * joint], (double)m->jnt_range[2 * joint + 1]);
    real r = R(most) - angle - R(m->jnt_margin[joint]);
    mask exists = r < R(0.0);
    if (!any(exists)) {
        return;
    }
    int row = add_row(d, LANE_ROW_UNILATERAL, m->plan->dof_descending + m->nv - 3 - dof, 3);
    d->row[row].limit = 1 + joint;
    reals J = d->efc_J + d->row[row].J;
    J[0] = -axis.z;
    J[1] = -axis.y;
    J[2] = -axis.x;
    d->efc_pos[row] = r;
}

// Of a limit: efc_pos has its r.
LANE_FN void set_limit_row(const lane_model *m, lane_data *d, int row)
{
    int joint = d->row[row].limit - 1, tendon = joint - m->njnt;
    real r = d->efc_pos[row];
    const uniform_real *solref = m->jnt_solref + ORR_NREF * joint, *solimp = m->jnt_solimp + ORR_NIMP * joint;
    real weight;
    if (tendon < 0) {
        weight = dof_invweight0(m, d, m->jnt_dofadr[joint]);
    } else {
        solref = m->tendon_solref_lim + ORR_NREF * tendon;
        solimp = m->tendon_solimp_lim + ORR_NIMP * tendon;
        weight = tendon_weight(m, d, tendon);
    }
    set_row(d, row, impedance_of(m, solref, solimp, r), r, weight, r < R(0.0));
}

// All members of a team find the rows; then they divide them.
LANE_FN void limit_rows(const lane_model *m, lane_data *d)
{
    if (m->opt.disableflags & ORR_DISABLE_LIMIT) {
        return;
    }
    int first = d->row_count;
    for (int n = 0; n < joint_count(m, d); n++) {
        int joint = nth_joint(d, n);
        if (!m->jnt_limited[joint] || tree_rests(d, m->body_treeid[m->jnt_bodyid[joint]])) {
            continue;
        }
        if (m->jnt_type[joint] == ORR_JOINT_BALL) {
            ball_limit_row(m, d, joint);
            continue;
        }
        int dof = m->jnt_dofadr[joint];
        real value = d->qpos[m->jnt_qposadr[joint]];
        for (int side = 0; side < 2; side++) {
            double sign = side ? 1.0 : -1.0;
            real r = R(sign) * (R(m->jnt_range[2 * joint + side]) - value) - R(m->jnt_margin[joint]);
            mask exists = r < R(0.0);
            if (!any(exists)) {
                continue;
            }
            int row = add_row(d, LANE_ROW_UNILATERAL, m->plan->dof_descending + m->nv - 1 - dof, 1);
            d->row[row].limit = 1 + joint;
            d->efc_J[d->row[row].J] = R(-sign);
            d->efc_pos[row] = r;
        }
    }
    for (int i = 0; i < m->ntendon; i++) {
        orr_chain chain = tendon_chain(m, i);
        for (int side = 0; side < 2 && m->tendon_limited[i] && !chain_rests(m, d, chain); side++) {
            double sign = side ? 1.0 : -1.0;
            real r = R(sign) * (R(m->tendon_range[2 * i + side]) - d->ten_length[i]) - R(m->tendon_margin[i]);
            mask exists = r < R(0.0);
            if (!any(exists)) {
                continue;
            }
            int row = add_row(d, LANE_ROW_UNILATERAL, m->plan->chain_dof + chain.first, chain.count);
            d->row[row].limit = 1 + m->njnt + i;
            for (int k = 0; k < chain.count; k++) {
                d->efc_J[d->row[row].J + k] = R(-sign) * tendon_arms(m, d, i)[k];
            }
            d->efc_pos[row] = r;
        }
    }
    for (int row = first + team_first(d); row < d->row_count; row += team_size(d)) {
        set_limit_row(m, d, row);
    }
}
