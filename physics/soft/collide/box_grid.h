// Boxes in a hashed uniform grid: those that meet another box; private to this folder.
#pragma once

#include "engine/core/result.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct orr_box {
    float low[3], high[3];
} orr_box;

typedef struct orr_box_grid {
    const orr_box *box; // count, borrowed
    double cell;        // m
    int count, buckets;
    int32_t *first; // buckets + 2: where the boxes of each bucket begin
    int32_t *item;  // numbers of boxes, one for each cell that they meet
    int32_t *large; // large_count: boxes that meet too many cells
    int large_count, first_capacity, item_capacity, large_capacity;
} orr_box_grid;

orr_result orr_box_grid_build(orr_box_grid *grid, const orr_box *box, int count, double cell,
                              orr_error *error);
void orr_box_grid_clear(orr_box_grid *grid);
// m, of boxes, at least 1e-6: a good size of cells for them.
double orr_box_mean_side(const orr_box *box, int count);

// Those that meet a box: each once, in an order that only the boxes decide.
typedef struct orr_box_walk {
    const orr_box_grid *grid;
    orr_box box;
    int32_t low[3], high[3], cell[3];
    const int32_t *next, *end; // of the bucket; then of the large ones
    int32_t number;            // of boxes that are tried one by one; -1: only those of the grid's cells are
    int32_t last;
    bool large;
} orr_box_walk;

orr_box_walk orr_box_grid_meeting(const orr_box_grid *grid, const orr_box *box);
int32_t orr_box_grid_next(orr_box_walk *walk); // -1: no more

static inline bool orr_boxes_meet(const orr_box *a, const orr_box *b)
{
    return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] &&
           b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}
