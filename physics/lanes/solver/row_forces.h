// The cost of the constraint rows, their forces and second derivatives, and products with their Jacobian.
#pragma once

#include "physics/lanes/constraint_rows.h"
#include "physics/lanes/solver/parts.h"
#include "physics/lanes/solver/rounding.h"
#include "physics/lanes/solver/run_rows.h"

// A cone has 3, 4 or 6 rows: as LANE_UNROLLED_BASIS.
#define LANE_UNROLLED_CONE(rows, function, ...)                                                              \
    ((rows) == 3   ? function(__VA_ARGS__, 3)                                                                \
     : (rows) == 4 ? function(__VA_ARGS__, 4)                                                                \
                   : function(__VA_ARGS__, 6))

// A point relative to a friction cone.
typedef struct lane_cone {
    mask top,
        middle; // top: no force; middle: the force is on the cone; else inside, where the cost is quadratic
    real n, t;  // normal and |tangential| part, scaled by mu and friction
    real u[6];  // scaled position
    real dm;
} lane_cone;

FN lane_cone cone_of_rows(const lane_data *d, int i, const real x[6], int dim)
{
    const lane_row *row = &d->row[i];
    real mu = row->friction[ORR_PAIR_MU];
    lane_cone c;
    real squared = R(0.0);
    c.n = c.u[0] = x[0] * mu;
    for (int k = 1; k < dim; k++) {
        c.u[k] = x[k] * row->friction[k - 1];
        squared = fma_(c.u[k], c.u[k], squared);
    }
    c.t = sqrt_(squared);
    mask slipping = c.t > R(LANE_TINY);
    c.top = or_(c.n >= mu * c.t, and_(not_(slipping), c.n >= R(0.0)));
    mask bottom = or_(mu * c.n + c.t <= R(0.0), and_(not_(slipping), c.n < R(0.0)));
    c.middle = and_(not_(c.top), not_(bottom));
    c.dm = d->efc_D[i] * row->friction[ORR_PAIR_CONE];
    return c;
}

// Of the cone's `dim` rows from i on: the cost, and their forces and second derivatives (see row_forces).
FN real cone_forces(lane_data *d, int i, int dim)
{
    const lane_row *row = &d->row[i];
    real x[6];
    for (int k = 0; k < dim; k++) {
        x[k] = d->efc_jar[i + k];
    }
    lane_cone c = cone_of_rows(d, i, x, dim);
    d->efc_weight[i] = sel(c.top, R(0.0), sel(c.middle, R(-1.0), R(1.0)));
    real mu = row->friction[ORR_PAIR_MU];
    real gap = c.n - mu * c.t;
    real inverse = R(1.0) / sel(c.middle, c.t, R(1.0));
    real on_cone = -(c.dm * gap * mu);
    real inside_cost = R(0.0);
    for (int k = 0; k < dim; k++) {
        real along = k ? -(on_cone * inverse * c.u[k]) * row->friction[k - 1] : on_cone;
        real inside = -(d->efc_D[i + k] * x[k]);
        inside_cost = inside_cost - R(0.5) * inside * x[k];
        d->efc_force[i + k] = sel(c.top, R(0.0), sel(c.middle, along, inside));
    }
    return sel(c.top, R(0.0), sel(c.middle, R(0.5) * c.dm * gap * gap, inside_cost));
}

