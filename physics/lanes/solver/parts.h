// A large island in parts, which threads divide (lanes/share.h): ranges of its groups of rows, and of its
// kinematic trees with their dofs and blocks. A part is a copy of lane_data in which the ranges are narrowed:
// functions that work on an island work on a part of it, too. What rows do to dofs is added up by the parts
// of the dofs, in the order of the rows.
#pragma once

#include "physics/lanes/share.h"
#include "physics/lanes/solver/split.h"
#include "physics/lanes/solver/ties.h"
#include "physics/lanes/solver/unilateral.h"

#if !defined(__CUDACC__)

// Smaller parts have more rows that act on two of them, and take no longer than it takes to begin one on
// another thread.
enum { GROUPS_OF_PART = 768 };

// Is a block all of its kinematic tree?
FN int is_tree(const orr_plan *plan, int block)
{
    return plan->block_tree[block] == block &&
           (block + 1 == plan->block_count || plan->block_tree[block + 1] == block + 1);
}

FN int tree_of_dof(const lane_model *m, int dof)
{
    return m->plan->block_tree[m->plan->dof_block[dof]];
}

// Into how many parts an island is divided; 1: it has too few rows.
FN int choose_parts(const lane_data *d)
{
    int parts = d->group_count / GROUPS_OF_PART / 2 * 2; // as many for each of two threads
    parts = parts < LANE_PARTS ? parts : LANE_PARTS;
    return parts > 1 ? parts : 1;
}

// The first of the island's trees that is of a part.
FN int first_tree(int trees, int parts, int part)
{
    return (int)((int64_t)trees * part / parts);
}

// Puts trees that are near each other into the same part, by halving them again and again; the order within a
// part stays.
LANE_FN void sort_trees(const lane_model *m, const lane_data *d, int32_t *tree, int trees, int parts)
{
    int waiting[2][LANE_PARTS], open = 1; // ranges of parts
    waiting[0][0] = 0;
    waiting[1][0] = parts;
    while (open > 0) {
        int from = waiting[0][--open], to = waiting[1][open], middle = (from + to) / 2;
        int first = first_tree(trees, parts, from), count = first_tree(trees, parts, to) - first;
        if (middle == from) {
            sort_numbers(tree + first, count);
            continue;
        }
        if (count > 1) {
            split_blocks(m, d, tree + first, count, first_tree(trees, parts, middle) - first,
                         widest_block_axis(m, d, tree + first, count));
        }
        waiting[0][open] = from;
        waiting[1][open++] = middle;
        waiting[0][open] = middle;
        waiting[1][open++] = to;
    }
}

// Divides the trees of a large island into parts and sorts its dofs accordingly; tree_part: of each tree's
// first block. Before the pattern of H is found, whose blocks are in the order of the dofs.
LANE_FN void divide_trees(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    int parts = choose_parts(d), trees = 0;
    d->parts = d->island_parts = 1;
    d->part_number = 0;
    if (parts == 1) {
        return;
    }
    for (int n = 0; n < d->dof_count; n += block_size(m, plan->dof_block[d->dof[n]])) {
        int block = plan->dof_block[d->dof[n]];
        if (plan->block_tree[block] == block) {
            d->block_order[trees++] = block;
        }
    }
    sort_trees(m, d, d->block_order, trees, parts);
    for (int p = 0, n = 0, t = 0, blocks = 0; p <= parts; p++) {
        d->island_part[p].dof = n;
        d->island_part[p].block = blocks;
        for (; p < parts && t < first_tree(trees, parts, p + 1); t++) {
            int block = d->block_order[t];
            d->tree_part[block] = p;
            for (; block < plan->block_count && plan->block_tree[block] == d->block_order[t];
                 block++, blocks++) {
                for (int k = plan->block_first[block]; k < plan->block_first[block + 1]; k++) {
                    d->island_dofs[n++] = k;
                }
            }
        }
    }
    d->island_parts = parts;
}

FN int part_of_dof(const lane_model *m, const lane_data *d, int dof)
{
    return d->tree_part[tree_of_dof(m, dof)];
}

// The entry behind those of the part that begin with `first`.
FN int touch_end(const lane_model *m, const lane_data *d, const lane_row *row, int first)
{
    int part = part_of_dof(m, d, row->dof[first]), end = run_end(m, row, first);
    while (end < row->count && part_of_dof(m, d, row->dof[end]) == part) {
        end = run_end(m, row, end);
    }
    return end;
}

// Is a part touched by entries before `end`?
FN int touched_before(const lane_model *m, const lane_data *d, const lane_row *row, int end, int part)
{
    for (int e = 0; e < end; e++) {
        if (part_of_dof(m, d, row->dof[e]) == part) {
            return 1;
        }
    }
    return 0;
}

// What the groups of a tie touch: counted for each part, or written down.
LANE_FN void visit_touch(lane_data *d, int part, int tie, int first, int end, int again, int write)
{
    int32_t *at = &d->island_part[part].touch;
    int from = d->tie[tie].group, groups = tie_end(d, tie) - from;
    for (int k = 0; k < groups && write; k++) {
        lane_touch touch = {from + k, d->group[from + k], first, end, again};
        d->touch[*at + k] = touch;
    }
    *at += groups;
}

LANE_FN void visit_touches(const lane_model *m, lane_data *d, int write)
{
    for (int t = 0; t < d->tie_count; t++) {
        const lane_tie *tie = &d->tie[t];
        if (tie->blocks == 1) {
            visit_touch(d, d->tree_part[m->plan->block_tree[tie->block[0]]], t, 0, tie->count, 0, write);
            continue;
        }
        const lane_row *row = &d->row[d->group[tie->group]];
        for (int first = 0, end, n = 0; first < row->count; first = end, n++) {
            int part = part_of_dof(m, d, row->dof[first]);
            end = touch_end(m, d, row, first);
            visit_touch(d, part, t, first, end, n > 1 && touched_before(m, d, row, first, part), write);
        }
    }
}

