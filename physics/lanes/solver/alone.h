// Newton's method in one world alone, in vectors of its dofs and rows: the minimum of solver/solver.h, whose
// cost, directions, line search and ends these are. A robot has few enough dofs that a row of its Jacobian or
// of its second derivatives is a few vectors, and these matrices are kept whole: zeros cost less than to look
// for entries. Rows are of one kind: their force is D times what is missing, between two limits. Those of
// elliptic cones, which depend on each other, are the exception: one cone after another, by the functions of
// solver.h.
//
// For up to ALONE_DOFS dofs and ALONE_ROWS rows. Not in double, where solver.h serves as a reference.
#pragma once

#include "physics/lanes/solver/alone_world.h"

#if LANE_ALONE

// ALONE_TILE rows of H from row k on, in one part of the columns: the sum over `count` rows that act.
FN void add_tile(alone_world *w, const int16_t *acting, int count, int k, int part)
{
    alone_vector sum[ALONE_TILE];
    for (int a = 0; a < ALONE_TILE; a++) {
        sum[a] = w->M[k + a].part[part];
    }
    for (int n = 0; n < count; n++) {
        const float *J = numbers(&w->J[acting[n]]) + k;
        alone_vector scaled = w->scaled[acting[n]].part[part];
        for (int a = 0; a < ALONE_TILE; a++) {
            sum[a] = sum[a] + J[a] * scaled;
        }
    }
    for (int a = 0; a < ALONE_TILE; a++) {
        w->H[k + a].part[part] = sum[a];
    }
}

// Those of `count` rows that move one of the dofs of `tile` and one of those of `part`. Returns how many.
FN int rows_of_tile(const alone_world *w, const int16_t *acting, int count, uint32_t tile, uint32_t part,
                    int16_t *rows)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        uint32_t moves = ((const uint32_t *)w->moves)[acting[i]];
        rows[n] = acting[i];
        n += (moves & tile) != 0 && (moves & part) != 0;
    }
    return n;
}

// The dofs that rows move whose weight is not the one that H has.
FN uint32_t find_moved_dofs(alone_world *w)
{
    alone_bits stale = {0};
    for (int v = 0; v < w->vectors; v++) {
        stale |= (w->weight[v] != w->weighed[v]) & w->moves[v];
        w->weighed[v] = w->weight[v];
    }
    for (int c = 0; c < w->cone_count; c++) {
        int i = w->cone[c];
        if (w->zone[i] < 0.0f) {
            numbers(w->weighed)[i] = -1.0f; // its matrix changes with each step
        }
    }
    uint32_t dofs = 0;
    for (int k = 0; k < ALONE_WIDTH; k++) {
        dofs |= (uint32_t)stale[k];
    }
    return dofs;
}

// The rows of a cone whose force is on it are scaled by its second derivatives.
FN void scale_cone(alone_world *w, int i, int dim)
{
    float hessian[6][6];
    hessian_of_cone(&w->cones, i, numbers(w->jar) + i, hessian, dim);
    for (int a = 0; a < dim; a++) {
        for (int h = 0; h < w->parts; h++) {
            alone_vector sum = hessian[a][0] * w->J[i].part[h];
            for (int b = 1; b < dim; b++) {
                sum = sum + hessian[a][b] * w->J[i + b].part[h];
            }
            w->scaled[i + a].part[h] = sum;
        }
    }
}

// The rows that act, scaled by what they weigh.
FN int find_acting(alone_world *w, int16_t *acting)
{
    int count = 0;
    for (int r = 0; r < w->rows; r++) {
        acting[count] = (int16_t)r;
        count += numbers(w->weight)[r] > 0.0f;
    }
    for (int n = 0; n < count; n++) {
        int r = acting[n];
        float weight = numbers(w->weight)[r];
        for (int h = 0; h < w->parts; h++) {
            w->scaled[r].part[h] = weight * w->J[r].part[h];
        }
    }
    for (int c = 0; c < w->cone_count; c++) {
        int i = w->cone[c];
        if (w->zone[i] < 0.0f) {
            LANE_UNROLLED_CONE(w->cones.row[i].dim, scale_cone, w, i);
        }
    }
    return count;
}

