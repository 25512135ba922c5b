// The constraint solver: the acceleration that minimises
//     1/2 (a - a_smooth)^T M (a - a_smooth) + sum of s(J a - aref)
// by Newton's method, or conjugate gradients (solver/conjugate_gradient.h), with exact line search (Todorov,
// "Convex and analytically-invertible dynamics with contacts and constraints", ICRA 2014; MuJoCo's
// documentation, "Computation"). Each lane stops when it has converged; the others continue.
#pragma once

#include "physics/lanes/constraint_rows.h"
#include "physics/lanes/solver/conjugate_gradient.h"
#include "physics/lanes/solver/parts.h"
#include "physics/lanes/solver/rounding.h"
#include "physics/lanes/solver/run_rows.h"

#if defined(ORR_SCALAR_DOUBLE)
#define SOLVER_TOLERANCE 1e-20 // of the scaled improvement: an error of 1e-10 in the acceleration
#define CONJUGATE_TOLERANCE 1e-12
#else
#define SOLVER_TOLERANCE 1e-7
#define CONJUGATE_TOLERANCE 1e-3 // of the squared residual of a direction
#endif
#define CONJUGATE_GAIN 0.01 // of what an iteration must gain: how far a direction need not be followed

// The solver has stalled when rounding alone can explain the slope that is left, and so many iterations have
// not halved it. Slopes that still fall are worth following even below their rounding.
enum { LANE_STALL = 8 };

// The evaluation of a line search after which a lane that has seen no descent yet looks whether there is any.
enum { LANE_PROBE = 4 };

// A point relative to a friction cone.
typedef struct lane_cone {
    mask top,
        middle; // top: no force; middle: the force is on the cone; else inside, where the cost is quadratic
    real n, t;  // normal and |tangential| part, scaled by mu and friction
    real u[6];  // scaled position
    real dm;
} lane_cone;

