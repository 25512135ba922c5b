// One world alone, in models with blocks of dofs: groups whose Jacobian has whole runs of ORR_BLOCK_DOFS dofs
// that follow each other, as contacts of free bodies have. A run is one vector. What products need of such a
// group is written down in 36 bytes: its rows, dofs and friction are in four lines of the cache elsewhere.
#pragma once

#include "physics/lanes/constraint_rows.h"
#include "physics/lanes/share.h"
#include "physics/lanes/solver/block_row.h"

#if defined(ORR_SCALAR)

// Has a group one run, or two? Dofs are descending.
FN int has_runs(const lane_model *m, const lane_row *row)
{
    const int32_t *dof = row->dof;
    if (m->plan->block_count == 0 || (row->count != ORR_BLOCK_DOFS && row->count != 2 * ORR_BLOCK_DOFS)) {
        return 0;
    }
    int last = row->count - ORR_BLOCK_DOFS, apart = ORR_BLOCK_DOFS - 1;
    return dof[0] - dof[apart] == apart && dof[last] - dof[last + apart] == apart;
}

// Numbers of the run that begins with `dof`, in the order of the Jacobian, and zeros.
ROW_FN block_row load_run(reals x, int dof)
{
    reals from = x + dof - (ORR_BLOCK_DOFS - 1);
    const row_half low = *(const row_half_loose *)from, high = {from[5], from[4], R(0.0), R(0.0)};
    return __builtin_shufflevector(high, low, 0, 1, 7, 6, 5, 4, 2, 3);
}

// What load_run loads; nothing else is written.
ROW_FN void store_run(reals x, int dof, block_row a)
{
    reals to = x + dof - (ORR_BLOCK_DOFS - 1);
    *(row_half_loose *)to = __builtin_shufflevector(a, a, 5, 4, 3, 2);
    to[4] = a[1];
    to[5] = a[0];
}

FN void find_runs_of(const lane_model *m, const lane_data *d, int group)
{
    const lane_row *row = &d->row[d->group[group]];
    lane_runs *runs = &d->runs[group];
    runs->count = 0;
    if (!has_runs(m, row)) {
        return;
    }
    runs->J = row->J;
    runs->dof[0] = row->dof[0];
    runs->dof[1] = row->dof[row->count - ORR_BLOCK_DOFS];
    runs->count = (uint8_t)row->count;
    runs->type = row->type;
    runs->dim = row->dim;
    runs->basis = row->basis;
    for (int k = 0; k < row->basis - 1 && row->basis != row->dim; k++) {
        runs->friction[k] = row->friction[k];
    }
}

enum { GROUPS_OF_RUNS = 256, RUN_PARTS_LEAST = 4 };

LANE_FN void find_part_of_runs(const lane_model *m, lane_data *d, const void *context, int part, int worker)
{
    (void)context;
    (void)worker;
    for (int g = part * GROUPS_OF_RUNS; g < part_end(d->group_count, GROUPS_OF_RUNS, part); g++) {
        find_runs_of(m, d, g);
    }
}

// Of all groups of a world; of models without blocks of dofs, none.
LANE_FN void find_runs(const lane_model *m, lane_data *d)
{
    d->runs_known = m->plan->block_count > 0;
    if (d->runs_known) {
        share_parts(m, d, parts_of(d->group_count, GROUPS_OF_RUNS), RUN_PARTS_LEAST, find_part_of_runs, NULL);
    }
}

// Of a group, or NULL.
FN lane_runs *runs_of(const lane_data *d, int group)
{
    return d->runs_known && d->runs[group].count > 0 ? &d->runs[group] : NULL;
}

FN void run_group_times_basis(const lane_data *d, const lane_runs *g, int i, reals x, reals result, int basis)
{
    reals J = d->efc_J + g->J;
    int count = g->count, runs = count / ORR_BLOCK_DOFS;
    block_row along[ORR_BLOCK_DOFS] = {no_row(), no_row(), no_row(), no_row(), no_row(), no_row()};
    for (int run = 0; run < runs; run++) {
        block_row moving = load_run(x, g->dof[run]);
        for (int k = 0; k < basis; k++) {
            along[k] = add_product(along[k], load_entries(J + k * count + run * ORR_BLOCK_DOFS), moving);
        }
    }
    const block_row sum = sum_rows(along);
    for (int k = 0; k < basis && basis == g->dim; k++) {
        result[i + k] = sum[k];
    }
    for (int k = 1; k < basis && basis != g->dim; k++) {
        real slide = g->friction[k - 1] * sum[k];
        result[i + 2 * k - 2] = sum[0] + slide;
        result[i + 2 * k - 1] = sum[0] - slide;
    }
}

// result = J x, for the rows of a group at i
LANE_FN void run_group_times(const lane_data *d, const lane_runs *g, int i, reals x, reals result)
{
    LANE_UNROLLED_BASIS(g->basis, run_group_times_basis, d, g, i, x, result);
}

// result += J^T force, of the runs from entry `first` to `end`; force: along the rows of the Jacobian
FN void add_run_forces(const lane_data *d, const lane_runs *g, const real *force, reals result, int first,
                       int end, int basis)
{
    reals J = d->efc_J + g->J;
    for (; first < end; first += ORR_BLOCK_DOFS) {
        int dof = g->dof[first / ORR_BLOCK_DOFS];
        block_row sum = load_run(result, dof);
        for (int k = 0; k < basis; k++) {
            sum = add_multiple(sum, force[k], load_entries(J + k * g->count + first));
        }
        store_run(result, dof, sum);
    }
}
#else
FN void find_runs(const lane_model *m, const lane_data *d)
{
    (void)m;
    (void)d;
}

FN lane_runs *runs_of(const lane_data *d, int group)
{
    (void)d;
    (void)group;
    return 0;
}

FN void run_group_times(const lane_data *d, const lane_runs *g, int i, reals x, reals result)
{
    (void)g;
    group_times(d, i, x, result);
}

FN void add_run_forces(const lane_data *d, const lane_runs *g, const real *force, reals result, int first,
                       int end, int basis)
{
    (void)d;
    (void)g;
    (void)force;
    (void)result;
    (void)first;
    (void)end;
    (void)basis;
}
#endif

// What products with the Jacobian of a group take from its rows.
typedef struct lane_group {
    int32_t J, count;
    uint8_t type, dim, basis;
    reals friction;
} lane_group;

FN lane_group group_of_row(const lane_row *row)
{
    lane_group g = {row->J, row->count, row->type, row->dim, row->basis, row->friction};
    return g;
}

// Of a group, whose first row is i.
FN lane_group group_at(const lane_data *d, int group, int i)
{
#if defined(ORR_SCALAR)
    lane_runs *runs = runs_of(d, group);
    if (runs) {
        lane_group g = {runs->J, runs->count, runs->type, runs->dim, runs->basis, runs->friction};
        return g;
    }
#else
    (void)group;
#endif
    return group_of_row(&d->row[i]);
}
