// Integrators that are implicit in velocity: (M - h dF/dv) a = F. `implicit` has all of dF/dv but the part of
// constraints, and is not symmetric; `implicitfast` leaves out Coriolis and gyroscopic forces, except those
// of a free body that is alone in its tree. As in MuJoCo, dF/dv has only the entries that M has.
//
// The matrix is stored as two triangles with the pattern of M: qH[i] below and on the diagonal, qU[i] the
// mirrored entry above.
#pragma once

#include "physics/lanes/forces.h"
#include "physics/lanes/inertia.h"
#include "physics/lanes/passive/fluid.h"

FN void add_damping(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->nv; i++) {
        int diagonal = m->M_rowadr[i] + m->M_rownnz[i] - 1;
        lane_drag drag = dof_drag(m, d, i);
        d->qH[diagonal] = d->qH[diagonal] + R(m->opt.timestep) * drag_slope(&drag, d->qvel[i]);
    }
}

LANE_FN void add_tendon_damping(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->ntendon; i++) {
        lane_drag drag = tendon_drag(m, i);
        if (drags(&drag)) {
            chain_square(m, tendon_chain(m, i), tendon_arms(m, d, i),
                         R(m->opt.timestep) * drag_slope(&drag, d->ten_velocity[i]), d->qH);
        }
    }
}

LANE_FN void add_actuators(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->nactuator && !(m->opt.disableflags & ORR_DISABLE_ACTUATION); i++) {
        if (actuator_disabled(m, i)) {
            continue;
        }
        real slope = actuator_slope(m, d, i);
        if (any(abs_(slope) > R(0.0))) {
            for (int o = m->actuator_outadr[i]; o < m->actuator_outadr[i] + m->actuator_outnum[i]; o++) {
                chain_square(m, output_chain(m, o), output_moments(m, d, o), R(-m->opt.timestep) * slope,
                             d->qH);
            }
        }
    }
}

// Adds -h dF/dv of one shape. The dofs that move a body are the columns of a row of M, and their rows are
// prefixes of it.
LANE_FN void add_fluid_shape(const lane_model *m, lane_data *d, int last, int body, int geom, int symmetric)
{
    fluid_shape shape = load_shape(m, d, body, geom);
    fluid_ellipsoid ellipsoid;
    if (geom >= 0) {
        ellipsoid = load_ellipsoid(m, geom);
    }
    const int32_t *path = m->M_colind + m->M_rowadr[last];
    int count = m->M_rownnz[last];
    for (int k = 0; k < count; k++) {
        spatial motion = motion_of_shape(m, d, &shape, load_spatial(d->cdof, path[k]));
        store_spatial(d->fluid_motion, k, motion);
        store_spatial(d->fluid_slope, k,
                      geom < 0 ? box_drag_slope(m, d, body, shape.flow, motion)
                               : ellipsoid_drag_slope(m, &ellipsoid, shape.flow, motion));
    }
    real step = R(-m->opt.timestep);
    for (int k = 0; k < count; k++) {
        int adr = m->M_rowadr[path[k]];
        for (int j = 0; j <= k; j++) {
            real below = dot_spatial(load_spatial(d->fluid_motion, k), load_spatial(d->fluid_slope, j));
            real above = dot_spatial(load_spatial(d->fluid_motion, j), load_spatial(d->fluid_slope, k));
            if (symmetric) {
                below = above = R(0.5) * (below + above);
            }
            d->qH[adr + j] = fma_(step, below, d->qH[adr + j]);
            if (m->plan->unsymmetric && j < k) {
                d->qU[adr + j] = fma_(step, above, d->qU[adr + j]);
            }
        }
    }
}

