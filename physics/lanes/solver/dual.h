// Newton's method over the forces of the rows, for worlds that have few: the minimum that solver/solver.h
// seeks is at qacc = qacc_smooth + M^-1 J^T f, so that the unknowns are the forces f alone. Their matrix is
// A = J M^-1 J^T, from J L^-1 and the factor of M that qacc_smooth needs anyway; rows that do not act in any
// lane are left out of its factor. The cost, and thus directions, line search and when a lane stops, are
// those of the accelerations. Which worlds these are depends on their own rows alone (plan->dual_rows), so
// that a world has the same bits beside any others.
//
// Not in double, where solver.h serves as a reference, nor on CUDA, whose teams divide dofs.
#pragma once

#include "physics/lanes/collision/one_lane.h"
#include "physics/lanes/solver/line_search.h"

#if LANE_DUAL

enum { DUAL_CHUNK = 8 }; // most entries of a column of the factor that are summed up at once

// The dofs that a group of rows moves: those of a chain of ancestors, and of a second from where it has left
// the first.
typedef struct dual_chains {
    int lead[2];  // the last dof of each; the second is -1 where there is none
    int count[2]; // entries of the first; of the second with those that both have
    int shared;   // entries that both have
} dual_chains;

// Rows of some lanes, ascending, and arrays of them.
typedef struct lane_dual {
    int row[ORR_DUAL_ROWS];            // where they are among all rows
    dual_chains chains[ORR_DUAL_ROWS]; // of each group
    reals Y[ORR_DUAL_ROWS];      // of each row: J L^-1, entries of the first chain, then what the second has
    reals A;                     // lower triangle by rows
    reals factor;                // of A + 1 / D of the rows that act, by columns
    reals force, target, smooth; // smooth: J qacc_smooth - aref
} lane_dual;

// Does dof `above` move what `dof` moves?
FN int moves_dof(const lane_model *m, int above, int dof)
{
    return above <= dof && dof < m->plan->dof_end[above];
}

// How many ancestors, themselves included, two dofs have in common.
LANE_FN int shared_ancestors(const lane_model *m, int a, int b)
{
    if (moves_dof(m, a, b) || moves_dof(m, b, a)) {
        return m->M_rownnz[a < b ? a : b];
    }
    const int32_t *first = m->M_colind + m->M_rowadr[a], *second = m->M_colind + m->M_rowadr[b];
    int count = 0;
    while (first[count] == second[count]) { // they end with a and b, which differ
        count++;
    }
    return count;
}

// Returns 0 where the dofs of a row are those of more than two chains.
LANE_FN int find_chains(const lane_model *m, const lane_row *row, dual_chains *c)
{
    c->lead[0] = row->dof[0];
    c->lead[1] = -1;
    for (int e = 1; e < row->count; e++) {
        int dof = row->dof[e];
        if (moves_dof(m, dof, c->lead[0])) {
            continue;
        }
        if (c->lead[1] >= 0 && !moves_dof(m, dof, c->lead[1])) {
            return 0;
        }
        c->lead[1] = c->lead[1] >= 0 ? c->lead[1] : dof;
    }
    c->count[0] = m->M_rownnz[c->lead[0]];
    c->count[1] = c->lead[1] >= 0 ? m->M_rownnz[c->lead[1]] : 0;
    c->shared = c->lead[1] >= 0 ? shared_ancestors(m, c->lead[0], c->lead[1]) : 0;
    return 1;
}

FN int triangle(int row)
{
    return row * (row + 1) / 2;
}

// The lanes that have no rows but those of at most two chains each, and few of these.
LANE_FN void find_few(const lane_model *m, const lane_data *d, mask *few)
{
    real rows = R(0.0);
    for (int g = 0; g < d->group_count; g++) {
        const lane_row *row = &d->row[d->group[g]];
        dual_chains c;
        int fits = row->count > 0 && row->type != LANE_ROW_CONE && find_chains(m, row, &c);
        real of_group = R(fits ? row->dim : ORR_DUAL_ROWS);
        rows = rows + sel(d->efc_D[d->group[g]] > R(0.0), of_group, R(0.0));
    }
    *few = rows <= R(m->plan->dual_rows);
}

