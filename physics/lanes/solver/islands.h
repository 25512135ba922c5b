// Islands: kinematic trees that are joined by constraint rows, directly or through others. Each is solved
// by itself, with its own number of iterations; a tree without rows has no solver. On the CPU, for models
// with many dofs (plan->block_count): the rows of an island are moved beside each other, and the solver
// works on a part of the world.
#pragma once

#include "physics/lanes/share.h"
#include "physics/lanes/solver/block_direction.h"

#if !defined(__CUDACC__)

// The first block of the island of a tree's block: links lead towards lower blocks, and are shortened.
FN int island_of(int32_t *link, int block)
{
    while (link[block] != block) {
        link[block] = link[link[block]];
        block = link[block];
    }
    return block;
}

FN void join_blocks(const lane_model *m, int32_t *link, int one, int other)
{
    int a = island_of(link, m->plan->block_tree[one]), b = island_of(link, m->plan->block_tree[other]);
    link[a > b ? a : b] = a > b ? b : a;
}

// Joins trees; block_island: of each tree's first block, the island's first block, which is the lowest.
LANE_FN void join_trees(const lane_model *m, lane_data *d)
{
    int32_t *link = d->block_island;
    for (int n = 0; n < block_count(m, d); n++) {
        link[nth_block(d, n)] = nth_block(d, n);
    }
    for (int t = 0; t < d->tie_count; t++) {
        const lane_tie *tie = &d->tie[t];
        if (tie->blocks == 2) {
            join_blocks(m, link, tie->block[0], tie->block[1]);
            continue;
        }
        const lane_row *row = &d->row[d->group[tie->group]];
        for (int e = 0, next; tie->blocks > 2 && e < row->count; e = next) {
            next = run_end(m, row, e);
            join_blocks(m, link, tie->block[0], m->plan->dof_block[row->dof[e]]);
        }
    }
}

// Numbers the islands that have rows, in the order of their first blocks: block_island of every block, or -1.
// Islands have no rows, dofs and the like yet.
LANE_FN void number_islands(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    int32_t *island = d->block_island, *number = d->block_at; // of the island that begins with a block
    for (int n = 0; n < block_count(m, d); n++) {
        number[nth_block(d, n)] = -1;
    }
    for (int t = 0; t < d->tie_count; t++) {
        if (d->tie[t].blocks > 0) {
            number[island_of(island, plan->block_tree[d->tie[t].block[0]])] = 0;
        }
    }
    d->island_count = 0;
    for (int n = 0; n < block_count(m, d); n++) {
        int block = nth_block(d, n);
        if (number[block] == 0) {
            number[block] = d->island_count++;
        }
    }
    d->island_count = d->island_count > 0 ? d->island_count : 1; // rows without dofs
    for (int32_t **count = (int32_t *[]){d->island_row, d->island_dof, d->island_group, d->island_tie, NULL};
         *count; count++) {
        memset(*count, 0, (size_t)d->island_count * sizeof **count);
    }
    for (int n = 0; n < block_count(m, d); n++) { // links lead downwards: those below are done
        int block = nth_block(d, n), tree = plan->block_tree[block];
        island[block] = tree < block || island[block] < block ? island[tree < block ? tree : island[block]]
                                                              : number[block];
    }
}

// Sorts dofs by island; those without one are solved here. Afterwards island_dof has the end of each.
LANE_FN void sort_dofs(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    for (int n = 0; n < block_count(m, d); n++) {
        int block = nth_block(d, n), island = d->block_island[block], first = plan->block_first[block];
        if (island >= 0) {
            d->island_dof[island] += plan->block_first[block + 1] - first;
            continue;
        }
        for (int k = first; k < plan->block_first[block + 1]; k++) {
            d->qacc[k] = d->qacc_smooth[k];
            d->qfrc_constraint[k] = R(0.0);
        }
    }
    begin_from_counts(d->island_dof, d->island_count);
    for (int n = 0; n < block_count(m, d); n++) {
        int block = nth_block(d, n), island = d->block_island[block];
        for (int k = plan->block_first[block]; k < plan->block_first[block + 1] && island >= 0; k++) {
            d->dof_sorted[d->island_dof[island]++] = k;
        }
    }
}

FN int island_of_tie(const lane_data *d, int tie)
{
    return d->tie[tie].blocks > 0 ? d->block_island[d->tie[tie].block[0]] : 0;
}

// The row behind those of a tie.
FN int tie_row_end(const lane_data *d, int tie)
{
    int end = tie_end(d, tie);
    return end < d->group_count ? d->group[end] : d->row_count;
}

