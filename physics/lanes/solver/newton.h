// Newton's direction: the second derivatives H = M + J^T weight J, and their factor.
#pragma once

#include "physics/lanes/solver/along_search.h"
#include "physics/lanes/solver/row_forces.h"

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
// lanes. i: its first row
FN int group_hessian_basis(const lane_data *d, int i, lane_group g, real hessian[6][6], int basis)
{
    if (g.type == LANE_ROW_CONE) {
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
        real friction = g.friction[k - 1];
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
    return group_hessian_basis(d, i, group_of_row(&d->row[i]), hessian, d->row[i].basis);
}

// Has the second derivative of a group's cost changed since efc_jv had the weights of its rows?
FN int group_moved(const lane_data *d, int i, lane_group g)
{
    if (g.type == LANE_ROW_CONE) {
        return any(or_(d->efc_weight[i] < R(0.0), not_(d->efc_jv[i] == d->efc_weight[i])));
    }
    mask moved = nowhere();
    for (int k = i; k < i + g.dim; k++) {
        moved = or_(moved, not_(d->efc_jv[k] == d->efc_weight[k]));
    }
    return any(moved);
}

#if !defined(__CUDACC__)
// Of models with blocks of dofs (solver/block_direction.h): the pattern of H, and search = -H^-1 gradient.
LANE_FN void find_block_pattern(const lane_model *m, lane_data *d);
LANE_FN void find_couples(lane_data *d);
LANE_FN void block_direction(const lane_model *m, lane_data *d);
#endif

LANE_FN void find_pattern(const lane_model *m, lane_data *d)
{
#if !defined(__CUDACC__)
    if (m->plan->block_count > 0) {
        find_block_pattern(m, d);
        find_couples(d);
        return;
    }
#endif
    fill_pattern(m, d);
}

FN reals row_of_H(const lane_data *d, int k)
{
    return d->H + row_start(k);
}

// H += J^T hessian J in the rows of one or two dofs, from entry a on. Of two, both entries of a column are
// loaded before one is stored, so that they wait for each other less.
FN void add_hessian_rows(lane_data *d, const lane_row *row, real hessian[6][6], int a, int basis, int height)
{
    reals J = d->efc_J + row->J, H[2];
    int count = row->count;
    real part[2][6], sum[2];
    for (int i = 0; i < height; i++) {
        H[i] = row_of_H(d, row->dof[a + i]);
        for (int k = 0; k < basis; k++) {
            part[i][k] = hessian[k][0] * J[a + i];
            for (int l = 1; l < basis; l++) {
                part[i][k] = fma_(hessian[k][l], J[l * count + a + i], part[i][k]);
            }
        }
    }
    sum[0] = H[0][row->dof[a]];
    for (int k = 0; k < basis; k++) {
        sum[0] = fma_(part[0][k], J[k * count + a], sum[0]);
    }
    H[0][row->dof[a]] = sum[0];
    for (int b = a + 1; b < count; b++) {
        int column = row->dof[b];
        for (int i = 0; i < height; i++) {
            sum[i] = H[i][column];
            for (int k = 0; k < basis; k++) {
                sum[i] = fma_(part[i][k], J[k * count + b], sum[i]);
            }
        }
        for (int i = 0; i < height; i++) {
            H[i][column] = sum[i];
        }
    }
}

FN void add_group_hessian_basis(lane_data *d, const lane_row *row, real hessian[6][6], int basis)
{
    int a = 0;
    for (; a + 2 <= row->count && team_size(d) == 1; a += 2) {
        add_hessian_rows(d, row, hessian, a, basis, 2);
    }
    for (; a < row->count; a++) {
        if (team_owns(d, row->dof[a])) {
            add_hessian_rows(d, row, hessian, a, basis, 1);
        }
    }
}

// H += J^T hessian J of a group, in the rows of H that this member owns
FN void add_group_hessian(lane_data *d, const lane_row *row, real hessian[6][6])
{
    LANE_UNROLLED_BASIS(row->basis, add_group_hessian_basis, d, row, hessian);
}

// Has one of these lanes the group? Rows that a lane has not add nothing there.
FN int group_exists(const lane_data *d, int i, mask where)
{
    return any(and_(where, d->efc_D[i] > R(0.0)));
}

// H in the lanes of `where`, and qfrc_constraint = J^T efc_force in all: of a group both, while its Jacobian
// is in cache. Members of a team divide the rows of H, as they own dofs.
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
        d->qfrc_constraint[k] = R(0.0);
    }
    for (int g = 0; g < d->group_count; g++) {
        int i = d->group[g];
        real hessian[6][6];
        add_group_force(d, d->group_first + g, i, d->qfrc_constraint, 0, -1);
        if (group_exists(d, i, where) && group_hessian(d, i, hessian)) {
            add_group_hessian(d, &d->row[i], hessian);
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
    if (count > 0) {
        LANE_UNROLLED_3(count, eliminate, d, nv, k, scaled, strips);
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
    for (int c = width * team_first(d); c < count; c += width * team_size(d)) {
        int left = count - c < width ? count - c : width;
        LANE_UNROLLED_4(left, eliminate_in_place, m, d, k, columns + c);
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
// The last `width` entries of row k, of which the last is the pivot, and x[k]. Returns by what the others are
// to be scaled.
FN real reduce_last(const lane_model *m, lane_data *d, int k, ints columns, int width)
{
    real sum[LANE_IN_REGISTERS], right = d->search[k];
    reals row = row_of_H(d, k);
    eliminate(d, m->nv, k, columns, width, sum, &right);
    d->search[k] = right;
    real scale = take_pivot(m, d, k, sum[width - 1]);
    for (int c = 0; c < width - 1; c++) {
        row[columns[c]] = sum[c] * scale;
    }
    return scale;
}

// Row k of L and D, and x = L^-T x: the pivot first, so that entries are stored but once.
FN void reduce_row(const lane_model *m, lane_data *d, int k)
{
    ints columns = d->fill + k * m->nv;
    reals row = row_of_H(d, k);
    int width = (d->fill_count[k] - 1) % LANE_IN_REGISTERS + 1, rest = d->fill_count[k] - width;
    real scale = LANE_UNROLLED_8(width, reduce_last, m, d, k, columns + rest);
    for (int first = 0; first < rest; first += LANE_IN_REGISTERS) {
        real sum[LANE_IN_REGISTERS];
        eliminate(d, m->nv, k, columns + first, LANE_IN_REGISTERS, sum, 0);
        for (int c = 0; c < LANE_IN_REGISTERS; c++) {
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

// qfrc_constraint and the gradient, and search = -H^-1 gradient in the lanes of `where`, by H = L^T D L in
// place: L under the diagonal; D in Mv, 1 / D in work. Where rounding has left nothing of a pivot, its dof is
// decoupled from those above: any direction that descends will do.
LANE_FN void newton_direction(const lane_model *m, lane_data *d, mask where)
{
#if !defined(__CUDACC__)
    if (m->plan->block_count > 0) {
        constraint_force(m, d, d->qfrc_constraint);
        find_gradient(m, d);
        block_direction(m, d);
        return;
    }
#endif
    build_hessian(m, d, where);
    find_gradient(m, d);
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
