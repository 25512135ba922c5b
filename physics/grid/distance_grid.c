#include "physics/grid/distance_grid.h"

#include "engine/core/memory.h"

#include <math.h>

static size_t coarse_corners(const int32_t bricks[3])
{
    return (size_t)(bricks[0] + 1) * (size_t)(bricks[1] + 1) * (size_t)(bricks[2] + 1);
}

static size_t coarse_bricks(const int32_t bricks[3])
{
    return (size_t)bricks[0] * (size_t)bricks[1] * (size_t)bricks[2];
}

size_t orr_distance_grid_coarse(const orr_distance_grid *grid)
{
    return coarse_bricks(grid->bricks);
}

size_t orr_distance_grid_corners(const orr_distance_grid *grid)
{
    return coarse_corners(grid->bricks);
}

static bool sizes_fit(const int32_t bricks[3], int32_t brick_count)
{
    double corners = 1.0;
    for (int k = 0; k < 3; k++) {
        if (bricks[k] < 1) {
            return false;
        }
        corners *= (double)bricks[k] + 1.0;
    }
    return corners <= ORR_GRID_COARSE_MAX && brick_count >= 0 && brick_count <= ORR_GRID_BRICKS_MAX;
}

orr_result orr_distance_grid_create(const int32_t bricks[3], int32_t brick_count, orr_distance_grid **out,
                                    orr_error *error)
{
    *out = NULL;
    if (!sizes_fit(bricks, brick_count)) {
        return orr_fail(
            error, ORR_CODE_CAPACITY,
            "a distance grid of %d x %d x %d bricks, %d with distances: expected up to %d corners of "
            "bricks and %d bricks with distances: use larger cells",
            bricks[0], bricks[1], bricks[2], brick_count, ORR_GRID_COARSE_MAX, ORR_GRID_BRICKS_MAX);
    }
    size_t coarse = coarse_bricks(bricks), corners = coarse_corners(bricks);
    orr_distance_grid *grid = orr_alloc_zero(1, sizeof *grid);
    if (grid) {
        grid->brick = orr_alloc(coarse, sizeof *grid->brick);
        grid->corner = orr_alloc_zero(corners, sizeof *grid->corner);
        grid->sample = orr_alloc_zero((size_t)brick_count * ORR_GRID_SAMPLES + 1, sizeof *grid->sample);
    }
    if (!grid || !grid->brick || !grid->corner || !grid->sample) {
        orr_distance_grid_destroy(grid);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a distance grid");
    }
    for (size_t i = 0; i < coarse; i++) {
        grid->brick[i] = -1;
    }
    for (int k = 0; k < 3; k++) {
        grid->bricks[k] = bricks[k];
    }
    grid->brick_count = brick_count;
    *out = grid;
    return ORR_OK;
}

void orr_distance_grid_destroy(orr_distance_grid *grid)
{
    if (grid) {
        orr_free(grid->brick);
        orr_free(grid->corner);
        orr_free(grid->sample);
        orr_free(grid);
    }
}

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

orr_result orr_distance_grid_check(const orr_distance_grid *grid, const char *name, orr_error *error)
{
    bool placed = isfinite(grid->origin[0]) && isfinite(grid->origin[1]) && isfinite(grid->origin[2]);
    if (!placed || !isfinite(grid->cell) || !(grid->cell > 0.0) ||
        !sizes_fit(grid->bricks, grid->brick_count)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: expected a finite origin, a cell > 0 and at least one brick", name);
    }
    size_t coarse = coarse_bricks(grid->bricks);
    for (size_t i = 0; i < coarse; i++) {
        if (grid->brick[i] < -1 || grid->brick[i] >= grid->brick_count) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: brick %zu refers to samples %d of %d", name, i,
                            grid->brick[i], grid->brick_count);
        }
    }
    if (!all_finite(grid->corner, coarse_corners(grid->bricks)) ||
        !all_finite(grid->sample, (size_t)grid->brick_count * ORR_GRID_SAMPLES)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected finite distances", name);
    }
    return ORR_OK;
}

// The trilinear interpolation of eight corners, the first index x; slope: derivatives by t.
static double interpolate(const float *at, const size_t step[3], const double t[3], double slope[3])
{
    double value = 0.0;
    slope[0] = slope[1] = slope[2] = 0.0;
    for (int i = 0; i < 8; i++) {
        double weight[3], sign[3];
        size_t offset = 0;
        for (int k = 0; k < 3; k++) {
            bool upper = i >> k & 1;
            weight[k] = upper ? t[k] : 1.0 - t[k];
            sign[k] = upper ? 1.0 : -1.0;
            offset += upper ? step[k] : 0;
        }
        double corner = (double)at[offset];
        value += weight[0] * weight[1] * weight[2] * corner;
        slope[0] += sign[0] * weight[1] * weight[2] * corner;
        slope[1] += weight[0] * sign[1] * weight[2] * corner;
        slope[2] += weight[0] * weight[1] * sign[2] * corner;
    }
    return value;
}