LANE_FN lane_cone cone_at(const lane_data *d, int i, const real x[6])
{
    const lane_row *row = &d->row[i];
    real mu = row->friction[ORR_PAIR_MU];
    lane_cone c;
    real squared = R(0.0);
    c.n = c.u[0] = x[0] * mu;
    for (int k = 1; k < row->dim; k++) {
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

// c: cone_at x
FN real cone_cost(const lane_data *d, int i, const real x[6], lane_cone c, real force[6])
{
    const lane_row *row = &d->row[i];
    real mu = row->friction[ORR_PAIR_MU];
    real gap = c.n - mu * c.t;
    real inverse = R(1.0) / sel(c.middle, c.t, R(1.0));
    real on_cone = -(c.dm * gap * mu);
    real inside_cost = R(0.0);
    for (int k = 0; k < 6 && k < row->dim; k++) {
        real along = k ? -(on_cone * inverse * c.u[k]) * row->friction[k - 1] : on_cone;
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
    real mu = row->friction[ORR_PAIR_MU];
    lane_cone c = cone_at(d, i, x);
    real gap = c.n - mu * c.t;
    real inverse = R(1.0) / sel(c.middle, c.t, R(1.0));
    for (int a = 0; a < 6 && a < row->dim; a++) {
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
    real x[6], force[6];
    load_cone(d, i, d->efc_jar, x);
    lane_cone c = cone_at(d, i, x);
    d->efc_weight[i] = sel(c.top, R(0.0), sel(c.middle, R(-1.0), R(1.0)));
    real cost = cone_cost(d, i, x, c, force);
    for (int k = 0; k < row->dim; k++) {
        d->efc_force[i + k] = force[k];
    }
    return cost;
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
        cost[k] = strand == 0 ? unilateral_forces(d) : R(0.0);
        for (int i = d->row_first + strand; i < d->unilateral_first; i += LANE_STRANDS) {
            cost[k] = cost[k] + row_forces(d, i);
        }
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

FN void add_group_force_basis(const lane_model *m, const lane_data *d, int i, reals result, int first,
                              int end, int basis)
{
    const lane_row *row = &d->row[i];
    real force[6];
    if (basis == row->dim) {
        for (int k = 0; k < basis; k++) {
            force[k] = d->efc_force[i + k];
        }
    } else {
        force[0] = R(0.0);
        for (int k = 1; k < basis; k++) {
            real up = d->efc_force[i + 2 * k - 2], down = d->efc_force[i + 2 * k - 1];
            force[0] = force[0] + up + down;
            force[k] = row->friction[k - 1] * (up - down);
        }
    }
    if (has_runs(m, row)) {
        add_run_forces(d, row, force, result, first, end, basis);
        return;
    }
    reals J = d->efc_J + row->J;
    int count = row->count;
    for (int e = first; e < end; e++) {
        if (team_owns(d, row->dof[e])) {
            real sum = result[row->dof[e]];
            for (int k = 0; k < basis; k++) {
                sum = fma_(J[k * count + e], force[k], sum);
            }
            result[row->dof[e]] = sum;
        }
    }
}

// result += J^T force of the group at i, for the dofs of entries first ... end - 1 that this member owns
FN void add_group_force(const lane_model *m, const lane_data *d, int i, reals result, int first, int end)
{
    switch (d->row[i].basis) {
    case 1:
        add_group_force_basis(m, d, i, result, first, end, 1);
        break;
    case 3:
        add_group_force_basis(m, d, i, result, first, end, 3);
        break;
    case 4:
        add_group_force_basis(m, d, i, result, first, end, 4);
        break;
    default:
        add_group_force_basis(m, d, i, result, first, end, 6);
    }
}

#if !defined(__CUDACC__)
// Begins to load what the touches of a part after the nth one need: they are not beside each other in memory.
FN void fetch_touch(const lane_data *d, int n)
{
    if (n + 6 < d->touched_end) {
        int next = d->touch[n + 3].row;
        const lane_row *row = &d->row[next];
        __builtin_prefetch(&d->row[d->touch[n + 6].row]);
        __builtin_prefetch(d->efc_force + next);
        __builtin_prefetch(d->efc_weight + next);
        const char *J = (const char *)(d->efc_J + row->J);
        for (int at = 0; at < row->basis * row->count * (int)sizeof(real); at += 64) {
            __builtin_prefetch(J + at);
        }
    }
}

// result = J^T force, for the dofs of a part
LANE_FN void add_forces_to_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    for (int n = 0; n < part->dof_count; n++) {
        task->result[part->dof[n]] = R(0.0);
    }
    for (int n = part->touched_first; n < part->touched_end; n++) {
        lane_touch touch = part->touch[n];
        fetch_touch(part, n);
        add_group_force(m, part, touch.row, task->result, touch.first, touch.end);
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
    for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
        result[d->dof[n]] = R(0.0);
    }
    for (int g = 0; g < d->group_count; g++) {
        int i = d->group[g];
        add_group_force(m, d, i, result, 0, d->row[i].count);
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
    for (int group = team_first(d); group < d->group_count; group += team_size(d)) {
        int i = d->group[group];
        if (has_runs(m, &d->row[i])) {
            run_group_times(d, i, x, result);
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

// Are the dofs of a row a chain of ancestors? Then it adds nothing to the pattern of M.
LANE_FN int along_a_branch(const lane_model *m, const lane_row *row)
{
    for (int e = 1; e < row->count; e++) {
        if (m->dof_parentid[row->dof[e - 1]] != row->dof[e]) {
            return 0;
        }
    }
    return 1;
}

// Lists the rows that couple branches; returns 0 when they are the same as those of the current pattern.
LANE_FN int find_coupled(const lane_model *m, lane_data *d)
{
    int count = 0, same = d->coupled_count >= 0 && !m->plan->pairs_mixed; // their lists of dofs are reused
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        const int32_t *dof = d->row[i].dof;
        if (along_a_branch(m, &d->row[i]) || (count > 0 && d->coupled[count - 1] == dof)) {
            continue;
        }
        same = same && count < d->coupled_count && d->coupled[count] == dof;
        d->coupled[count++] = dof;
        d->coupled_length[count - 1] = d->row[i].count;
    }
    same = same && count == d->coupled_count;
    d->coupled_count = count;
    return !same;
}

// Row k of the pattern, a bit for each column up to k.
FN ints pattern_row(const lane_model *m, const lane_data *d, int k)
{
    return d->filled + k * pattern_words(m);
}

FN void fill_entry(const lane_model *m, const lane_data *d, int k, int column)
{
    pattern_row(m, d, k)[column / 32] |= (int32_t)(1u << column % 32);
}

// Which entries of H = M + J^T D J, and of its factor, are not zero; the same in all lanes. A contact with
// the world does not change the pattern of M; one between two branches couples them. Elimination adds the
// columns of a row to the rows of all of them. It is enough to add them to the row of the highest, which
// passes them on; so it is enough to enter a coupled row's dofs in the row of the highest of them. For one
// member of a team.
LANE_FN void fill_pattern(const lane_model *m, lane_data *d)
{
    int nv = m->nv, words = pattern_words(m);
    if (!find_coupled(m, d)) {
        return;
    }
    for (int i = 0; i < nv * words; i++) {
        d->filled[i] = 0;
    }
    for (int k = 0; k < nv; k++) {
        d->below_count[k] = 0;
        for (int c = 0; c < m->M_rownnz[k]; c++) {
            fill_entry(m, d, k, m->M_colind[m->M_rowadr[k] + c]);
        }
    }
    for (int i = 0; i < d->coupled_count; i++) {
        const int32_t *dof = d->coupled[i];
        for (int b = 0; b < d->coupled_length[i]; b++) {
            fill_entry(m, d, dof[0], dof[b]);
        }
    }
    for (int k = nv - 1; k >= 0; k--) {
        int count = 0;
        ints columns = d->fill + k * nv, row = pattern_row(m, d, k);
        for (int word = 0; word <= k / 32; word++) {
            for (uint32_t left = (uint32_t)row[word]; left != 0; left &= left - 1) {
                columns[count++] = 32 * word + lowest_bit(left);
            }
        }
        d->fill_count[k] = count;
        for (int c = 0; c < count - 1; c++) {
            d->below[columns[c] * nv + d->below_count[columns[c]]++] = k;
        }
        if (count > 1) {
            int next = columns[count - 2];
            ints to = pattern_row(m, d, next);
            uint32_t own = 0xffffffffu >> (31 - next % 32); // columns of `next` in its last word
            for (int word = 0; word < next / 32; word++) {
                to[word] |= row[word];
            }
            to[next / 32] |= (int32_t)((uint32_t)row[next / 32] & own);
        }
    }
}

// The second derivative of a group's cost by the velocities of its basis. Returns 0 when it is zero in all
// lanes.
FN int group_hessian_basis(const lane_data *d, int i, real hessian[6][6], int basis)
{
    const lane_row *row = &d->row[i];
    if (row->type == LANE_ROW_CONE) {
        real x[6];
        load_cone(d, i, d->efc_jar, x);
        cone_hessian(d, i, x, hessian);
        return 1;
    }
    real sum = d->efc_weight[i];
    for (int k = 1; k < 2 * basis - 2; k++) {
        sum = sum + d->efc_weight[i + k];
    }
    hessian[0][0] = sum;
    for (int k = 1; k < basis; k++) {
        real up = d->efc_weight[i + 2 * k - 2], down = d->efc_weight[i + 2 * k - 1];
        real friction = row->friction[k - 1];
        for (int l = 1; l < basis; l++) {
            hessian[k][l] = R(0.0);
        }
        hessian[k][0] = hessian[0][k] = friction * (up - down);
        hessian[k][k] = friction * friction * (up + down);
    }
    return any(sum > R(0.0));
}

LANE_FN int group_hessian(const lane_data *d, int i, real hessian[6][6])
{
    return group_hessian_basis(d, i, hessian, d->row[i].basis);
}

// Has the second derivative of a group's cost changed since efc_jv had the weights of its rows?
FN int group_moved(const lane_data *d, int i)
{
    const lane_row *row = &d->row[i];
    if (row->type == LANE_ROW_CONE) {
        return any(or_(d->efc_weight[i] < R(0.0), not_(d->efc_jv[i] == d->efc_weight[i])));
    }
    mask moved = nowhere();
    for (int k = i; k < i + row->dim; k++) {
        moved = or_(moved, not_(d->efc_jv[k] == d->efc_weight[k]));
    }
    return any(moved);
}

#if !defined(__CUDACC__)
// Of models with blocks of dofs (solver/block_direction.h): the pattern of H, and search = -H^-1 gradient.
LANE_FN void find_block_pattern(const lane_model *m, lane_data *d);
LANE_FN void find_couples(const lane_model *m, lane_data *d);
LANE_FN void block_direction(const lane_model *m, lane_data *d);
#endif

LANE_FN void find_pattern(const lane_model *m, lane_data *d)
{
#if !defined(__CUDACC__)
    if (m->plan->block_count > 0) {
        find_block_pattern(m, d);
        find_couples(m, d);
        return;
    }
#endif
    fill_pattern(m, d);
}

FN reals row_of_H(const lane_data *d, int k)
{
    return d->H + row_start(k);
}

FN void add_group_hessian_basis(lane_data *d, const lane_row *row, real hessian[6][6], int basis)
{
    reals J = d->efc_J + row->J;
    int count = row->count;
    for (int a = 0; a < count; a++) {
        if (!team_owns(d, row->dof[a])) {
            continue;
        }
        real part[6];
        for (int k = 0; k < basis; k++) {
            part[k] = hessian[k][0] * J[a];
            for (int l = 1; l < basis; l++) {
                part[k] = fma_(hessian[k][l], J[l * count + a], part[k]);
            }
        }
        reals H = row_of_H(d, row->dof[a]);
        for (int b = a; b < count; b++) {
            real sum = H[row->dof[b]];
            for (int k = 0; k < basis; k++) {
                sum = fma_(part[k], J[k * count + b], sum);
            }
            H[row->dof[b]] = sum;
        }
    }
}

// H += J^T hessian J of a group, in the rows of H that this member owns
FN void add_group_hessian(lane_data *d, const lane_row *row, real hessian[6][6])
{
    switch (row->basis) {
    case 1:
        add_group_hessian_basis(d, row, hessian, 1);
        break;
    case 3:
        add_group_hessian_basis(d, row, hessian, 3);
        break;
    case 4:
        add_group_hessian_basis(d, row, hessian, 4);
        break;
    default:
        add_group_hessian_basis(d, row, hessian, 6);
    }
}

// Has one of these lanes the group? Rows that a lane has not add nothing there.
FN int group_exists(const lane_data *d, int i, mask where)
{
    return any(and_(where, d->efc_D[i] > R(0.0)));
}

// In the lanes of `where`. Members of a team divide the rows of H, as they own dofs.
LANE_FN void build_hessian(const lane_model *m, lane_data *d, mask where)
{
    for (int k = team_first(d); k < m->nv; k += team_size(d)) {
        reals row = row_of_H(d, k);
        int size = row_start(k + 1) - row_start(k);
        for (int j = 0; j < size && (LANE_STRIP > 1 || d->coupled_count > 0); j++) {
            row[j] = R(0.0);
        }
        for (int c = 0; c < m->M_rownnz[k]; c++) {
            int adr = m->M_rowadr[k] + c;
            row[m->M_colind[adr]] = d->qM[adr];
        }
    }
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        const lane_row *row = &d->row[i];
        real hessian[6][6];
        if (group_exists(d, i, where) && group_hessian(d, i, hessian)) {
            add_group_hessian(d, row, hessian);
        }
    }
    for (int k = team_first(d); k < m->nv; k += team_size(d)) {
        d->work[m->nv + k] = row_of_H(d, k)[k];
    }
    team_wait(d);
}

#if defined(ORR_SCALAR)
typedef real lane_strip
    __attribute__((vector_size(LANE_STRIP * sizeof(real)), aligned(sizeof(real)), may_alias));

FN lane_strip *strip_at(reals p)
{
    return (lane_strip *)p;
}

// `width` strips of row k of the factor: H minus the contributions of the rows below. scaled: of each of them
FN void eliminate(const lane_data *d, int nv, int k, reals scaled, const int *strips, int width)
{
    ints below = d->below + k * nv;
    reals row = row_of_H(d, k);
    lane_strip sum[4];
    for (int s = 0; s < width; s++) {
        sum[s] = *strip_at(row + strips[s]);
    }
    for (int b = 0; b < d->below_count[k]; b++) {
        reals lower = row_of_H(d, below[b]);
        for (int s = 0; s < width; s++) {
            sum[s] = scaled[b] * *strip_at(lower + strips[s]) + sum[s];
        }
    }
    for (int s = 0; s < width; s++) {
        *strip_at(row + strips[s]) = sum[s];
    }
}

// Row k: of its strips those with an entry, up to four at once. What lies behind the row's end in its last
// strip is never read.
FN void eliminate_row(const lane_model *m, lane_data *d, int k)
{
    int nv = m->nv, strips[4], count = 0;
    ints pattern = pattern_row(m, d, k);
    reals scaled = d->work + 2 * nv;
    for (int b = 0; b < d->below_count[k]; b++) {
        int below = d->below[k * nv + b];
        scaled[b] = -(row_of_H(d, below)[k] * d->Mv[below]);
    }
    for (int at = 0; at <= k; at += LANE_STRIP) {
        if ((uint32_t)pattern[at / 32] >> at % 32 & ((1u << LANE_STRIP) - 1)) {
            strips[count++] = at;
        }
        if (count == 4) {
            eliminate(d, nv, k, scaled, strips, 4);
            count = 0;
        }
    }
    if (count == 3) {
        eliminate(d, nv, k, scaled, strips, 3);
    } else if (count == 2) {
        eliminate(d, nv, k, scaled, strips, 2);
    } else if (count == 1) {
        eliminate(d, nv, k, scaled, strips, 1);
    }
}
#else
// sum: `width` entries of row k of D L, which are H minus the contributions of the rows below. right: where
// it is not null, x[k], from which those are subtracted too.
FN void eliminate(const lane_data *d, int nv, int k, ints columns, int width, real *sum, real *right)
{
    ints below = d->below + k * nv;
    reals row = row_of_H(d, k);
    for (int c = 0; c < width; c++) {
        sum[c] = row[columns[c]];
    }
    for (int b = 0; b < d->below_count[k]; b++) {
        reals lower = row_of_H(d, below[b]);
        real scaled = -(lower[k] * d->Mv[below[b]]);
        for (int c = 0; c < width; c++) {
            sum[c] = fma_(scaled, lower[columns[c]], sum[c]);
        }
        if (right) {
            *right = fma_(-lower[k], d->search[below[b]], *right);
        }
    }
}
#endif

// D of row k, from what elimination has left of H there. Returns by what the row is to be scaled.
FN real take_pivot(const lane_model *m, lane_data *d, int k, real left)
{
    real whole = d->work[m->nv + k];
    mask lost = pivot_lost(left, whole, 4);
    real pivot = sel(lost, whole, left), inverse = R(1.0) / pivot;
    d->Mv[k] = pivot;
    d->work[k] = inverse;
    return sel(lost, R(0.0), inverse);
}

#if defined(__CUDACC__) || defined(ORR_SCALAR)
#if defined(__CUDACC__)
FN void eliminate_in_place(const lane_model *m, lane_data *d, int k, ints columns, int width)
{
    real sum[4];
    reals row = row_of_H(d, k);
    eliminate(d, m->nv, k, columns, width, sum, 0);
    for (int c = 0; c < width; c++) {
        row[columns[c]] = sum[c];
    }
}

// All entries of row k; those of a team four or fewer at once, so that each member has some.
FN void eliminate_row(const lane_model *m, lane_data *d, int k)
{
    int count = d->fill_count[k];
    ints columns = d->fill + k * m->nv;
    int width = (count + team_size(d) - 1) / team_size(d);
    width = width < 4 ? width : 4;
    int c = width * team_first(d);
    for (; width == 4 && c + 4 <= count; c += 4 * team_size(d)) {
        eliminate_in_place(m, d, k, columns + c, 4);
    }
    int left = count - c < width ? count - c : width;
    if (left == 3) {
        eliminate_in_place(m, d, k, columns + c, 3);
    } else if (left == 2) {
        eliminate_in_place(m, d, k, columns + c, 2);
    } else if (left == 1) {
        eliminate_in_place(m, d, k, columns + c, 1);
    }
}
#endif

// Row k of L and D, and its part of x = L^-T x.
FN void reduce_row(const lane_model *m, lane_data *d, int k)
{
    ints columns = d->fill + k * m->nv;
    reals row = row_of_H(d, k), x = d->search;
    eliminate_row(m, d, k);
    team_wait(d);
    real scale = take_pivot(m, d, k, row[k]), right = x[k];
    for (int c = team_first(d); c < d->fill_count[k] - 1; c += team_size(d)) {
        int j = columns[c];
        row[j] = row[j] * scale;
        x[j] = fma_(-row[j], right, x[j]);
    }
    team_wait(d);
}
#else
enum { ELIMINATED = 8 }; // most entries of a row that are summed up at once, in registers

// The last `width` entries of row k, of which the last is the pivot, and x[k]. Returns by what the others are
// to be scaled.
FN real reduce_last(const lane_model *m, lane_data *d, int k, ints columns, int width)
{
    real sum[ELIMINATED], right = d->search[k];
    reals row = row_of_H(d, k);
    eliminate(d, m->nv, k, columns, width, sum, &right);
    d->search[k] = right;
    real scale = take_pivot(m, d, k, sum[width - 1]);
    for (int c = 0; c < width - 1; c++) {
        row[columns[c]] = sum[c] * scale;
    }
    return scale;
}

FN real reduce_last_of(const lane_model *m, lane_data *d, int k, ints columns, int width)
{
    switch (width) {
    case 1:
        return reduce_last(m, d, k, columns, 1);
    case 2:
        return reduce_last(m, d, k, columns, 2);
    case 3:
        return reduce_last(m, d, k, columns, 3);
    case 4:
        return reduce_last(m, d, k, columns, 4);
    case 5:
        return reduce_last(m, d, k, columns, 5);
    case 6:
        return reduce_last(m, d, k, columns, 6);
    case 7:
        return reduce_last(m, d, k, columns, 7);
    default:
        return reduce_last(m, d, k, columns, 8);
    }
}

// Row k of L and D, and x = L^-T x: the pivot first, so that entries are stored but once.
FN void reduce_row(const lane_model *m, lane_data *d, int k)
{
    ints columns = d->fill + k * m->nv;
    reals row = row_of_H(d, k);
    int width = (d->fill_count[k] - 1) % ELIMINATED + 1, rest = d->fill_count[k] - width;
    real scale = reduce_last_of(m, d, k, columns + rest, width);
    for (int first = 0; first < rest; first += ELIMINATED) {
        real sum[ELIMINATED];
        eliminate(d, m->nv, k, columns + first, ELIMINATED, sum, 0);
        for (int c = 0; c < ELIMINATED; c++) {
            row[columns[first + c]] = sum[c] * scale;
        }
    }
}
#endif

// x = L^-1 D^-1 x, from the first to the last. A team subtracts each x from all sums that contain it; one
// thread, sum after sum.
LANE_FN void substitute(const lane_data *d, int nv, reals x)
{
    for (int k = 0; k < nv && team_size(d) == 1; k++) {
        ints columns = d->fill + k * nv;
        reals row = row_of_H(d, k);
        real sum = x[k] * d->work[k];
        for (int c = 0; c < d->fill_count[k] - 1; c++) {
            sum = fma_(-row[columns[c]], x[columns[c]], sum);
        }
        x[k] = sum;
    }
    if (team_size(d) == 1) {
        return;
    }
    for (int k = team_first(d); k < nv; k += team_size(d)) {
        x[k] = x[k] * d->work[k];
    }
    team_wait(d);
    for (int k = 0; k < nv; k++) {
        ints below = d->below + k * nv;
        for (int b = team_first(d); b < d->below_count[k]; b += team_size(d)) {
            x[below[b]] = fma_(-row_of_H(d, below[b])[k], x[k], x[below[b]]);
        }
        team_wait(d);
    }
}

// search = -H^-1 gradient in the lanes of `where`, by H = L^T D L in place: L under the diagonal; D in Mv,
// 1 / D in work. Where rounding has left nothing of a pivot, its dof is decoupled from those above: any
// direction that descends will do.
LANE_FN void newton_direction(const lane_model *m, lane_data *d, mask where)
{
#if !defined(__CUDACC__)
    if (m->plan->block_count > 0) {
        block_direction(m, d);
        return;
    }
#endif
    build_hessian(m, d, where);
    int nv = m->nv;
    reals x = d->search;
    for (int k = team_first(d); k < nv; k += team_size(d)) {
        x[k] = -d->gradient[k];
    }
    for (int k = nv - 1; k >= 0; k--) {
        reduce_row(m, d, k);
    }
    substitute(d, nv, x);
}

// Derivatives of dm / 2 (n - mu t)^2, where the position moves along efc_jv, or of the quadratic inside.
LANE_FN void add_cone_slope(const lane_data *d, int i, real step, real *first, real *second)
{
    const lane_row *row = &d->row[i];
    real x[6], mu = row->friction[ORR_PAIR_MU];
    load_cone(d, i, d->efc_jar, x);
    real inside = R(0.0), inside_slope = R(0.0), towards = R(0.0), squared = R(0.0);
    for (int k = 0; k < row->dim; k++) {
        x[k] = fma_(step, d->efc_jv[i + k], x[k]);
    }
    lane_cone c = cone_at(d, i, x);
    for (int k = 0; k < row->dim; k++) {
        real v = d->efc_jv[i + k], weighted = d->efc_D[i + k] * v;
        inside = fma_(weighted, x[k], inside);
        inside_slope = fma_(weighted, v, inside_slope);
        if (k > 0) {
            real w = v * row->friction[k - 1];
            towards = fma_(c.u[k], w, towards);
            squared = fma_(w, w, squared);
        }
    }
    real inverse = R(1.0) / sel(c.middle, c.t, R(1.0)), t_slope = towards * inverse;
    real bend = max_(squared - t_slope * t_slope, R(0.0)) * inverse; // of t
    real gap = c.n - mu * c.t, gap_slope = mu * (d->efc_jv[i] - t_slope);
    real along = c.dm * gap * gap_slope, along_slope = c.dm * (gap_slope * gap_slope - gap * mu * bend);
    *first = *first + sel(c.top, R(0.0), sel(c.middle, along, inside));
    *second = *second + sel(c.top, R(0.0), sel(c.middle, along_slope, inside_slope));
}

FN void add_slope(const lane_data *d, int i, real step, real *first, real *second)
{
    const lane_row *row = &d->row[i];
    real jv = d->efc_jv[i], at = fma_(step, jv, d->efc_jar[i]);
    if (row->type == LANE_ROW_UNILATERAL) {
        real pulls = sel(at < R(0.0), d->efc_D[i] * jv, R(0.0));
        *first = fma_(pulls, at, *first);
        *second = fma_(pulls, jv, *second);
    } else if (row->type != LANE_ROW_CONE) {
        real force, weight;
        row_cost(d, i, at, &force, &weight);
        *first = fma_(-force, jv, *first);
        *second = fma_(weight * jv, jv, *second);
    } else if (row->index == 0) {
        add_cone_slope(d, i, step, first, second);
    }
}

#if !defined(__CUDACC__)
LANE_FN void slope_of_part(const lane_model *m, lane_data *part, const lane_task *task);
#endif

// Adds the first and second derivative of the constraints' cost along efc_jv at `step`.
LANE_FN void slope_along(const lane_model *m, lane_data *d, real step, real *first, real *second)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = slope_of_part, .scale = step};
        run_on_parts(m, d, &task);
        *first = *first + sum_of_parts(d, 0);
        *second = *second + sum_of_parts(d, 1);
        return;
    }
#endif
    (void)m;
    real firsts[LANE_STRANDS], seconds[LANE_STRANDS];
    for (int strand = team_first(d), k = 0; strand < LANE_STRANDS; strand += team_size(d), k++) {
        firsts[k] = strand == 0 ? *first : R(0.0);
        seconds[k] = strand == 0 ? *second : R(0.0);
        for (int i = d->row_first + strand; i < d->unilateral_first; i += LANE_STRANDS) {
            add_slope(d, i, step, &firsts[k], &seconds[k]);
        }
        if (strand == 0) {
            add_unilateral_slopes(d, step, &firsts[k], &seconds[k]);
        }
    }
    *first = team_sum(d, firsts);
    *second = team_sum(d, seconds);
}

#if !defined(__CUDACC__)
LANE_FN void slope_of_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    real *sum = part_sums(part);
    sum[0] = sum[1] = R(0.0);
    slope_along(m, part, task->scale, &sum[0], &sum[1]);
}
#endif

// The lanes in which the derivative at step 0, added up like those at other steps, is not that of a descent
// by `slope`: what it is the sum of cancels, and rounding is all that a search would follow.
LANE_FN mask descends_no_more(const lane_model *m, lane_data *d, real slope0, real curvature0, real slope)
{
    real first = slope0, second = curvature0;
    slope_along(m, d, R(0.0), &first, &second);
    return first > R(0.5) * slope;
}

// The step along `search` at which the cost is least; 0 where arithmetic shows no descent. Its derivative
// rises monotonically: Newton's method, clamped to the bracket of the signs seen. slope: of the cost at
// step 0.
LANE_FN real line_search(const lane_model *m, lane_data *d, real slope, mask running)
{
    real slope0 = R(0.0), curvature0 = R(0.0);
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n];
        slope0 = fma_(d->search[k], d->Ma[k] - d->qfrc_smooth[k], slope0);
        curvature0 = fma_(d->search[k], d->Mv[k], curvature0);
    }
    real step = R(1.0), low = R(0.0), high = R(LANE_HUGE);
    real enough = abs_(slope) * R(m->opt.ls_tolerance);
    mask searched = running;
    for (int i = 0; i < m->opt.ls_iterations; i++) {
        real first = fma_(step, curvature0, slope0), second = curvature0;
        slope_along(m, d, step, &first, &second);
        searched = and_(searched, abs_(first) > enough);
        if (!any(searched)) {
            break;
        }
        mask rising = first > R(0.0);
        high = sel(rising, step, high);
        low = sel(rising, low, step);
        searched = and_(searched, high - low > R(2.0 * LANE_EPSILON) * high); // or no step is left between
        if (i == LANE_PROBE && any(and_(searched, not_(low > R(0.0))))) {
            mask blind = and_(not_(low > R(0.0)), descends_no_more(m, d, slope0, curvature0, slope));
            step = sel(and_(searched, blind), R(0.0), step);
            searched = and_(searched, not_(blind));
        }
        real next = step - first / max_(second, R(LANE_TINY));
        real middle = sel(high < R(LANE_HUGE), R(0.5) * (low + high), R(2.0) * step);
        next = sel(and_(next > low, next < high), next, middle);
        step = sel(searched, next, step);
    }
    team_wait(d);
    return sel(running, step, R(0.0));
}