// Does each part add up what all rows do to its dofs? One thread alone goes through the rows once, for all
// parts: to each dof and block the same is added in the same order.
FN int parts_have_touches(const lane_data *d)
{
    return d->island_parts > 1 && d->threads != NULL;
}

// Lists the groups that touch each part, ascending, for threads. Returns 0 where there is no room.
LANE_FN int find_touches(const lane_model *m, lane_data *d, int parts)
{
    lane_island_part *part = d->island_part;
    for (int p = 0; p <= parts; p++) {
        part[p].touch = 0;
    }
    visit_touches(m, d, 0);
    int sum = 0;
    for (int p = 0; p <= parts; p++) {
        int count = part[p].touch;
        part[p].touch = sum;
        sum += count;
    }
    if (sum > touch_room(m)) {
        return 0;
    }
    if (!parts_have_touches(d)) {
        return 1;
    }
    visit_touches(m, d, 1); // moves each beginning to the next
    for (int p = parts; p > 0; p--) {
        part[p].touch = part[p - 1].touch;
    }
    part[0].touch = 0;
    return 1;
}

// The places of a part's blocks: those of the last part are the first.
FN void find_places(const lane_data *d, lane_island_part *part)
{
    part->place_first = d->order_count - part[1].block;
    part->place_end = d->order_count - part->block;
}

// Gives each place of other parts that the blocks of a part couple with a place in `spill`, in their order.
LANE_FN void find_spills(lane_data *d, lane_island_part *part)
{
    int first = d->between_first[part->place_first], end = d->between_first[part->place_end];
    int count = 0;
    int32_t *place = d->spill_place + part->spill, *spill = d->block_mark;
    for (int j = part->place_end; j < d->order_count; j++) {
        spill[j] = -1;
    }
    for (int e = first; e < end; e++) {
        int to = d->between_place[e];
        if (to >= part->place_end && spill[to] < 0) {
            spill[to] = 0;
            place[count++] = to;
        }
    }
    sort_numbers(place, count);
    for (int i = 0; i < count; i++) {
        spill[place[i]] = part->spill + i;
    }
    for (int e = first; e < end; e++) {
        int to = d->between_place[e];
        d->between_spill[e] = to >= part->place_end ? spill[to] : -1;
    }
    part[1].spill = part->spill + count;
}

// Divides the rows of an island whose trees are divided; after its pattern is found.
LANE_FN void divide_rows(const lane_model *m, lane_data *d)
{
    int parts = d->island_parts;
    if (parts == 1 || !find_touches(m, d, parts)) {
        d->island_parts = 1;
        return;
    }
    d->parts = parts;
    for (int p = 0; p <= parts; p++) {
        lane_island_part *part = &d->island_part[p];
        part->group = (int32_t)((int64_t)d->group_count * p / parts);
        part->row = p < parts ? d->group[part->group] : d->row_count;
    }
    d->island_part[0].spill = 0;
    for (int p = 0; p < parts && d->trees_only; p++) {
        find_places(d, &d->island_part[p]);
        if (d->between_known) {
            find_spills(d, &d->island_part[p]);
        }
    }
}

// A part as an island of its own.
LANE_FN void view_part(const lane_data *d, int p, lane_data *v)
{
    const lane_island_part *part = &d->island_part[p];
    *v = *d;
    v->parts = 1;
    v->part_number = p;
    v->group = d->group + part->group;
    v->group_first = part->group;
    v->group_count = part[1].group - part->group;
    v->row_first = part->row;
    v->row_count = part[1].row;
    int first = d->unilateral_first > v->row_first ? d->unilateral_first : v->row_first;
    first = first < v->row_count ? first : v->row_count;
    v->unilateral_first = v->row_count - (v->row_count - first) / LANE_BLOCK_ROW * LANE_BLOCK_ROW;
    v->dof = d->dof + part->dof;
    v->dof_count = part[1].dof - part->dof;
    v->touched_first = part->touch;
    v->touched_end = part[1].touch;
    if (d->trees_only) {
        v->place_first = part->place_first;
        v->place_end = part->place_end;
    }
}

// What is done to a part; `scale` and arrays are arguments of some. It leaves sums in island_part.
typedef struct lane_task {
    void (*run)(const lane_model *m, lane_data *part, const struct lane_task *task);
    reals x, result;
    real scale;
} lane_task;

LANE_FN void run_task(const lane_model *m, lane_data *d, const void *context, int part, int worker)
{
    const lane_task *task = (const lane_task *)context;
    lane_data v;
    (void)worker;
    view_part(d, part, &v);
    task->run(m, &v, task);
}

// Of the whole island, if it is not divided.
LANE_FN void run_on_parts(const lane_model *m, lane_data *d, const lane_task *task)
{
    if (d->parts > 1) {
        share_parts(m, d, d->parts, 2, run_task, task);
    } else {
        task->run(m, d, task);
    }
}

FN real *part_sums(const lane_data *part)
{
    return part->island_part[part->part_number].sum;
}

FN void leave_slope(const lane_data *part, lane_slope slope)
{
    real *sum = part_sums(part);
    sum[0] = slope.first;
    sum[1] = slope.second;
    sum[2] = slope.size;
}

// The sum of what the parts have left.
FN real sum_of_parts(const lane_data *d, int k)
{
    real sum = d->island_part[0].sum[k];
    for (int p = 1; p < d->parts; p++) {
        sum = sum + d->island_part[p].sum[k];
    }
    return sum;
}
#endif