LANE_FN void place_row(lane_data *d, int i, int at)
{
    d->row_sorted[at] = d->row[i];
    d->row_place[i] = at;
    d->efc_jar[at] = d->efc_pos[i];
    d->efc_force[at] = d->efc_D[i];
    d->efc_weight[at] = d->efc_aref[i];
    d->efc_jv[at] = d->efc_diagonal[i];
}

// Sorts ties, and copies the rows that have another place among the sorted ones, and those behind them.
// Returns the first of them, and in `kept` how many groups are before it.
LANE_FN int place_ties(lane_data *d, int *kept)
{
    int moved = d->row_count;
    *kept = d->group_count;
    for (int t = 0; t < d->tie_count; t++) {
        int island = island_of_tie(d, t), i = d->group[d->tie[t].group], end = tie_row_end(d, t);
        int32_t *place = &d->island_row[island], *group = &d->island_group[island];
        if (*place != i && moved == d->row_count) {
            moved = i;
            *kept = d->tie[t].group;
        }
        for (int k = i; k < end && moved < d->row_count; k++) {
            place_row(d, k, *place + k - i);
        }
        *place += end - i;
        lane_tie *sorted = &d->tie_sorted[d->island_tie[island]++];
        *sorted = d->tie[t];
        sorted->group = *group;
        *group += tie_end(d, t) - d->tie[t].group;
    }
    lane_tie *sorted = d->tie_sorted;
    d->tie_sorted = d->tie;
    d->tie = sorted;
    return moved;
}

// Takes the sorted rows from `moved` on.
LANE_FN void take_sorted_rows(lane_data *d, int moved)
{
    if (moved < d->row_count / 2) {
        lane_row *sorted = d->row_sorted;
        memcpy(sorted, d->row, (size_t)moved * sizeof *sorted);
        d->row_sorted = d->row;
        d->row = sorted;
    } else {
        memcpy(d->row + moved, d->row_sorted + moved, (size_t)(d->row_count - moved) * sizeof *d->row);
    }
    for (int i = moved; i < d->row_count; i++) {
        d->efc_pos[i] = d->efc_jar[i];
        d->efc_D[i] = d->efc_force[i];
        d->efc_aref[i] = d->efc_weight[i];
        d->efc_diagonal[i] = d->efc_jv[i];
    }
}

// Moves the rows of each island beside each other; their order stays, and where a few bodies lie beside a
// heap so do most of its rows. Rows without dofs are the first island's.
LANE_FN void move_rows_to_islands(lane_data *d)
{
    for (int t = 0; t < d->tie_count; t++) {
        int island = island_of_tie(d, t);
        d->island_row[island] += tie_row_end(d, t) - d->group[d->tie[t].group];
        d->island_group[island] += tie_end(d, t) - d->tie[t].group;
        d->island_tie[island]++;
    }
    begin_from_counts(d->island_row, d->island_count);
    begin_from_counts(d->island_group, d->island_count);
    begin_from_counts(d->island_tie, d->island_count);
    int kept, moved = place_ties(d, &kept);
    take_sorted_rows(d, moved);
    d->group_count = kept;
    for (int i = moved; i < d->row_count; i += d->row[i].dim) {
        d->group[d->group_count++] = i;
    }
    for (int i = 0; i < d->contact_count; i++) {
        if (d->contact[i].row >= moved) {
            d->contact[i].row = d->row_place[d->contact[i].row];
        }
    }
}

// What is of an island, of all of them: where its last ends.
FN int island_start(const int32_t *end, int island)
{
    return island > 0 ? end[island - 1] : 0;
}

// Afterwards island_row, island_group and island_tie have the ends of each island; its groups in row_place,
// and in its ties, are numbered from its first row and group on.
LANE_FN void sort_rows(lane_data *d)
{
    if (d->island_count > 1) {
        move_rows_to_islands(d);
    } else { // they are beside each other
        d->island_row[0] = d->row_count;
        d->island_group[0] = d->group_count;
        d->island_tie[0] = d->tie_count;
    }
    for (int island = 0; island < d->island_count; island++) {
        int row = island_start(d->island_row, island), group = island_start(d->island_group, island);
        for (int g = group; g < d->island_group[island]; g++) {
            d->row_place[g] = d->group[g] - row;
        }
        for (int t = island_start(d->island_tie, island); t < d->island_tie[island]; t++) {
            d->tie[t].group -= group;
        }
    }
}

