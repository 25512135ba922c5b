// The bilateral grid of a photo: affine maps of display colours that depend on where in the picture a pixel
// is and on how bright it is, with their derivatives (Chen et al. 2007; in radiance fields Wang et al. 2024).
// Plain C over the twelve numbers of a map, on the CPU and in CUDA's kernels; grid_real is float, or double
// for tests.
#pragma once

#include "engine/maths/inline.h"

#ifndef grid_real
#define grid_real float
#endif

enum {
    ORR_GRID_X = 16,
    ORR_GRID_Y = 16,
    ORR_GRID_Z = 8, // by brightness
    ORR_GRID_MAP = 12,
    ORR_GRID_ROW = ORR_GRID_X * ORR_GRID_MAP,
    ORR_GRID_PLANE = ORR_GRID_Y * ORR_GRID_ROW,
    ORR_GRID = ORR_GRID_Z * ORR_GRID_PLANE // numbers: [z][y][x], then a 3x4 map row by row
};

// A number of a grid that changes nothing: 0, 5 and 10 of a 3x4 map are 1.
ORR_INLINE float grid_identity(int number)
{
    return number % ORR_GRID_MAP % 5 == 0 ? 1.0f : 0.0f;
}

// Where a pixel looks its map up.
typedef struct grid_place {
    int corner;             // of its cell, the first number of the map
    grid_real x, y, z;      // in the cell, 0 .. 1
    grid_real by_colour[3]; // derivative of the brightness, in cells
} grid_place;

// The middle of pixel `at` of `size` in a row or column, as a share of it.
ORR_INLINE grid_real grid_middle(int at, int size)
{
    return ((grid_real)at + (grid_real)0.5) / (grid_real)size;
}

// The cell of a place that is in units of cells, between as many corners.
ORR_INLINE int grid_cell(grid_real place, int corners)
{
    return place < (grid_real)(corners - 2) ? (int)place : corners - 2;
}

// x and y: share of the picture's width and height; colour: premultiplied.
ORR_INLINE grid_place grid_find(grid_real x, grid_real y, const grid_real colour[3])
{
    const grid_real weight[3] = {(grid_real)0.299, (grid_real)0.587, (grid_real)0.114};
    grid_place p = {.x = x * (ORR_GRID_X - 1), .y = y * (ORR_GRID_Y - 1)};
    for (int k = 0; k < 3; k++) {
        const grid_real within = colour[k] < 0 ? 0 : colour[k] > 1 ? 1 : colour[k];
        p.z += (ORR_GRID_Z - 1) * weight[k] * within;
        p.by_colour[k] = within == colour[k] ? (ORR_GRID_Z - 1) * weight[k] : 0;
    }
    const int i = grid_cell(p.x, ORR_GRID_X), j = grid_cell(p.y, ORR_GRID_Y), k = grid_cell(p.z, ORR_GRID_Z);
    p.corner = k * ORR_GRID_PLANE + j * ORR_GRID_ROW + i * ORR_GRID_MAP;
    p.x -= (grid_real)i;
    p.y -= (grid_real)j;
    p.z -= (grid_real)k;
    return p;
}

// The weights of the four corners at one brightness, in the order of x, then y.
ORR_INLINE void grid_weights(const grid_place *p, grid_real weight[4])
{
    weight[0] = (1 - p->x) * (1 - p->y);
    weight[1] = p->x * (1 - p->y);
    weight[2] = (1 - p->x) * p->y;
    weight[3] = p->x * p->y;
}

// The maps at the two brightnesses of the pixel's cell.
ORR_INLINE void grid_slice(const grid_real *grid, const grid_place *p, grid_real low[ORR_GRID_MAP],
                           grid_real high[ORR_GRID_MAP])
{
    grid_real w[4];
    grid_weights(p, w);
    const grid_real *a = grid + p->corner, *b = a + ORR_GRID_PLANE;
    for (int i = 0; i < ORR_GRID_MAP; i++) {
        low[i] = w[0] * a[i] + w[1] * a[ORR_GRID_MAP + i] + w[2] * a[ORR_GRID_ROW + i] +
                 w[3] * a[ORR_GRID_ROW + ORR_GRID_MAP + i];
        high[i] = w[0] * b[i] + w[1] * b[ORR_GRID_MAP + i] + w[2] * b[ORR_GRID_ROW + i] +
                  w[3] * b[ORR_GRID_ROW + ORR_GRID_MAP + i];
    }
}

// The pixel through its map: colours premultiplied by alpha, as the result is.
ORR_INLINE void grid_apply(const grid_real *grid, const grid_place *p, const grid_real colour[3],
                           grid_real alpha, grid_real out[3])
{
    grid_real low[ORR_GRID_MAP], high[ORR_GRID_MAP];
    grid_slice(grid, p, low, high);
    for (int i = 0; i < ORR_GRID_MAP; i++) {
        low[i] += p->z * (high[i] - low[i]);
    }
    for (int k = 0; k < 3; k++) {
        out[k] = low[4 * k] * colour[0] + low[4 * k + 1] * colour[1] + low[4 * k + 2] * colour[2] +
                 low[4 * k + 3] * alpha;
    }
}

