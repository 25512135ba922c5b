// Newton's direction with second derivatives H in blocks of dofs, for an island (solver/islands.h): H = U^T
// U with blocks of U where H and elimination have entries. The order of elimination is found by nested
// dissection (George, "Nested dissection of a regular finite element mesh", 1973): the bodies are halved in
// space, and those on the border, which couple the halves, come last. Where U would have too many entries,
// only couplings inside kinematic trees are factorised, and conjugate gradients do the rest.
//
// A block has the dofs of plan->block_first, the last one first, so that the columns of a row of the
// Jacobian, which are descending, are contiguous in it. Blocks with fewer dofs have ones on the diagonal of
// H.
#pragma once

#include "physics/lanes/solver/solver.h"

#if !defined(__CUDACC__)

// Products of blocks per block of dofs that a factor may take; in double it is needed more accurately.
#if defined(ORR_SCALAR_DOUBLE)
enum { BLOCK_WORK = 4000 };
#else
enum { BLOCK_WORK = 150 };
#endif
enum {
    BLOCKS_UNORDERED = 8, // fewer are eliminated leaf by leaf
    CONJUGATE_STEPS = 200 // most steps of conjugate gradients for a direction
};

// ---- which blocks are coupled ----

// Shell sort with Knuth's gaps.
FN void sort_numbers(int32_t *number, int count)
{
    int gap = 1;
    while (gap < count / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (int k = gap; k < count; k++) {
            int32_t here = number[k];
            int at = k;
            for (; at >= gap && number[at - gap] > here; at -= gap) {
                number[at] = number[at - gap];
            }
            number[at] = here;
        }
    }
}

// Counts an edge between two blocks, or writes it down.
FN void add_edge(const lane_model *m, lane_data *d, int a, int b, int write)
{
    const int32_t *tree = m->plan->block_tree;
    if (a == b || (d->trees_only && tree[a] != tree[b])) {
        return;
    }
    if (write) {
        d->edge[d->edge_end[a]] = b;
        d->edge[d->edge_end[b]] = a;
    }
    d->edge_end[a]++;
    d->edge_end[b]++;
}

// Edges of the inertia matrix and of the groups' Jacobians; some are visited more than once.
LANE_FN void visit_edges(const lane_model *m, lane_data *d, int write)
{
    const int32_t *block = m->plan->dof_block;
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n], last = -1;
        for (int c = 0; c < m->M_rownnz[k]; c++) {
            int other = block[m->M_colind[m->M_rowadr[k] + c]];
            if (other != last) {
                add_edge(m, d, block[k], other, write);
            }
            last = other;
        }
    }
    const int32_t *last = NULL;
    for (int g = 0; g < d->group_count; g++) {
        const lane_row *row = &d->row[d->group[g]];
        for (int a = 0; a < row->count && row->dof != last; a++) {
            if (a > 0 && block[row->dof[a]] == block[row->dof[a - 1]]) {
                continue;
            }
            for (int b = a + 1; b < row->count; b++) {
                if (block[row->dof[b]] != block[row->dof[b - 1]]) {
                    add_edge(m, d, block[row->dof[a]], block[row->dof[b]], write);
                }
            }
        }
        last = row->dof;
    }
}

// Turns counts into where each begins; returns their sum.
FN int begin_from_counts(int32_t *count, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int here = count[i];
        count[i] = sum;
        sum += here;
    }
    return sum;
}

// The blocks of the island, in block_order; the neighbours of each, ascending, in d->edge.
LANE_FN void find_edges(const lane_model *m, lane_data *d)
{
    const int32_t *block = m->plan->dof_block;
    d->order_count = 0;
    for (int n = d->dof_count - 1; n >= 0; n--) {
        int b = block[d->dof[n]];
        if (d->order_count == 0 || d->block_order[d->order_count - 1] != b) {
            d->block_order[d->order_count++] = b;
        }
    }
    for (int n = 0; n < d->order_count; n++) {
        d->edge_end[d->block_order[n]] = 0;
    }
    visit_edges(m, d, 0);
    int64_t sum = 0;
    for (int n = 0; n < d->order_count; n++) {
        int b = d->block_order[n];
        d->edge_first[b] = (int32_t)sum;
        sum += d->edge_end[b];
        d->edge_end[b] = d->edge_first[b];
        if (sum > 2 * (int64_t)m->plan->block_capacity) {
            d->trees_only = 1;
            find_edges(m, d);
            return;
        }
    }
    visit_edges(m, d, 1);
    for (int n = 0; n < d->order_count; n++) {
        int b = d->block_order[n], first = d->edge_first[b], end = first;
        sort_numbers(d->edge + first, d->edge_end[b] - first);
        for (int e = first; e < d->edge_end[b]; e++) {
            if (end == first || d->edge[end - 1] != d->edge[e]) {
                d->edge[end++] = d->edge[e];
            }
        }
        d->edge_end[b] = end;
    }
}

