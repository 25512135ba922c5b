// One world alone in vectors of its dofs and rows (solver/alone.h): what it holds, how it is read, and
// products with its matrices.
//
// Vectors are those of the machine, since gcc compares wider ones number by number, through memory. Sums over
// rows and dofs are of ALONE_SUM numbers whatever the width, so that instruction sets give the same bits.
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
#endif
