// Newton's method in one world alone, in vectors of its dofs and rows: the minimum of solver/solver.h, whose
// cost, directions, line search and ends these are. A robot has few enough dofs that a row of its Jacobian or
// of its second derivatives is two vectors, and these matrices are kept whole: zeros cost less than to look
// for entries. Rows of all kinds are of one: their force is D times what is missing, between two limits.
//
// For up to ALONE_DOFS dofs and ALONE_ROWS rows, without elliptic cones. Not in double, where solver.h serves
// as a reference.
#pragma once

#include "physics/lanes/solver/line_search.h"

#if LANE_ALONE

enum {
    ALONE_WIDTH = 16, // numbers of a vector
    ALONE_DOFS = 2 * ALONE_WIDTH,
    ALONE_ROWS = 20 * ALONE_WIDTH,
    ALONE_VECTORS = ALONE_ROWS / ALONE_WIDTH,
    ALONE_TILE = 8 // rows of H that are added up at once
};

typedef float alone_vector __attribute__((vector_size(ALONE_WIDTH * sizeof(float)), may_alias));
typedef int32_t alone_bits __attribute__((vector_size(ALONE_WIDTH * sizeof(float)), may_alias));

// Numbers of all dofs.
typedef struct alone_dofs {
    alone_vector half[2];
} alone_dofs;

typedef struct alone_world {
    alone_dofs J[ALONE_ROWS]; // by rows; edges of pyramids have rows of their own
    // by dofs; one vector more than needed keeps columns out of each other's lines of the cache
    alone_vector columns[ALONE_DOFS][ALONE_VECTORS + 1];
    alone_dofs scaled[ALONE_ROWS]; // J times the weight, of the rows that act
    // H: second derivatives with the weights `weighed`; factor: what elimination makes of them
    alone_dofs M[ALONE_DOFS], H[ALONE_DOFS], factor[ALONE_DOFS];
    alone_dofs qacc, Ma, smooth, gradient, search, Mv;
    alone_vector D[ALONE_VECTORS], low[ALONE_VECTORS], high[ALONE_VECTORS]; // least and most force
    alone_vector jar[ALONE_VECTORS], jv[ALONE_VECTORS], aref[ALONE_VECTORS];
    alone_vector force[ALONE_VECTORS], weight[ALONE_VECTORS], weighed[ALONE_VECTORS];
    alone_bits moves[ALONE_VECTORS]; // of each row, a bit for each dof that it moves
    int rows, vectors, nv;           // vectors of rows
} alone_world;

FN float *numbers(void *vectors)
{
    return (float *)vectors;
}

FN const float *numbers_in(const void *vectors)
{
    return (const float *)vectors;
}

