// Which blocks the second derivatives H of an island have and which their factor U, H = U^T U, and the order
// of elimination, found by nested dissection (George, "Nested dissection of a regular finite element mesh",
// 1973): the bodies are halved in space, and those on the border, which couple the halves, come last. Where U
// would have too many entries, it has those inside kinematic trees only, and those of H between trees are
// listed apart (solver/block_direction.h).
#pragma once

#include "physics/lanes/solver/solver.h"

#if !defined(__CUDACC__)

// Products of blocks per block of dofs that a factor may take: in float as many as conjugate gradients take
// time, in double, which needs more of their steps, as many as there can be time for.
#if defined(ORR_SCALAR_DOUBLE)
enum { BLOCK_WORK = 4000 };
#else
enum { BLOCK_WORK = 24 };
#endif
enum { BLOCKS_UNORDERED = 8 }; // fewer are eliminated leaf by leaf

// ---- which blocks are coupled ----

// Counts an edge between two blocks, or writes it down.
FN void add_edge(const lane_model *m, lane_data *d, int a, int b, int write)
{
    if (a == b || (d->edges_of_trees && m->plan->block_tree[a] != m->plan->block_tree[b])) {
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
        if (is_tree(m->plan, block[k])) { // M couples it with no other
            n += block_size(m, block[k]) - 1;
            continue;
        }
        for (int c = 0; c < m->M_rownnz[k]; c++) {
            int other = block[m->M_colind[m->M_rowadr[k] + c]];
            if (other != last) {
                add_edge(m, d, block[k], other, write);
            }
            last = other;
        }
    }
    for (int t = 0; t < d->tie_count; t++) {
        const lane_tie *tie = &d->tie[t];
        if (tie->blocks <= 2) {
            if (tie->blocks == 2) {
                add_edge(m, d, tie->block[0], tie->block[1], write);
            }
            continue;
        }
        const lane_row *row = &d->row[d->group[tie->group]];
        for (int a = 0, next; a < row->count; a = next) {
            next = run_end(m, row, a);
            for (int b = next; b < row->count; b = run_end(m, row, b)) {
                add_edge(m, d, block[row->dof[a]], block[row->dof[b]], write);
            }
        }
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

// The blocks of the island in block_order, leaves of trees first, and their places.
LANE_FN void list_blocks(const lane_model *m, lane_data *d)
{
    const int32_t *block = m->plan->dof_block;
    d->order_count = 0;
    for (int n = d->dof_count - 1; n >= 0; n--) {
        int b = block[d->dof[n]];
        if (d->order_count == 0 || d->block_order[d->order_count - 1] != b) {
            d->block_at[b] = d->order_count;
            d->block_order[d->order_count++] = b;
        }
    }
}

// The neighbours of each block, ascending, in d->edge; those in other trees too, if there is room for them.
LANE_FN void find_edges(const lane_model *m, lane_data *d)
{
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
            d->edges_of_trees = 1;
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

// Returns 0 where the borders of the halves alone would take more than `most` products in the factor.
LANE_FN int order_blocks(const lane_model *m, lane_data *d, int64_t most)
{
    int waiting[2][64], open = 0;
    int64_t work = 0;
    waiting[0][open] = 0;
    waiting[1][open++] = d->order_count;
    while (open > 0) {
        int first = waiting[0][--open], count = waiting[1][open], part[2];
        if (count > BLOCKS_UNORDERED && open < 62) {
            halve_blocks(m, d, first, count, part);
            int64_t border = count - part[0] - part[1];
            work += border * border * border / 6;
            if (work > most) {
                return 0;
            }
            waiting[0][open] = first;
            waiting[1][open++] = part[0];
            waiting[0][open] = first + part[0];
            waiting[1][open++] = part[0] > 0 ? part[1] : 0; // all of a half on the border: no part is left
        }
    }
    for (int n = 0; n < d->order_count; n++) {
        d->block_at[d->block_order[n]] = n;
    }
    return 1;
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
// H, and those of the rows whose first column it is. Returns 0 when they are too many, or take more than
// `most` products.
LANE_FN int fill_blocks(const lane_model *m, lane_data *d, int64_t most)
{
    int count = 0;
    int64_t work = 0;
    int32_t *child = d->block_scratch, *sibling = d->block_sibling;
    const int32_t *tree = m->plan->block_tree;
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
            if (!d->trees_only || tree[d->edge[e]] == tree[block]) {
                add_fill(d, j, d->block_at[d->edge[e]], &count);
            }
        }
        for (int row = child[j]; row >= 0; row = sibling[row]) {
            for (int e = d->fill_first[row] + 1; e < d->fill_first[row + 1]; e++) {
                add_fill(d, j, d->fill_place[e], &count);
            }
        }
        sort_numbers(d->fill_place + first, count - first);
        d->fill_first[j + 1] = count;
        work += (int64_t)(count - first) * (count - first) / 2;
        if (work > most && !d->trees_only) {
            return 0;
        }
        if (count > first + 1) {
            int parent = d->fill_place[first + 1];
            sibling[j] = child[parent];
            child[parent] = j;
        }
    }
    return 1;
}

// Finds the blocks of H that couple two trees: of each place the later places, ascending. Returns 0 when
// there is no room for them and for a copy of the others behind the factor.
LANE_FN int find_between(const lane_model *m, lane_data *d)
{
    const int32_t *tree = m->plan->block_tree;
    int room = m->plan->block_capacity - 2 * d->fill_first[d->order_count], count = 0;
    for (int j = 0; j < d->order_count; j++) {
        int block = d->block_order[j];
        d->between_first[j] = count;
        for (int e = d->edge_first[block]; e < d->edge_end[block]; e++) {
            int place = d->block_at[d->edge[e]];
            if (place < j || tree[d->edge[e]] == tree[block]) {
                continue;
            }
            if (count >= room) {
                return 0;
            }
            d->between_place[count++] = place;
        }
        sort_numbers(d->between_place + d->between_first[j], count - d->between_first[j]);
        d->between_first[j + 1] = count;
    }
    return 1;
}

// Puts the blocks of each part of a divided island in the order in which rows of contacts come to their trees
// (collision/mixed.h), so that rows that follow each other find theirs beside each other.
LANE_FN void order_parts(const lane_model *m, lane_data *d)
{
    if (!m->plan->pairs_mixed || d->island_parts == 1) {
        return;
    }
    for (int j = 0; j < d->order_count; j++) {
        int block = d->block_order[j];
        d->block_mark[block] = d->tree_rank[m->dof_treeid[m->plan->block_first[block]]];
    }
    for (int p = 0; p < d->island_parts; p++) {
        const lane_island_part *part = &d->island_part[p];
        sort_by(d->block_order + d->order_count - part[1].block, part[1].block - part->block, d->block_mark);
    }
    for (int j = 0; j < d->order_count; j++) {
        d->block_at[d->block_order[j]] = j;
    }
}

LANE_FN void find_block_pattern(const lane_model *m, lane_data *d)
{
    d->trees_only = d->between_known = d->edges_of_trees = 0;
    list_blocks(m, d);
    find_edges(m, d);
    d->place_first = 0;
    d->place_end = d->order_count;
    int64_t most = (int64_t)BLOCK_WORK * d->order_count;
    if (!d->edges_of_trees && order_blocks(m, d, most) && fill_blocks(m, d, most)) {
        return;
    }
    d->trees_only = 1;
    list_blocks(m, d);
    order_parts(m, d);
    fill_blocks(m, d, 0);
    d->between_known = !d->edges_of_trees && find_between(m, d);
}
#endif