// ---- the order of elimination ----

FN float block_position(const lane_model *m, const lane_data *d, int block, int axis)
{
    real at = d->xipos[3 * m->dof_bodyid[m->plan->block_first[block]] + axis];
#if defined(ORR_SCALAR)
    return (float)at;
#else
    return at[0];
#endif
}

// Hoare's selection: `half` blocks before the others along the axis.
LANE_FN void split_blocks(const lane_model *m, const lane_data *d, int32_t *order, int count, int half,
                          int axis)
{
    int left = 0, right = count - 1;
    while (left < right) {
        float pivot = block_position(m, d, order[half], axis);
        int i = left, j = right;
        while (i <= j) {
            while (block_position(m, d, order[i], axis) < pivot) {
                i++;
            }
            while (block_position(m, d, order[j], axis) > pivot) {
                j--;
            }
            if (i <= j) {
                int32_t block = order[i];
                order[i++] = order[j];
                order[j--] = block;
            }
        }
        left = j < half ? i : left;
        right = i > half ? j : right;
    }
}

LANE_FN int widest_block_axis(const lane_model *m, const lane_data *d, const int32_t *order, int count)
{
    float widest = -1.0f;
    int best = 0;
    for (int axis = 0; axis < 3; axis++) {
        float low = block_position(m, d, order[0], axis), high = low;
        for (int n = 1; n < count; n++) {
            float at = block_position(m, d, order[n], axis);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        if (high - low > widest) {
            widest = high - low;
            best = axis;
        }
    }
    return best;
}

// Is a block coupled with one at the places first ... end - 1?
FN int meets_places(const lane_data *d, int block, int first, int end)
{
    for (int e = d->edge_first[block]; e < d->edge_end[block]; e++) {
        int at = d->block_at[d->edge[e]];
        if (at >= first && at < end) {
            return 1;
        }
    }
    return 0;
}

// Halves the blocks at the places first ... first + count - 1: a part, one that it is not coupled with, and
// the border. Returns how many the first two have.
LANE_FN void halve_blocks(const lane_model *m, lane_data *d, int first, int count, int part[2])
{
    int32_t *order = d->block_order + first;
    int half = count / 2, inner = 0, border = 0;
    split_blocks(m, d, order, count, half, widest_block_axis(m, d, order, count));
    for (int n = 0; n < count; n++) {
        d->block_at[order[n]] = first + n;
    }
    for (int n = 0; n < half; n++) {
        int block = order[n];
        if (meets_places(d, block, first + half, first + count)) {
            d->block_scratch[border++] = block;
        } else {
            order[inner++] = block;
        }
    }
    memmove(order + inner, order + half, (size_t)(count - half) * sizeof *order);
    memcpy(order + count - border, d->block_scratch, (size_t)border * sizeof *order);
    part[0] = inner;
    part[1] = count - half;
}

LANE_FN void order_blocks(const lane_model *m, lane_data *d)
{
    int waiting[2][64], open = 0;
    waiting[0][open] = 0;
    waiting[1][open++] = d->order_count;
    while (open > 0) {
        int first = waiting[0][--open], count = waiting[1][open], part[2];
        if (count > BLOCKS_UNORDERED && open < 62) {
            halve_blocks(m, d, first, count, part);
            waiting[0][open] = first;
            waiting[1][open++] = part[0];
            waiting[0][open] = first + part[0];
            waiting[1][open++] = part[0] > 0 ? part[1] : 0; // all of a half on the border: no part is left
        }
    }
    for (int n = 0; n < d->order_count; n++) {
        d->block_at[d->block_order[n]] = n;
    }
}

// ---- the pattern of the factor ----

// Adds a place to row j of U, once.
FN void add_fill(lane_data *d, int j, int place, int *count)
{
    if (place > j && d->block_mark[place] != j) {
        d->block_mark[place] = j;
        d->fill_place[(*count)++] = place;
    }
}

// Finds the blocks of U: of each row the places of its columns, ascending, itself first. A row has those of
// H, and those of the rows whose first column it is. Returns 0 when they are too many.
LANE_FN int fill_blocks(const lane_model *m, lane_data *d)
{
    int count = 0;
    int64_t work = 0;
    int32_t *child = d->block_scratch, *sibling = d->block_sibling;
    for (int j = 0; j < d->order_count; j++) {
        child[j] = d->block_mark[j] = -1;
    }
    for (int j = 0; j < d->order_count; j++) {
        int block = d->block_order[j], first = count;
        if (count + d->order_count > m->plan->block_capacity) {
            return 0;
        }
        d->fill_first[j] = first;
        d->fill_place[count++] = j;
        for (int e = d->edge_first[block]; e < d->edge_end[block]; e++) {
            add_fill(d, j, d->block_at[d->edge[e]], &count);
        }
        for (int row = child[j]; row >= 0; row = sibling[row]) {
            for (int e = d->fill_first[row] + 1; e < d->fill_first[row + 1]; e++) {
                add_fill(d, j, d->fill_place[e], &count);
            }
        }
        sort_numbers(d->fill_place + first, count - first);
        d->fill_first[j + 1] = count;
        work += (int64_t)(count - first) * (count - first) / 2;
        if (count > first + 1) {
            int parent = d->fill_place[first + 1];
            sibling[j] = child[parent];
            child[parent] = j;
        }
    }
    return d->trees_only || work <= (int64_t)BLOCK_WORK * d->order_count;
}

LANE_FN void find_block_pattern(const lane_model *m, lane_data *d)
{
    d->trees_only = 0;
    find_edges(m, d);
    order_blocks(m, d);
    if (!fill_blocks(m, d)) {
        d->trees_only = 1;
        find_edges(m, d);
        order_blocks(m, d);
        fill_blocks(m, d);
    }
}

// ---- the factor ----

// The block of U at two places, row <= column; NULL: it has none there.
FN reals block_of_factor(const lane_data *d, int row, int column)
{
    int first = d->fill_first[row], end = d->fill_first[row + 1];
    while (first < end) {
        int middle = (first + end) / 2, place = d->fill_place[middle];
        if (place == column) {
            return d->factor + LANE_BLOCK_SIZE * middle;
        }
        first = place < column ? middle + 1 : first;
        end = place < column ? end : middle;
    }
    return NULL;
}

FN int place_of_dof(const lane_model *m, const lane_data *d, int dof)
{
    return d->block_at[m->plan->dof_block[dof]];
}

// The row of a dof in its block.
FN int row_in_block(const lane_model *m, int dof)
{
    return m->plan->block_first[m->plan->dof_block[dof] + 1] - 1 - dof;
}

LANE_FN void add_inertia_blocks(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < d->fill_first[d->order_count] * LANE_BLOCK_SIZE; i++) {
        d->factor[i] = R(0.0);
    }
    for (int j = 0; j < d->order_count; j++) {
        int block = d->block_order[j], size = m->plan->block_first[block + 1] - m->plan->block_first[block];
        for (int k = size; k < ORR_BLOCK_DOFS; k++) {
            d->factor[LANE_BLOCK_SIZE * d->fill_first[j] + (LANE_BLOCK_ROW + 1) * k] = R(1.0);
        }
    }
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n], place = place_of_dof(m, d, k), row = row_in_block(m, k), other_place = -1;
        reals block = NULL;
        for (int c = 0; c < m->M_rownnz[k]; c++) {
            int adr = m->M_rowadr[k] + c, other = m->M_colind[adr], column = row_in_block(m, other);
            if (place_of_dof(m, d, other) != other_place) {
                other_place = place_of_dof(m, d, other);
                block = other_place < place ? block_of_factor(d, other_place, place)
                                            : block_of_factor(d, place, other_place);
            }
            block[other_place < place ? LANE_BLOCK_ROW * column + row : LANE_BLOCK_ROW * row + column] =
                d->qM[adr];
            if (other_place == place) {
                block[LANE_BLOCK_ROW * column + row] = d->qM[adr];
            }
        }
    }
}