// The part of a world that is an island: its rows and dofs.
LANE_FN lane_data island_part(lane_data *d, int island)
{
    int row = island_start(d->island_row, island), dof = island_start(d->island_dof, island);
    int group = island_start(d->island_group, island), tie = island_start(d->island_tie, island);
    lane_data part = *d;
    part.row = d->row + row;
    part.efc_pos = d->efc_pos + row;
    part.efc_D = d->efc_D + row;
    part.efc_diagonal = d->efc_diagonal + row;
    part.efc_aref = d->efc_aref + row;
    part.efc_jar = d->efc_jar + row;
    part.efc_magnitude = d->efc_magnitude + row;
    part.efc_jv = d->efc_jv + row;
    part.efc_force = d->efc_force + row;
    part.efc_weight = d->efc_weight + row;
    part.row_count = d->island_row[island] - row;
    part.dof = part.island_dofs = d->dof_sorted + dof;
    part.dof_count = d->island_dof[island] - dof;
    part.group = d->row_place + group;
    part.group_count = d->island_group[island] - group;
    part.runs = d->runs + group;
    part.tie = d->tie + tie;
    part.tie_count = d->island_tie[island] - tie;
    return part;
}

// Small islands are divided among threads where they have so many rows together.
enum { ISLANDS_OF_PART = 8, SHARED_ROWS_LEAST = 2048 };

LANE_FN int is_large(const lane_data *part)
{
    return choose_parts(part) > 1;
}

// The memory that the solver uses for one island after the other.
LANE_FN void use_memory_of(lane_data *part, const lane_data *own)
{
    part->couple = own->couple;
    part->block_order = own->block_order;
    part->edge = own->edge;
    part->fill_first = own->fill_first;
    part->fill_place = own->fill_place;
    part->between_first = own->between_first;
    part->between_place = own->between_place;
    part->block_stale = own->block_stale;
    part->between_stale = own->between_stale;
    part->block_mark = own->block_mark;
    part->block_scratch = own->block_scratch;
    part->block_sibling = own->block_sibling;
    part->island_part = own->island_part;
    part->factor = own->factor;
    part->block_inverse = own->block_inverse;
    part->block_x = own->block_x;
    part->block_y = own->block_y;
    part->block_residual = own->block_residual;
    part->block_along = own->block_along;
    part->block_found = own->block_found;
}

LANE_FN void solve_some_islands(const lane_model *m, lane_data *d, const void *context, int number,
                                int worker)
{
    (void)context;
    lane_data own;
    bind_worker(m, d, worker, &own);
    int first = number * ISLANDS_OF_PART, end = part_end(d->island_count, ISLANDS_OF_PART, number);
    for (int island = first; island < end; island++) {
        lane_data part = island_part(d, island);
        if (is_large(&part)) {
            continue;
        }
        part.iterations = own.outcome->iterations;
        part.inaccurate = own.outcome->inaccurate;
        use_memory_of(&part, &own);
        solve_rows(m, &part);
        own.outcome->iterations = part.iterations;
        own.outcome->inaccurate = part.inaccurate;
    }
}

LANE_FN void share_islands(const lane_model *m, lane_data *d, int parts)
{
    int workers = orr_jobs_workers(d->threads->jobs);
    lane_data own;
    for (int worker = 0; worker < workers; worker++) {
        bind_worker(m, d, worker, &own);
        own.outcome->iterations = 0;
        own.outcome->inaccurate = nowhere();
    }
    share_parts(m, d, parts, 2, solve_some_islands, NULL);
    for (int worker = 0; worker < workers; worker++) {
        bind_worker(m, d, worker, &own);
        d->iterations = own.outcome->iterations > d->iterations ? own.outcome->iterations : d->iterations;
        d->inaccurate = or_(d->inaccurate, own.outcome->inaccurate);
    }
}

LANE_FN void solve_islands(const lane_model *m, lane_data *d)
{
    find_ties(m, d);
    join_trees(m, d);
    number_islands(m, d);
    sort_dofs(m, d);
    sort_rows(d);
    find_runs(m, d);
    int parts = parts_of(d->island_count, ISLANDS_OF_PART);
    int shared = d->row_count >= SHARED_ROWS_LEAST && parts_are_shared(d, parts, 2);
    for (int island = 0; island < d->island_count; island++) {
        lane_data part = island_part(d, island);
        if (shared && !is_large(&part)) {
            continue;
        }
        solve_rows(m, &part);
        d->iterations = part.iterations;
        d->inaccurate = part.inaccurate;
    }
    if (shared) {
        share_islands(m, d, parts);
    }
}
#endif

LANE_FN void solve_constraints(const lane_model *m, lane_data *d)
{
#if !defined(__CUDACC__)
    if (m->plan->block_count > 0) {
        solve_islands(m, d);
        return;
    }
#endif
    solve_rows(m, d);
}