// The rows of the groups that a lane of these has, more than there is room for as one more than that.
LANE_FN int rows_of_lanes(const lane_data *d, uint32_t lanes)
{
    int rows = 0;
    for (int g = 0; g < d->group_count && rows <= ORR_DUAL_ROWS; g++) {
        int i = d->group[g];
        rows += lanes_of(d->efc_D[i] > R(0.0)) & lanes ? d->row[i].dim : 0;
    }
    return rows;
}

// Which lanes of `of` are solved for at once: as many as there is room for their rows, one at least. Returns
// their bits.
LANE_FN uint32_t lanes_of_a_turn(const lane_data *d, const mask *of, mask *lanes)
{
    uint32_t waiting = lanes_of(*of), taken = 0;
    if (rows_of_lanes(d, waiting) <= ORR_DUAL_ROWS) {
        *lanes = *of;
        return waiting;
    }
    real chosen = R(0.0);
    for (; waiting != 0; waiting &= waiting - 1) {
        uint32_t with = taken | (waiting & ~(waiting - 1));
        if (rows_of_lanes(d, with) <= ORR_DUAL_ROWS) {
            taken = with;
            put_in(&chosen, lowest_bit(waiting), 1.0);
        }
    }
    *lanes = chosen > R(0.0);
    return taken;
}

// The rows of these lanes, as `part` has them.
LANE_FN void gather_rows_of_lanes(const lane_model *m, const lane_data *d, uint32_t lanes, lane_data *part,
                                  lane_dual *dual)
{
    reals next = d->dual;
    part->row_count = part->group_count = 0;
    for (int g = 0; g < d->group_count; g++) {
        int i = d->group[g];
        if (!(lanes_of(d->efc_D[i] > R(0.0)) & lanes)) {
            continue;
        }
        dual_chains *c = &dual->chains[part->group_count];
        (void)find_chains(m, &d->row[i], c);
        part->group[part->group_count++] = part->row_count;
        for (int k = i; k < i + d->row[i].dim; k++) {
            dual->row[part->row_count] = k;
            dual->Y[part->row_count] = next;
            part->row[part->row_count++] = d->row[k];
            next = next + c->count[0] + c->count[1] - c->shared;
        }
    }
    int n = part->row_count;
    reals *own[] = {&dual->force,     &dual->target,     &dual->smooth, &part->efc_jar, &part->efc_jv,
                    &part->efc_force, &part->efc_weight, &part->efc_D,  &part->efc_aref};
    for (int k = 0; k < (int)(sizeof own / sizeof own[0]); k++) {
        *own[k] = next;
        next = next + n;
    }
    dual->A = next;
    dual->factor = dual->A + triangle(n);
    for (int a = 0; a < n; a++) {
        part->efc_D[a] = d->efc_D[dual->row[a]];
        part->efc_aref[a] = d->efc_aref[dual->row[a]];
    }
    part->unilateral_first = first_unilateral(m, part);
}

// y = L^-T y, of entries first ... end - 1 of the chain that ends with `lead`; what they contribute to the
// entries before `first` goes to `before`. y begins with entry `first`.
LANE_FN void subtract_chain(const lane_model *m, const lane_data *d, int lead, int first, int end, reals y,
                            reals before)
{
    const int32_t *dof = m->M_colind + m->M_rowadr[lead];
    int e = end - 1;
    for (; e - 2 > first; e -= 3) {
        const real *L[3];
        for (int i = 0; i < 3; i++) {
            L[i] = d->qLD + m->M_rowadr[dof[e - i]];
        }
        real a = y[e - first], b = fma_(-L[0][e - 1], a, y[e - 1 - first]);
        real c = fma_(-L[1][e - 2], b, fma_(-L[0][e - 2], a, y[e - 2 - first]));
        y[e - 1 - first] = b;
        y[e - 2 - first] = c;
        for (int k = first; k < e - 2; k++) {
            y[k - first] = fma_(-L[2][k], c, fma_(-L[1][k], b, fma_(-L[0][k], a, y[k - first])));
        }
        for (int k = 0; k < first; k++) {
            before[k] = fma_(-L[2][k], c, fma_(-L[1][k], b, fma_(-L[0][k], a, before[k])));
        }
    }
    for (; e >= first; e--) {
        reals L = d->qLD + m->M_rowadr[dof[e]];
        real value = y[e - first];
        for (int k = first; k < e; k++) {
            y[k - first] = fma_(-L[k], value, y[k - first]);
        }
        for (int k = 0; k < first; k++) {
            before[k] = fma_(-L[k], value, before[k]);
        }
    }
}

