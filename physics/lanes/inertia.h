// The inertia matrix M by the composite rigid body algorithm, and its factorisation M = L^T D L, which has no
// more entries than M because dofs are in tree order (Featherstone, Rigid Body Dynamics Algorithms, 2008,
// chapters 6 and 8).
//
// A row of M has entries for the ancestors of a dof in ascending order, and for the dof itself last; so the
// row of an ancestor is a prefix of the row of each of its descendants.
#pragma once

#include "physics/lanes/kinematics.h"

// Momentum of the dof's body and all below it when the dof alone has velocity 1.
FN spatial dof_momentum(const lane_model *m, const lane_data *d, int i)
{
    return inertia_times(load_inertia(d->crb, m->dof_bodyid[i]), load_spatial(d->cdof, i));
}

// M_ii without the armature of tendons.
FN real diagonal_inertia(const lane_model *m, const lane_data *d, int i, spatial momentum)
{
    return dot_spatial(load_spatial(d->cdof, i), momentum) + dof_armature(m, d, i) +
           R(m->dof_drive[LANE_DRIVE * i]);
}

LANE_FN void inertia_matrix(const lane_model *m, lane_data *d)
{
    for (int n = team_first(d); n < body_count(m, d); n += team_size(d)) {
        int i = nth_body(d, n);
        for (int k = 10 * i; k < 10 * i + 10; k++) {
            d->crb[k] = d->cinert[k];
        }
    }
    team_wait(d);
    add_to_parents(m, d, d->crb, 10, 1);
    team_wait(d);
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n);
        spatial momentum = dof_momentum(m, d, i);
        int adr = m->M_rowadr[i], last = m->M_rownnz[i] - 1;
        for (int k = 0; k < last; k++) {
            d->qM[adr + k] = dot_spatial(load_spatial(d->cdof, m->M_colind[adr + k]), momentum);
        }
        d->qM[adr + last] = diagonal_inertia(m, d, i, momentum);
    }
    team_wait(d);
}

// `width` entries of row k of the factor, from `first` on: the matrix minus the contributions of the dofs
// below, whose rows begin with the same columns. column: the k-th of L
FN void factor_entries(const lane_model *m, int k, reals matrix, reals LD, reals column, int first, int width)
{
    reals row = LD + m->M_rowadr[k] + first, from = matrix + m->M_rowadr[k] + first;
    real sum[LANE_IN_REGISTERS];
    for (int e = 0; e < width; e++) {
        sum[e] = from[e];
    }
    for (int below = m->plan->dof_end[k] - 1; below > k; below--) {
        reals lower = LD + m->M_rowadr[below] + first;
        for (int e = 0; e < width; e++) {
            sum[e] = fma_(-column[below], lower[e], sum[e]);
        }
    }
    for (int e = 0; e < width; e++) {
        row[e] = sum[e];
    }
}

// D L and D of M = L^T D L, by one thread, which has each sum in a register. column: nv numbers, for its use
LANE_FN void factorise_rows(const lane_model *m, const lane_data *d, reals matrix, reals LD, reals inverse,
                            reals column)
{
    for (int n = dof_count(m, d) - 1; n >= 0; n--) {
        int k = nth_dof(d, n), adr = m->M_rowadr[k], count = m->M_rownnz[k];
        for (int below = m->plan->dof_end[k] - 1; below > k; below--) {
            column[below] = LD[m->M_rowadr[below] + count - 1] * inverse[below];
        }
        for (int e = 0; e < count; e += LANE_IN_REGISTERS) {
            int width = count - e < LANE_IN_REGISTERS ? count - e : LANE_IN_REGISTERS;
            LANE_UNROLLED_8(width, factor_entries, m, k, matrix, LD, column, e);
        }
        inverse[k] = R(1.0) / LD[adr + count - 1];
    }
}

// The same by a team, which subtracts what a dof contributes from all rows above it at once.
LANE_FN void factorise_by_team(const lane_model *m, const lane_data *d, reals LD, reals inverse)
{
    for (int k = m->nv - 1; k >= 0; k--) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        real scale = R(1.0) / LD[adr + last];
        for (int c = last - 1 - team_first(d); c >= 0; c -= team_size(d)) {
            int above = m->M_rowadr[m->M_colind[adr + c]];
            real l = LD[adr + c] * scale;
            for (int e = 0; e <= c; e++) {
                LD[above + e] = fma_(-l, LD[adr + e], LD[above + e]);
            }
        }
        inverse[k] = scale;
        team_wait(d);
    }
}