// Entries of a group's Jacobian that are of one block: first ... end - 1.
typedef struct lane_run {
    int first, end, place, row; // row: of the first entry, in the block
} lane_run;

FN lane_run run_from(const lane_model *m, const lane_data *d, const lane_row *group, int first)
{
    const int32_t *dof = group->dof;
    lane_run run = {first, first + 1, place_of_dof(m, d, dof[first]), row_in_block(m, dof[first])};
    while (run.end < group->count && m->plan->dof_block[dof[run.end]] == m->plan->dof_block[dof[first]]) {
        run.end++;
    }
    return run;
}

FN void add_group_block(const lane_model *m, lane_data *d, const lane_row *group, real hessian[6][6],
                        lane_run row, lane_run column, int basis)
{
    reals J = d->efc_J + group->J;
    int count = group->count;
    reals block = block_of_factor(d, row.place, column.place);
    if (!block) { // of two trees, which are not factorised together
        return;
    }
    for (int a = row.first; a < row.end; a++) {
        real part[6];
        for (int k = 0; k < basis; k++) {
            part[k] = hessian[k][0] * J[a];
            for (int l = 1; l < basis; l++) {
                part[k] = fma_(hessian[k][l], J[l * count + a], part[k]);
            }
        }
        reals to = block + LANE_BLOCK_ROW * row_in_block(m, group->dof[a]);
        for (int b = column.first; b < column.end; b++) {
            int at = row_in_block(m, group->dof[b]);
            real sum = to[at];
            for (int k = 0; k < basis; k++) {
                sum = fma_(part[k], J[k * count + b], sum);
            }
            to[at] = sum;
        }
    }
}

