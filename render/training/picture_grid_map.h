// The bilateral grid of a photo: affine maps of display colours that depend on where in the picture a pixel
// is and on how bright it is, with their derivatives (Chen et al. 2007; in radiance fields Wang et al. 2024).
// Plain C over the twelve numbers of a map; grid_real is float, or double for tests.
#pragma once

#include <math.h>

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

// Where a pixel looks its map up.
typedef struct grid_place {
    int corner;             // of its cell, the first number of the map
    grid_real x, y, z;      // in the cell, 0 .. 1
    grid_real by_colour[3]; // derivative of the brightness, in cells
} grid_place;

// x and y: share of the picture's width and height; colour: premultiplied.
static inline grid_place grid_find(grid_real x, grid_real y, const grid_real colour[3])
{
    static const grid_real weight[3] = {(grid_real)0.299, (grid_real)0.587, (grid_real)0.114};
    grid_place p = {.x = x * (ORR_GRID_X - 1), .y = y * (ORR_GRID_Y - 1)};
    for (int k = 0; k < 3; k++) {
        const grid_real within = colour[k] < 0 ? 0 : colour[k] > 1 ? 1 : colour[k];
        p.z += (ORR_GRID_Z - 1) * weight[k] * within;
        p.by_colour[k] = within == colour[k] ? (ORR_GRID_Z - 1) * weight[k] : 0;
    }
    const int i = p.x < ORR_GRID_X - 2 ? (int)p.x : ORR_GRID_X - 2;
    const int j = p.y < ORR_GRID_Y - 2 ? (int)p.y : ORR_GRID_Y - 2;
    const int k = p.z < ORR_GRID_Z - 2 ? (int)p.z : ORR_GRID_Z - 2;
    p.corner = k * ORR_GRID_PLANE + j * ORR_GRID_ROW + i * ORR_GRID_MAP;
    p.x -= (grid_real)i;
    p.y -= (grid_real)j;
    p.z -= (grid_real)k;
    return p;
}

// The weights of the four corners at one brightness, in the order of x, then y.
static inline void grid_weights(const grid_place *p, grid_real weight[4])
{
    weight[0] = (1 - p->x) * (1 - p->y);
    weight[1] = p->x * (1 - p->y);
    weight[2] = (1 - p->x) * p->y;
    weight[3] = p->x * p->y;
}

// The maps at the two brightnesses of the pixel's cell.
static inline void grid_slice(const grid_real *grid, const grid_place *p, grid_real low[ORR_GRID_MAP],
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
static inline void grid_apply(const grid_real *grid, const grid_place *p, const grid_real colour[3],
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

// by: the loss by grid_apply's result. Adds the loss by the grid's numbers; returns it by the colour and, in
// by_alpha, by alpha.
static inline void grid_backward(const grid_real *grid, const grid_place *p, const grid_real colour[3],
                                 grid_real alpha, const grid_real by[3], grid_real *by_grid,
                                 grid_real by_colour[3], grid_real *by_alpha)
{
    grid_real low[ORR_GRID_MAP], high[ORR_GRID_MAP], by_map[ORR_GRID_MAP], w[4], by_z = 0;
    const grid_real pixel[4] = {colour[0], colour[1], colour[2], alpha};
    grid_real by_pixel[4] = {0, 0, 0, 0};
    grid_slice(grid, p, low, high);
    for (int i = 0; i < ORR_GRID_MAP; i++) {
        by_map[i] = by[i / 4] * pixel[i % 4];
        by_z += by_map[i] * (high[i] - low[i]);
        by_pixel[i % 4] += by[i / 4] * (low[i] + p->z * (high[i] - low[i]));
    }
    grid_weights(p, w);
    grid_real *a = by_grid + p->corner, *b = a + ORR_GRID_PLANE;
    for (int c = 0; c < 4; c++) {
        const int at = (c & 1) * ORR_GRID_MAP + (c >> 1) * ORR_GRID_ROW;
        const grid_real far_share = w[c] * p->z, near_share = w[c] - far_share;
        for (int i = 0; i < ORR_GRID_MAP; i++) {
            a[at + i] += near_share * by_map[i];
            b[at + i] += far_share * by_map[i];
        }
    }
    for (int k = 0; k < 3; k++) {
        by_colour[k] = by_pixel[k] + by_z * p->by_colour[k];
    }
    *by_alpha = by_pixel[3];
}

// Total variation: the mean square of the differences between neighbours, summed over the three directions.
// Adds weight times its derivative to by_grid (NULL: nobody asks) and returns weight times it.
static inline double grid_variation(const grid_real *grid, grid_real weight, grid_real *by_grid)
{
    static const int stride[3] = {ORR_GRID_MAP, ORR_GRID_ROW, ORR_GRID_PLANE};
    static const int size[3] = {ORR_GRID_X, ORR_GRID_Y, ORR_GRID_Z};
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        const int step = stride[axis], length = size[axis] * step;
        const grid_real share = weight / (grid_real)(ORR_GRID / size[axis] * (size[axis] - 1));
        double squares = 0.0;
        for (int start = 0; start < ORR_GRID; start += length) {
            for (int i = start; i < start + length - step; i++) {
                const grid_real difference = grid[i + step] - grid[i];
                squares += (double)(difference * difference);
                if (by_grid) {
                    by_grid[i + step] += 2 * share * difference;
                    by_grid[i] -= 2 * share * difference;
                }
            }
        }
        sum += (double)share * squares;
    }
    return sum;
}
