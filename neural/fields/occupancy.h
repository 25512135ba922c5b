// Occupancy grids: cells in which a radiance field has density, so that rays skip the rest (Müller et al.
// 2022, appendix on occupancy grids).
//
// Cascade c is a grid of 128^3 cells over the cube of side 2^c around (0.5, 0.5, 0.5), in Morton order (x
// lowest), cascades one after the other: cell = c 128^3 + morton(x, y, z). A cell stores the optical
// thickness of the smallest step of its cascade: density x sqrt(3) / 1024 x 2^c.
#pragma once

#include "engine/core/jobs.h"

enum {
    ORR_OCCUPANCY_SIDE = 128,
    ORR_OCCUPANCY_CELLS = 1 << 21, // per cascade
    ORR_OCCUPANCY_CASCADES_MAX = 8,
    ORR_OCCUPANCY_BLOCK = 512 // 8^3 cells, consecutive in Morton order
};

typedef struct orr_occupancy {
    int cascades;
    int64_t cells;         // cascades x 128^3
    float *thickness;      // cells; negative: culled for good
    uint32_t *bits;        // a bit per cell: to be marched
    uint32_t *blocks;      // a bit per 8^3 cells: any of them to be marched
    uint32_t *live;        // a bit per cell: to be sampled (not culled, and not covered by a finer cascade)
    int64_t live_count;    // bits set in live
    int64_t sampled_count; // bits set in live and bits
    uint64_t version;      // changes whenever bits change; for holders of a copy
    float mean;            // thickness, over the first cascade; 0 before the first update
} orr_occupancy;

// aabb_scale: a power of two, 1 .. 128. Every cell is to be marched until the first update.
orr_result orr_occupancy_create(int aabb_scale, orr_occupancy *grid, orr_error *error);
void orr_occupancy_destroy(orr_occupancy *grid); // a zeroed one is allowed

// Culls for good the cells for which `keep` is false: those no camera sees, or in which a camera sees
// nothing.
typedef bool (*orr_occupancy_keep_fn)(const void *context, const float low[3], float side);
void orr_occupancy_cull(orr_occupancy *grid, orr_jobs *jobs, orr_occupancy_keep_fn keep, const void *context);

// Does a trainer update the grid before this step? After every step at first, after every 16th from step 256
// on.
bool orr_occupancy_due(int64_t step);

// Chooses at most `count` cells for update number `update`, ascending, spread evenly over those to be sampled
// (marched: of these, over those to be marched), and a random point in each. A pure function of its
// arguments. Returns how many.
int orr_occupancy_pick(const orr_occupancy *grid, bool marched, uint32_t seed, uint32_t update, int count,
                       uint32_t *cells, float (*points)[3]);

// One update: thickness decays by 0.95, is raised to that of the densities found in `cells` (a cell may
// appear twice), and cells above min(0.01, mean) are marched from now on. Same bits for any number of
// threads.
void orr_occupancy_update(orr_occupancy *grid, orr_jobs *jobs, const uint32_t *cells, const float *densities,
                          int count);
// Makes bits, blocks, live, counts and mean again from the thickness, after it was loaded.
void orr_occupancy_refresh(orr_occupancy *grid, orr_jobs *jobs);

// The box around the cells to be marched of the first cascade; false: there are none, and nothing is written.
bool orr_occupancy_bounds(const orr_occupancy *grid, float low[3], float high[3]);