FN float sum_of_vector(alone_vector a)
{
    const float *x = (const float *)&a;
    float sum[4];
    for (int k = 0; k < 4; k++) {
        sum[k] = (x[k] + x[k + 8]) + (x[k + 4] + x[k + 12]);
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

FN alone_vector where(alone_bits kept, alone_vector a)
{
    return (alone_vector)(kept & (alone_bits)a);
}

FN alone_vector size_of(alone_vector a)
{
    return (alone_vector)((alone_bits)a & 0x7fffffff);
}

// Of rows at x: the force, and the second derivative of their cost.
FN alone_vector alone_force(const alone_world *w, int v, alone_vector x, alone_vector *weight)
{
    alone_vector pull = -(w->D[v] * x), low = w->low[v], high = w->high[v];
    alone_bits above = pull > low, below = pull < high;
    *weight = where(above & below, w->D[v]);
    return where(above & below, pull) + where(~above, low) + where(~below, high);
}

// Can the rows of a world be solved here?
FN int fits_alone(const lane_model *m, const lane_data *d)
{
    const orr_plan *plan = m->plan;
    return plan->block_count == 0 && !plan->tree_start && m->nv <= ALONE_DOFS && d->row_count <= ALONE_ROWS &&
           m->opt.cone == ORR_CONE_PYRAMIDAL && m->opt.solver != ORR_SOLVER_CG;
}

FN void copy_entry(alone_world *w, int row, int dof, float value)
{
    numbers(&w->J[row])[dof] = value;
    numbers(w->columns[dof])[row] = value;
}

FN void copy_jacobian_basis(const lane_data *d, alone_world *w, int i, int basis)
{
    const lane_row *row = &d->row[i];
    reals J = d->efc_J + row->J;
    for (int e = 0; e < row->count; e++) {
        float along[6];
        for (int k = 0; k < basis; k++) {
            along[k] = J[k * row->count + e];
        }
        for (int k = 0; k < basis && basis == row->dim; k++) {
            copy_entry(w, i + k, row->dof[e], along[k]);
        }
        for (int k = 1; k < basis && basis != row->dim; k++) {
            float slide = row->friction[k - 1] * along[k];
            copy_entry(w, i + 2 * k - 2, row->dof[e], along[0] + slide);
            copy_entry(w, i + 2 * k - 1, row->dof[e], along[0] - slide);
        }
    }
}

// The group of rows of which the first is i.
FN void copy_group(const lane_data *d, alone_world *w, int i)
{
    const lane_row *row = &d->row[i];
    uint32_t moves = 0;
    for (int e = 0; e < row->count; e++) {
        moves |= 1u << row->dof[e];
    }
    for (int k = i; k < i + row->dim; k++) {
        float most = row->type == LANE_ROW_FRICTION ? (float)d->row[k].frictionloss : (float)LANE_HUGE;
        numbers(w->low)[k] = row->type == LANE_ROW_UNILATERAL ? 0.0f : -most;
        numbers(w->high)[k] = most;
        ((uint32_t *)w->moves)[k] = moves;
    }
    LANE_UNROLLED_BASIS(row->basis, copy_jacobian_basis, d, w, i);
}

FN void copy_inertia(const lane_model *m, const lane_data *d, alone_world *w)
{
    memset(w->M, 0, sizeof w->M);
    for (int k = 0; k < w->nv; k++) {
        for (int adr = m->M_rowadr[k]; adr < m->M_rowadr[k] + m->M_rownnz[k]; adr++) {
            int j = m->M_colind[adr];
            numbers(&w->M[k])[j] = numbers(&w->M[j])[k] = d->qM[adr];
        }
    }
}

// Some numbers, and zeros.
FN void copy_numbers(void *to, const float *from, int count, size_t room)
{
    memcpy(to, from, (size_t)count * sizeof *from);
    memset(numbers(to) + count, 0, room - (size_t)count * sizeof *from);
}

FN void copy_world(const lane_model *m, const lane_data *d, alone_world *w)
{
    w->rows = d->row_count;
    w->vectors = (w->rows + ALONE_WIDTH - 1) / ALONE_WIDTH;
    w->nv = m->nv;
    size_t room = (size_t)w->vectors * sizeof(alone_vector);
    memset(w->J, 0, (size_t)w->vectors * ALONE_WIDTH * sizeof *w->J);
    for (int k = 0; k < w->nv; k++) {
        memset(w->columns[k], 0, room);
    }
    memset(w->low, 0, room);
    memset(w->high, 0, room);
    memset(w->moves, 0, room);
    memset(w->weight, 0, room);
    memset(w->weighed, 0, room);
    copy_numbers(w->D, d->efc_D, w->rows, room);
    copy_numbers(w->jar, d->efc_jar, w->rows, room);
    copy_numbers(w->aref, d->efc_aref, w->rows, room);
    for (int g = 0; g < d->group_count; g++) {
        copy_group(d, w, d->group[g]);
    }
    copy_inertia(m, d, w);
    copy_numbers(&w->qacc, d->qacc, w->nv, sizeof w->qacc);
    copy_numbers(&w->Ma, d->Ma, w->nv, sizeof w->Ma);
    copy_numbers(&w->smooth, d->qfrc_smooth, w->nv, sizeof w->smooth);
}

// J^T force
FN alone_dofs alone_constraint_force(const alone_world *w)
{
    alone_dofs sum[4] = {0};
    for (int r = 0; r < ALONE_WIDTH * w->vectors; r += 4) {
        for (int k = 0; k < 4; k++) {
            float force = numbers_in(w->force)[r + k];
            sum[k].half[0] = sum[k].half[0] + force * w->J[r + k].half[0];
            sum[k].half[1] = sum[k].half[1] + force * w->J[r + k].half[1];
        }
    }
    alone_dofs all;
    for (int h = 0; h < 2; h++) {
        all.half[h] = (sum[0].half[h] + sum[1].half[h]) + (sum[2].half[h] + sum[3].half[h]);
    }
    return all;
}

// y = J x, of rows
FN void alone_jacobian_times(const alone_world *w, const alone_dofs *x, alone_vector *y)
{
    for (int v = 0; v < w->vectors; v++) {
        alone_vector sum = {0};
        for (int k = 0; k < w->nv; k++) {
            sum = sum + numbers_in(x)[k] * w->columns[k][v];
        }
        y[v] = sum;
    }
}

FN alone_dofs alone_inertia_times(const alone_world *w, const alone_dofs *x)
{
    alone_dofs sum = {0};
    for (int k = 0; k < w->nv; k++) {
        sum.half[0] = sum.half[0] + numbers_in(x)[k] * w->M[k].half[0];
        sum.half[1] = sum.half[1] + numbers_in(x)[k] * w->M[k].half[1];
    }
    return sum;
}

FN float alone_dot(const alone_dofs *a, const alone_dofs *b)
{
    return sum_of_vector(a->half[0] * b->half[0] + a->half[1] * b->half[1]);
}

// ALONE_TILE rows of H from row k on, in one half of the columns: the sum over `count` rows that act.
FN void add_tile(alone_world *w, const int16_t *acting, int count, int k, int half)
{
    alone_vector sum[ALONE_TILE];
    for (int a = 0; a < ALONE_TILE; a++) {
        sum[a] = w->M[k + a].half[half];
    }
    for (int n = 0; n < count; n++) {
        const float *J = numbers(&w->J[acting[n]]) + k;
        alone_vector scaled = w->scaled[acting[n]].half[half];
        for (int a = 0; a < ALONE_TILE; a++) {
            sum[a] = sum[a] + J[a] * scaled;
        }
    }
    for (int a = 0; a < ALONE_TILE; a++) {
        w->H[k + a].half[half] = sum[a];
    }
}

// Those of `count` rows that move one of the dofs of `tile` and one of those of `half`. Returns how many.
FN int rows_of_tile(const alone_world *w, const int16_t *acting, int count, uint32_t tile, uint32_t half,
                    int16_t *rows)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        uint32_t moves = ((const uint32_t *)w->moves)[acting[i]];
        rows[n] = acting[i];
        n += (moves & tile) != 0 && (moves & half) != 0;
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
    uint32_t dofs = 0;
    for (int k = 0; k < ALONE_WIDTH; k++) {
        dofs |= (uint32_t)stale[k];
    }
    return dofs;
}

// The rows that act; those that move a stale dof are scaled.
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
        w->scaled[r].half[0] = weight * w->J[r].half[0];
        w->scaled[r].half[1] = weight * w->J[r].half[1];
    }
    return count;
}