LANE_FN void add_fluid(const lane_model *m, lane_data *d)
{
    for (int body = 1; body < m->nbody; body++) {
        int dof = m->plan->last_dof[body];
        if (dof < 0 || !body_in_fluid(m, body)) {
            continue;
        }
        int symmetric = m->opt.integrator == ORR_INTEGRATOR_IMPLICITFAST && !m->plan->gyroscopic[dof];
        for (int geom = -2; next_shape(m, body, &geom);) {
            add_fluid_shape(m, d, dof, body, geom, symmetric);
        }
    }
}

// The derivative of newton_euler's forces by the velocity of one dof, in cfrc_slope of all bodies that the
// dof moves and of their ancestors: newton_euler differentiated line by line.
LANE_FN void newton_euler_slope(const lane_model *m, lane_data *d, int dof)
{
    int root = m->dof_bodyid[dof], end = root;
    for (; end < m->nbody && dof_moves(m, dof, end); end++) {
        spatial none = make_spatial(zero3(), zero3());
        spatial v = end == root ? none : load_spatial(d->cvel_slope, m->body_parentid[end]);
        spatial a = end == root ? none : load_spatial(d->cacc_slope, m->body_parentid[end]);
        for (int joint = m->body_jntadr[end]; joint < m->body_jntadr[end] + m->body_jntnum[end]; joint++) {
            int k = m->jnt_dofadr[joint], type = m->jnt_type[joint];
            for (int stop = k + (type == ORR_JOINT_FREE ? 3 : 0); k < stop; k++) {
                v = k == dof ? add_spatial(v, load_spatial(d->cdof, k)) : v;
            }
            spatial before = v;
            for (int stop = k + (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL ? 3 : 1); k < stop; k++) {
                a = add_scaled_spatial(a, cross_motion(before, load_spatial(d->cdof, k)), d->qvel[k]);
                if (k == dof) {
                    a = add_spatial(a, load_spatial(d->cdof_dot, k));
                    v = add_spatial(v, load_spatial(d->cdof, k));
                }
            }
        }
        store_spatial(d->cvel_slope, end, v);
        store_spatial(d->cacc_slope, end, a);
        inertia body = load_inertia(d->cinert, end);
        spatial moving = load_spatial(d->cvel, end);
        spatial force = add_spatial(cross_force(v, inertia_times(body, moving)),
                                    cross_force(moving, inertia_times(body, v)));
        store_spatial(d->cfrc_slope, end, add_spatial(inertia_times(body, a), force));
    }
    for (int body = m->body_parentid[root]; body > 0; body = m->body_parentid[body]) {
        store_spatial(d->cfrc_slope, body, make_spatial(zero3(), zero3()));
    }
    for (int body = end - 1; body > 0; body = body > root ? body - 1 : m->body_parentid[body]) {
        int parent = m->body_parentid[body];
        if (parent > 0) {
            store_spatial(
                d->cfrc_slope, parent,
                add_spatial(load_spatial(d->cfrc_slope, parent), load_spatial(d->cfrc_slope, body)));
        }
    }
}

FN real slope_on(const lane_model *m, const lane_data *d, int dof)
{
    return dot_spatial(load_spatial(d->cdof, dof), load_spatial(d->cfrc_slope, m->dof_bodyid[dof]));
}

// Adds h d(bias)/dv, column by column.
LANE_FN void add_bias(const lane_model *m, lane_data *d)
{
    real step = R(m->opt.timestep);
    for (int dof = 0; dof < m->nv; dof++) {
        if (m->opt.integrator == ORR_INTEGRATOR_IMPLICITFAST && !m->plan->gyroscopic[dof]) {
            continue;
        }
        newton_euler_slope(m, d, dof);
        int adr = m->M_rowadr[dof], last = m->M_rownnz[dof] - 1;
        for (int c = 0; c < last; c++) { // on the dof's ancestors
            d->qU[adr + c] = fma_(step, slope_on(m, d, m->M_colind[adr + c]), d->qU[adr + c]);
        }
        for (int row = dof; row < m->nv; row++) { // on itself and its descendants
            int at = m->M_rowadr[row] + last;
            if (last < m->M_rownnz[row] && m->M_colind[at] == dof) {
                d->qH[at] = fma_(step, slope_on(m, d, row), d->qH[at]);
            }
        }
    }
}