FN void add_group_blocks_basis(const lane_model *m, lane_data *d, const lane_row *group, real hessian[6][6],
                               int basis)
{
    for (int a = 0; a < group->count;) {
        lane_run first = run_from(m, d, group, a);
        for (int b = a; b < group->count;) {
            lane_run second = run_from(m, d, group, b);
            int before = first.place <= second.place;
            add_group_block(m, d, group, hessian, before ? first : second, before ? second : first, basis);
            b = second.end;
        }
        a = first.end;
    }
}

// H += J^T hessian J of a group
FN void add_group_blocks(const lane_model *m, lane_data *d, const lane_row *group, real hessian[6][6])
{
    switch (group->basis) {
    case 1:
        add_group_blocks_basis(m, d, group, hessian, 1);
        break;
    case 3:
        add_group_blocks_basis(m, d, group, hessian, 3);
        break;
    case 4:
        add_group_blocks_basis(m, d, group, hessian, 4);
        break;
    default:
        add_group_blocks_basis(m, d, group, hessian, 6);
    }
}

// A block of the diagonal, upper triangle in place; inverse: 1 / its diagonal.
LANE_FN void factorise_block(reals block, reals inverse)
{
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        reals row = block + LANE_BLOCK_ROW * c;
        real scale = R(1.0) / sqrt_(max_(row[c], R(LANE_TINY)));
        inverse[c] = scale;
        for (int k = 0; k < LANE_BLOCK_ROW; k++) {
            row[k] = row[k] * scale;
        }
        for (int r = c + 1; r < ORR_BLOCK_DOFS; r++) {
            real share = -row[r];
            for (int k = 0; k < LANE_BLOCK_ROW; k++) {
                row[(r - c) * LANE_BLOCK_ROW + k] = fma_(share, row[k], row[(r - c) * LANE_BLOCK_ROW + k]);
            }
        }
    }
}

// block = diagonal^-T block
LANE_FN void divide_block(reals diagonal, reals inverse, reals block)
{
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        real row[LANE_BLOCK_ROW];
        for (int k = 0; k < LANE_BLOCK_ROW; k++) {
            row[k] = block[LANE_BLOCK_ROW * c + k];
        }
        for (int r = 0; r < c; r++) {
            real share = -diagonal[LANE_BLOCK_ROW * r + c];
            for (int k = 0; k < LANE_BLOCK_ROW; k++) {
                row[k] = fma_(share, block[LANE_BLOCK_ROW * r + k], row[k]);
            }
        }
        for (int k = 0; k < LANE_BLOCK_ROW; k++) {
            block[LANE_BLOCK_ROW * c + k] = row[k] * inverse[c];
        }
    }
}