// H = M + J^T weight J, whole; first: nothing of it is known. Tiles are added up again whose rows have other
// weights, from all rows: the bits are those of adding up everything.
FN void alone_hessian(alone_world *w, int first)
{
    const uint32_t low = (1u << ALONE_WIDTH) - 1, of_tile = (1u << ALONE_TILE) - 1;
    int16_t acting[ALONE_ROWS + 1], rows[ALONE_ROWS + 1];
    uint32_t stale = find_moved_dofs(w);
    stale = first ? ~0u : stale;
    int count = find_acting(w, acting);
    for (int k = 0; k < w->nv; k += ALONE_TILE) {
        uint32_t tile = of_tile << k;
        if (!(stale & tile)) {
            continue;
        }
        add_tile(w, rows, rows_of_tile(w, acting, count, tile, low, rows), k, 0);
        if (k >= ALONE_WIDTH) {
            add_tile(w, rows, rows_of_tile(w, acting, count, tile, ~0u, rows), k, 1);
        }
    }
    for (int k = 0; k < ALONE_WIDTH && w->nv > ALONE_WIDTH; k++) {
        float row[ALONE_WIDTH];
        for (int j = 0; j < ALONE_WIDTH; j++) {
            row[j] = numbers(&w->H[ALONE_WIDTH + j])[k];
        }
        memcpy(&w->H[k].half[1], row, sizeof row);
    }
}