// H = M + J^T weight J, whole; first: nothing of it is known. Tiles are added up again whose rows have other
// weights, from all rows: the bits are those of adding up everything.
FN void alone_hessian(alone_world *w, int first)
{
    const uint32_t of_part = (1u << ALONE_WIDTH) - 1, of_tile = (1u << ALONE_TILE) - 1;
    int16_t acting[ALONE_ROWS + 1], rows[ALONE_ROWS + 1];
    uint32_t stale = find_moved_dofs(w);
    stale = first ? ~0u : stale;
    int count = find_acting(w, acting);
    for (int k = 0; k < w->nv; k += ALONE_TILE) {
        uint32_t tile = of_tile << k;
        if (!(stale & tile)) {
            continue;
        }
        for (int h = 0; h < parts_of(k + ALONE_TILE, ALONE_WIDTH); h++) { // the others mirror these
            uint32_t part = of_part << h * ALONE_WIDTH;
            add_tile(w, rows, rows_of_tile(w, acting, count, tile, part, rows), k, h);
        }
    }
    for (int k = 0; k < w->nv; k++) {
        for (int j = k / ALONE_TILE * ALONE_TILE + ALONE_TILE; j < w->nv; j++) {
            numbers(&w->H[k])[j] = numbers(&w->H[j])[k];
        }
    }
}

// Eliminates dof k, whose row of H is `row` and of L is L, from the rows above it, in the `count` parts that
// hold the columns before k.
FN void eliminate_alone(alone_world *w, int k, const float *row, const alone_dofs *L, int count)
{
    for (int j = k - 1; j >= 0; j--) {
        for (int h = 0; h < count; h++) {
            w->factor[j].part[h] = w->factor[j].part[h] - row[j] * L->part[h];
        }
    }
}

// search = -H^-1 gradient, by H = L^T D L. Elimination leaves D L in the columns: of row j those of the dofs
// above it are column j of D L.
FN void alone_direction(alone_world *w)
{
    alone_bits places[ALONE_PARTS];
    for (int k = 0; k < ALONE_DOFS; k++) {
        ((int32_t *)places)[k] = k;
    }
    float whole[ALONE_DOFS], inverse[ALONE_DOFS], coupled[ALONE_DOFS];
    for (int k = 0; k < w->nv; k++) {
        for (int h = 0; h < w->parts; h++) {
            w->factor[k].part[h] = w->H[k].part[h];
        }
        whole[k] = numbers(&w->H[k])[k];
    }
    alone_dofs x;
    for (int h = 0; h < w->parts; h++) {
        x.part[h] = -w->gradient.part[h];
    }
    for (int k = w->nv - 1; k >= 0; k--) {
        const float *row = numbers(&w->factor[k]);
        float pivot = row[k];
        int lost = !(pivot > 4.0f * (float)LANE_EPSILON * whole[k]); // as pivot_lost
        inverse[k] = 1.0f / (lost ? whole[k] : pivot);
        coupled[k] = lost ? 0.0f : inverse[k];
        alone_dofs L;
        float right = numbers(&x)[k];
        int parts = parts_of(k, ALONE_WIDTH);
        for (int h = 0; h < parts; h++) {
            L.part[h] = where(places[h] < k, coupled[k] * w->factor[k].part[h]);
            x.part[h] = x.part[h] - right * L.part[h];
        }
        if (k > 0) {
            ALONE_UNROLLED(parts, eliminate_alone, w, k, row, &L);
        }
    }
    alone_dofs sum = {0};
    w->search = (alone_dofs){0};
    for (int k = 0; k < w->nv; k++) {
        float value = inverse[k] * numbers(&x)[k] - coupled[k] * numbers(&sum)[k];
        numbers(&w->search)[k] = value;
        for (int h = 0; h < w->parts; h++) {
            sum.part[h] = sum.part[h] + value * w->factor[k].part[h];
        }
    }
}

// Derivatives of the cost along the direction; start: of the cost without the rows'
FN lane_slope alone_slopes(const alone_world *w, lane_slope start, float step)
{
    alone_sum first = {0}, second = {0}, size = {0};
    for (int v = 0; v < w->vectors; v += ALONE_SUMS) {
        for (int h = 0; h < ALONE_SUMS; h++) {
            alone_vector weight, jv = w->jv[v + h];
            alone_vector term = alone_force(w, v + h, w->jar[v + h] + step * jv, &weight) * jv;
            first.term[h] = first.term[h] - term;
            second.term[h] = second.term[h] + weight * jv * jv;
            size.term[h] = size.term[h] + size_of(term);
        }
    }
    float smooth = step * start.second;
    lane_slope all = {start.first + smooth + total(&first), start.second + total(&second),
                      start.size + smooth + total(&size)};
    for (int c = 0; c < w->cone_count; c++) {
        add_cone_slope(&w->cones, w->cone[c], step, &all);
    }
    return all;
}