// qH and qU = L U, from the leaves to the root, without fill-in. inverse: of the diagonal
LANE_FN void factorise_unsymmetric(const lane_model *m, reals H, reals U, reals inverse)
{
    for (int k = m->nv - 1; k >= 0; k--) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        inverse[k] = R(1.0) / H[adr + last];
        for (int c = 0; c < last; c++) {
            U[adr + c] = U[adr + c] * inverse[k];
        }
        for (int c = 0; c < last; c++) {
            int above = m->M_rowadr[m->M_colind[adr + c]];
            for (int e = 0; e <= c; e++) {
                H[above + e] = fma_(-U[adr + c], H[adr + e], H[above + e]);
            }
            for (int e = 0; e < c; e++) {
                U[above + e] = fma_(-U[adr + e], H[adr + c], U[above + e]);
            }
        }
    }
}

// x: the right side on entry, the solution on return
LANE_FN void solve_unsymmetric(const lane_model *m, reals H, reals U, reals inverse, reals x)
{
    for (int k = m->nv - 1; k >= 0; k--) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        for (int c = 0; c < last; c++) {
            int j = m->M_colind[adr + c];
            x[j] = fma_(-U[adr + c], x[k], x[j]);
        }
    }
    for (int k = 0; k < m->nv; k++) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        real sum = x[k];
        for (int c = 0; c < last; c++) {
            sum = fma_(-H[adr + c], x[m->M_colind[adr + c]], sum);
        }
        x[k] = sum * inverse[k];
    }
}

// qH (and qU) = M - h dF/dv, with the terms of MuJoCo's integrators.
LANE_FN void implicit_matrix(const lane_model *m, lane_data *d)
{
    int damper = !(m->opt.disableflags & ORR_DISABLE_DAMPER),
        euler = m->opt.integrator == ORR_INTEGRATOR_EULER;
    for (int i = 0; i < m->nM; i++) {
        d->qH[i] = d->qM[i];
    }
    if (damper) {
        add_damping(m, d);
    }
    if (!euler) {
        add_actuators(m, d);
        if (damper) {
            add_tendon_damping(m, d);
        }
    }
    for (int i = 0; i < m->nM && m->plan->unsymmetric; i++) {
        d->qU[i] = d->qH[i];
    }
    if (!euler && (damper || !(m->opt.disableflags & ORR_DISABLE_SPRING))) {
        add_fluid(m, d);
    }
    if (m->plan->unsymmetric) {
        add_bias(m, d);
    }
}

// x: the right side on entry, the solution with the factors of qH (and qU) on return
LANE_FN void solve_implicit_factors(const lane_model *m, lane_data *d, reals x)
{
    if (m->plan->unsymmetric) {
        solve_unsymmetric(m, d->qH, d->qU, d->qHDiagInv, x);
    } else {
        solve_factorised(m, d, d->qH, d->qHDiagInv, x);
    }
}

// result = (H - M) x, before H is factorised. Of Euler's integrator only the diagonals differ.
FN void damping_times(const lane_model *m, const lane_data *d, reals x, reals result)
{
    for (int k = 0; k < m->nv; k++) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        result[k] = (d->qH[adr + last] - d->qM[adr + last]) * x[k];
        for (int c = m->opt.integrator == ORR_INTEGRATOR_EULER ? last : 0; c < last; c++) {
            int above = m->M_colind[adr + c];
            real own = d->qH[adr + c] - d->qM[adr + c];
            real mirrored = m->plan->unsymmetric ? d->qU[adr + c] - d->qM[adr + c] : own;
            result[k] = fma_(own, x[above], result[k]);
            result[above] = fma_(mirrored, x[k], result[above]);
        }
    }
}