// J L^-1 of a group's basis, in Y of its first rows, then of its rows.
LANE_FN void respond_group(const lane_model *m, const lane_data *d, const dual_chains *c, const lane_row *row,
                           const reals *Y)
{
    int length = c->count[0] + c->count[1] - c->shared;
    for (int k = 0; k < row->basis; k++) {
        reals y = Y[k], second = y + c->count[0], J = d->efc_J + row->J + k * row->count;
        for (int e = 0; e < length; e++) {
            y[e] = R(0.0);
        }
        for (int e = 0; e < row->count; e++) {
            int dof = row->dof[e], at = m->M_rownnz[dof] - 1;
            if (moves_dof(m, dof, c->lead[0])) {
                y[at] = J[e];
            } else {
                second[at - c->shared] = J[e];
            }
        }
        if (c->lead[1] >= 0) {
            subtract_chain(m, d, c->lead[1], c->shared, c->count[1], second, y);
        }
        subtract_chain(m, d, c->lead[0], 0, c->count[0], y, y);
    }
    for (int e = 0; e < length && row->basis != row->dim; e++) {
        real along[6];
        for (int k = 0; k < row->basis; k++) {
            along[k] = Y[k][e];
        }
        for (int k = 1; k < row->basis; k++) {
            real slide = row->friction[k - 1] * along[k];
            Y[2 * k - 2][e] = along[0] + slide;
            Y[2 * k - 1][e] = along[0] - slide;
        }
    }
}

// Which entries chain a of one group and chain b of another share.
typedef struct dual_overlap {
    int from[2]; // in Y of each
    int count;
} dual_overlap;

LANE_FN dual_overlap overlap_of(const lane_model *m, const dual_chains *one, int a, const dual_chains *other,
                                int b)
{
    dual_overlap o = {{0, 0}, 0};
    if (one->lead[a] >= 0 && other->lead[b] >= 0) {
        int first = a ? one->shared : 0, begin = b ? other->shared : 0, from = first > begin ? first : begin;
        o.count = shared_ancestors(m, one->lead[a], other->lead[b]) - from;
        o.from[0] = from - first + (a ? one->count[0] : 0);
        o.from[1] = from - begin + (b ? other->count[0] : 0);
    }
    return o;
}

// x: of a row, Y / D
FN real overlap_dot(const dual_overlap overlap[4], reals x, reals y)
{
    real sum = R(0.0);
    for (int n = 0; n < 4; n++) {
        reals a = x + overlap[n].from[0], b = y + overlap[n].from[1];
        for (int e = 0; e < overlap[n].count; e++) {
            sum = fma_(a[e], b[e], sum);
        }
    }
    return sum;
}

// x = Y / D of a row
LANE_FN void divide_response(const lane_model *m, const lane_data *d, const dual_chains *c, reals y, reals x)
{
    for (int e = 0; e < c->count[0]; e++) {
        x[e] = y[e] * d->qLDiagInv[m->M_colind[m->M_rowadr[c->lead[0]] + e]];
    }
    for (int e = c->shared; e < c->count[1]; e++) {
        int at = c->count[0] + e - c->shared;
        x[at] = y[at] * d->qLDiagInv[m->M_colind[m->M_rowadr[c->lead[1]] + e]];
    }
}

