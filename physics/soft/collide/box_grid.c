#include "physics/soft/collide/box_grid.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { CELLS_MAX = 64 }; // of a box in the grid; larger ones are tried one by one

static int32_t cell_along(const orr_box_grid *g, float x)
{
    return (int32_t)floor(fmin(fmax((double)x / g->cell, -1e9), 1e9));
}

static uint32_t bucket_of(const orr_box_grid *g, const int32_t cell[3])
{
    uint32_t hash =
        (uint32_t)cell[0] * 73856093u ^ (uint32_t)cell[1] * 19349663u ^ (uint32_t)cell[2] * 83492791u;
    return (hash ^ hash >> 15) & (uint32_t)(g->buckets - 1);
}

// The cells that a box meets, and how many those are.
static double cells_of(const orr_box_grid *g, const orr_box *b, int32_t low[3], int32_t high[3])
{
    double cells = 1.0;
    for (int k = 0; k < 3; k++) {
        low[k] = cell_along(g, b->low[k]), high[k] = cell_along(g, b->high[k]);
        cells *= (double)high[k] - (double)low[k] + 1.0;
    }
    return cells;
}

static bool next_cell(const int32_t low[3], const int32_t high[3], int32_t cell[3])
{
    for (int k = 0; k < 3; k++) {
        if (++cell[k] <= high[k]) {
            return true;
        }
        cell[k] = low[k];
    }
    return false;
}

// Counts the cells of each bucket into next[bucket], or writes the boxes there.
static void visit(orr_box_grid *g, int32_t *next, bool write)
{
    for (int i = 0; i < g->count; i++) {
        int32_t low[3], high[3], cell[3];
        if (cells_of(g, &g->box[i], low, high) <= CELLS_MAX) {
            memcpy(cell, low, sizeof cell);
            do {
                int32_t at = next[bucket_of(g, cell)]++;
                if (write) {
                    g->item[at] = i;
                }
            } while (next_cell(low, high, cell));
        } else if (write) {
            g->large[g->large_count++] = i;
        }
    }
}

double orr_box_mean_side(const orr_box *box, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            sum += (double)(box[i].high[k] - box[i].low[k]) / 3.0;
        }
    }
    return fmax(sum / fmax(count, 1.0), 1e-6);
}

orr_result orr_box_grid_build(orr_box_grid *g, const orr_box *box, int count, double cell, orr_error *error)
{
    static const char what[] = "a grid of boxes";
    g->box = box, g->cell = cell, g->count = count, g->large_count = 0;
    for (g->buckets = 16; g->buckets < count; g->buckets *= 2) {
    }
    ORR_GROW(g->first, g->first_capacity, g->buckets + 2, what, error);
    ORR_GROW(g->large, g->large_capacity, count, what, error);
    memset(g->first, 0, (size_t)(g->buckets + 2) * sizeof *g->first);
    visit(g, g->first + 2, false);
    for (int i = 0; i < g->buckets; i++) {
        g->first[i + 2] += g->first[i + 1];
    }
    ORR_GROW(g->item, g->item_capacity, g->first[g->buckets + 1], what, error);
    visit(g, g->first + 1, true); // first[b + 1] becomes where bucket b ends
    return ORR_OK;
}

void orr_box_grid_clear(orr_box_grid *g)
{
    orr_free(g->first);
    orr_free(g->item);
    orr_free(g->large);
}

static void enter(orr_box_walk *w)
{
    const uint32_t bucket = bucket_of(w->grid, w->cell);
    w->next = w->grid->item + w->grid->first[bucket], w->end = w->grid->item + w->grid->first[bucket + 1];
    w->last = -1;
}

static void enter_large(orr_box_walk *w)
{
    w->large = true;
    w->next = w->grid->large, w->end = w->next + w->grid->large_count;
}

orr_box_walk orr_box_grid_meeting(const orr_box_grid *g, const orr_box *box)
{
    orr_box_walk w = {.grid = g, .box = *box, .number = -1};
    if (cells_of(g, box, w.low, w.high) > 8.0 * CELLS_MAX + (double)g->count) {
        w.number = 0;
        return w;
    }
    memcpy(w.cell, w.low, sizeof w.cell);
    enter(&w);
    return w;
}

// Of the cells that both boxes meet, whether this is the first.
static bool is_first_cell(const orr_box_walk *w, const orr_box *b)
{
    bool first = true;
    for (int k = 0; k < 3; k++) {
        const int32_t low = cell_along(w->grid, b->low[k]);
        first = first && w->cell[k] == (low > w->low[k] ? low : w->low[k]);
    }
    return first;
}

static int32_t next_of_all(orr_box_walk *w)
{
    while (w->number < w->grid->count) {
        const int32_t item = w->number++;
        if (orr_boxes_meet(&w->grid->box[item], &w->box)) {
            return item;
        }
    }
    return -1;
}

int32_t orr_box_grid_next(orr_box_walk *w)
{
    if (w->number >= 0) {
        return next_of_all(w);
    }
    for (;;) {
        while (w->next < w->end) {
            const int32_t item = *w->next++;
            const orr_box *b = &w->grid->box[item];
            // two cells of a box may share a bucket, where it then stands twice in a row
            const bool again = item == w->last;
            w->last = item;
            if (!again && orr_boxes_meet(b, &w->box) && (w->large || is_first_cell(w, b))) {
                return item;
            }
        }
        if (w->large) {
            return -1;
        }
        if (next_cell(w->low, w->high, w->cell)) {
            enter(w);
        } else {
            enter_large(w);
        }
    }
}
