// The constraint solver: the acceleration that minimises
//     1/2 (a - a_smooth)^T M (a - a_smooth) + sum of s(J a - aref)
// by Newton's method with exact line search (Todorov, "Convex and analytically-invertible dynamics with contacts
// and constraints", ICRA 2014; MuJoCo documentation, "Computation"). Each lane stops when it has converged; the
// others go on.
#pragma once

#include "physics/lane_inertia.h"
#include "physics/lane_rows.h"

#if defined(ORR_SCALAR_DOUBLE)
#define SOLVER_TOLERANCE 1e-20 // of the scaled improvement: an error of 1e-10 in the acceleration
#else
#define SOLVER_TOLERANCE 1e-7
#endif

// A cone's state: force and, through weight terms, its second derivative.
typedef struct lane_cone {
    mask top, middle; // no force; on the cone. Otherwise inside: all rows are quadratic
    real n, t;        // normal and |tangential| part, scaled by mu and friction
    real u[6];        // scaled position
    real dm;
} lane_cone;

LANE_FN lane_cone cone_at(const lane_data *d, int i, const real x[6])
{
    const lane_row *row = &d->row[i];
    uniform_real mu = (uniform_real)row->mu;
    lane_cone c;
    real squared = R(0.0);
    c.n = c.u[0] = x[0] * mu;
    for (int k = 1; k < row->dim; k++) {
        c.u[k] = x[k] * (uniform_real)row->friction[k - 1];
        squared = fma_(c.u[k], c.u[k], squared);
    }
    c.t = sqrt_(squared);
    mask slipping = c.t > R(LANE_TINY);
    c.top = or_(c.n >= mu * c.t, and_(not_(slipping), c.n >= R(0.0)));
    mask bottom = or_(mu * c.n + c.t <= R(0.0), and_(not_(slipping), c.n < R(0.0)));
    c.middle = and_(not_(c.top), not_(bottom));
    c.dm = d->efc_D[i] * R(1.0 / (row->mu * row->mu * (1.0 + row->mu * row->mu)));
    return c;
}

LANE_FN real cone_cost(const lane_data *d, int i, const real x[6], real force[6])
{
    const lane_row *row = &d->row[i];
    uniform_real mu = (uniform_real)row->mu;
    lane_cone c = cone_at(d, i, x);
    real gap = c.n - mu * c.t;
    real inverse = R(1.0) / sel(c.middle, c.t, R(1.0));
    real on_cone = -(c.dm * gap * mu);
    real inside_cost = R(0.0);
    for (int k = 0; k < row->dim; k++) {
        real along = k ? -(on_cone * inverse * c.u[k]) * (uniform_real)row->friction[k - 1] : on_cone;
        real inside = -(d->efc_D[i + k] * x[k]);
        inside_cost = inside_cost - R(0.5) * inside * x[k];
        force[k] = sel(c.top, R(0.0), sel(c.middle, along, inside));
    }
    return sel(c.top, R(0.0), sel(c.middle, R(0.5) * c.dm * gap * gap, inside_cost));
}

// The second derivative of the cone's cost: dim x dim, symmetric.
LANE_FN void cone_hessian(const lane_data *d, int i, const real x[6], real hessian[6][6])
{
    const lane_row *row = &d->row[i];
    uniform_real mu = (uniform_real)row->mu;
    lane_cone c = cone_at(d, i, x);
    real gap = c.n - mu * c.t;
    real inverse = R(1.0) / sel(c.middle, c.t, R(1.0));
    for (int a = 0; a < row->dim; a++) {
        uniform_real scale_a = (uniform_real)(a ? row->friction[a - 1] : row->mu);
        for (int b = 0; b <= a; b++) {
            uniform_real scale_b = (uniform_real)(b ? row->friction[b - 1] : row->mu);
            real value;
            if (a == 0) {
                value = c.dm;
            } else if (b == 0) {
                value = -(c.dm * mu * c.u[a] * inverse);
            } else {
                real direction = c.u[a] * c.u[b] * inverse * inverse;
                value = c.dm * mu * (mu * direction - gap * inverse * (R(a == b) - direction));
            }
            value = value * (scale_a * scale_b);
            real inside = a == b ? d->efc_D[i + a] : R(0.0);
            hessian[a][b] = hessian[b][a] = sel(c.top, R(0.0), sel(c.middle, value, inside));
        }
    }
}

