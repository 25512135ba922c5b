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

// Joins trees; block_island: of each tree's first block, the island's first block, which is the lowest.
LANE_FN void join_trees(const lane_model *m, lane_data *d)
{
    int32_t *link = d->block_island;
    for (int n = 0; n < block_count(m, d); n++) {
        link[nth_block(d, n)] = nth_block(d, n);
    }
    const lane_row *last = NULL;
    for (int g = 0; g < d->group_count; g++) {
        const lane_row *row = &d->row[d->group[g]];
        int first = row->count > 0 && !has_dofs_of(row, last) ? run_end(m, row, 0) : row->count;
        for (int e = first; e < row->count; e = run_end(m, row, e)) {
            int a = island_of(link, tree_of_dof(m, row->dof[e - 1]));
            int b = island_of(link, tree_of_dof(m, row->dof[e]));
            link[a > b ? a : b] = a > b ? b : a;
        }
        last = row;
    }
}

// Numbers the islands that have rows, in the order of their first blocks: block_island of every block, or -1.
// Islands have no rows and dofs yet.
LANE_FN void number_islands(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    int32_t *island = d->block_island, *number = d->block_at; // of the island that begins with a block
    for (int n = 0; n < block_count(m, d); n++) {
        number[nth_block(d, n)] = -1;
    }
    const lane_row *last = NULL;
    for (int g = 0; g < d->group_count; g++) {
        const lane_row *row = &d->row[d->group[g]];
        if (row->count > 0 && !has_dofs_of(row, last)) {
            number[island_of(island, tree_of_dof(m, row->dof[0]))] = 0;
        }
        last = row;
    }
    d->island_count = 0;
    for (int n = 0; n < block_count(m, d); n++) {
        int block = nth_block(d, n);
        if (number[block] == 0) {
            d->island_row[d->island_count] = d->island_dof[d->island_count] = 0;
            number[block] = d->island_count++;
        }
    }
    if (d->island_count == 0) { // rows without dofs
        d->island_row[0] = d->island_dof[0] = 0;
        d->island_count = 1;
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

FN int island_of_row(const lane_model *m, const lane_data *d, int i)
{
    return d->row[i].count > 0 ? d->block_island[m->plan->dof_block[d->row[i].dof[0]]] : 0;
}

// Copies the rows that have another place among the sorted ones, and those behind them. Returns the first of
// them, and in `kept` how many groups are before it.
LANE_FN int place_rows(const lane_model *m, lane_data *d, int *kept)
{
    int moved = d->row_count;
    *kept = d->group_count;
    for (int g = 0; g < d->group_count; g++) {
        int i = d->group[g], end = i + d->row[i].dim;
        int32_t *place = &d->island_row[island_of_row(m, d, i)];
        if (*place != i && moved == d->row_count) {
            moved = i;
            *kept = g;
        }
        if (moved == d->row_count) {
            *place = end;
            continue;
        }
        for (; i < end; i++, (*place)++) {
            int at = *place;
            d->row_sorted[at] = d->row[i];
            d->row_place[i] = at;
            d->efc_jar[at] = d->efc_pos[i];
            d->efc_force[at] = d->efc_D[i];
            d->efc_weight[at] = d->efc_aref[i];
            d->efc_jv[at] = d->efc_diagonal[i];
        }
    }
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
// heap so do most of its rows. Rows without dofs are the first island's. Afterwards island_row has the end of
// each.
LANE_FN void sort_rows(const lane_model *m, lane_data *d)
{
    if (d->island_count == 1) { // they are
        d->island_row[0] = d->row_count;
        return;
    }
    for (int g = 0; g < d->group_count; g++) {
        int i = d->group[g];
        d->island_row[island_of_row(m, d, i)] += d->row[i].dim;
    }
    begin_from_counts(d->island_row, d->island_count);
    int kept, moved = place_rows(m, d, &kept);
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

// The part of a world that is an island: its rows and dofs.
LANE_FN lane_data island_part(lane_data *d, int island)
{
    int row = island > 0 ? d->island_row[island - 1] : 0, dof = island > 0 ? d->island_dof[island - 1] : 0;
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
    part.group = d->row_place + row;
    part.group_count = 0;
    for (int i = 0; i < part.row_count; i += part.row[i].dim) {
        part.group[part.group_count++] = i;
    }
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
    join_trees(m, d);
    number_islands(m, d);
    sort_dofs(m, d);
    sort_rows(m, d);
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
