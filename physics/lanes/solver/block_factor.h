// The second derivatives H of an island in blocks of dofs, and their factor U, H = U^T U.
//
// A block has the dofs of plan->block_first, the last one first, so that the columns of a row of the
// Jacobian, which are descending, are contiguous in it. Blocks with fewer dofs have ones on the diagonal of
// H.
#pragma once

#include "physics/lanes/solver/block_pattern.h"
#include "physics/lanes/solver/block_row.h"

#if !defined(__CUDACC__)

// Where a number is among ascending ones, or -1.
FN int find_number(const int32_t *number, int first, int end, int sought)
{
    while (first < end) {
        int middle = (first + end) / 2;
        if (number[middle] == sought) {
            return middle;
        }
        first = number[middle] < sought ? middle + 1 : first;
        end = number[middle] < sought ? end : middle;
    }
    return -1;
}

// Blocks of H inside trees, behind their factor, and those between trees.
FN reals blocks_of_trees(const lane_data *d)
{
    return d->factor + LANE_BLOCK_SIZE * d->fill_first[d->order_count];
}

FN reals blocks_between(const lane_data *d)
{
    return d->factor + 2 * LANE_BLOCK_SIZE * d->fill_first[d->order_count];
}

// The number of the block of U at two places, row <= column; else of that of H between two trees; -1: there
// is none.
FN int number_of_block(const lane_data *d, int row, int column)
{
    int at = row == column ? d->fill_first[row]
                           : find_number(d->fill_place, d->fill_first[row], d->fill_first[row + 1], column);
    if (at >= 0 || !d->between_known) {
        return at;
    }
    at = find_number(d->between_place, d->between_first[row], d->between_first[row + 1], column);
    return at >= 0 ? 2 * d->fill_first[d->order_count] + at : -1;
}

