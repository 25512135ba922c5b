// The arithmetic of one cell of an occupancy grid (occupancy.h), for C and for kernels.
#pragma once

#include "engine/core/rng.h"

enum {
    ORR_OCCUPANCY_SIDE = 128,
    ORR_OCCUPANCY_CELLS = 1 << 21, // per cascade
    ORR_OCCUPANCY_CASCADES_MAX = 8,
    ORR_OCCUPANCY_BLOCK = 512 // 8^3 cells, consecutive in Morton order
};

#define ORR_OCCUPANCY_DECAY 0.95f         // of the thickness, per update
#define ORR_OCCUPANCY_THICKNESS_MIN 0.01f // cells above it, or above the mean, are marched

ORR_INLINE uint32_t orr_morton_spread(uint32_t v) // 7 bits, each followed by two zeros
{
    v = (v | v << 8) & 0x0300F00Fu;
    v = (v | v << 4) & 0x030C30C3u;
    return (v | v << 2) & 0x09249249u;
}

ORR_INLINE uint32_t orr_morton_gather(uint32_t v) // its inverse
{
    v &= 0x09249249u;
    v = (v | v >> 2) & 0x030C30C3u;
    v = (v | v >> 4) & 0x0300F00Fu;
    return (v | v >> 8) & 0x7Fu;
}

// The corner with the least coordinates, and the side.
ORR_INLINE void orr_occupancy_cell_box(int64_t cell, float low[3], float *side)
{
    float span = (float)(1 << (cell / ORR_OCCUPANCY_CELLS)); // of the cascade
    uint32_t code = (uint32_t)(cell % ORR_OCCUPANCY_CELLS);
    *side = span / ORR_OCCUPANCY_SIDE;
    for (int k = 0; k < 3; k++) {
        low[k] = 0.5f - 0.5f * span + *side * (float)orr_morton_gather(code >> k);
    }
}

// A cell of an outer cascade that the next finer one covers: its eight children, or -1.
ORR_INLINE int64_t orr_occupancy_first_child(int64_t cell)
{
    if (cell < ORR_OCCUPANCY_CELLS) {
        return -1;
    }
    uint32_t code = (uint32_t)(cell % ORR_OCCUPANCY_CELLS), child = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t place = orr_morton_gather(code >> k);
        if (place < ORR_OCCUPANCY_SIDE / 4 || place >= 3 * ORR_OCCUPANCY_SIDE / 4) {
            return -1;
        }
        child |= orr_morton_spread(2 * (place - ORR_OCCUPANCY_SIDE / 4)) << k;
    }
    return (cell / ORR_OCCUPANCY_CELLS - 1) * ORR_OCCUPANCY_CELLS + child;
}

// What a density makes of a cell: the optical thickness of the smallest step of its cascade.
ORR_INLINE float orr_occupancy_thickness(int64_t cell, float density)
{
    const float smallest_step = 0.00169145586f; // sqrt(3) / 1024
    return density * (smallest_step * (float)(1 << (cell / ORR_OCCUPANCY_CELLS)));
}

// Cells above it are marched; before the first update everything that is not culled is.
ORR_INLINE float orr_occupancy_threshold(float mean)
{
    float least = mean < ORR_OCCUPANCY_THICKNESS_MIN ? mean : ORR_OCCUPANCY_THICKNESS_MIN;
    return mean > 0.0f ? least : -0.5f;
}

// Number i of `count` draws from a population: its rank there, in the i-th of `count` equal strata, and three numbers that
// say where in the cell.
typedef struct orr_occupancy_draw {
    int64_t rank;
    uint32_t place[3];
} orr_occupancy_draw;

ORR_INLINE orr_occupancy_draw orr_occupancy_drawn(uint32_t seed, uint32_t stream, int64_t i, int64_t count,
                                                  int64_t population)
{
    uint64_t first = orr_random_bits(seed, stream, (uint32_t)(2 * i));
    uint64_t second = orr_random_bits(seed, stream, (uint32_t)(2 * i + 1));
    int64_t start = i * population / count, end = (i + 1) * population / count;
    orr_occupancy_draw draw;
    draw.rank = start + (int64_t)((uint64_t)(end - start) * (uint32_t)first >> 32);
    draw.place[0] = (uint32_t)(first >> 32);
    draw.place[1] = (uint32_t)second;
    draw.place[2] = (uint32_t)(second >> 32);
    return draw;
}

// The place that those numbers say.
ORR_INLINE void orr_occupancy_place(int64_t cell, const uint32_t numbers[3], float place[3])
{
    float corner[3], side;
    orr_occupancy_cell_box(cell, corner, &side);
    for (int k = 0; k < 3; k++) {
        place[k] = corner[k] + side * ((float)(numbers[k] >> 8) * 0x1p-24f);
    }
}