double orr_distance_grid_at(const orr_distance_grid *grid, const double point[3], double gradient[3])
{
    double inside[3], outside[3], beyond = 0.0;
    size_t brick[3];
    for (int k = 0; k < 3; k++) {
        double u = (point[k] - grid->origin[k]) / grid->cell, most = (double)grid->bricks[k] * ORR_GRID_BRICK;
        inside[k] = u > 0.0 ? u < most ? u : most : 0.0; // not a number: 0
        outside[k] = (u - inside[k]) * grid->cell;
        beyond += outside[k] * outside[k];
        brick[k] = (size_t)fmin(floor(inside[k] / ORR_GRID_BRICK), (double)(grid->bricks[k] - 1));
    }
    size_t nx = (size_t)grid->bricks[0], ny = (size_t)grid->bricks[1];
    int32_t samples = grid->brick[(brick[2] * ny + brick[1]) * nx + brick[0]];
    double t[3], slope[3], value, edge = grid->cell;
    if (samples >= 0) {
        const size_t step[3] = {1, ORR_GRID_EDGE, ORR_GRID_EDGE * ORR_GRID_EDGE};
        const float *at = grid->sample + (size_t)samples * ORR_GRID_SAMPLES;
        for (int k = 0; k < 3; k++) {
            double local = inside[k] - (double)(brick[k] * ORR_GRID_BRICK);
            double cell = fmin(floor(local), ORR_GRID_BRICK - 1);
            at += (size_t)cell * step[k];
            t[k] = local - cell;
        }
        value = interpolate(at, step, t, slope);
    } else {
        const size_t step[3] = {1, nx + 1, (nx + 1) * (ny + 1)};
        const float *at = grid->corner + brick[0] * step[0] + brick[1] * step[1] + brick[2] * step[2];
        edge *= ORR_GRID_BRICK;
        for (int k = 0; k < 3; k++) {
            t[k] = inside[k] / ORR_GRID_BRICK - (double)brick[k];
        }
        value = interpolate(at, step, t, slope);
    }
    beyond = sqrt(beyond);
    for (int k = 0; gradient && k < 3; k++) {
        gradient[k] = beyond > 0.0 ? outside[k] / beyond : slope[k] / edge;
    }
    return value + beyond;
}

// Volume, its first moments (x, y, z) and its second moments (xx, yy, zz, xy, xz, yz).
typedef struct moments {
    double volume, first[3], second[6];
} moments;

// A cube of which a share is inside.
static void add_cube(moments *m, const double centre[3], double edge, double share)
{
    static const int index[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double volume = share * edge * edge * edge;
    m->volume += volume;
    for (int k = 0; k < 3; k++) {
        m->first[k] += volume * centre[k];
    }
    for (int k = 0; k < 6; k++) {
        double own = k < 3 ? edge * edge / 12.0 : 0.0;
        m->second[k] += volume * (centre[index[k][0]] * centre[index[k][1]] + own);
    }
}

static void add_brick(const orr_distance_grid *grid, const int at[3], int32_t samples, moments *m)
{
    double brick = grid->cell * ORR_GRID_BRICK, low[3], centre[3];
    for (int k = 0; k < 3; k++) {
        low[k] = grid->origin[k] + at[k] * brick;
        centre[k] = low[k] + 0.5 * brick;
    }
    if (samples < 0) { // the surface does not pass through it
        if (orr_distance_grid_at(grid, centre, NULL) < 0.0) {
            add_cube(m, centre, brick, 1.0);
        }
        return;
    }
    for (int i = 0; i < ORR_GRID_BRICK * ORR_GRID_BRICK * ORR_GRID_BRICK; i++) {
        const int cell[3] = {i % ORR_GRID_BRICK, i / ORR_GRID_BRICK % ORR_GRID_BRICK,
                             i / (ORR_GRID_BRICK * ORR_GRID_BRICK)};
        for (int k = 0; k < 3; k++) {
            centre[k] = low[k] + (cell[k] + 0.5) * grid->cell;
        }
        double share = 0.5 - orr_distance_grid_at(grid, centre, NULL) / grid->cell;
        if (share > 0.0) {
            add_cube(m, centre, grid->cell, fmin(share, 1.0));
        }
    }
}

double orr_distance_grid_volume(const orr_distance_grid *grid, double centre[3], double inertia[9])
{
    moments m = {0};
    size_t brick = 0;
    for (int z = 0; z < grid->bricks[2]; z++) {
        for (int y = 0; y < grid->bricks[1]; y++) {
            for (int x = 0; x < grid->bricks[0]; x++, brick++) {
                add_brick(grid, (const int[3]){x, y, z}, grid->brick[brick], &m);
            }
        }
    }
    static const int product[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    double about[6], *s = about;
    for (int k = 0; k < 3; k++) {
        centre[k] = m.volume > 0.0 ? m.first[k] / m.volume : 0.0;
    }
    for (int i = 0; i < 3; i++) {
        for (int k = i; k < 3; k++) {
            s[product[i][k]] = m.second[product[i][k]] - m.volume * centre[i] * centre[k];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            inertia[3 * i + k] = (i == k ? s[0] + s[1] + s[2] : 0.0) - s[product[i][k]];
        }
    }
    return m.volume;
}