// Lanes that have any of the rows; the others must not be affected by them.
LANE_FN mask constrained_lanes(const lane_data *d)
{
    real most = R(0.0);
    for (int i = team_first(d); i < d->row_count; i += team_size(d)) {
        most = max_(most, d->efc_D[i]);
    }
    return team_any(d, most > R(0.0));
}

// qacc starts from the last step's acceleration or the unconstrained one, whichever costs less.
LANE_FN void warm_start(const lane_model *m, lane_data *d, mask constrained)
{
    for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
        int k = d->dof[n];
        d->qacc[k] = d->qacc_smooth[k];
        d->Ma[k] = d->qfrc_smooth[k];
    }
    constraint_residual(m, d, d->qacc_smooth);
    if (!(m->opt.disableflags & ORR_DISABLE_WARMSTART)) {
        real cold_cost = constraint_forces(m, d);
        for (int i = team_first(d); i < d->row_count; i += team_size(d)) {
            d->efc_jv[i] = d->efc_jar[i];
        }
        island_inertia_times(m, d, d->qacc_warmstart, d->Mv);
        constraint_residual(m, d, d->qacc_warmstart);
        real gauss = R(0.0);
        for (int n = 0; n < d->dof_count; n++) {
            int k = d->dof[n];
            gauss = fma_(d->Mv[k] - d->qfrc_smooth[k], d->qacc_warmstart[k] - d->qacc_smooth[k], gauss);
        }
        mask warm = and_(constrained, R(0.5) * gauss + constraint_forces(m, d) < cold_cost);
        for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
            int k = d->dof[n];
            d->qacc[k] = sel(warm, d->qacc_warmstart[k], d->qacc_smooth[k]);
            d->Ma[k] = sel(warm, d->Mv[k], d->qfrc_smooth[k]);
        }
        for (int i = team_first(d); i < d->row_count; i += team_size(d)) {
            d->efc_jar[i] = sel(warm, d->efc_jar[i], d->efc_jv[i]);
        }
        team_wait(d);
    }
    constraint_forces(m, d);
}