// The block itself, or NULL.
FN reals block_of_factor(const lane_data *d, int row, int column)
{
    int number = number_of_block(d, row, column);
    return number >= 0 ? d->factor + LANE_BLOCK_SIZE * number : NULL;
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

// Is a block a tree of one chain of ORR_BLOCK_DOFS dofs, as a free body's?
FN int is_chain(const lane_model *m, int block)
{
    int first = m->plan->block_first[block];
    return m->plan->block_first[block + 1] - first == ORR_BLOCK_DOFS && m->plan->block_tree[block] == block &&
           m->M_rownnz[first + ORR_BLOCK_DOFS - 1] == ORR_BLOCK_DOFS;
}

// Where the rows of a block are in M.
FN reals inertia_of_block(const lane_model *m, const lane_data *d, int place)
{
    return d->qM + m->M_rowadr[m->plan->block_first[d->block_order[place]]];
}

// Its block of M
FN void set_chain_inertia(const lane_model *m, lane_data *d, int place)
{
    int last = m->plan->block_first[d->block_order[place] + 1] - 1;
    reals block = d->factor + LANE_BLOCK_SIZE * d->fill_first[place];
    for (int r = 0; r < ORR_BLOCK_DOFS; r++) {
        reals row = d->qM + m->M_rowadr[last - r];
        for (int k = 0; k < ORR_BLOCK_DOFS - r; k++) {
            int c = ORR_BLOCK_DOFS - 1 - k;
            block[LANE_BLOCK_ROW * r + c] = block[LANE_BLOCK_ROW * c + r] = row[k];
        }
    }
}

// Is a row of blocks of this part of the island?
FN int is_of_part(const lane_data *d, int place)
{
    return place >= d->place_first && place < d->place_end;
}

// ---- which blocks have to be added up anew ----

// Of islands whose trees have one block each, once the solver has moved: most rows are as active as before.
FN int keeps_blocks(const lane_data *d)
{
    return d->weights_moved && d->trees_only && d->couples_begin &&
           d->fill_first[d->order_count] == d->order_count;
}

FN int is_stale(const lane_data *d, int place)
{
    return !d->blocks_kept || d->block_stale[place];
}

FN uint8_t *stale_between(const lane_data *d, const lane_couple *couple)
{
    return d->between_stale + couple->between - 2 * d->fill_first[d->order_count];
}

// What a part of an island adds up of a group that touches it: blocks on the diagonal, and their coupling.
typedef struct lane_wanted {
    int diagonal[2], between;
} lane_wanted;

FN lane_wanted wanted_of(const lane_data *d, const lane_couple *couple)
{
    lane_wanted wanted = {{0, 0}, 0};
    for (int n = 0; n < couple->blocks; n++) {
        wanted.diagonal[n] = is_of_part(d, couple->place[n]) && is_stale(d, couple->place[n]);
    }
    wanted.between =
        wanted.diagonal[0] && couple->between >= 0 && (!d->blocks_kept || *stale_between(d, couple));
    return wanted;
}

// The groups that touch a part of an island, or all: how they are numbered.
FN int first_visit(const lane_data *d)
{
    return parts_have_touches(d) ? d->touched_first : 0;
}

FN int visits_end(const lane_data *d)
{
    return parts_have_touches(d) ? d->touched_end : d->group_count;
}

FN const lane_couple *visited_couple(const lane_data *d, int n)
{
    return &d->couple[parts_have_touches(d) ? d->touch[n].group : n];
}

FN int visited_row(const lane_data *d, int n)
{
    return parts_have_touches(d) ? d->touch[n].row : d->group[n];
}

FN lane_group visited_group(const lane_data *d, int n)
{
    return parts_have_touches(d) ? group_at(d, d->touch[n].group, d->touch[n].row)
                                 : group_at(d, n, d->group[n]);
}

FN int visited_again(const lane_data *d, int n)
{
    return parts_have_touches(d) && d->touch[n].again;
}

// Finds the blocks of a part that rows have changed since they were added up.
LANE_FN void find_stale(const lane_data *d)
{
    int first = d->between_first[d->place_first], end = d->between_first[d->place_end];
    memset(d->block_stale + d->place_first, 0, (size_t)(d->place_end - d->place_first));
    memset(d->between_stale + first, 0, (size_t)(end - first));
    for (int n = first_visit(d); n < visits_end(d); n++) {
        if (!group_moved(d, visited_row(d, n), visited_group(d, n))) {
            continue;
        }
        const lane_couple *couple = visited_couple(d, n);
        for (int k = 0; k < couple->blocks; k++) {
            if (is_of_part(d, couple->place[k])) {
                d->block_stale[couple->place[k]] = 1;
            }
        }
        if (couple->between >= 0 && is_of_part(d, couple->place[0])) {
            *stale_between(d, couple) = 1;
        }
    }
}

// ---- what bodies add ----

LANE_FN void clear_blocks(reals blocks, int first, int end)
{
    for (int i = first * LANE_BLOCK_SIZE; i < end * LANE_BLOCK_SIZE; i++) {
        blocks[i] = R(0.0);
    }
}

LANE_FN void add_inertia_blocks(const lane_model *m, lane_data *d)
{
    if (d->between_known && !d->couples_begin) {
        clear_blocks(blocks_between(d), d->between_first[d->place_first], d->between_first[d->place_end]);
    }
    for (int j = d->place_first; j < d->place_end; j++) {
        int block = d->block_order[j], size = m->plan->block_first[block + 1] - m->plan->block_first[block];
        if (j + 8 < d->place_end) { // which are not beside each other in M
            __builtin_prefetch(inertia_of_block(m, d, j + 8));
            __builtin_prefetch((const char *)inertia_of_block(m, d, j + 8) + 64);
        }
        if (!is_stale(d, j)) {
            continue;
        }
        clear_blocks(d->factor, d->fill_first[j], d->fill_first[j + 1]);
        if (is_chain(m, block)) {
            set_chain_inertia(m, d, j);
        }
        for (int k = size; k < ORR_BLOCK_DOFS; k++) {
            d->factor[LANE_BLOCK_SIZE * d->fill_first[j] + (LANE_BLOCK_ROW + 1) * k] = R(1.0);
        }
    }
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n], place = place_of_dof(m, d, k), row = row_in_block(m, k);
        if (is_chain(m, m->plan->dof_block[k])) {
            n += ORR_BLOCK_DOFS - 1;
            continue;
        }
        if (!is_stale(d, place)) {
            continue;
        }
        int other_block = -1, other_place = -1;
        reals block = NULL;
        for (int c = 0; c < m->M_rownnz[k]; c++) {
            int adr = m->M_rowadr[k] + c, other = m->M_colind[adr], column = row_in_block(m, other);
            if (m->plan->dof_block[other] != other_block) {
                other_block = m->plan->dof_block[other];
                other_place = d->block_at[other_block];
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
    int first, end, place;
} lane_run;

FN lane_run run_from(const lane_model *m, const lane_data *d, const lane_row *group, int first)
{
    lane_run run = {first, run_end(m, group, first), place_of_dof(m, d, group->dof[first])};
    return run;
}

// block += J^T hessian J, of the entries `row` and `column`
FN void add_block_entries(const lane_model *m, const lane_data *d, const lane_row *group, real hessian[6][6],
                          lane_run row, lane_run column, int basis, reals block)
{
    reals J = d->efc_J + group->J;
    int count = group->count;
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

LANE_FN lane_couple find_couple(const lane_data *d, const lane_tie *tie)
{
    lane_couple couple = {{0, 0}, -1, 0, {0, 0}, 0};
    if (tie->blocks < 1 || tie->blocks > 2 || tie->count != ORR_BLOCK_DOFS * tie->blocks) {
        return couple;
    }
    for (int n = 0; n < tie->blocks; n++) {
        int place = d->block_at[tie->block[n]];
        int at = n == 1 && place > couple.place[0]; // the later is the column of the coupling
        couple.place[1] = couple.place[0];
        couple.first[1] = couple.first[0];
        couple.place[at] = place;
        couple.first[at] = (uint8_t)(ORR_BLOCK_DOFS * n);
    }
    couple.blocks = (uint8_t)tie->blocks;
    couple.between = couple.blocks == 2 ? number_of_block(d, couple.place[0], couple.place[1]) : -1;
    return couple;
}

// Of all groups of an island, once its pattern is known.
LANE_FN void find_couples(lane_data *d)
{
    d->couples_begin = d->between_known;
    for (int t = 0; t < d->tie_count; t++) {
        lane_couple couple = find_couple(d, &d->tie[t]);
        d->couples_begin &= couple.blocks > 0;
        for (int g = d->tie[t].group; g < tie_end(d, t); g++) {
            d->couple[g] = couple;
        }
    }
    if (!d->couples_begin) {
        return;
    }
    int32_t *begun = d->between_spill, before = 2 * d->fill_first[d->order_count];
    memset(begun, 0, (size_t)d->between_first[d->order_count] * sizeof *begun);
    for (int t = 0; t < d->tie_count; t++) {
        lane_couple *couple = &d->couple[d->tie[t].group];
        if (couple->between >= before) { // not in a tree
            couple->begins = !begun[couple->between - before];
            begun[couple->between - before] = 1;
        }
    }
}

// ---- what rows add ----

FN void load_block(reals block, block_row row[ORR_BLOCK_DOFS])
{
    for (int r = 0; r < ORR_BLOCK_DOFS; r++) {
        row[r] = load_row(block + LANE_BLOCK_ROW * r);
    }
}

FN void store_block(reals block, const block_row row[ORR_BLOCK_DOFS])
{
    for (int r = 0; r < ORR_BLOCK_DOFS; r++) {
        store_row(block + LANE_BLOCK_ROW * r, row[r]);
    }
}

// block += half^T J
FN void add_to_block(block_row block[ORR_BLOCK_DOFS], real half[6][LANE_BLOCK_ROW], const block_row J[6],
                     int basis)
{
    for (int a = 0; a < ORR_BLOCK_DOFS; a++) {
        for (int k = 0; k < basis; k++) {
            block[a] = add_multiple(block[a], half[k][a], J[k]);
        }
    }
}

// half = hessian J
FN void multiply_hessian(real hessian[6][6], const block_row J[6], int basis, real half[6][LANE_BLOCK_ROW])
{
    for (int k = 0; k < basis; k++) {
        block_row sum = multiple_of_row(J[0], hessian[k][0]);
        for (int l = 1; l < basis; l++) {
            sum = add_multiple(sum, hessian[k][l], J[l]);
        }
        store_row(half[k], sum);
    }
}

// Do two groups add the same entries of their Jacobians to the same blocks?
FN int same_couple(const lane_couple *a, const lane_couple *b)
{
    return a->blocks == b->blocks && a->place[0] == b->place[0] && a->place[1] == b->place[1] &&
           a->first[0] == b->first[0];
}

// Adds what groups that follow each other make of the same blocks, which stay in registers meanwhile: the
// contacts of two bodies. From visit n on; returns the visit behind them.
FN int add_run_basis(const lane_data *d, int n, int basis)
{
    const lane_couple *couple = visited_couple(d, n);
    lane_wanted wanted = wanted_of(d, couple);
    if (!wanted.diagonal[0] && !wanted.diagonal[1]) {
        return n + 1;
    }
    reals to[3] = {d->factor + LANE_BLOCK_SIZE * d->fill_first[couple->place[0]],
                   d->factor + LANE_BLOCK_SIZE * d->fill_first[couple->place[1]],
                   couple->between >= 0 ? d->factor + LANE_BLOCK_SIZE * couple->between : NULL};
    block_row block[3][ORR_BLOCK_DOFS];
    for (int k = 0; k < 3; k++) {
        if (k < 2 ? wanted.diagonal[k] : wanted.between && !couple->begins) {
            load_block(to[k], block[k]);
        } else {
            for (int r = 0; r < ORR_BLOCK_DOFS; r++) {
                block[k][r] = no_row();
            }
        }
    }
    for (; n < visits_end(d); n++) {
        int i = visited_row(d, n);
        const lane_group group = visited_group(d, n);
        real hessian[6][6], half[6][LANE_BLOCK_ROW];
        block_row J[2][6];
        if (parts_have_touches(d) && !d->blocks_kept) {
            fetch_touch(d, n);
        }
        if (group.basis != basis || !same_couple(visited_couple(d, n), couple)) {
            break;
        }
        if (visited_again(d, n) || !group_hessian_basis(d, i, group, hessian, basis)) {
            continue;
        }
        for (int at = wanted.diagonal[0] ? 0 : 1; at < couple->blocks; at++) {
            for (int k = 0; k < basis; k++) {
                J[at][k] = load_entries(d->efc_J + group.J + k * group.count + couple->first[at]);
            }
        }
        if (wanted.diagonal[0]) {
            multiply_hessian(hessian, J[0], basis, half);
            add_to_block(block[0], half, J[0], basis);
            if (wanted.between) {
                add_to_block(block[2], half, J[1], basis);
            }
        }
        if (wanted.diagonal[1]) {
            multiply_hessian(hessian, J[1], basis, half);
            add_to_block(block[1], half, J[1], basis);
        }
    }
    for (int k = 0; k < 3; k++) {
        if (k < 2 ? wanted.diagonal[k] : wanted.between) {
            store_block(to[k], block[k]);
        }
    }
    return n;
}

FN void add_group_blocks_basis(const lane_model *m, lane_data *d, const lane_row *group, real hessian[6][6],
                               int basis)
{
    for (int a = 0; a < group->count;) {
        lane_run first = run_from(m, d, group, a);
        for (int b = a; b < group->count;) {
            lane_run second = run_from(m, d, group, b);
            int before = first.place <= second.place;
            lane_run row = before ? first : second, column = before ? second : first;
            reals block = is_of_part(d, row.place) ? block_of_factor(d, row.place, column.place) : NULL;
            if (block) { // else of two trees, for which there is no room, or another part's
                add_block_entries(m, d, group, hessian, row, column, basis, block);
            }
            b = second.end;
        }
        a = first.end;
    }
}

// H += J^T hessian J of a visited group, and of those behind it that add to the same blocks. Returns the
// visit behind them.
FN int add_visits_basis(const lane_model *m, lane_data *d, int n, int basis)
{
    int i = visited_row(d, n);
    real hessian[6][6];
    if (visited_couple(d, n)->blocks > 0) {
        return add_run_basis(d, n, basis);
    }
    if (!visited_again(d, n) && group_hessian_basis(d, i, visited_group(d, n), hessian, basis)) {
        add_group_blocks_basis(m, d, &d->row[i], hessian, basis);
    }
    return n + 1;
}

LANE_FN int add_visits(const lane_model *m, lane_data *d, int n)
{
    return LANE_UNROLLED_BASIS(visited_group(d, n).basis, add_visits_basis, m, d, n);
}

// A block of the diagonal, upper triangle in place; inverse: 1 / its diagonal.
LANE_FN void factorise_block(reals block, reals inverse)
{
    block_row row[ORR_BLOCK_DOFS];
    for (int r = 0; r < ORR_BLOCK_DOFS; r++) {
        row[r] = load_row(block + LANE_BLOCK_ROW * r);
    }
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        reals stored = block + LANE_BLOCK_ROW * c;
        store_row(stored, row[c]);
        inverse[c] = R(1.0) / sqrt_(max_(stored[c], R(LANE_TINY)));
        row[c] = multiple_of_row(row[c], inverse[c]);
        store_row(stored, row[c]);
        for (int r = c + 1; r < ORR_BLOCK_DOFS; r++) {
            row[r] = add_multiple(row[r], -stored[r], row[c]);
        }
    }
}

// block = diagonal^-T block
LANE_FN void divide_block(reals diagonal, reals inverse, reals block)
{
    block_row row[ORR_BLOCK_DOFS];
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        row[c] = load_row(block + LANE_BLOCK_ROW * c);
    }
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        row[c] = multiple_of_row(row[c], inverse[c]);
        store_row(block + LANE_BLOCK_ROW * c, row[c]);
        for (int r = c + 1; r < ORR_BLOCK_DOFS; r++) {
            row[r] = add_multiple(row[r], -diagonal[LANE_BLOCK_ROW * c + r], row[c]);
        }
    }
}

