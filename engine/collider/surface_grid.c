#include "engine/collider/surface_grid.h"

#include "engine/collider/splat_tiles.h"
#include "engine/core/memory.h"
#include "neural/fields/mesh_distance.h"

#include <math.h>
#include <string.h>

enum { TILE = 4, TILE_CORNERS = TILE * TILE * TILE };
static const double CORNERS = 0.1; // their share of the time

typedef struct grid_filling {
    const orr_grid_triangles *triangles;
    const orr_mesh_distance *mesh;
    orr_distance_grid *grid;
    float *corners;  // of all bricks
    uint8_t *near;   // bricks
    int32_t *bricks; // brick_count: indices of bricks with samples
    float thickness; // of a sheet, in cells; 0: it encloses something
    int first;       // tile or brick of a block of work
} grid_filling;

static size_t count_corners(const orr_grid_triangles *t)
{
    return (size_t)(t->bricks[0] + 1) * (size_t)(t->bricks[1] + 1) * (size_t)(t->bricks[2] + 1);
}

static float signed_cells(const grid_filling *f, float distance)
{
    if (f->thickness > 0.0f) { // a slab: the sheet before, its thickness behind
        return distance < 0.0f ? fmaxf(distance, -distance - f->thickness) : distance;
    }
    return f->triangles->enclosed ? -distance : distance;
}

// The corners of a tile are TILE along each axis, fewer at the end of the grid.
typedef struct corner_tile {
    int first[3], count[3];
} corner_tile;

static int tiles_along(const orr_grid_triangles *t, int axis)
{
    return orr_blocks(t->bricks[axis] + 1, TILE);
}

static corner_tile find_tile(const orr_grid_triangles *t, int index)
{
    corner_tile tile;
    for (int k = 0; k < 3; k++) {
        tile.first[k] = index % tiles_along(t, k) * TILE;
        index /= tiles_along(t, k);
        int left = t->bricks[k] + 1 - tile.first[k];
        tile.count[k] = left < TILE ? left : TILE;
    }
    return tile;
}

// Point `step` of a path through a block of points along which neighbours follow each other.
static void path_point(const int count[3], int step, int at[3])
{
    int row = step / count[0], layer = row / count[1];
    at[0] = row % 2 ? count[0] - 1 - step % count[0] : step % count[0];
    at[1] = layer % 2 ? count[1] - 1 - row % count[1] : row % count[1];
    at[2] = layer;
}

// Is the brick behind a corner near the surface? `bound`: on the distance of the point before, to be updated.
static bool is_near(const grid_filling *f, const float corner[3], float before[3], float *bound)
{
    const float half = 0.5f * ORR_GRID_BRICK, reach = sqrtf(3.0f) * half + ORR_GRID_BAND + f->thickness;
    float middle[3], square = 0.0f;
    for (int k = 0; k < 3; k++) {
        middle[k] = corner[k] + half;
        square += (middle[k] - before[k]) * (middle[k] - before[k]);
    }
    memcpy(before, middle, sizeof middle);
    *bound = orr_mesh_distance_to(f->mesh, middle, *bound + sqrtf(square));
    return *bound <= reach;
}

// Distances at the corners of a tile, and which bricks behind them are near.
static void find_corners(void *context, int index, int worker)
{
    (void)worker;
    grid_filling *f = context;
    const orr_grid_triangles *t = f->triangles;
    corner_tile tile = find_tile(t, f->first + index);
    int count = tile.count[0] * tile.count[1] * tile.count[2];
    float points[3 * TILE_CORNERS] = {0}, distances[TILE_CORNERS], before[3] = {0}, bound = INFINITY;
    int at[TILE_CORNERS][3];
    for (int i = 0; i < count; i++) {
        path_point(tile.count, i, at[i]);
        for (int k = 0; k < 3; k++) {
            at[i][k] += tile.first[k];
            points[k * count + i] = (float)(at[i][k] * ORR_GRID_BRICK);
        }
    }
    orr_mesh_distance_signed(f->mesh, points, count, distances);
    for (int i = 0; i < count; i++) {
        const int *c = at[i];
        size_t rows = (size_t)t->bricks[0] + 1, layers = (size_t)t->bricks[1] + 1;
        f->corners[((size_t)c[2] * layers + (size_t)c[1]) * rows + (size_t)c[0]] =
            signed_cells(f, distances[i]);
        if (c[0] < t->bricks[0] && c[1] < t->bricks[1] && c[2] < t->bricks[2]) {
            const float corner[3] = {points[i], points[count + i], points[2 * count + i]};
            f->near[((size_t)c[2] * (size_t)t->bricks[1] + (size_t)c[1]) * (size_t)t->bricks[0] +
                    (size_t)c[0]] = is_near(f, corner, before, &bound);
        }
    }
}