// Y and A = Y D^-1 Y^T
LANE_FN void find_responses(const lane_model *m, const lane_data *d, const lane_dual *dual)
{
    reals x = d->work;
    for (int g = 0; g < d->group_count; g++) {
        int first = d->group[g], end = first + d->row[first].dim;
        dual_overlap overlap[ORR_DUAL_ROWS][4];
        for (int other = 0; other <= g; other++) {
            for (int n = 0; n < 4; n++) {
                overlap[other][n] = overlap_of(m, &dual->chains[g], n / 2, &dual->chains[other], n % 2);
            }
        }
        respond_group(m, d, &dual->chains[g], &d->row[first], dual->Y + first);
        for (int a = first; a < end; a++) {
            divide_response(m, d, &dual->chains[g], dual->Y[a], x);
            for (int other = 0; other <= g; other++) {
                int b = d->group[other], stop = b + d->row[b].dim;
                for (; b < stop && b <= a; b++) {
                    dual->A[triangle(a) + b] = overlap_dot(overlap[other], x, dual->Y[b]);
                }
            }
        }
    }
}

// efc_jv = A x
LANE_FN void response_times(const lane_data *d, const lane_dual *dual, reals x)
{
    for (int a = 0; a < d->row_count; a++) {
        reals row = dual->A + triangle(a);
        real sum = R(0.0), own = x[a];
        for (int b = 0; b < a; b++) {
            sum = fma_(row[b], x[b], sum);
            d->efc_jv[b] = fma_(row[b], own, d->efc_jv[b]);
        }
        d->efc_jv[a] = fma_(row[a], own, sum);
    }
}

FN real response_entry(const lane_dual *dual, int a, int b)
{
    return dual->A[a > b ? triangle(a) + b : triangle(b) + a];
}

// The columns from `row` on, `width` of them, of column `at` of L D of the factor: a matrix of n x n by
// columns, the upper triangle of which is not used. scaled: L of the row `at`
FN void factor_column(reals factor, int n, int at, int row, int width, const real *scaled)
{
    real sum[DUAL_CHUNK];
    for (int c = 0; c < width; c++) {
        sum[c] = factor[at * n + row + c];
    }
    for (int k = 0; k < at; k++) {
        for (int c = 0; c < width; c++) {
            sum[c] = fma_(-scaled[k], factor[k * n + row + c], sum[c]);
        }
    }
    for (int c = 0; c < width; c++) {
        factor[at * n + row + c] = sum[c];
    }
}

// Solves factor x = x, of n rows: L D L^T in place, columns of L D and inverse D.
LANE_FN void solve_forces(reals factor, int n, real *x)
{
    real inverse[ORR_DUAL_ROWS];
    for (int at = 0; at < n; at++) {
        real scaled[ORR_DUAL_ROWS], whole = factor[at * n + at];
        for (int k = 0; k < at; k++) {
            scaled[k] = factor[k * n + at] * inverse[k];
            x[at] = fma_(-scaled[k], x[k], x[at]);
        }
        int row = at;
        for (; row + DUAL_CHUNK <= n; row += DUAL_CHUNK) {
            factor_column(factor, n, at, row, DUAL_CHUNK, scaled);
        }
        for (; row + 2 <= n; row += 2) {
            factor_column(factor, n, at, row, 2, scaled);
        }
        if (row < n) {
            factor_column(factor, n, at, row, 1, scaled);
        }
        real pivot = factor[at * n + at];
        inverse[at] = R(1.0) / sel(pivot_lost(pivot, whole, 4), whole, pivot);
    }
    for (int k = n - 1; k >= 0; k--) {
        real sum = x[k];
        for (int i = k + 1; i < n; i++) {
            sum = fma_(-factor[k * n + i], x[i], sum);
        }
        x[k] = sum * inverse[k];
    }
}

