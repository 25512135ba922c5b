// Distance grids (physics/grid/distance_grid.h) in lanes: the distance at a point and its gradient. Points
// are in the frame of the grid's geom.
#pragma once

#include "physics/lanes/parameters.h"

#if defined(__CUDACC__) || defined(ORR_SCALAR)
FN real grid_gather(const float *p, suint i)
{
    return (real)p[i];
}

FN suint grid_gather_index(const int32_t *p, suint i)
{
    return (suint)p[i];
}

FN real grid_index_real(suint i)
{
    return (real)i;
}

FN mask grid_has_samples(suint samples)
{
    return samples != U(0xffffffffu);
}

FN suint grid_index_where(mask m, suint i) // elsewhere 0
{
    return m ? i : U(0);
}
#else
FN real grid_gather(const float *p, suint i)
{
    return real_gather(p, (sint)i);
}

FN suint grid_gather_index(const int32_t *p, suint i)
{
    return (suint)sint_gather(p, (sint)i);
}

FN real grid_index_real(suint i)
{
    return to_real((sint)i);
}

FN mask grid_has_samples(suint samples)
{
    return (mask)(samples != U(0xffffffffu));
}

FN suint grid_index_where(mask m, suint i) // elsewhere 0
{
    return i & (suint)m;
}
#endif

// A grid of the model.
typedef struct lane_grid {
    const int32_t *brick;
    const float *corner, *sample;
    const uniform_real *origin; // x 3 [m]
    uniform_real cell;          // m
    uniform_uint bricks[3];
} lane_grid;

LANE_FN lane_grid grid_of(const lane_model *m, int id)
{
    lane_grid g;
    g.brick = m->grid_brick + m->grid_brickadr[id];
    g.corner = m->grid_corner + m->grid_corneradr[id];
    g.sample = m->grid_sample + m->grid_sampleadr[id];
    g.origin = m->grid_origin + 3 * id;
    g.cell = m->grid_cell[id];
    for (int k = 0; k < 3; k++) {
        g.bricks[k] = (uniform_uint)m->grid_bricks[3 * id + k];
    }
    return g;
}

// Trilinear interpolation between eight numbers from `at` on; row, layer: steps along y and z.
FN real grid_blend(const float *p, suint at, uniform_uint row, uniform_uint layer, real3 t)
{
    real x[4];
    for (uint32_t k = 0; k < 4; k++) {
        suint first = at + (k & 1 ? row : 0) + (k & 2 ? layer : 0);
        real low = grid_gather(p, first);
        x[k] = fma_(t.x, grid_gather(p, first + U(1)) - low, low);
    }
    real near = fma_(t.y, x[1] - x[0], x[0]), far = fma_(t.y, x[3] - x[2], x[2]);
    return fma_(t.z, far - near, near);
}

// Where a point is along one axis: its brick, and its place in the brick, 0 .. 8 cells; outside the grid, of
// the nearest point inside, and the distance to that.
typedef struct grid_place {
    suint brick;
    real local, outside; // cells
} grid_place;

FN grid_place grid_place_of(real cells, uniform_uint bricks)
{
    grid_place at;
    real inside = clamp_(cells, R(0.0), R(8.0) * R(bricks)); // 0 where it is not a number
    at.outside = cells - inside;
    at.brick = min_uint(to_uint(inside * R(0.125)), U(bricks - 1));
    at.local = inside - R(8.0) * grid_index_real(at.brick);
    return at;
}

// m; beyond: the distance of the point from the grid's box, which it includes.
LANE_FN real grid_distance(const lane_grid *g, const real3 *at, real *beyond)
{
    real per_cell = R(1.0) / R(g->cell);
    grid_place x = grid_place_of((at->x - R(g->origin[0])) * per_cell, g->bricks[0]),
               y = grid_place_of((at->y - R(g->origin[1])) * per_cell, g->bricks[1]),
               z = grid_place_of((at->z - R(g->origin[2])) * per_cell, g->bricks[2]);
    uniform_uint nx = g->bricks[0], ny = g->bricks[1];
    suint samples = grid_gather_index(g->brick, (z.brick * ny + y.brick) * nx + x.brick);
    mask fine = grid_has_samples(samples);
    real value = R(0.0);
    if (any(fine)) {
        suint cx = min_uint(to_uint(x.local), U(7)), cy = min_uint(to_uint(y.local), U(7)),
              cz = min_uint(to_uint(z.local), U(7));
        real3 t = make_real3(x.local - grid_index_real(cx), y.local - grid_index_real(cy),
                             z.local - grid_index_real(cz));
        suint first = samples * U(729) + (cz * U(9) + cy) * U(9) + cx;
        value = grid_blend(g->sample, grid_index_where(fine, first), 9, 81, t);
    }
    mask coarse = not_(fine);
    if (any(coarse)) {
        real3 t = make_real3(x.local * R(0.125), y.local * R(0.125), z.local * R(0.125));
        suint first = (z.brick * (ny + 1) + y.brick) * (nx + 1) + x.brick;
        value = sel(fine, value, grid_blend(g->corner, first, nx + 1, (nx + 1) * (ny + 1), t));
    }
    real3 outside = make_real3(x.outside, y.outside, z.outside);
    *beyond = sqrt_(dot3(outside, outside)) * R(g->cell);
    return value + *beyond;
}

// The direction in which the distance grows, of length 1; shorter where there is none. By differences over
// one cell: those are continuous, while the gradient of the interpolation jumps at the faces of cells, which
// makes what rests there tremble.
LANE_FN real3 grid_normal(const lane_grid *g, const real3 *at)
{
    real half = R(0.5) * R(g->cell), slope[3], beyond;
    for (int k = 0; k < 3; k++) {
        real3 ahead = add_scaled3(*at, axis3(k), half), behind = add_scaled3(*at, axis3(k), -half);
        slope[k] = grid_distance(g, &ahead, &beyond) - grid_distance(g, &behind, &beyond);
    }
    real per_cell = R(1.0) / R(g->cell);
    return unit3(make_real3(slope[0] * per_cell, slope[1] * per_cell, slope[2] * per_cell));
}