FN void hessian_of_cone(const lane_data *d, int i, const real x[6], real hessian[6][6], int dim)
{
    const lane_row *row = &d->row[i];
    real mu = row->friction[ORR_PAIR_MU];
    lane_cone c = cone_of_rows(d, i, x, dim);
    real gap = c.n - mu * c.t;
    real inverse = R(1.0) / sel(c.middle, c.t, R(1.0));
    for (int a = 0; a < dim; a++) {
        real scale_a = row->friction[a ? a - 1 : ORR_PAIR_MU];
        for (int b = 0; b <= a; b++) {
            real scale_b = row->friction[b ? b - 1 : ORR_PAIR_MU];
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

// The second derivative of the cone's cost: dim x dim, symmetric.
LANE_FN void cone_hessian(const lane_data *d, int i, const real x[6], real hessian[6][6])
{
    LANE_UNROLLED_CONE(d->row[i].dim, hessian_of_cone, d, i, x, hessian);
}

// Cost of a row that is not of a cone; its force and second derivative.
FN real row_cost(const lane_data *d, int i, real x, real *force, real *weight)
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
        *weight = sel(x < R(0.0), D, R(0.0));
        *force = -(*weight * x);
        return R(-0.5) * *force * x;
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

// Cost of a row, and its force and second derivative. A cone's rows have one cost, which counts with the
// first; efc_weight of its first row says where it is: 0 at the top, 1 inside, -1 on the cone.
FN real row_forces(lane_data *d, int i)
{
    const lane_row *row = &d->row[i];
    if (row->type != LANE_ROW_CONE) {
        return row_cost(d, i, d->efc_jar[i], &d->efc_force[i], &d->efc_weight[i]);
    }
    if (row->index > 0) {
        return R(0.0);
    }
    return LANE_UNROLLED_CONE(row->dim, cone_forces, d, i);
}

#if !defined(__CUDACC__)
LANE_FN void forces_of_part(const lane_model *m, lane_data *part, const lane_task *task);
#endif

// Forces and second derivatives at efc_jar; returns the constraints' cost.
LANE_FN real constraint_forces(const lane_model *m, lane_data *d)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = forces_of_part};
        run_on_parts(m, d, &task);
        return sum_of_parts(d, 0);
    }
#endif
    (void)m;
    real cost[LANE_STRANDS];
    for (int strand = team_first(d), k = 0; strand < LANE_STRANDS; strand += team_size(d), k++) {
        cost[k] = R(0.0);
        for (int i = d->row_first + strand; i < d->unilateral_first; i += LANE_STRANDS) {
            cost[k] = cost[k] + row_forces(d, i);
        }
        cost[k] = strand == 0 ? unilateral_forces(d, cost[k]) : cost[k];
    }
    team_wait(d);
    return team_sum(d, cost);
}

#if !defined(__CUDACC__)
LANE_FN void forces_of_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)task;
    part_sums(part)[0] = constraint_forces(m, part);
}
#endif

FN void add_group_force_basis(const lane_data *d, int group, int i, reals result, int first, int end,
                              int basis)
{
    const lane_group g = group_at(d, group, i);
    real force[6];
    if (basis == g.dim) {
        for (int k = 0; k < basis; k++) {
            force[k] = d->efc_force[i + k];
        }
    } else {
        force[0] = R(0.0);
        for (int k = 1; k < basis; k++) {
            real up = d->efc_force[i + 2 * k - 2], down = d->efc_force[i + 2 * k - 1];
            force[0] = force[0] + up + down;
            force[k] = g.friction[k - 1] * (up - down);
        }
    }
    const lane_runs *runs = runs_of(d, group);
    if (runs) {
        add_run_forces(d, runs, force, result, first, end, basis);
        return;
    }
    const int32_t *dof = d->row[i].dof;
    reals J = d->efc_J + g.J;
    for (int e = first; e < end; e++) {
        if (team_owns(d, dof[e])) {
            real sum = result[dof[e]];
            for (int k = 0; k < basis; k++) {
                sum = fma_(J[k * g.count + e], force[k], sum);
            }
            result[dof[e]] = sum;
        }
    }
}

// result += J^T force of a group, whose first row is i, for the dofs of entries first ... end - 1 that this
// member owns; end -1: of all
FN void add_group_force(const lane_data *d, int group, int i, reals result, int first, int end)
{
    const lane_group g = group_at(d, group, i);
    end = end < 0 ? g.count : end;
    LANE_UNROLLED_BASIS(g.basis, add_group_force_basis, d, group, i, result, first, end);
}

