// Occupancy grids (occupancy.h): where a point's cell is, and the arithmetic of one cell.
#ifndef ORR_OCCUPANCY_FORMULA_H
#define ORR_OCCUPANCY_FORMULA_H

#include "engine/maths/formula.h"

#define OCCUPANCY_SIDE 128.0 // cells per side of a cascade
#define OCCUPANCY_STEP                                                                                       \
    0.00169145586            // sqrt(3) / 1024: the smallest step of a march, 1024 of them cross the unit cube
#define OCCUPANCY_DECAY 0.95 // of the thickness, per update
#define OCCUPANCY_THICKNESS_MIN 0.01 // cells above it, or above the mean, are marched
#define OCCUPANCY_POOL_START (-0.5)  // below any thickness that is not culled; doubled it is -1, culled

// ---- from points to cells ----

// The finest cascade, 0 .. last, that contains a point and whose cells are no smaller than a step there.
FN real occupancy_cascade(real3 p, real step, uniform_real last)
{
    if (last < 1.0f) {
        return R(0.0);
    }
    real reach = max_(max_(abs_(p.x - R(0.5)), abs_(p.y - R(0.5))), abs_(p.z - R(0.5)));
    real by_position = exponent_(max_(reach, R(1e-6))) + R(2.0);
    real by_step = exponent_(step * R(OCCUPANCY_SIDE)) + R(1.0);
    return min_(max_(max_(by_position, by_step), R(0.0)), R(last));
}

FN real occupancy_coordinate(real p, real scale)
{
    real cell = floor_(((p - R(0.5)) * scale + R(0.5)) * R(OCCUPANCY_SIDE));
    return min_(max_(cell, R(0.0)), R(OCCUPANCY_SIDE - 1.0));
}

// A point's cell in a cascade, 0 .. 127 per axis; scale = 2^-cascade.
FN real3 occupancy_cell(real3 p, real scale)
{
    return make_real3(occupancy_coordinate(p.x, scale), occupancy_coordinate(p.y, scale),
                      occupancy_coordinate(p.z, scale));
}

// Seven bits, each followed by two zeros.
FN suint occupancy_spread(suint v)
{
    v = (v | v << 8) & U(0x0300F00Fu);
    v = (v | v << 4) & U(0x030C30C3u);
    return (v | v << 2) & U(0x09249249u);
}

// Within a cascade, in Morton order.
FN suint occupancy_morton(suint x, suint y, suint z)
{
    return occupancy_spread(x) | occupancy_spread(y) << 1 | occupancy_spread(z) << 2;
}

// A cell's index in the grid.
FN suint occupancy_index(real3 cell, real cascade)
{
    return occupancy_morton(to_uint(cell.x), to_uint(cell.y), to_uint(cell.z)) | to_uint(cascade) << 21;
}

// The index of its block of 8^3 cells.
FN suint occupancy_block(suint index)
{
    return index >> 9;
}

// ---- a cell's thickness ----

FN real occupancy_decay(real thickness)
{
    return sel(thickness > R(0.0), thickness * R(OCCUPANCY_DECAY), thickness);
}

// The optical thickness of the smallest step of a cascade; cascade_scale = 2^cascade.
FN real occupancy_thickness(real density, uniform_real cascade_scale)
{
    return density * (R(OCCUPANCY_STEP) * cascade_scale);
}

// Cells that a finer cascade covers take the largest of their eight children, for steps twice as long. `most`
// starts at OCCUPANCY_POOL_START.
FN real occupancy_pool(real most, real child)
{
    return max_(most, child);
}

FN real occupancy_pooled(real most)
{
    return R(2.0) * most;
}

// What a cell counts in the mean.
FN real occupancy_counted(real thickness)
{
    return max_(thickness, R(0.0));
}

// Cells above it are marched; before the first update all that are not culled.
FN real occupancy_threshold(real mean)
{
    return sel(mean > R(0.0), min_(mean, R(OCCUPANCY_THICKNESS_MIN)), R(-0.5));
}

FN mask occupancy_is_marched(real thickness, real threshold)
{
    return thickness > threshold;
}

FN mask occupancy_is_culled(real thickness)
{
    return not_(thickness >= R(0.0));
}

#endif