// to -= a^T b
LANE_FN void subtract_product(reals to, reals a, reals b)
{
    for (int r = 0; r < ORR_BLOCK_DOFS; r++) {
        real row[LANE_BLOCK_ROW];
        for (int k = 0; k < LANE_BLOCK_ROW; k++) {
            row[k] = to[LANE_BLOCK_ROW * r + k];
        }
        for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
            real share = -a[LANE_BLOCK_ROW * c + r];
            for (int k = 0; k < LANE_BLOCK_ROW; k++) {
                row[k] = fma_(share, b[LANE_BLOCK_ROW * c + k], row[k]);
            }
        }
        for (int k = 0; k < LANE_BLOCK_ROW; k++) {
            to[LANE_BLOCK_ROW * r + k] = row[k];
        }
    }
}

LANE_FN void factorise_blocks(lane_data *d)
{
    for (int j = 0; j < d->order_count; j++) {
        int first = d->fill_first[j], end = d->fill_first[j + 1];
        reals diagonal = d->factor + LANE_BLOCK_SIZE * first, inverse = d->block_inverse + ORR_BLOCK_DOFS * j;
        factorise_block(diagonal, inverse);
        for (int e = first + 1; e < end; e++) {
            divide_block(diagonal, inverse, d->factor + LANE_BLOCK_SIZE * e);
        }
        for (int e = first + 1; e < end; e++) {
            int at =
                d->fill_first[d->fill_place[e]]; // the row's columns include all those of row j behind it
            for (int f = e; f < end; f++) {
                while (d->fill_place[at] != d->fill_place[f]) {
                    at++;
                }
                subtract_product(d->factor + LANE_BLOCK_SIZE * at, d->factor + LANE_BLOCK_SIZE * e,
                                 d->factor + LANE_BLOCK_SIZE * f);
            }
        }
    }
}

// x = U^-1 U^-T x
LANE_FN void substitute_blocks(const lane_model *m, const lane_data *d, reals x)
{
    reals y = d->block_x;
    for (int j = 0; j < d->order_count; j++) {
        int block = d->block_order[j], end = m->plan->block_first[block + 1];
        for (int k = 0; k < LANE_BLOCK_ROW; k++) {
            y[LANE_BLOCK_ROW * j + k] = k < end - m->plan->block_first[block] ? x[end - 1 - k] : R(0.0);
        }
    }
    for (int j = 0; j < d->order_count; j++) {
        int first = d->fill_first[j];
        reals diagonal = d->factor + LANE_BLOCK_SIZE * first, inverse = d->block_inverse + ORR_BLOCK_DOFS * j;
        reals here = y + LANE_BLOCK_ROW * j;
        for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
            here[c] = here[c] * inverse[c];
            for (int k = c + 1; k < ORR_BLOCK_DOFS; k++) {
                here[k] = fma_(-diagonal[LANE_BLOCK_ROW * c + k], here[c], here[k]);
            }
        }
        for (int e = first + 1; e < d->fill_first[j + 1]; e++) {
            reals block = d->factor + LANE_BLOCK_SIZE * e, there = y + LANE_BLOCK_ROW * d->fill_place[e];
            for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
                for (int k = 0; k < LANE_BLOCK_ROW; k++) {
                    there[k] = fma_(-block[LANE_BLOCK_ROW * c + k], here[c], there[k]);
                }
            }
        }
    }
    for (int j = d->order_count - 1; j >= 0; j--) {
        int first = d->fill_first[j];
        reals diagonal = d->factor + LANE_BLOCK_SIZE * first, inverse = d->block_inverse + ORR_BLOCK_DOFS * j;
        reals here = y + LANE_BLOCK_ROW * j;
        for (int e = first + 1; e < d->fill_first[j + 1]; e++) {
            reals block = d->factor + LANE_BLOCK_SIZE * e, there = y + LANE_BLOCK_ROW * d->fill_place[e];
            for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
                for (int k = 0; k < ORR_BLOCK_DOFS; k++) {
                    here[c] = fma_(-block[LANE_BLOCK_ROW * c + k], there[k], here[c]);
                }
            }
        }
        for (int c = ORR_BLOCK_DOFS - 1; c >= 0; c--) {
            for (int k = c + 1; k < ORR_BLOCK_DOFS; k++) {
                here[c] = fma_(-diagonal[LANE_BLOCK_ROW * c + k], here[k], here[c]);
            }
            here[c] = here[c] * inverse[c];
        }
        int block = d->block_order[j], end = m->plan->block_first[block + 1];
        for (int k = 0; k < end - m->plan->block_first[block]; k++) {
            x[end - 1 - k] = here[k];
        }
    }
}