// to -= a^T b
LANE_FN void subtract_product(reals to, reals a, reals b)
{
    block_row row[ORR_BLOCK_DOFS];
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        row[c] = load_row(b + LANE_BLOCK_ROW * c);
    }
    for (int r = 0; r < ORR_BLOCK_DOFS; r++) {
        block_row sum = load_row(to + LANE_BLOCK_ROW * r);
        for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
            sum = add_multiple(sum, -a[LANE_BLOCK_ROW * c + r], row[c]);
        }
        store_row(to + LANE_BLOCK_ROW * r, sum);
    }
}

LANE_FN void factorise_blocks(lane_data *d)
{
    for (int j = d->place_first; j < d->place_end; j++) {
        if (!is_stale(d, j)) {
            continue;
        }
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

// Numbers of dofs as rows of blocks, each followed by zeros.
LANE_FN void gather_rows(const lane_model *m, const lane_data *d, reals dofs, reals rows)
{
    for (int j = d->place_first; j < d->place_end; j++) {
        int block = d->block_order[j], end = m->plan->block_first[block + 1];
        for (int k = 0; k < LANE_BLOCK_ROW; k++) {
            rows[LANE_BLOCK_ROW * j + k] = k < end - m->plan->block_first[block] ? dofs[end - 1 - k] : R(0.0);
        }
    }
}

LANE_FN void scatter_rows(const lane_model *m, const lane_data *d, reals rows, reals dofs)
{
    for (int j = d->place_first; j < d->place_end; j++) {
        int block = d->block_order[j], end = m->plan->block_first[block + 1];
        for (int k = 0; k < end - m->plan->block_first[block]; k++) {
            dofs[end - 1 - k] = rows[LANE_BLOCK_ROW * j + k];
        }
    }
}

// here = diagonal^-T here
FN void divide_row(reals diagonal, reals inverse, reals here)
{
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        here[c] = here[c] * inverse[c];
        for (int k = c + 1; k < ORR_BLOCK_DOFS; k++) {
            here[k] = fma_(-diagonal[LANE_BLOCK_ROW * c + k], here[c], here[k]);
        }
    }
}

FN void multiply_with_inverse(reals inverse, reals here)
{
    block_row sum = no_row();
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        sum = add_multiple(sum, here[c], load_row(inverse + LANE_BLOCK_ROW * c));
    }
    store_row(here, sum);
}