// search = -H^-1 gradient, by H = L^T D L. Elimination leaves D L in the columns: of row j those of the dofs
// above it are column j of D L.
FN void alone_direction(alone_world *w)
{
    const alone_bits places[2] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                  {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}};
    float whole[ALONE_DOFS], inverse[ALONE_DOFS], coupled[ALONE_DOFS];
    for (int k = 0; k < w->nv; k++) {
        w->factor[k] = w->H[k];
        whole[k] = numbers(&w->H[k])[k];
    }
    alone_dofs x = {{-w->gradient.half[0], -w->gradient.half[1]}};
    for (int k = w->nv - 1; k >= 0; k--) {
        const float *row = numbers(&w->factor[k]);
        float pivot = row[k];
        int lost = !(pivot > 4.0f * (float)LANE_EPSILON * whole[k]); // as pivot_lost
        inverse[k] = 1.0f / (lost ? whole[k] : pivot);
        coupled[k] = lost ? 0.0f : inverse[k];
        alone_dofs L;
        for (int h = 0; h < 2; h++) {
            L.half[h] = where(places[h] < k, coupled[k] * w->factor[k].half[h]);
        }
        float right = numbers(&x)[k];
        x.half[0] = x.half[0] - right * L.half[0];
        if (k <= ALONE_WIDTH) { // nothing is left to eliminate in the second half
            for (int j = k - 1; j >= 0; j--) {
                w->factor[j].half[0] = w->factor[j].half[0] - row[j] * L.half[0];
            }
            continue;
        }
        x.half[1] = x.half[1] - right * L.half[1];
        for (int j = k - 1; j >= 0; j--) {
            w->factor[j].half[0] = w->factor[j].half[0] - row[j] * L.half[0];
            w->factor[j].half[1] = w->factor[j].half[1] - row[j] * L.half[1];
        }
    }
    alone_dofs sum = {0};
    w->search = (alone_dofs){0};
    for (int k = 0; k < w->nv; k++) {
        float value = inverse[k] * numbers(&x)[k] - coupled[k] * numbers(&sum)[k];
        numbers(&w->search)[k] = value;
        sum.half[0] = sum.half[0] + value * w->factor[k].half[0];
        sum.half[1] = sum.half[1] + value * w->factor[k].half[1];
    }
}

typedef struct alone_slope {
    float first, second, size; // as lane_slope
} alone_slope;

// Derivatives of the cost along the direction; start: of the cost without the rows'
FN alone_slope alone_slopes(const alone_world *w, alone_slope start, float step)
{
    alone_vector first = {0}, second = {0}, size = {0};
    for (int v = 0; v < w->vectors; v++) {
        alone_vector weight, jv = w->jv[v];
        alone_vector term = alone_force(w, v, w->jar[v] + step * jv, &weight) * jv;
        first = first - term;
        second = second + weight * jv * jv;
        size = size + size_of(term);
    }
    float smooth = step * start.second;
    return (alone_slope){start.first + smooth + sum_of_vector(first), start.second + sum_of_vector(second),
                         start.size + smooth + sum_of_vector(size)};
}

