// Cells of an occupancy grid (occupancy.h) by their index, for C (define ORR_SCALAR) and for kernels.
#pragma once

#include "engine/maths/rng.h"
#include "neural/fields/occupancy.h"
#include "neural/fields/occupancy_formula.h"

ORR_INLINE uint32_t orr_occupancy_gather(uint32_t v) // the inverse of occupancy_spread
{
    v &= 0x09249249u;
    v = (v | v >> 2) & 0x030C30C3u;
    v = (v | v >> 4) & 0x0300F00Fu;
    return (v | v >> 8) & 0x7Fu;
}

ORR_INLINE float orr_occupancy_cascade_scale(int64_t cell) // 2^cascade: the side of the cell's cascade
{
    return (float)(1 << (cell / ORR_OCCUPANCY_CELLS));
}

// The corner with the least coordinates, and the side.
ORR_INLINE void orr_occupancy_cell_box(int64_t cell, float low[3], float *side)
{
    float span = orr_occupancy_cascade_scale(cell);
    uint32_t code = (uint32_t)(cell % ORR_OCCUPANCY_CELLS);
    *side = span / ORR_OCCUPANCY_SIDE;
    for (int k = 0; k < 3; k++) {
        low[k] = 0.5f - 0.5f * span + *side * (float)orr_occupancy_gather(code >> k);
    }
}

// The first of the eight children of a cell that the next finer cascade covers; -1: it does not.
ORR_INLINE int64_t orr_occupancy_first_child(int64_t cell)
{
    if (cell < ORR_OCCUPANCY_CELLS) {
        return -1;
    }
    uint32_t code = (uint32_t)(cell % ORR_OCCUPANCY_CELLS), child = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t at = orr_occupancy_gather(code >> k);
        if (at < ORR_OCCUPANCY_SIDE / 4 || at >= 3 * ORR_OCCUPANCY_SIDE / 4) {
            return -1;
        }
        child |= occupancy_spread(2 * (at - ORR_OCCUPANCY_SIDE / 4)) << k;
    }
    return (cell / ORR_OCCUPANCY_CELLS - 1) * ORR_OCCUPANCY_CELLS + child;
}

// A covered cell's thickness from its children's, `child` the first of them.
ORR_INLINE float orr_occupancy_pooled(const float *thickness, int64_t child)
{
    float most = (float)OCCUPANCY_POOL_START;
    for (int i = 0; i < 8; i++) {
        most = occupancy_pool(most, thickness[child + i]);
    }
    return occupancy_pooled(most);
}

// ---- sampling ----

// Draw number i of `count` from a population: its rank there, in the i-th of `count` equal strata, and three
// numbers that choose a point in the cell.
typedef struct orr_occupancy_draw {
    int64_t rank;
    uint32_t numbers[3];
} orr_occupancy_draw;

// A pure function of its arguments. update: number of the grid's update; marched: of the population of
// marched cells.
ORR_INLINE orr_occupancy_draw orr_occupancy_drawn(uint32_t seed, uint32_t update, bool marched, int64_t i,
                                                  int64_t count, int64_t population)
{
    uint32_t key = seed ^ 0x9E3779B9u, stream = 2 * update + (marched ? 1u : 0u);
    uint64_t first = orr_random_bits(key, stream, (uint32_t)(2 * i));
    uint64_t second = orr_random_bits(key, stream, (uint32_t)(2 * i + 1));
    int64_t start = i * population / count, end = (i + 1) * population / count;
    orr_occupancy_draw draw;
    draw.rank = start + (int64_t)((uint64_t)(end - start) * (uint32_t)first >> 32);
    draw.numbers[0] = (uint32_t)(first >> 32);
    draw.numbers[1] = (uint32_t)second;
    draw.numbers[2] = (uint32_t)(second >> 32);
    return draw;
}

// The point of a cell that a draw's numbers choose.
ORR_INLINE void orr_occupancy_point(int64_t cell, const uint32_t numbers[3], float point[3])
{
    float corner[3], side;
    orr_occupancy_cell_box(cell, corner, &side);
    for (int k = 0; k < 3; k++) {
        point[k] = corner[k] + side * ((float)(numbers[k] >> 8) * 0x1p-24f);
    }
}

// The index of bit number `rank` among those set in `word`.
ORR_INLINE int orr_occupancy_select_bit(uint32_t word, uint32_t rank)
{
    int bit = 0;
    for (; !(word >> bit & 1u) || rank > 0; bit++) {
        rank -= word >> bit & 1u;
    }
    return bit;
}