// by: the loss by grid_apply's result. Returns it by the map, by the colour and, in by_alpha, by alpha.
ORR_INLINE void grid_backward(const grid_real *grid, const grid_place *p, const grid_real colour[3],
                              grid_real alpha, const grid_real by[3], grid_real by_map[ORR_GRID_MAP],
                              grid_real by_colour[3], grid_real *by_alpha)
{
    grid_real low[ORR_GRID_MAP], high[ORR_GRID_MAP], by_z = 0;
    const grid_real pixel[4] = {colour[0], colour[1], colour[2], alpha};
    grid_real by_pixel[4] = {0, 0, 0, 0};
    grid_slice(grid, p, low, high);
    for (int i = 0; i < ORR_GRID_MAP; i++) {
        by_map[i] = by[i / 4] * pixel[i % 4];
        by_z += by_map[i] * (high[i] - low[i]);
        by_pixel[i % 4] += by[i / 4] * (low[i] + p->z * (high[i] - low[i]));
    }
    for (int k = 0; k < 3; k++) {
        by_colour[k] = by_pixel[k] + by_z * p->by_colour[k];
    }
    *by_alpha = by_pixel[3];
}

// What two corners of a cell, one above the other in brightness, get of a pixel: the weight of grid_weights
// in two shares.
ORR_INLINE grid_real grid_upper_share(const grid_place *p, grid_real weight)
{
    return weight * p->z;
}

ORR_INLINE grid_real grid_lower_share(const grid_place *p, grid_real weight)
{
    return weight - weight * p->z;
}

// Adds the loss by the pixel's map to that by the grid's numbers.
ORR_INLINE void grid_spread(const grid_place *p, const grid_real by_map[ORR_GRID_MAP], grid_real *by_grid)
{
    grid_real w[4];
    grid_weights(p, w);
    grid_real *a = by_grid + p->corner, *b = a + ORR_GRID_PLANE;
    for (int c = 0; c < 4; c++) {
        const int at = (c & 1) * ORR_GRID_MAP + (c >> 1) * ORR_GRID_ROW;
        const grid_real upper = grid_upper_share(p, w[c]), lower = grid_lower_share(p, w[c]);
        for (int i = 0; i < ORR_GRID_MAP; i++) {
            a[at + i] += lower * by_map[i];
            b[at + i] += upper * by_map[i];
        }
    }
}

// ---- total variation: the mean square of differences between neighbours, summed over three directions ----

typedef struct grid_direction {
    int stride, corners; // from a number to that of its neighbour, and how many there are in a row
    grid_real share;     // of the square of one difference
} grid_direction;

// axis: 0 along x, 1 y, 2 brightness; weight: of the variation
ORR_INLINE grid_direction grid_along(int axis, grid_real weight)
{
    const int stride[3] = {ORR_GRID_MAP, ORR_GRID_ROW, ORR_GRID_PLANE};
    const int corners[3] = {ORR_GRID_X, ORR_GRID_Y, ORR_GRID_Z};
    const int size = corners[axis];
    const grid_direction d = {stride[axis], size, weight / (grid_real)(ORR_GRID / size * (size - 1))};
    return d;
}

// A gradient by a number, and to it that of the variation in one direction. before, behind: the differences
// from the neighbour before to the number and from it to the one behind; 0 where there is none.
ORR_INLINE grid_real grid_pulled(grid_real gradient, grid_direction d, grid_real before, grid_real behind)
{
    return gradient + 2 * d.share * before - 2 * d.share * behind;
}

// Adds weight times the variation's derivative to by_grid (NULL: nobody asks) and returns weight times it.
static inline double grid_variation(const grid_real *grid, grid_real weight, grid_real *by_grid)
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        const grid_direction d = grid_along(axis, weight);
        double squares = 0.0;
        // a row: numbers of one corner in that direction
        for (int row = 0; row < ORR_GRID; row += d.stride) {
            const int corner = row / d.stride % d.corners;
            const int back = corner > 0 ? d.stride : 0, ahead = corner < d.corners - 1 ? d.stride : 0;
            for (int i = row; i < row + d.stride; i++) {
                const grid_real behind = grid[i + ahead] - grid[i];
                squares += (double)(behind * behind);
            }
            for (int i = row; by_grid && i < row + d.stride; i++) {
                by_grid[i] = grid_pulled(by_grid[i], d, grid[i] - grid[i - back], grid[i + ahead] - grid[i]);
            }
        }
        sum += (double)d.share * squares;
    }
    return sum;
}