// Force, second derivative and cost of a row that is no cone.
LANE_FN real row_cost(const lane_data *d, int i, real x, real *force, real *weight)
{
    const lane_row *row = &d->row[i];
    real D = d->efc_D[i];
    real pull = -(D * x);
    real cost = R(-0.5) * pull * x;
    *weight = D;
    if (row->type == LANE_ROW_FRICTION) {
        real most = R(row->frictionloss);
        mask slips = abs_(pull) > most;
        real loss = most * abs_(x) - R(0.5) * most * most / sel(slips, D, R(1.0));
        *force = clamp_(pull, -most, most);
        *weight = sel(slips, R(0.0), D);
        return sel(slips, loss, cost);
    }
    if (row->type == LANE_ROW_UNILATERAL) {
        mask off = x >= R(0.0);
        *force = sel(off, R(0.0), pull);
        *weight = sel(off, R(0.0), D);
        return sel(off, R(0.0), cost);
    }
    *force = pull;
    return cost;
}

LANE_FN void load_cone(const lane_data *d, int i, reals from, real x[6])
{
    for (int k = 0; k < 6; k++) {
        x[k] = k < d->row[i].dim ? from[i + k] : R(0.0);
    }
}

// Forces and second derivatives at efc_jar; returns the constraints' cost.
LANE_FN real constraint_forces(const lane_data *d)
{
    real cost = R(0.0);
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        if (d->row[i].type == LANE_ROW_CONE) {
            real x[6], force[6];
            load_cone(d, i, d->efc_jar, x);
            cost = cost + cone_cost(d, i, x, force);
            for (int k = 0; k < d->row[i].dim; k++) {
                d->efc_force[i + k] = force[k];
            }
        } else {
            cost = cost + row_cost(d, i, d->efc_jar[i], &d->efc_force[i], &d->efc_weight[i]);
        }
    }
    return cost;
}

// result = J^T force
LANE_FN void constraint_force(const lane_model *m, const lane_data *d, reals result)
{
    for (int i = 0; i < m->nv; i++) {
        result[i] = R(0.0);
    }
    for (int i = 0; i < d->row_count; i++) {
        const lane_row *row = &d->row[i];
        for (int k = 0; k < row->count; k++) {
            result[row->dof[k]] = fma_(d->efc_J[row->J + k], d->efc_force[i], result[row->dof[k]]);
        }
    }
}

// efc_jar = J x - aref
LANE_FN void constraint_residual(const lane_data *d, reals x)
{
    for (int i = 0; i < d->row_count; i++) {
        d->efc_jar[i] = row_times(d, &d->row[i], x) - d->efc_aref[i];
    }
}

// Which entries of H = M + J^T D J, and of its factor, are not zero: the same in all lanes. A contact with the
// world leaves the pattern of M; one between two branches couples them.
LANE_FN void fill_pattern(const lane_model *m, lane_data *d)
{
    int nv = m->nv;
    uint8_t *filled = d->filled;
    memset(filled, 0, (size_t)nv * (size_t)nv);
    for (int k = 0; k < nv; k++) {
        for (int c = 0; c < m->M_rownnz[k]; c++) {
            filled[k * nv + m->M_colind[m->M_rowadr[k] + c]] = 1;
        }
    }
    const int32_t *last = NULL;
    for (int i = 0; i < d->row_count; i++) {
        const lane_row *row = &d->row[i];
        if (row->dof == last || row->count == 1) {
            continue;
        }
        last = row->dof;
        for (int a = 0; a < row->count; a++) {
            for (int b = a; b < row->count; b++) {
                filled[row->dof[a] * nv + row->dof[b]] = 1;
            }
        }
    }
    for (int k = nv - 1; k >= 0; k--) {
        int count = 0;
        int32_t *columns = d->fill + k * nv;
        for (int j = 0; j <= k; j++) {
            if (filled[k * nv + j]) {
                columns[count++] = j;
            }
        }
        d->fill_count[k] = count;
        for (int a = 0; a < count - 1; a++) {
            for (int b = 0; b <= a; b++) {
                filled[columns[a] * nv + columns[b]] = 1;
            }
        }
    }
}

LANE_FN void add_cone_hessian(const lane_data *d, int nv, int i)
{
    const lane_row *row = &d->row[i];
    real x[6], hessian[6][6];
    load_cone(d, i, d->efc_jar, x);
    cone_hessian(d, i, x, hessian);
    for (int a = 0; a < row->count; a++) {
        for (int k = 0; k < row->dim; k++) {
            real part = R(0.0);
            for (int l = 0; l < row->dim; l++) {
                part = fma_(hessian[k][l], d->efc_J[row[l].J + a], part);
            }
            reals H = d->H + row->dof[a] * nv, J = d->efc_J + row[k].J;
            for (int b = a; b < row->count; b++) {
                H[row->dof[b]] = fma_(part, J[b], H[row->dof[b]]);
            }
        }
    }
}