#if !defined(__CUDACC__)
// Begins to load what the touches of a part after the nth one need: they are not beside each other in memory.
FN void fetch_touch(const lane_data *d, int n)
{
    if (n + 6 < d->touched_end) {
        int next = d->touch[n + 3].row;
        const lane_group g = group_at(d, d->touch[n + 3].group, next);
        const lane_touch *later = &d->touch[n + 6];
        __builtin_prefetch(runs_of(d, later->group) ? (void *)runs_of(d, later->group)
                                                    : (void *)&d->row[later->row]);
        __builtin_prefetch(d->efc_force + next);
        __builtin_prefetch(d->efc_weight + next);
        const char *J = (const char *)(d->efc_J + g.J);
        for (int at = 0; at < g.basis * g.count * (int)sizeof(real); at += 64) {
            __builtin_prefetch(J + at);
        }
    }
}

// result = J^T force, for the dofs of a part
LANE_FN void add_forces_to_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)m;
    for (int n = 0; n < part->dof_count; n++) {
        task->result[part->dof[n]] = R(0.0);
    }
    for (int n = part->touched_first; n < part->touched_end; n++) {
        lane_touch touch = part->touch[n];
        fetch_touch(part, n);
        add_group_force(part, touch.group, touch.row, task->result, touch.first, touch.end);
    }
}
#endif

// result = J^T force
LANE_FN void constraint_force(const lane_model *m, lane_data *d, reals result)
{
#if !defined(__CUDACC__)
    if (d->parts > 1 && parts_have_touches(d)) {
        const lane_task task = {.run = add_forces_to_part, .result = result};
        run_on_parts(m, d, &task);
        return;
    }
#endif
    (void)m;
    for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
        result[d->dof[n]] = R(0.0);
    }
    for (int g = 0; g < d->group_count; g++) {
        add_group_force(d, d->group_first + g, d->group[g], result, 0, -1);
    }
    team_wait(d);
}

#if !defined(__CUDACC__)
LANE_FN void jacobian_of_part_times(const lane_model *m, lane_data *part, const lane_task *task);
#endif

// result = J x
LANE_FN void jacobian_times(const lane_model *m, lane_data *d, reals x, reals result)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = jacobian_of_part_times, .x = x, .result = result};
        run_on_parts(m, d, &task);
        return;
    }
#endif
    (void)m;
    for (int group = team_first(d); group < d->group_count; group += team_size(d)) {
        int i = d->group[group];
        const lane_runs *runs = runs_of(d, d->group_first + group);
        if (runs) {
            run_group_times(d, runs, i, x, result);
        } else {
            group_times(d, i, x, result);
        }
    }
    team_wait(d);
}

#if !defined(__CUDACC__)
LANE_FN void jacobian_of_part_times(const lane_model *m, lane_data *part, const lane_task *task)
{
    jacobian_times(m, part, task->x, task->result);
}

LANE_FN void inertia_of_part_times(const lane_model *m, lane_data *part, const lane_task *task)
{
    inertia_matrix_times(m, part, task->x, task->result);
}
#endif

// result = M x
LANE_FN void island_inertia_times(const lane_model *m, lane_data *d, reals x, reals result)
{
#if !defined(__CUDACC__)
    const lane_task task = {.run = inertia_of_part_times, .x = x, .result = result};
    run_on_parts(m, d, &task);
#else
    inertia_matrix_times(m, d, x, result);
#endif
}

// efc_jar = J x - aref
LANE_FN void constraint_residual(const lane_model *m, lane_data *d, reals x)
{
    jacobian_times(m, d, x, d->efc_jar);
    for (int i = team_first(d); i < d->row_count; i += team_size(d)) {
        d->efc_jar[i] = d->efc_jar[i] - d->efc_aref[i];
    }
    team_wait(d);
}

// Lanes that have any of the rows; the others must not be affected by them.
LANE_FN mask constrained_lanes(const lane_data *d)
{
    real most = R(0.0);
    for (int i = team_first(d); i < d->row_count && any(not_(most > R(0.0))); i += team_size(d)) {
        most = max_(most, d->efc_D[i]);
    }
    return team_any(d, most > R(0.0));
}