// search_along of line_search.h
FN float alone_search(const lane_model *m, const alone_world *w, lane_slope start, float slope,
                      float *rounding)
{
    float step = 1.0f, low = 0.0f, high = (float)LANE_HUGE,
          enough = fabsf(slope) * (float)m->opt.ls_tolerance;
    *rounding = 0.0f;
    for (int i = 0; i < m->opt.ls_iterations; i++) {
        lane_slope at = alone_slopes(w, start, step);
        *rounding = (float)LANE_EPSILON * at.size;
        if (!(fabsf(at.first) > (enough > *rounding ? enough : *rounding))) {
            break;
        }
        low = at.first > 0.0f ? low : step;
        high = at.first > 0.0f ? step : high;
        if (!(high - low > 2.0f * (float)LANE_EPSILON * high)) {
            break;
        }
        if (i == LANE_PROBE && low == 0.0f && alone_slopes(w, start, 0.0f).first > 0.5f * slope) {
            return 0.0f;
        }
        float next = step - at.first / (at.second > (float)LANE_TINY ? at.second : (float)LANE_TINY);
        float middle = high < (float)LANE_HUGE ? 0.5f * (low + high) : 2.0f * step;
        step = next > low && next < high ? next : middle;
    }
    return step;
}

// Of cones: the cost, and their forces and weights. curved: whether a cone's cost is or was not quadratic
LANE_FN float find_cone_forces(alone_world *w, int *curved)
{
    float cost = 0.0f;
    for (int c = 0; c < w->cone_count; c++) {
        int i = w->cone[c];
        float before = w->zone[i];
        cost += row_forces(&w->cones, i);
        float zone = w->zone[i];
        *curved |= w->cones.efc_D[i] > 0.0f && (zone < 0.0f || zone < before || zone > before);
        for (int k = i; k < i + w->cones.row[i].dim; k++) {
            numbers(w->weight)[k] = zone < 0.0f ? ALONE_CURVED : zone * w->cones.efc_D[k];
        }
    }
    return cost;
}

// Returns whether a row is in another piece of its cost than before: with another second derivative, or
// slipping the other way.
FN int find_forces(alone_world *w)
{
    alone_bits changed = {0};
    for (int v = 0; v < w->vectors; v++) {
        alone_vector weight;
        alone_vector force = alone_force(w, v, w->jar[v], &weight);
        alone_bits same = (weight == w->weight[v]) & ((weight > 0.0f) | (force == w->force[v]));
        changed |= ~same & (w->D[v] > 0.0f);
        w->force[v] = force;
        w->weight[v] = weight;
    }
    int any_changed = 0;
    find_cone_forces(w, &any_changed);
    for (int k = 0; k < ALONE_WIDTH; k++) {
        any_changed |= changed[k];
    }
    return any_changed != 0;
}

FN void move_alone(alone_world *w, float step)
{
    for (int h = 0; h < w->parts; h++) {
        w->qacc.part[h] = w->qacc.part[h] + step * w->search.part[h];
        w->Ma.part[h] = w->Ma.part[h] + step * w->Mv.part[h];
    }
    for (int v = 0; v < w->vectors; v++) {
        w->jar[v] = w->jar[v] + step * w->jv[v];
    }
}

// |a| |x|, of numbers of dofs and a symmetric matrix or a row
FN float size_of_product(const alone_world *w, const alone_dofs *a, const alone_dofs *x)
{
    alone_sum sum = {0};
    for (int h = 0; h < w->parts; h++) {
        sum.term[h % ALONE_SUMS] += size_of(a->part[h] * x->part[h]);
    }
    return total(&sum);
}

// What the residual of a row is the sum of.
FN float alone_magnitude(const alone_world *w, int row)
{
    return size_of_product(w, &w->J[row], &w->qacc) + fabsf(numbers_in(w->aref)[row]);
}

// slope_rounding of solver.h
LANE_FN float alone_rounding(const alone_world *w)
{
    float sum = size_of_product(w, &w->smooth, &w->search);
    for (int k = 0; k < w->nv; k++) {
        sum += fabsf(numbers_in(&w->search)[k]) * size_of_product(w, &w->M[k], &w->qacc);
    }
    for (int r = 0; r < w->rows; r++) {
        float weight = numbers_in(w->weight)[r];
        if (weight > 0.0f) {
            sum += weight * alone_magnitude(w, r) * size_of_product(w, &w->J[r], &w->search);
        }
    }
    for (int c = 0; c < w->cone_count; c++) {
        int i = w->cone[c], dim = w->cones.row[i].dim;
        float hessian[6][6], x[6];
        load_cone(&w->cones, i, w->cones.efc_jar, x);
        cone_hessian(&w->cones, i, x, hessian);
        for (int k = 0; k < dim && w->zone[i] < 0.0f; k++) {
            float moved = size_of_product(w, &w->J[i + k], &w->search);
            for (int l = 0; l < dim; l++) {
                sum += fabsf(hessian[k][l]) * alone_magnitude(w, i + l) * moved;
            }
        }
    }
    return 0.25f * (float)LANE_EPSILON * sum;
}