// The samples of one brick, along a path without jumps.
static void fill_brick(void *context, int index, int worker)
{
    (void)worker;
    grid_filling *f = context;
    const orr_grid_triangles *t = f->triangles;
    int32_t samples = f->first + index, brick = f->bricks[samples];
    int corner[3] = {brick % t->bricks[0], brick / t->bricks[0] % t->bricks[1],
                     brick / t->bricks[0] / t->bricks[1]};
    float points[3 * ORR_GRID_SAMPLES], distances[ORR_GRID_SAMPLES];
    static const int EDGES[3] = {ORR_GRID_EDGE, ORR_GRID_EDGE, ORR_GRID_EDGE};
    int place[ORR_GRID_SAMPLES];
    for (int i = 0; i < ORR_GRID_SAMPLES; i++) {
        int at[3];
        path_point(EDGES, i, at);
        for (int k = 0; k < 3; k++) {
            points[k * ORR_GRID_SAMPLES + i] = (float)(corner[k] * ORR_GRID_BRICK + at[k]);
        }
        place[i] = (at[2] * ORR_GRID_EDGE + at[1]) * ORR_GRID_EDGE + at[0];
    }
    orr_mesh_distance_signed(f->mesh, points, ORR_GRID_SAMPLES, distances);
    float *out = f->grid->sample + (size_t)samples * ORR_GRID_SAMPLES;
    for (int i = 0; i < ORR_GRID_SAMPLES; i++) {
        out[place[i]] = signed_cells(f, distances[i]) * (float)t->cell;
    }
}

// A block of work at a time, so that progress is told.
static orr_result run(grid_filling *f, int count, orr_job_fn body, orr_jobs *jobs,
                      const orr_progress *progress, orr_error *error)
{
    enum { BLOCK = 256 };
    for (f->first = 0; f->first < count; f->first += BLOCK) {
        ORR_TRY(orr_progress_at(progress, "distances", (double)f->first / count, error));
        orr_jobs_for(jobs, count - f->first < BLOCK ? count - f->first : BLOCK, body, f);
    }
    return orr_progress_at(progress, "distances", 1.0, error);
}

// All numbers of the grid.
static orr_result fill_grid(grid_filling *f, orr_jobs *jobs, const orr_progress *progress, orr_error *error)
{
    const orr_grid_triangles *t = f->triangles;
    orr_distance_grid *grid = f->grid;
    grid->cell = t->cell;
    size_t coarse = (size_t)t->bricks[0] * (size_t)t->bricks[1] * (size_t)t->bricks[2],
           corners = count_corners(t);
    for (int k = 0; k < 3; k++) {
        grid->origin[k] = t->origin[k];
    }
    bool solid = false;
    for (size_t i = 0; i < corners; i++) {
        grid->corner[i] = f->corners[i] * (float)t->cell;
        solid = solid || f->corners[i] < 0.0f;
    }
    int32_t samples = 0;
    for (size_t i = 0; i < coarse; i++) {
        if (f->near[i]) {
            grid->brick[i] = samples;
            f->bricks[samples++] = (int32_t)i;
        }
    }
    ORR_TRY(run(f, samples, fill_brick, jobs, progress, error));
    for (size_t i = 0; i < (size_t)samples * ORR_GRID_SAMPLES && !solid; i++) {
        solid = grid->sample[i] < 0.0f;
    }
    return solid
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT,
                          "%s: nothing is inside at cells of %.4g: expected triangles that enclose a volume "
                          "thicker than that, or a smaller cell",
                          t->name, t->cell);
}

static orr_result make_grid(grid_filling *f, orr_jobs *jobs, const orr_progress *progress,
                            orr_distance_grid **grid, orr_error *error)
{
    const orr_grid_triangles *t = f->triangles;
    size_t coarse = (size_t)t->bricks[0] * (size_t)t->bricks[1] * (size_t)t->bricks[2];
    ORR_ALLOC(f->corners, count_corners(t), "corners of a distance grid", error);
    ORR_ALLOC(f->near, coarse, "bricks of a distance grid", error);
    orr_progress corners = orr_progress_part(progress, 0.0, CORNERS),
                 bricks = orr_progress_part(progress, CORNERS, 1.0);
    ORR_TRY(run(f, tiles_along(t, 0) * tiles_along(t, 1) * tiles_along(t, 2), find_corners, jobs, &corners,
                error));
    int64_t count = 0;
    for (size_t i = 0; i < coarse; i++) {
        count += f->near[i];
    }
    ORR_ALLOC(f->bricks, count, "bricks of a distance grid", error);
    ORR_TRY(orr_distance_grid_create(t->bricks, (int32_t)count, grid, error));
    f->grid = *grid;
    orr_result result = fill_grid(f, jobs, &bricks, error);
    if (result != ORR_OK) {
        orr_distance_grid_destroy(*grid);
        *grid = NULL;
    }
    return result;
}

orr_result orr_surface_grid(const orr_grid_triangles *triangles, orr_jobs *jobs, const orr_progress *progress,
                            orr_distance_grid **grid, orr_error *error)
{
    *grid = NULL;
    // its limits, before anything that takes long
    orr_distance_grid *empty;
    ORR_TRY(orr_distance_grid_create(triangles->bricks, 0, &empty, error));
    orr_distance_grid_destroy(empty);
    orr_mesh_distance *mesh;
    ORR_TRY(orr_mesh_distance_create(triangles->positions, triangles->vertex_count, triangles->indices,
                                     triangles->triangle_count, jobs, triangles->name, &mesh, error));
    bool sheet = !triangles->enclosed && orr_mesh_distance_find_sheet(mesh);
    grid_filling f = {.triangles = triangles, .mesh = mesh, .thickness = sheet ? SPLAT_SHEET_CELLS : 0.0f};
    orr_result result = make_grid(&f, jobs, progress, grid, error);
    orr_free(f.corners);
    orr_free(f.near);
    orr_free(f.bricks);
    orr_mesh_distance_destroy(mesh);
    return result;
}