#if !defined(__CUDACC__)
LANE_FN void move_part(const lane_model *m, lane_data *part, const lane_task *task);
#endif

// Moves efc_jar by `step` along efc_jv. Returns the lanes in which a row became active or inactive, or with a
// force on a cone: in the others the cost was quadratic over the whole step, which has reached its minimum.
LANE_FN mask move_rows(const lane_model *m, lane_data *d, real step)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = move_part, .scale = step};
        run_on_parts(m, d, &task);
        return sum_of_parts(d, 1) > R(0.0);
    }
#endif
    for (int i = d->row_first + team_first(d); i < d->row_count; i += team_size(d)) {
        d->efc_jar[i] = fma_(step, d->efc_jv[i], d->efc_jar[i]);
        d->efc_jv[i] = d->efc_weight[i];
    }
    team_wait(d);
    constraint_forces(m, d);
    mask changed = unilateral_changed(d);
    for (int i = d->row_first + team_first(d); i < d->unilateral_first; i += team_size(d)) {
        if (d->row[i].type != LANE_ROW_CONE || d->row[i].index == 0) {
            real weight = d->efc_weight[i];
            mask curved = d->row[i].type == LANE_ROW_CONE ? weight < R(0.0) : not_(everywhere());
            changed = or_(changed, and_(d->efc_D[i] > R(0.0), or_(curved, not_(d->efc_jv[i] == weight))));
        }
    }
    return team_any(d, changed);
}