// search_along of line_search.h
FN float alone_search(const lane_model *m, const alone_world *w, alone_slope start, float slope,
                      float *rounding)
{
    float step = 1.0f, low = 0.0f, high = (float)LANE_HUGE,
          enough = fabsf(slope) * (float)m->opt.ls_tolerance;
    *rounding = 0.0f;
    for (int i = 0; i < m->opt.ls_iterations; i++) {
        alone_slope at = alone_slopes(w, start, step);
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

// Returns whether a row has another second derivative than before.
FN int find_forces(alone_world *w)
{
    alone_bits changed = {0};
    for (int v = 0; v < w->vectors; v++) {
        alone_vector weight;
        w->force[v] = alone_force(w, v, w->jar[v], &weight);
        changed |= weight != w->weight[v];
        w->weight[v] = weight;
    }
    int any_changed = 0;
    for (int k = 0; k < ALONE_WIDTH; k++) {
        any_changed |= changed[k];
    }
    return any_changed != 0;
}

FN void move_alone(alone_world *w, float step)
{
    for (int h = 0; h < 2; h++) {
        w->qacc.half[h] = w->qacc.half[h] + step * w->search.half[h];
        w->Ma.half[h] = w->Ma.half[h] + step * w->Mv.half[h];
    }
    for (int v = 0; v < w->vectors; v++) {
        w->jar[v] = w->jar[v] + step * w->jv[v];
    }
}

// |a| |x|, of numbers of dofs and a symmetric matrix or a row
FN float size_of_product(const alone_dofs *a, const alone_dofs *x)
{
    return sum_of_vector(size_of(a->half[0] * x->half[0]) + size_of(a->half[1] * x->half[1]));
}

// slope_rounding of solver.h
LANE_FN float alone_rounding(const alone_world *w)
{
    float sum = size_of_product(&w->smooth, &w->search);
    for (int k = 0; k < w->nv; k++) {
        sum += fabsf(numbers_in(&w->search)[k]) * size_of_product(&w->M[k], &w->qacc);
    }
    for (int r = 0; r < w->rows; r++) {
        float weight = numbers_in(w->weight)[r];
        if (weight > 0.0f) {
            float magnitude = size_of_product(&w->J[r], &w->qacc) + fabsf(numbers_in(w->aref)[r]);
            sum += weight * magnitude * size_of_product(&w->J[r], &w->search);
        }
    }
    return 0.25f * (float)LANE_EPSILON * sum;
}

// Moves to the minimum. Returns whether it has converged; iterations: how many were needed
FN int iterate_alone(const lane_model *m, alone_world *w, float gain_enough, int *iterations)
{
    float checked_slope = 0.0f;
    find_forces(w);
    for (int i = 0; i < m->opt.iterations; i++) {
        alone_dofs force = alone_constraint_force(w);
        for (int h = 0; h < 2; h++) {
            w->gradient.half[h] = w->Ma.half[h] - w->smooth.half[h] - force.half[h];
        }
        alone_hessian(w, i == 0);
        alone_direction(w);
        float slope = alone_dot(&w->gradient, &w->search);
        if (!(-0.5f * slope > gain_enough * (i == 0 ? (float)SOLVER_FIRST : 1.0f))) {
            return 1;
        }
        if (i > 0 && i % LANE_STALL == 0 && !(-slope > alone_rounding(w)) && slope < 0.5f * checked_slope) {
            return 1;
        }
        checked_slope = i % LANE_STALL == 0 ? slope : checked_slope;
        *iterations = i + 1;
        w->Mv = alone_inertia_times(w, &w->search);
        alone_jacobian_times(w, &w->search, w->jv);
        const alone_dofs smooth = {{w->Ma.half[0] - w->smooth.half[0], w->Ma.half[1] - w->smooth.half[1]}};
        const alone_slope start = {alone_dot(&w->search, &smooth), alone_dot(&w->search, &w->Mv),
                                   size_of_product(&w->search, &smooth)};
        float rounding, step = alone_search(m, w, start, slope, &rounding);
        move_alone(w, step);
        int changed = find_forces(w) || step < 1.0f || step > 1.0f;
        if (!(step > 0.0f && -slope > rounding && changed)) {
            return 1;
        }
    }
    return 0;
}

// The acceleration of a world from where warm_start has left it.
LANE_FN void solve_alone(const lane_model *m, lane_data *d)
{
    alone_world w;
    copy_world(m, d, &w);
    int iterations = 0;
    d->inaccurate = or_(d->inaccurate, !iterate_alone(m, &w, d->gain_enough, &iterations));
    d->iterations = iterations > d->iterations ? iterations : d->iterations;
    const alone_dofs force = alone_constraint_force(&w);
    memcpy(d->qacc, &w.qacc, (size_t)w.nv * sizeof(float));
    memcpy(d->qfrc_constraint, &force, (size_t)w.nv * sizeof(float));
    memcpy(d->efc_force, w.force, (size_t)w.rows * sizeof(float));
}
#endif