// target: the forces at the minimum of the cost that has the second derivatives efc_weight, and of rows
// without one the force efc_force. Right in the lanes of `where`.
LANE_FN void find_target(const lane_data *d, const lane_dual *dual, const mask *where)
{
    int acting[ORR_DUAL_ROWS], n = 0, pulled = 0; // pulled: rows may pull that have no second derivative
    real on[ORR_DUAL_ROWS], x[ORR_DUAL_ROWS];
    for (int a = 0; a < d->row_count; a++) {
        mask acts = d->efc_weight[a] > R(0.0);
        dual->target[a] = sel(acts, R(0.0), d->efc_force[a]);
        pulled |= d->row[a].type == LANE_ROW_FRICTION;
        if (any(and_(*where, acts))) {
            acting[n++] = a;
        }
    }
    for (int k = 0; k < n; k++) {
        int a = acting[k];
        real weight = d->efc_weight[a];
        mask acts = weight > R(0.0);
        on[k] = sel(acts, R(1.0), R(0.0));
        x[k] = -(on[k] * dual->smooth[a]);
        for (int b = 0; b < d->row_count && pulled; b++) {
            x[k] = fma_(-(on[k] * response_entry(dual, a, b)), dual->target[b], x[k]);
        }
        for (int l = 0; l < k; l++) {
            dual->factor[l * n + k] = response_entry(dual, a, acting[l]) * (on[k] * on[l]);
        }
        real regulariser = R(1.0) / sel(acts, weight, R(1.0));
        dual->factor[k * n + k] = sel(acts, response_entry(dual, a, a) + regulariser, R(1.0));
    }
    solve_forces(dual->factor, n, x);
    for (int k = 0; k < n; k++) {
        int a = acting[k];
        dual->target[a] = sel(on[k] > R(0.0), x[k], dual->target[a]);
    }
}

// The forces from which to start: the minimum for the rows that act at the last step's acceleration, or none,
// whichever costs less. Leaves in `running` the lanes in which it is not the solution yet, and returns those
// that start from that minimum.
LANE_FN mask start_dual(const lane_model *m, lane_data *d, const lane_dual *dual, mask *running)
{
    constraint_residual(m, d, d->qacc_smooth);
    for (int a = 0; a < d->row_count; a++) {
        dual->smooth[a] = d->efc_jar[a];
    }
    real cold_cost = constraint_forces(m, d);
    if (!(m->opt.disableflags & ORR_DISABLE_WARMSTART)) {
        constraint_residual(m, d, d->qacc_warmstart);
        constraint_forces(m, d);
    }
    find_target(d, dual, running);
    response_times(d, dual, dual->target);
    real gauss = R(0.0);
    for (int a = 0; a < d->row_count; a++) {
        gauss = fma_(dual->target[a], d->efc_jv[a], gauss);
        d->efc_jar[a] = dual->smooth[a] + d->efc_jv[a];
        d->efc_jv[a] = d->efc_weight[a];
    }
    mask warm = R(0.5) * gauss + constraint_forces(m, d) < cold_cost, changed = nowhere();
    for (int a = 0; a < d->row_count; a++) {
        mask same = d->efc_weight[a] == d->efc_jv[a];
        // friction that has no second derivative can pull the other way than it was guessed to
        same = and_(same, or_(d->efc_weight[a] > R(0.0), d->efc_force[a] == dual->target[a]));
        changed = or_(changed, not_(same));
        dual->force[a] = sel(warm, dual->target[a], R(0.0));
        d->efc_jar[a] = sel(warm, d->efc_jar[a], dual->smooth[a]);
    }
    if (any(and_(*running, not_(warm)))) {
        constraint_forces(m, d);
    }
    *running = and_(*running, not_(and_(warm, not_(changed))));
    return warm;
}

// What rounding leaves of the slope along efc_jv.
LANE_FN real dual_rounding(const lane_data *d, const lane_dual *dual)
{
    real sum = R(0.0);
    for (int a = 0; a < d->row_count; a++) {
        real magnitude = abs_(dual->smooth[a]);
        for (int b = 0; b < d->row_count; b++) {
            magnitude = fma_(abs_(response_entry(dual, a, b)), abs_(dual->force[b]), magnitude);
        }
        sum = fma_(d->efc_weight[a] * magnitude, abs_(d->efc_jv[a]), sum);
    }
    return R(0.25 * LANE_EPSILON) * sum;
}