#if !defined(__CUDACC__)
LANE_FN void move_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    mask changed = move_rows(m, part, task->scale);
    part_sums(part)[1] = sel(changed, R(1.0), R(0.0));
}
#endif

// The part of the slope along `search` that one group gets wrong when its efc_jar is wrong by
// residual_magnitude. efc_jv: |J| |search|
LANE_FN real group_slope_magnitude(const lane_data *d, int i)
{
    const lane_row *row = &d->row[i];
    real sum = R(0.0);
    if (row->type != LANE_ROW_CONE) {
        for (int k = i; k < i + row->dim; k++) {
            sum = fma_(d->efc_weight[k] * residual_magnitude(d, k), d->efc_jv[k], sum);
        }
        return sum;
    }
    real x[6], hessian[6][6];
    load_cone(d, i, d->efc_jar, x);
    cone_hessian(d, i, x, hessian);
    for (int k = 0; k < row->dim; k++) {
        for (int l = 0; l < row->dim; l++) {
            sum = fma_(abs_(hessian[k][l]) * residual_magnitude(d, i + l), d->efc_jv[i + k], sum);
        }
    }
    return sum;
}

// What rounding leaves of the slope along `search`: below it the sign of the descent is noise. A quarter of
// the worst case, where all errors have the same sign. Overwrites efc_jv.
LANE_FN real slope_rounding(const lane_model *m, const lane_data *d)
{
    for (int group = team_first(d); group < d->group_count; group += team_size(d)) {
        group_magnitudes(d, d->group[group], d->search, d->efc_jv);
        group_magnitudes(d, d->group[group], d->qacc, d->efc_magnitude);
    }
    team_wait(d);
    real magnitude[LANE_STRANDS];
    for (int strand = team_first(d), at = 0; strand < LANE_STRANDS; strand += team_size(d), at++) {
        magnitude[at] = R(0.0);
        for (int n = strand; n < d->dof_count; n += LANE_STRANDS) {
            magnitude[at] = magnitude[at] + inertia_magnitude(m, d, d->dof[n]);
        }
        for (int group = strand; group < d->group_count; group += LANE_STRANDS) {
            magnitude[at] = magnitude[at] + group_slope_magnitude(d, d->group[group]);
        }
    }
    real rounding = R(0.25 * LANE_EPSILON) * team_sum(d, magnitude);
    team_wait(d);
    return rounding;
}

