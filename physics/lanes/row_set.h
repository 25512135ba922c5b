// Which constraint rows each world of a block has, as a set of at most 64: worlds with like sets are put into
// one block (simulation/world_order.c). Limits and contacts are in them, by a hash; other rows are alike in
// all worlds, or are too few to matter.
#pragma once

#include "physics/lanes/parameters.h"
#include "physics/lanes/program.h"

#if !defined(ORR_SCALAR) && !defined(__CUDACC__)

// The place in a set of what has this number: Fibonacci hashing (Knuth, "The Art of Computer Programming",
// volume 3, section 6.4).
FN int place_in_set(uint32_t number)
{
    return (int)(number * 2654435769u >> 26);
}

enum { ENTRY_OF_CONE = 4 }; // how much longer than others an entry of an elliptic cone's rows takes

// The lanes that have the group of rows at i are added to those of its place.
LANE_FN void add_to_sets(const lane_data *d, int i, uint32_t number, uint32_t lanes[64], orr_row_sets *sets)
{
    const lane_row *row = &d->row[i];
    const int place = place_in_set(number);
    const int cost = row->basis * row->count * (row->type == LANE_ROW_CONE ? ENTRY_OF_CONE : 1);
    lanes[place] |= mask_bits(d->efc_D[i] > R(0.0));
    sets->cost[place] = cost > sets->cost[place] ? cost : sets->cost[place];
}

// Of the rows of the last step.
LANE_FN void list_row_sets(const lane_model *m, const lane_data *d, orr_row_sets *sets)
{
    uint32_t lanes[64] = {0};
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        if (d->row[i].limit != 0) {
            add_to_sets(d, i, (uint32_t)d->row[i].limit, lanes, sets);
        }
    }
    const uint32_t limits = (uint32_t)(m->njnt + m->ntendon);
    for (int i = 0; i < d->contact_count; i++) {
        if (d->contact[i].row >= 0) {
            const orr_pair *pair = lane_pair(m, d, d->contact[i].pair);
            const uint32_t geoms = (uint32_t)pair->geom1 * (uint32_t)m->ngeom + (uint32_t)pair->geom2;
            add_to_sets(d, d->contact[i].row, limits + 1 + geoms, lanes, sets);
        }
    }
    memset(sets->lane, 0, sizeof sets->lane);
    for (int place = 0; place < 64; place++) {
        for (uint32_t left = lanes[place]; left != 0; left &= left - 1) {
            sets->lane[lowest_bit(left)] |= 1ull << place;
        }
    }
}
#endif