LANE_FN void build_hessian(const lane_model *m, const lane_data *d)
{
    int nv = m->nv;
    for (int k = 0; k < nv; k++) {
        for (int c = 0; c < d->fill_count[k]; c++) {
            d->H[k * nv + d->fill[k * nv + c]] = R(0.0);
        }
        for (int c = 0; c < m->M_rownnz[k]; c++) {
            int adr = m->M_rowadr[k] + c;
            d->H[k * nv + m->M_colind[adr]] = d->qM[adr];
        }
    }
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        const lane_row *row = &d->row[i];
        if (row->type == LANE_ROW_CONE) {
            add_cone_hessian(d, nv, i);
            continue;
        }
        real weight = d->efc_weight[i];
        if (!any(weight > R(0.0))) {
            continue;
        }
        reals J = d->efc_J + row->J;
        for (int a = 0; a < row->count; a++) {
            real part = weight * J[a];
            reals H = d->H + row->dof[a] * nv;
            for (int b = a; b < row->count; b++) {
                H[row->dof[b]] = fma_(part, J[b], H[row->dof[b]]);
            }
        }
    }
}

// search = -H^-1 gradient, by H = L^T D L in place
LANE_FN void newton_direction(const lane_model *m, const lane_data *d)
{
    int nv = m->nv;
    reals x = d->search;
    for (int k = 0; k < nv; k++) {
        x[k] = -d->gradient[k];
    }
    for (int k = nv - 1; k >= 0; k--) {
        const int32_t *columns = d->fill + k * nv;
        int last = d->fill_count[k] - 1;
        reals row = d->H + k * nv;
        real inverse = R(1.0) / row[k];
        for (int c = last - 1; c >= 0; c--) {
            real l = row[columns[c]] * inverse;
            reals above = d->H + columns[c] * nv;
            for (int e = 0; e <= c; e++) {
                above[columns[e]] = fma_(-l, row[columns[e]], above[columns[e]]);
            }
        }
        for (int c = 0; c < last; c++) {
            row[columns[c]] = row[columns[c]] * inverse;
            x[columns[c]] = fma_(-row[columns[c]], x[k], x[columns[c]]);
        }
        row[k] = inverse;
    }
    for (int k = 0; k < nv; k++) {
        const int32_t *columns = d->fill + k * nv;
        reals row = d->H + k * nv;
        real sum = x[k] * row[k];
        for (int c = 0; c < d->fill_count[k] - 1; c++) {
            sum = fma_(-row[columns[c]], x[columns[c]], sum);
        }
        x[k] = sum;
    }
}

// First and second derivative of the constraints' cost along efc_jv at `step`.
LANE_FN void slope_along(const lane_data *d, real step, real *first, real *second)
{
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        const lane_row *row = &d->row[i];
        if (row->type != LANE_ROW_CONE) {
            real force, weight, jv = d->efc_jv[i];
            row_cost(d, i, fma_(step, jv, d->efc_jar[i]), &force, &weight);
            *first = fma_(-force, jv, *first);
            *second = fma_(weight * jv, jv, *second);
            continue;
        }
        real x[6], force[6], hessian[6][6];
        load_cone(d, i, d->efc_jar, x);
        for (int k = 0; k < row->dim; k++) {
            x[k] = fma_(step, d->efc_jv[i + k], x[k]);
        }
        cone_cost(d, i, x, force);
        cone_hessian(d, i, x, hessian);
        for (int k = 0; k < row->dim; k++) {
            *first = fma_(-force[k], d->efc_jv[i + k], *first);
            for (int l = 0; l < row->dim; l++) {
                *second = fma_(hessian[k][l] * d->efc_jv[i + k], d->efc_jv[i + l], *second);
            }
        }
    }
}