// The rows' cost at jar: -f x - f^2 / (2 D) with the force f, which is D x^2 / 2 between the limits.
FN float alone_cost(alone_world *w)
{
    alone_sum sum = {0};
    for (int v = 0; v < w->vectors; v += ALONE_SUMS) {
        for (int h = 0; h < ALONE_SUMS; h++) {
            alone_vector x = w->jar[v + h], D = w->D[v + h], weight;
            alone_vector f = alone_force(w, v + h, x, &weight);
            alone_bits exists = D > 0.0f, inside = weight > 0.0f; // f is 0 where D is
            alone_vector limited = f * f / (where(exists, D) + where(~exists, D + 1.0f));
            sum.term[h] = sum.term[h] - f * (where(inside, 0.5f * x) + where(~inside, x)) -
                          where(~inside, 0.5f * limited);
        }
    }
    int curved = 0;
    return total(&sum) + find_cone_forces(w, &curved);
}

// jar = J x - aref
FN void alone_residual(alone_world *w, const alone_dofs *x)
{
    alone_jacobian_times(w, x, w->jar);
    for (int v = 0; v < w->vectors; v++) {
        w->jar[v] = w->jar[v] - w->aref[v];
    }
}

// As warm_start of solver.h.
FN void start_alone(const lane_model *m, const lane_data *d, alone_world *w)
{
    copy_numbers(&w->qacc, d->qacc_smooth, w->nv, sizeof w->qacc);
    w->Ma = w->smooth;
    alone_residual(w, &w->qacc);
    if (m->opt.disableflags & ORR_DISABLE_WARMSTART) {
        return;
    }
    float cold_cost = alone_cost(w);
    memcpy(w->jv, w->jar, (size_t)w->vectors * sizeof *w->jar);
    alone_dofs warm, pushed, moved;
    copy_numbers(&warm, d->qacc_warmstart, w->nv, sizeof warm);
    ALONE_UNROLLED(w->parts, inertia_times_alone, w, &warm, &w->Mv);
    alone_residual(w, &warm);
    for (int h = 0; h < w->parts; h++) {
        pushed.part[h] = w->Mv.part[h] - w->smooth.part[h];
        moved.part[h] = warm.part[h] - w->qacc.part[h];
    }
    if (0.5f * alone_dot(w, &pushed, &moved) + alone_cost(w) < cold_cost) {
        w->qacc = warm;
        w->Ma = w->Mv;
    } else {
        memcpy(w->jar, w->jv, (size_t)w->vectors * sizeof *w->jar);
    }
}

// Moves to the minimum. Returns whether it has converged; iterations: how many were needed
FN int iterate_alone(const lane_model *m, alone_world *w, float gain_enough, int *iterations)
{
    float checked_slope = 0.0f;
    find_forces(w);
    for (int i = 0; i < m->opt.iterations; i++) {
        alone_dofs force = alone_constraint_force(w);
        alone_dofs smooth;
        for (int h = 0; h < w->parts; h++) {
            smooth.part[h] = w->Ma.part[h] - w->smooth.part[h];
            w->gradient.part[h] = smooth.part[h] - force.part[h];
        }
        alone_hessian(w, i == 0);
        alone_direction(w);
        float slope = alone_dot(w, &w->gradient, &w->search);
        if (!(-0.5f * slope > gain_enough * (i == 0 ? (float)SOLVER_FIRST : 1.0f))) {
            return 1;
        }
        if (i > 0 && i % LANE_STALL == 0 && !(-slope > alone_rounding(w)) && slope < 0.5f * checked_slope) {
            return 1;
        }
        checked_slope = i % LANE_STALL == 0 ? slope : checked_slope;
        *iterations = i + 1;
        ALONE_UNROLLED(w->parts, inertia_times_alone, w, &w->search, &w->Mv);
        alone_jacobian_times(w, &w->search, w->jv);
        const lane_slope start = {alone_dot(w, &w->search, &smooth), alone_dot(w, &w->search, &w->Mv),
                                  size_of_product(w, &w->search, &smooth)};
        float rounding, step = alone_search(m, w, start, slope, &rounding);
        move_alone(w, step);
        int changed = find_forces(w) || step < 1.0f || step > 1.0f;
        if (!(step > 0.0f && -slope > rounding && changed)) {
            return 1;
        }
    }
    return 0;
}

// The acceleration of a world.
LANE_FN void solve_alone(const lane_model *m, lane_data *d)
{
    alone_world w;
    copy_world(m, d, &w);
    start_alone(m, d, &w);
    int iterations = 0;
    d->inaccurate = or_(d->inaccurate, !iterate_alone(m, &w, d->gain_enough, &iterations));
    d->iterations = iterations > d->iterations ? iterations : d->iterations;
    const alone_dofs force = alone_constraint_force(&w);
    memcpy(d->qacc, &w.qacc, (size_t)w.nv * sizeof(float));
    memcpy(d->qfrc_constraint, &force, (size_t)w.nv * sizeof(float));
    memcpy(d->efc_force, w.force, (size_t)w.rows * sizeof(float));
}
#endif
