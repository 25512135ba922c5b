// One world alone, in models with blocks of dofs: groups whose Jacobian has whole runs of ORR_BLOCK_DOFS dofs
// that follow each other, as contacts of free bodies have. A run is one vector.
#pragma once

#include "physics/lanes/constraint_rows.h"
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

FN void run_group_times_basis(const lane_data *d, int i, reals x, reals result, int basis)
{
    const lane_row *row = &d->row[i];
    reals J = d->efc_J + row->J;
    int count = row->count, runs = count / ORR_BLOCK_DOFS;
    block_row along[ORR_BLOCK_DOFS] = {no_row(), no_row(), no_row(), no_row(), no_row(), no_row()};
    for (int run = 0; run < runs; run++) {
        int first = run * ORR_BLOCK_DOFS;
        block_row moving = load_run(x, row->dof[first]);
        for (int k = 0; k < basis; k++) {
            along[k] = add_product(along[k], load_entries(J + k * count + first), moving);
        }
    }
    const block_row sum = sum_rows(along);
    for (int k = 0; k < basis && basis == row->dim; k++) {
        result[i + k] = sum[k];
    }
    for (int k = 1; k < basis && basis != row->dim; k++) {
        real slide = row->friction[k - 1] * sum[k];
        result[i + 2 * k - 2] = sum[0] + slide;
        result[i + 2 * k - 1] = sum[0] - slide;
    }
}

// result = J x, for the rows of a group with runs
LANE_FN void run_group_times(const lane_data *d, int i, reals x, reals result)
{
    LANE_UNROLLED_BASIS(d->row[i].basis, run_group_times_basis, d, i, x, result);
}

// result += J^T force, of the runs from entry `first` to `end`; force: along the rows of the Jacobian
FN void add_run_forces(const lane_data *d, const lane_row *row, const real *force, reals result, int first,
                       int end, int basis)
{
    reals J = d->efc_J + row->J;
    for (; first < end; first += ORR_BLOCK_DOFS) {
        block_row sum = load_run(result, row->dof[first]);
        for (int k = 0; k < basis; k++) {
            sum = add_multiple(sum, force[k], load_entries(J + k * row->count + first));
        }
        store_run(result, row->dof[first], sum);
    }
}
#else
FN int has_runs(const lane_model *m, const lane_row *row)
{
    (void)m;
    (void)row;
    return 0;
}

FN void run_group_times(const lane_data *d, int i, reals x, reals result)
{
    group_times(d, i, x, result);
}

FN void add_run_forces(const lane_data *d, const lane_row *row, const real *force, reals result, int first,
                       int end, int basis)
{
    (void)d;
    (void)row;
    (void)force;
    (void)result;
    (void)first;
    (void)end;
    (void)basis;
}
#endif