// What a step has to gain to be worth another: of the solver's scale, whose unit is that of a cost.
FN real enough_gain(const lane_model *m, const lane_data *d, double tolerance)
{
    if (m->plan->block_count == 0) {
        return R(tolerance * m->stat.meaninertia * (m->nv > 1 ? m->nv : 1));
    }
    real trace = R(0.0);
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n];
        trace = trace + d->qM[m->M_rowadr[k] + m->M_rownnz[k] - 1];
    }
    return trace * R(tolerance);
}

// The acceleration of the dofs in d->dof under the rows of d, which move no others.
LANE_FN void solve_rows(const lane_model *m, lane_data *d)
{
    if (d->row_count == 0) {
        for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
            int k = d->dof[n];
            d->qacc[k] = d->qacc_smooth[k];
            d->qfrc_constraint[k] = R(0.0);
        }
        team_wait(d);
        return;
    }
    d->unilateral_first = first_unilateral(m, d);
    int newton = m->opt.solver != ORR_SOLVER_CG; // for PGS too: the minimum is the same
#if !defined(__CUDACC__)
    int divided = newton && m->plan->block_count > 0;
    if (divided) {
        divide_trees(m, d);
    }
#endif
    if (newton) {
        if (team_single_begin(d)) {
            find_pattern(m, d);
        }
        team_single_end(d);
        d->coupled_count = team_share(d, d->coupled_count);
    }