// y = U^-T y, of rows; of trees of one block y = H^-1 y, by invert_trees
LANE_FN void substitute_forwards(const lane_model *m, const lane_data *d, reals y)
{
    for (int j = d->place_first; j < d->place_end; j++) {
        int first = d->fill_first[j];
        reals here = y + LANE_BLOCK_ROW * j;
        if (d->trees_only && is_tree(m->plan, d->block_order[j])) {
            multiply_with_inverse(d->factor + LANE_BLOCK_SIZE * first, here);
            continue;
        }
        divide_row(d->factor + LANE_BLOCK_SIZE * first, d->block_inverse + ORR_BLOCK_DOFS * j, here);
        for (int e = first + 1; e < d->fill_first[j + 1]; e++) {
            reals block = d->factor + LANE_BLOCK_SIZE * e, there = y + LANE_BLOCK_ROW * d->fill_place[e];
            block_row sum = load_row(there);
            for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
                sum = add_multiple(sum, -here[c], load_row(block + LANE_BLOCK_ROW * c));
            }
            store_row(there, sum);
        }
    }
}

// y = U^-1 y, of rows
LANE_FN void substitute_backwards(const lane_model *m, const lane_data *d, reals y)
{
    for (int j = d->place_end - 1; j >= d->place_first; j--) {
        if (d->trees_only && is_tree(m->plan, d->block_order[j])) {
            continue;
        }
        int first = d->fill_first[j];
        reals diagonal = d->factor + LANE_BLOCK_SIZE * first, inverse = d->block_inverse + ORR_BLOCK_DOFS * j;
        reals here = y + LANE_BLOCK_ROW * j;
        block_row known[ORR_BLOCK_DOFS]; // what is known of each row's equation, to be added up
        for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
            known[c] = no_row();
        }
        for (int e = first + 1; e < d->fill_first[j + 1]; e++) {
            reals block = d->factor + LANE_BLOCK_SIZE * e;
            block_row there = load_row(y + LANE_BLOCK_ROW * d->fill_place[e]);
            for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
                known[c] = add_product(known[c], load_row(block + LANE_BLOCK_ROW * c), there);
            }
        }
        for (int c = ORR_BLOCK_DOFS - 1; c >= 0; c--) {
            real left = here[c] - sum_row(known[c]);
            for (int k = c + 1; k < ORR_BLOCK_DOFS; k++) {
                left = fma_(-diagonal[LANE_BLOCK_ROW * c + k], here[k], left);
            }
            here[c] = left * inverse[c];
        }
    }
}