// The step along `search` at which the cost is least: its derivative rises monotonically, so Newton steps are kept
// inside the bracket of signs seen.
LANE_FN real line_search(const lane_model *m, const lane_data *d, mask running)
{
    real slope0 = R(0.0), curvature0 = R(0.0);
    for (int k = 0; k < m->nv; k++) {
        slope0 = fma_(d->search[k], d->Ma[k] - d->qfrc_smooth[k], slope0);
        curvature0 = fma_(d->search[k], d->Mv[k], curvature0);
    }
    real step = R(1.0), low = R(0.0), high = R(LANE_HUGE);
    real start = R(0.0), unused = R(0.0);
    slope_along(d, R(0.0), &start, &unused);
    real enough = abs_(slope0 + start) * R(m->opt.ls_tolerance);
    for (int i = 0; i < m->opt.ls_iterations; i++) {
        real first = fma_(step, curvature0, slope0), second = curvature0;
        slope_along(d, step, &first, &second);
        mask go = and_(running, abs_(first) > enough);
        if (!any(go)) {
            break;
        }
        mask rising = first > R(0.0);
        high = sel(rising, step, high);
        low = sel(rising, low, step);
        real next = step - first / max_(second, R(LANE_TINY));
        real middle = sel(high < R(LANE_HUGE), R(0.5) * (low + high), R(2.0) * step);
        next = sel(and_(next > low, next < high), next, middle);
        step = sel(go, next, step);
    }
    return sel(running, step, R(0.0));
}

// Ma, efc_jar and the whole cost at x
LANE_FN real cost_at(const lane_model *m, const lane_data *d, reals x)
{
    inertia_matrix_times(m, d, x, d->Ma);
    constraint_residual(d, x);
    real gauss = R(0.0);
    for (int k = 0; k < m->nv; k++) {
        gauss = fma_(d->Ma[k] - d->qfrc_smooth[k], x[k] - d->qacc_smooth[k], gauss);
    }
    return R(0.5) * gauss + constraint_forces(d);
}

// Lanes that have any of the rows: the others must not feel that their neighbours have.
LANE_FN mask constrained_lanes(const lane_data *d)
{
    real most = R(0.0);
    for (int i = 0; i < d->row_count; i++) {
        most = max_(most, d->efc_D[i]);
    }
    return most > R(0.0);
}

// qacc starts from the cheaper of last step's acceleration and the unconstrained one.
LANE_FN void warm_start(const lane_model *m, const lane_data *d, mask constrained)
{
    mask warm = not_(everywhere());
    if (!(m->opt.disableflags & ORR_DISABLE_WARMSTART)) {
        real cold_cost = cost_at(m, d, d->qacc_smooth);
        warm = and_(constrained, cost_at(m, d, d->qacc_warmstart) < cold_cost);
    }
    for (int k = 0; k < m->nv; k++) {
        d->qacc[k] = sel(warm, d->qacc_warmstart[k], d->qacc_smooth[k]);
    }
    inertia_matrix_times(m, d, d->qacc, d->Ma);
    constraint_residual(d, d->qacc);
    constraint_forces(d);
}

LANE_FN void solve_constraints(const lane_model *m, lane_data *d)
{
    if (d->row_count == 0) {
        for (int k = 0; k < m->nv; k++) {
            d->qacc[k] = d->qacc_smooth[k];
            d->qfrc_constraint[k] = R(0.0);
        }
        return;
    }
    fill_pattern(m, d);
    mask running = constrained_lanes(d);
    warm_start(m, d, running);
    real scale = R(1.0 / (m->stat.meaninertia * (m->nv > 1 ? m->nv : 1)));
    constraint_force(m, d, d->qfrc_constraint);
    for (int i = 0; i < m->opt.iterations; i++) {
        for (int k = 0; k < m->nv; k++) {
            d->gradient[k] = d->Ma[k] - d->qfrc_smooth[k] - d->qfrc_constraint[k];
        }
        build_hessian(m, d);
        newton_direction(m, d);
        real decrease = R(0.0); // Newton's, for a whole step
        for (int k = 0; k < m->nv; k++) {
            decrease = fma_(R(-0.5) * d->gradient[k], d->search[k], decrease);
        }
        running = and_(running, decrease * scale > R(SOLVER_TOLERANCE));
        if (!any(running)) {
            break;
        }
        inertia_matrix_times(m, d, d->search, d->Mv);
        for (int r = 0; r < d->row_count; r++) {
            d->efc_jv[r] = row_times(d, &d->row[r], d->search);
        }
        real step = line_search(m, d, running);
        for (int k = 0; k < m->nv; k++) {
            d->qacc[k] = fma_(step, d->search[k], d->qacc[k]);
            d->Ma[k] = fma_(step, d->Mv[k], d->Ma[k]);
        }
        for (int r = 0; r < d->row_count; r++) {
            d->efc_jar[r] = fma_(step, d->efc_jv[r], d->efc_jar[r]);
        }
        constraint_forces(d);
        constraint_force(m, d, d->qfrc_constraint);
    }
}