// ---- the direction ----

// result = H x, by the rows; needs efc_jv
LANE_FN void hessian_times(const lane_model *m, lane_data *d, reals x, reals result)
{
    lane_data weighed = *d;
    weighed.efc_force = d->efc_jv;
    jacobian_times(d, x, d->efc_jv);
    for (int g = 0; g < d->group_count; g++) {
        int i = d->group[g];
        const lane_row *row = &d->row[i];
        if (row->type != LANE_ROW_CONE) {
            for (int k = 0; k < row->dim; k++) {
                d->efc_jv[i + k] = d->efc_jv[i + k] * d->efc_weight[i + k];
            }
            continue;
        }
        real hessian[6][6], along[6];
        group_hessian(d, i, hessian);
        load_cone(d, i, d->efc_jv, along);
        for (int k = 0; k < row->dim; k++) {
            real sum = R(0.0);
            for (int l = 0; l < row->dim; l++) {
                sum = fma_(hessian[k][l], along[l], sum);
            }
            d->efc_jv[i + k] = sum;
        }
    }
    constraint_force(m, &weighed, result);
    inertia_matrix_times(m, d, x, d->Mv);
    for (int n = 0; n < d->dof_count; n++) {
        result[d->dof[n]] = result[d->dof[n]] + d->Mv[d->dof[n]];
    }
}

// search = -H^-1 gradient by conjugate gradients, preconditioned with the factor of the trees (Hestenes and
// Stiefel).
LANE_FN void conjugate_blocks(const lane_model *m, lane_data *d)
{
    reals residual = d->work, scaled = residual + m->nv, direction = scaled + m->nv,
          curved = direction + m->nv;
    real before = R(0.0);
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n];
        d->search[k] = direction[k] = R(0.0);
        residual[k] = -d->gradient[k];
    }
    real enough = R(0.0);
    for (int step = 0; step < CONJUGATE_STEPS; step++) {
        real now = R(0.0), bend = R(0.0);
        for (int n = 0; n < d->dof_count; n++) {
            scaled[d->dof[n]] = residual[d->dof[n]];
        }
        substitute_blocks(m, d, scaled);
        for (int n = 0; n < d->dof_count; n++) {
            int k = d->dof[n];
            now = fma_(residual[k], scaled[k], now);
        }
        enough = step == 0 ? now * R(CONJUGATE_TOLERANCE) : enough;
        mask running = now > enough;
        if (!any(running)) {
            break;
        }
        real beta = sel(before > R(0.0), now / max_(before, R(LANE_TINY)), R(0.0));
        before = now;
        for (int n = 0; n < d->dof_count; n++) {
            int k = d->dof[n];
            direction[k] = fma_(beta, direction[k], scaled[k]);
        }
        hessian_times(m, d, direction, curved);
        for (int n = 0; n < d->dof_count; n++) {
            int k = d->dof[n];
            bend = fma_(direction[k], curved[k], bend);
        }
        real length = sel(running, now / max_(bend, R(LANE_TINY)), R(0.0));
        for (int n = 0; n < d->dof_count; n++) {
            int k = d->dof[n];
            d->search[k] = fma_(length, direction[k], d->search[k]);
            residual[k] = fma_(-length, curved[k], residual[k]);
        }
    }
}

LANE_FN void block_direction(const lane_model *m, lane_data *d)
{
    add_inertia_blocks(m, d);
    for (int g = 0; g < d->group_count; g++) {
        real hessian[6][6];
        if (group_hessian(d, d->group[g], hessian)) {
            add_group_blocks(m, d, &d->row[d->group[g]], hessian);
        }
    }
    factorise_blocks(d);
    if (d->trees_only) {
        conjugate_blocks(m, d);
        return;
    }
    for (int n = 0; n < d->dof_count; n++) {
        d->search[d->dof[n]] = -d->gradient[d->dof[n]];
    }
    substitute_blocks(m, d, d->search);
}
#endif