// LD: L and D of the matrix, which may be in the same place. inverse: 1 / D
LANE_FN void factorise(const lane_model *m, const lane_data *d, reals matrix, reals LD, reals inverse)
{
    if (team_size(d) == 1) {
        factorise_rows(m, d, matrix, LD, inverse, d->column);
    } else {
        for (int e = team_first(d); e < m->nM; e += team_size(d)) {
            LD[e] = matrix[e];
        }
        team_wait(d);
        factorise_by_team(m, d, LD, inverse);
    }
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int k = nth_dof(d, n), adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        for (int c = 0; c < last; c++) {
            LD[adr + c] = LD[adr + c] * inverse[k];
        }
    }
    team_wait(d);
}

// Of so many dofs in line, at most, one row after the other is treated at once.
enum { LANE_IN_LINE = 3 };

// How many dofs from k on are each the parent of the next? The row of M of each begins with that of the last.
FN int dofs_in_line(const lane_model *m, int k)
{
    int width = 1;
    while (width < LANE_IN_LINE && k + width < m->nv && m->dof_parentid[k + width] == k + width - 1) {
        width++;
    }
    return width;
}

// The same of those that end with k.
FN int dofs_in_line_to(const lane_model *m, int k)
{
    int width = 1;
    while (width < LANE_IN_LINE && width <= k && m->dof_parentid[k - width + 1] == k - width) {
        width++;
    }
    return width;
}

// x = L^-T x, of the `width` dofs in line from k on
FN void subtract_rows(const lane_model *m, reals LD, reals x, int k, int width)
{
    int shared = m->M_rownnz[k] - 1;
    const int32_t *columns = m->M_colind + m->M_rowadr[k];
    real moved[LANE_IN_LINE];
    reals row[LANE_IN_LINE];
    for (int i = width - 1; i >= 0; i--) {
        row[i] = LD + m->M_rowadr[k + i];
        moved[i] = x[k + i];
        for (int below = width - 1; below > i; below--) {
            moved[i] = fma_(-row[below][shared + i], moved[below], moved[i]);
        }
        x[k + i] = moved[i];
    }
    for (int c = 0; c < shared; c++) {
        real sum = x[columns[c]];
        for (int i = width - 1; i >= 0; i--) {
            sum = fma_(-row[i][c], moved[i], sum);
        }
        x[columns[c]] = sum;
    }
}

// x = L^-1 D^-1 x, of the `width` dofs in line from k on
FN void substitute_rows(const lane_model *m, reals LD, reals inverse, reals x, int k, int width)
{
    int shared = m->M_rownnz[k] - 1;
    const int32_t *columns = m->M_colind + m->M_rowadr[k];
    real sum[LANE_IN_LINE];
    reals row[LANE_IN_LINE];
    for (int i = 0; i < width; i++) {
        row[i] = LD + m->M_rowadr[k + i];
        sum[i] = x[k + i] * inverse[k + i];
    }
    for (int c = 0; c < shared; c++) {
        real above = x[columns[c]];
        for (int i = 0; i < width; i++) {
            sum[i] = fma_(-row[i][c], above, sum[i]);
        }
    }
    for (int i = 0; i < width; i++) {
        for (int above = 0; above < i; above++) {
            sum[i] = fma_(-row[i][shared + above], sum[above], sum[i]);
        }
        x[k + i] = sum[i];
    }
}

// solve_trees by one thread
FN void solve_rows_in_line(const lane_model *m, const lane_data *d, reals LD, reals inverse, reals x,
                           int first, int end)
{
    for (int n = end - 1; n >= first;) {
        int k = nth_dof(d, n), width = dofs_in_line_to(m, k);
        LANE_UNROLLED_3(width, subtract_rows, m, LD, x, k + 1 - width);
        n -= width;
    }
    for (int n = first; n < end;) {
        int k = nth_dof(d, n), width = dofs_in_line(m, k);
        LANE_UNROLLED_3(width, substitute_rows, m, LD, inverse, x, k);
        n += width;
    }
}