// acceleration = H^-1 M qacc, as qacc - H^-1 (H - M) qacc: forces of stiff rows, whose sum M qacc is, cancel,
// and in float leave up to a percent of it to rounding.
LANE_FN void implicit_solve(const lane_model *m, lane_data *d, reals acceleration)
{
    implicit_matrix(m, d);
    damping_times(m, d, d->qacc, acceleration);
    if (m->plan->unsymmetric) {
        factorise_unsymmetric(m, d->qH, d->qU, d->qHDiagInv);
    } else {
        factorise(m, d, d->qH, d->qH, d->qHDiagInv);
    }
    solve_implicit_factors(m, d, acceleration);
    for (int k = 0; k < m->nv; k++) {
        acceleration[k] = d->qacc[k] - acceleration[k];
    }
}

// Where something has to stop in a distance grid (collision/grid_stop.h), the forces of its contacts are
// those that the inertia needs; damping, which is implicit, takes a part of them. Pushes along the normals
// make up for it, contact after contact. After implicit_solve, whose factors it uses.
LANE_FN void stop_implicit(const lane_model *m, lane_data *d, reals acceleration)
{
    enum { ROUNDS = 8 };
    reals x = d->work + m->nv;
    for (int i = 0; i < ROUNDS * d->contact_count; i++) {
        int contact = i % d->contact_count, row = d->contact[contact].row;
        if (row < 0 || !any(d->contact_stops[contact] > R(0.0))) {
            continue;
        }
        const lane_row *of = &d->row[row];
        reals J = d->efc_J + of->J;
        real along = R(0.0), response = R(0.0);
        for (int k = 0; k < m->nv; k++) {
            x[k] = R(0.0);
        }
        for (int e = 0; e < of->count; e++) {
            x[of->dof[e]] = J[e];
            along = fma_(J[e], acceleration[of->dof[e]], along);
        }
        real lacking = max_(d->contact_stops[contact] - along, R(0.0));
        if (!any(lacking > R(0.01) * d->contact_stops[contact])) {
            continue;
        }
        solve_implicit_factors(m, d, x);
        for (int e = 0; e < of->count; e++) {
            response = fma_(J[e], x[of->dof[e]], response);
        }
        mask stops = and_(d->contact_stops[contact] > R(0.0), response > R(LANE_TINY));
        real push = sel(stops, lacking / max_(response, R(LANE_TINY)), R(0.0));
        for (int k = 0; k < m->nv; k++) {
            acceleration[k] = fma_(push, x[k], acceleration[k]);
        }
    }
}

// acceleration: of the step on entry; on return that of the forces at its start, M^-1 H a
LANE_FN void implicit_inverse(const lane_model *m, lane_data *d, reals acceleration, reals force)
{
    implicit_matrix(m, d);
    damping_times(m, d, acceleration, force);
    solve_factorised(m, d, d->qLD, d->qLDiagInv, force);
    for (int k = 0; k < m->nv; k++) {
        acceleration[k] = acceleration[k] + force[k];
    }
}

// Does the integrator change the solver's acceleration?
FN int implicit_step(const lane_model *m)
{
    if (m->opt.integrator != ORR_INTEGRATOR_EULER) {
        return m->opt.integrator != ORR_INTEGRATOR_RK4;
    }
    int damped = m->plan->varied_at[ORR_VARY_DOF_DAMPING] >= 0;
    for (int i = 0; i < m->nv; i++) {
        damped |= (double)m->dof_damping[i] > 0.0;
        for (int k = 0; k < ORR_NPOLY; k++) {
            damped |= (double)m->dof_dampingpoly[ORR_NPOLY * i + k] != 0.0;
        }
        for (int k = 1; k < LANE_DRIVE; k++) {
            damped |= (double)m->dof_drive[LANE_DRIVE * i + k] != 0.0;
        }
    }
    return damped && !(m->opt.disableflags & (ORR_DISABLE_EULERDAMP | ORR_DISABLE_DAMPER));
}