// Of trees of one block the inverse of H, in place of its factor: it is applied more often than made.
LANE_FN void invert_trees(const lane_model *m, lane_data *d)
{
    for (int j = d->place_first; j < d->place_end; j++) {
        if (!is_stale(d, j) || !is_tree(m->plan, d->block_order[j])) {
            continue;
        }
        reals diagonal = d->factor + LANE_BLOCK_SIZE * d->fill_first[j];
        real half[LANE_BLOCK_SIZE]; // U^-T
        for (int k = 0; k < LANE_BLOCK_SIZE; k++) {
            half[k] = R(k % (LANE_BLOCK_ROW + 1) == 0 ? 1.0 : 0.0);
        }
        divide_block(diagonal, d->block_inverse + ORR_BLOCK_DOFS * j, half);
        for (int r = 0; r < ORR_BLOCK_DOFS; r++) {
            block_row sum = no_row();
            for (int c = r; c < ORR_BLOCK_DOFS; c++) {
                sum = add_multiple(sum, half[LANE_BLOCK_ROW * c + r], load_row(half + LANE_BLOCK_ROW * c));
            }
            store_row(diagonal + LANE_BLOCK_ROW * r, sum);
        }
    }
}

// to = what the second derivatives inside trees make of `from`, of rows: after invert_trees
LANE_FN void precondition(const lane_model *m, const lane_data *d, reals from, reals to)
{
    for (int j = d->place_first; j < d->place_end; j++) {
        store_row(to + LANE_BLOCK_ROW * j, load_row(from + LANE_BLOCK_ROW * j));
    }
    substitute_forwards(m, d, to);
    substitute_backwards(m, d, to);
}
#endif