// x: the right side on entry, the solution on return; of the dofs first ... end - 1 of those that are
// computed, which are those of whole kinematic trees
LANE_FN void solve_trees(const lane_model *m, const lane_data *d, reals LD, reals inverse, reals x, int first,
                         int end)
{
    if (team_size(d) == 1) {
        solve_rows_in_line(m, d, LD, inverse, x, first, end);
        return;
    }
    for (int n = end - 1; n >= first; n--) {
        int k = nth_dof(d, n), adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        for (int c = team_first(d); c < last; c += team_size(d)) {
            int j = m->M_colind[adr + c];
            x[j] = fma_(-LD[adr + c], x[k], x[j]);
        }
        team_wait(d);
    }
    // a team subtracts each x from all sums that contain it
    for (int k = first + team_first(d); k < end; k += team_size(d)) {
        x[k] = x[k] * inverse[k];
    }
    team_wait(d);
    for (int k = first; k < end; k++) {
        int last = m->M_rownnz[k] - 1;
        for (int below = k + 1 + team_first(d); below < m->plan->dof_end[k]; below += team_size(d)) {
            x[below] = fma_(-LD[m->M_rowadr[below] + last], x[k], x[below]);
        }
        team_wait(d);
    }
}

LANE_FN void solve_factorised(const lane_model *m, const lane_data *d, reals LD, reals inverse, reals x)
{
    solve_trees(m, d, LD, inverse, x, 0, dof_count(m, d));
}

// Is a pivot of the factor of a positive definite matrix below so many roundings of its diagonal entry?
FN mask pivot_lost(real pivot, real whole, uniform_real roundings)
{
    return not_(pivot > R(LANE_EPSILON) * roundings * whole); // also where it is not a number
}

LANE_FN void factorise_inertia(const lane_model *m, lane_data *d)
{
    factorise(m, d, d->qM, d->qLD, d->qLDiagInv);
    for (int n = 0; n < dof_count(m, d); n++) {
        int k = nth_dof(d, n), last = m->M_rowadr[k] + m->M_rownnz[k] - 1;
        d->inaccurate = or_(d->inaccurate, pivot_lost(d->qLD[last], d->qM[last], 100));
    }
}

// What `width` rows of M from k on, of dofs in line, and the columns above their diagonals contribute to y.
FN void inertia_rows_times(const lane_model *m, const lane_data *d, reals x, reals y, int k, int width)
{
    int shared = m->M_rownnz[k] - 1;
    const int32_t *columns = m->M_colind + m->M_rowadr[k];
    real sum[LANE_IN_LINE], moving[LANE_IN_LINE];
    reals row[LANE_IN_LINE];
    for (int i = 0; i < width; i++) {
        row[i] = d->qM + m->M_rowadr[k + i];
        moving[i] = x[k + i];
        sum[i] = row[i][shared + i] * moving[i];
    }
    for (int c = 0; c < shared; c++) {
        int j = columns[c];
        real along = x[j], to = y[j];
        for (int i = 0; i < width; i++) {
            real entry = row[i][c];
            sum[i] = fma_(entry, along, sum[i]);
            to = fma_(entry, moving[i], to);
        }
        y[j] = to;
    }
    for (int i = 0; i < width; i++) {
        for (int above = 0; above < i; above++) {
            real entry = row[i][shared + above];
            sum[i] = fma_(entry, moving[above], sum[i]);
            sum[above] = fma_(entry, moving[i], sum[above]);
        }
    }
    for (int i = 0; i < width; i++) {
        y[k + i] = sum[i];
    }
}

// y = M x, for the dofs of d->dof, which are those of whole trees, ascending
LANE_FN void inertia_matrix_times(const lane_model *m, const lane_data *d, reals x, reals y)
{
    if (team_size(d) == 1) {
        for (int n = 0; n < d->dof_count;) {
            int k = d->dof[n], width = dofs_in_line(m, k);
            LANE_UNROLLED_3(width, inertia_rows_times, m, d, x, y, k);
            n += width;
        }
        return;
    }
    // the same sums in the same order, each by one member: its row, then its column
    for (int k = team_first(d); k < m->nv; k += team_size(d)) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        real sum = d->qM[adr + last] * x[k];
        for (int c = 0; c < last; c++) {
            sum = fma_(d->qM[adr + c], x[m->M_colind[adr + c]], sum);
        }
        for (int below = k + 1; below < m->plan->dof_end[k]; below++) {
            sum = fma_(d->qM[m->M_rowadr[below] + last], x[below], sum);
        }
        y[k] = sum;
    }
    team_wait(d);
}
