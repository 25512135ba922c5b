// Newton's method in one world alone, in vectors of its dofs and rows: the minimum of solver/solver.h, whose
// cost, directions, line search and ends these are. A robot has few enough dofs that a row of its Jacobian or
// of its second derivatives is a few vectors, and these matrices are kept whole: zeros cost less than to look
// for entries. Rows are of one kind: their force is D times what is missing, between two limits. Those of
// elliptic cones, which depend on each other, are the exception: one cone after another, by the functions of
// solver.h.
//
// Vectors are those of the machine, since gcc compares wider ones number by number, through memory. Sums over
// rows and dofs are of ALONE_SUM numbers whatever the width, so that instruction sets give the same bits.
//
// For up to ALONE_DOFS dofs and ALONE_ROWS rows. Not in double, where solver.h serves as a reference.
#pragma once

#include "physics/lanes/share.h"
#include "physics/lanes/solver/line_search.h"

#if LANE_ALONE

// ALONE_WIDTH: numbers of a vector; ALONE_UNROLLED: calls a function with the number of parts, of 1 to
// ALONE_PARTS, as a constant
#if defined(__AVX512F__)
#define ALONE_WIDTH 16
#define ALONE_UNROLLED(parts, function, ...)                                                                 \
    ((parts) == 2 ? function(__VA_ARGS__, 2) : function(__VA_ARGS__, 1))
#elif defined(__AVX__)
#define ALONE_WIDTH 8
#define ALONE_UNROLLED(parts, function, ...) LANE_UNROLLED_4(parts, function, __VA_ARGS__)
#else
#define ALONE_WIDTH 4
#define ALONE_UNROLLED(parts, function, ...) LANE_UNROLLED_8(parts, function, __VA_ARGS__)
#endif

enum {
    ALONE_SUM = 16,
    ALONE_SUMS = ALONE_SUM / ALONE_WIDTH, // vectors of a sum
    ALONE_DOFS = 32,
    ALONE_PARTS = ALONE_DOFS / ALONE_WIDTH, // vectors of the numbers of all dofs
    ALONE_ROWS = 320,
    ALONE_VECTORS = ALONE_ROWS / ALONE_WIDTH,
    ALONE_TILE = 8 // rows of H that are added up at once
};

// The weight of rows whose force is on an elliptic cone: they have a matrix of second derivatives.
#define ALONE_CURVED 1e-30f

typedef float alone_vector __attribute__((vector_size(ALONE_WIDTH * sizeof(float)), may_alias));
typedef int32_t alone_bits __attribute__((vector_size(ALONE_WIDTH * sizeof(float)), may_alias));

// Numbers of all dofs. Parts behind those that a world has are not used.
typedef struct alone_dofs {
    alone_vector part[ALONE_PARTS];
} alone_dofs;

typedef struct alone_sum {
    alone_vector term[ALONE_SUMS];
} alone_sum;

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
    int rows, vectors, nv;           // vectors of rows: of whole sums
    int parts;                       // of dofs
    lane_data cones;                 // jar, jv and force are those of this world, weight is `zone`
    float zone[ALONE_ROWS];          // where a cone's force is: as efc_weight of its first row
    int16_t cone[ALONE_ROWS / 3];    // first rows
    int cone_count;
} alone_world;

FN float *numbers(void *vectors)
{
    return (float *)vectors;
}

FN const float *numbers_in(const void *vectors)
{
    return (const float *)vectors;
}

FN float total(const alone_sum *all)
{
    const float *x = (const float *)all;
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
           m->opt.solver != ORR_SOLVER_CG;
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
        if (row->type == LANE_ROW_CONE) {
            numbers(w->D)[k] = 0.0f; // no force but that of the cone
        }
    }
    if (row->type == LANE_ROW_CONE) {
        w->zone[i] = 0.0f;
        w->cone[w->cone_count++] = (int16_t)i;
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
    w->vectors = (w->rows + ALONE_SUM - 1) / ALONE_SUM * ALONE_SUMS;
    w->nv = m->nv;
    w->parts = parts_of(parts_of(m->nv, ALONE_TILE) * ALONE_TILE, ALONE_WIDTH); // of whole tiles
    size_t room = (size_t)w->vectors * sizeof(alone_vector);
    for (int r = 0; r < w->vectors * ALONE_WIDTH; r++) {
        for (int h = 0; h < w->parts; h++) {
            w->J[r].part[h] = (alone_vector){0};
        }
    }
    for (int k = 0; k < w->nv; k++) {
        memset(w->columns[k], 0, room);
    }
    memset(w->low, 0, room);
    memset(w->high, 0, room);
    memset(w->moves, 0, room);
    memset(w->weight, 0, room);
    memset(w->weighed, 0, room);
    copy_numbers(w->D, d->efc_D, w->rows, room);
    copy_numbers(w->aref, d->efc_aref, w->rows, room);
    w->cone_count = 0;
    for (int g = 0; g < d->group_count; g++) {
        copy_group(d, w, d->group[g]);
    }
    if (w->cone_count > 0) {
        w->cones = *d;
        w->cones.efc_jar = numbers(w->jar);
        w->cones.efc_jv = numbers(w->jv);
        w->cones.efc_force = numbers(w->force);
        w->cones.efc_weight = w->zone;
    }
    copy_inertia(m, d, w);
    copy_numbers(&w->smooth, d->qfrc_smooth, w->nv, sizeof w->smooth);
}

// J^T force of `count` parts of the dofs from `first` on
FN void add_constraint_force(const alone_world *w, int first, alone_dofs *all, int count)
{
    alone_vector sum[4][2] = {0};
    for (int r = 0; r < ALONE_WIDTH * w->vectors; r += 4) {
        for (int k = 0; k < 4; k++) {
            float force = numbers_in(w->force)[r + k];
            for (int h = 0; h < count; h++) {
                sum[k][h] = sum[k][h] + force * w->J[r + k].part[first + h];
            }
        }
    }
    for (int h = 0; h < count; h++) {
        all->part[first + h] = (sum[0][h] + sum[1][h]) + (sum[2][h] + sum[3][h]);
    }
}

// J^T force
FN alone_dofs alone_constraint_force(const alone_world *w)
{
    alone_dofs all = {0};
    int h = 0;
    for (; h + 2 <= w->parts; h += 2) {
        add_constraint_force(w, h, &all, 2);
    }
    if (h < w->parts) {
        add_constraint_force(w, h, &all, 1);
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

FN void inertia_times_alone(const alone_world *w, const alone_dofs *x, alone_dofs *y, int parts)
{
    alone_dofs sum = {0};
    for (int k = 0; k < w->nv; k++) {
        for (int h = 0; h < parts; h++) {
            sum.part[h] = sum.part[h] + numbers_in(x)[k] * w->M[k].part[h];
        }
    }
    *y = sum;
}

FN float alone_dot(const alone_world *w, const alone_dofs *a, const alone_dofs *b)
{
    alone_sum sum = {0};
    for (int h = 0; h < w->parts; h++) {
        sum.term[h % ALONE_SUMS] += a->part[h] * b->part[h];
    }
    return total(&sum);
}

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

// Returns whether a row has another second derivative than before.
FN int find_forces(alone_world *w)
{
    alone_bits changed = {0};
    for (int v = 0; v < w->vectors; v++) {
        alone_vector weight;
        w->force[v] = alone_force(w, v, w->jar[v], &weight);
        changed |= (weight != w->weight[v]) & (w->D[v] > 0.0f);
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
