// Ties: groups of rows that follow each other and move the same dofs, as the contacts of two bodies. What
// follows from the dofs alone is found once for a tie: islands, the pattern of second derivatives, which
// parts of an island rows touch.
#pragma once

#include "physics/lanes/state.h"

#if !defined(__CUDACC__)

FN int block_size(const lane_model *m, int block)
{
    return m->plan->block_first[block + 1] - m->plan->block_first[block];
}

// Does a row move the same dofs as the one before, if there is one? The list of a row without dofs can have
// the address of another one's.
FN int has_dofs_of(const lane_row *row, const lane_row *last)
{
    return last && row->dof == last->dof && row->count == last->count;
}

// The entry of a group's Jacobian behind those of the block of entry `first`: most have all of its dofs.
FN int run_end(const lane_model *m, const lane_row *row, int first)
{
    const int32_t *dof = row->dof, *block_of = m->plan->dof_block;
    int block = block_of[dof[first]], end = first + block_size(m, block);
    if (end <= row->count && block_of[dof[end - 1]] == block) {
        return end;
    }
    for (end = first + 1; end < row->count && block_of[dof[end]] == block;) {
        end++;
    }
    return end;
}

FN lane_tie tie_of(const lane_model *m, const lane_row *row, int group)
{
    lane_tie tie = {group, row->count, 0, {-1, -1}};
    for (int e = 0; e < row->count; e = run_end(m, row, e), tie.blocks++) {
        if (tie.blocks < 2) {
            tie.block[tie.blocks] = m->plan->dof_block[row->dof[e]];
        }
    }
    return tie;
}

LANE_FN void find_ties(const lane_model *m, lane_data *d)
{
    const lane_row *last = NULL;
    d->tie_count = 0;
    for (int g = 0; g < d->group_count; g++) {
        const lane_row *row = &d->row[d->group[g]];
        if (!has_dofs_of(row, last)) {
            d->tie[d->tie_count++] = tie_of(m, row, g);
        }
        last = row;
    }
}

// The group behind those of a tie.
FN int tie_end(const lane_data *d, int tie)
{
    return tie + 1 < d->tie_count ? d->tie[tie + 1].group : d->group_count;
}
#endif