// The lanes of `running` move their forces by a step along `target`; those remain that must go on.
FN void step_dual(const lane_model *m, lane_data *d, const lane_dual *dual, real slope, mask *running)
{
    lane_slope start = {R(0.0), R(0.0), R(0.0)};
    for (int a = 0; a < d->row_count; a++) {
        real jv = d->efc_jv[a];
        start.first = fma_(dual->force[a], jv, start.first);
        start.second = fma_(dual->target[a], jv, start.second);
        start.size = fma_(abs_(dual->force[a]), abs_(jv), start.size);
    }
    real rounding, step = search_along(m, d, start, slope, *running, &rounding);
    for (int a = 0; a < d->row_count; a++) {
        dual->force[a] = fma_(step, dual->target[a], dual->force[a]);
    }
    mask changed = or_(step<R(1.0), step> R(1.0));
    changed = or_(changed, move_rows(m, d, step));
    *running = and_(and_(*running, step > R(0.0)), changed);
}

// The forces of the rows of `dual`, right in the lanes of `running`, in which those remain that have not
// converged.
LANE_FN void solve_dual(const lane_model *m, lane_data *d, const lane_dual *dual, mask *running)
{
    find_responses(m, d, dual);
    mask warm = start_dual(m, d, dual, running), cut_short = nowhere();
    int iterations = 1;
    real checked_slope = R(0.0);
    for (int i = 1; i <= m->opt.iterations && any(*running); i++) {
        if (i == m->opt.iterations) { // to find the start has been an iteration
            cut_short = and_(*running, warm);
            *running = and_(*running, not_(warm));
        }
        find_target(d, dual, running); // from here on relative to `force`
        for (int a = 0; a < d->row_count; a++) {
            dual->target[a] = dual->target[a] - dual->force[a];
        }
        response_times(d, dual, dual->target);
        real slope = R(0.0);
        for (int a = 0; a < d->row_count; a++) {
            slope = fma_(dual->force[a] - d->efc_force[a], d->efc_jv[a], slope);
        }
        *running = and_(*running, R(-0.5) * slope > d->gain_enough);
        if (i % LANE_STALL == 0 && any(*running)) {
            mask rounded = not_(-slope > dual_rounding(d, dual));
            *running = and_(*running, not_(and_(rounded, slope < R(0.5) * checked_slope)));
        }
        checked_slope = i % LANE_STALL <= 1 ? slope : checked_slope;
        if (any(*running)) {
            iterations++;
            step_dual(m, d, dual, slope, running);
        }
    }
    *running = or_(*running, cut_short);
    d->iterations = iterations > d->iterations ? iterations : d->iterations;
}

// The forces and accelerations of the worlds of `few`, whose rows are solved for; those of others are kept.
LANE_FN void solve_few(const lane_model *m, lane_data *d, const mask *few, int others)
{
    for (int i = 0; i < d->row_count && !others; i++) {
        d->efc_force[i] = R(0.0);
    }
    lane_dual dual;
    lane_row row[ORR_DUAL_ROWS];
    int32_t group[ORR_DUAL_ROWS];
    for (mask left = *few; any(left);) { // lanes that have too many rows together have their turns
        lane_data part = *d;
        mask lanes;
        part.row = row;
        part.group = group;
        gather_rows_of_lanes(m, d, lanes_of_a_turn(d, &left, &lanes), &part, &dual);
        mask running = lanes;
        solve_dual(m, &part, &dual, &running);
        // of rows that act the forces that have been solved for, as efc_jar is a difference
        for (int a = 0; a < part.row_count; a++) {
            real force = sel(part.efc_weight[a] > R(0.0), dual.force[a], part.efc_force[a]);
            d->efc_force[dual.row[a]] = sel(lanes, force, d->efc_force[dual.row[a]]);
        }
        d->iterations = part.iterations;
        d->inaccurate = or_(d->inaccurate, running);
        left = and_(left, not_(lanes));
    }
    constraint_force(m, d, d->qfrc_constraint);
    for (int k = 0; k < m->nv; k++) {
        d->search[k] = d->qfrc_constraint[k];
    }
    solve_factorised(m, d, d->qLD, d->qLDiagInv, d->search);
    for (int k = 0; k < m->nv; k++) {
        real own = others ? d->qacc[k] : d->qacc_smooth[k];
        d->qacc[k] = sel(*few, d->search[k] + d->qacc_smooth[k], own);
    }
}
#endif