#if !defined(__CUDACC__)
    if (divided) {
        divide_rows(m, d);
    }
#endif
    mask running = constrained_lanes(d);
    warm_start(m, d, running);
    double tolerance = newton || m->opt.tolerance < SOLVER_TOLERANCE ? SOLVER_TOLERANCE : m->opt.tolerance;
    d->gain_enough = enough_gain(m, d, tolerance);
    constraint_force(m, d, d->qfrc_constraint);
    d->weights_moved = 0;
    int iterations = 0;
    real checked_slope = R(0.0);
    for (int i = 0; i < m->opt.iterations; i++) {
        for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
            int k = d->dof[n];
            d->gradient[k] = d->Ma[k] - d->qfrc_smooth[k] - d->qfrc_constraint[k];
        }
        if (newton) {
            newton_direction(m, d, running);
        } else {
            team_wait(d);
            if (team_single_begin(d)) {
                conjugate_direction(m, d, i == 0);
            }
            team_single_end(d);
        }
        real slope = R(0.0);
        for (int n = 0; n < d->dof_count; n++) {
            int k = d->dof[n];
            slope = fma_(d->gradient[k], d->search[k], slope);
        }
        // half the slope is what a whole step would gain, in Newton's method at least
        running = and_(running, R(-0.5) * slope > d->gain_enough);
        if (i > 0 && i % LANE_STALL == 0 && any(running)) {
            mask rounded = not_(-slope > slope_rounding(m, d));
            running = and_(running, not_(and_(rounded, slope < R(0.5) * checked_slope)));
        }
        checked_slope = i % LANE_STALL == 0 ? slope : checked_slope;
        if (!any(running)) {
            break;
        }
        iterations++;
        island_inertia_times(m, d, d->search, d->Mv);
        jacobian_times(m, d, d->search, d->efc_jv);
        real step = line_search(m, d, slope, running);
        running = and_(running, step > R(0.0));
        for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
            int k = d->dof[n];
            d->qacc[k] = fma_(step, d->search[k], d->qacc[k]);
            d->Ma[k] = fma_(step, d->Mv[k], d->Ma[k]);
        }
        mask changed = or_(step<R(1.0), step> R(1.0));
        changed = or_(changed, move_rows(m, d, step));
        d->weights_moved = 1;
        constraint_force(m, d, d->qfrc_constraint);
#if !defined(ORR_SCALAR_DOUBLE) // in double one more step improves the result where H is ill-conditioned
        running = newton && !d->trees_only ? and_(running, changed) : running;
#else
        (void)changed;
#endif
        if (!any(running)) {
            break;
        }
    }
    d->iterations = iterations > d->iterations ? iterations : d->iterations;
    d->inaccurate = or_(d->inaccurate, running); // those that have not converged
}
