#include "engine/collider/surface_grid.h"

#include "engine/core/memory.h"
#include "neural/fields/mesh_distance.h"

#include <math.h>

typedef struct grid_filling {
    const orr_grid_triangles *triangles;
    const orr_mesh_distance *mesh;
    orr_distance_grid *grid;
    float *corners;  // of all bricks
    uint8_t *near;   // bricks
    int32_t *bricks; // brick_count: indices of bricks with samples
    float *scratch;  // per worker
    size_t scratch_floats;
    int first; // brick
} grid_filling;

static int row_corners(const grid_filling *f)
{
    return f->triangles->bricks[0] + 1;
}

static float signed_cells(const grid_filling *f, float distance)
{
    return f->triangles->enclosed ? -distance : distance;
}

// Distances at a row of corners, and which bricks of the row are near.
static void find_row(void *context, int row, int worker)
{
    grid_filling *f = context;
    const orr_grid_triangles *t = f->triangles;
    int count = row_corners(f), j = row % (t->bricks[1] + 1), k = row / (t->bricks[1] + 1);
    float *points = f->scratch + (size_t)worker * f->scratch_floats, *distances = points + 3 * (size_t)count;
    for (int i = 0; i < count; i++) {
        points[i] = (float)(i * ORR_GRID_BRICK);
        points[count + i] = (float)(j * ORR_GRID_BRICK);
        points[2 * count + i] = (float)(k * ORR_GRID_BRICK);
    }
    orr_mesh_distance_signed(f->mesh, points, count, distances);
    for (int i = 0; i < count; i++) {
        f->corners[(size_t)row * (size_t)count + (size_t)i] = signed_cells(f, distances[i]);
    }
    if (j == t->bricks[1] || k == t->bricks[2]) {
        return;
    }
    const float half = 0.5f * ORR_GRID_BRICK, reach = sqrtf(3.0f) * half + ORR_GRID_BAND;
    float bound = INFINITY;
    for (int i = 0; i < t->bricks[0]; i++) {
        const float middle[3] = {points[i] + half, points[count] + half, points[2 * (size_t)count] + half};
        bound = orr_mesh_distance_to(f->mesh, middle, bound + ORR_GRID_BRICK);
        f->near[((size_t)k * (size_t)t->bricks[1] + (size_t)j) * (size_t)t->bricks[0] + (size_t)i] =
            bound <= reach;
    }
}

// The samples of one brick, along a path without jumps.
static void fill_brick(void *context, int index, int worker)
{
    grid_filling *f = context;
    const orr_grid_triangles *t = f->triangles;
    int32_t samples = f->first + index, brick = f->bricks[samples];
    int corner[3] = {brick % t->bricks[0], brick / t->bricks[0] % t->bricks[1],
                     brick / t->bricks[0] / t->bricks[1]};
    float *points = f->scratch + (size_t)worker * f->scratch_floats,
          *distances = points + 3 * ORR_GRID_SAMPLES;
    int place[ORR_GRID_SAMPLES], count = 0;
    for (int z = 0; z < ORR_GRID_EDGE; z++) {
        for (int row = 0; row < ORR_GRID_EDGE; row++) {
            int y = z % 2 ? ORR_GRID_BRICK - row : row;
            for (int step = 0; step < ORR_GRID_EDGE; step++, count++) {
                int x = (z * ORR_GRID_EDGE + row) % 2 ? ORR_GRID_BRICK - step : step;
                const int at[3] = {x, y, z};
                for (int k = 0; k < 3; k++) {
                    points[k * ORR_GRID_SAMPLES + count] = (float)(corner[k] * ORR_GRID_BRICK + at[k]);
                }
                place[count] = (z * ORR_GRID_EDGE + y) * ORR_GRID_EDGE + x;
            }
        }
    }
    orr_mesh_distance_signed(f->mesh, points, ORR_GRID_SAMPLES, distances);
    float *out = f->grid->sample + (size_t)samples * ORR_GRID_SAMPLES;
    for (int i = 0; i < ORR_GRID_SAMPLES; i++) {
        out[place[i]] = signed_cells(f, distances[i]) * (float)t->cell;
    }
}

// All numbers of the grid; a block of bricks at a time, so that progress is told.
static orr_result fill_grid(grid_filling *f, orr_jobs *jobs, const orr_progress *progress, orr_error *error)
{
    enum { BLOCK = 4096 };
    const orr_grid_triangles *t = f->triangles;
    orr_distance_grid *grid = f->grid;
    grid->cell = t->cell;
    size_t coarse = (size_t)t->bricks[0] * (size_t)t->bricks[1] * (size_t)t->bricks[2],
           corners = (size_t)row_corners(f) * (size_t)(t->bricks[1] + 1) * (size_t)(t->bricks[2] + 1);
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
    for (f->first = 0; f->first < samples; f->first += BLOCK) {
        ORR_TRY(orr_progress_at(progress, "distances", 0.5 + 0.5 * f->first / samples, error));
        orr_jobs_for(jobs, samples - f->first < BLOCK ? samples - f->first : BLOCK, fill_brick, f);
    }
    for (size_t i = 0; i < (size_t)samples * ORR_GRID_SAMPLES && !solid; i++) {
        solid = grid->sample[i] < 0.0f;
    }
    return solid
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected triangles that enclose a volume", t->name);
}

static orr_result make_grid(grid_filling *f, orr_jobs *jobs, const orr_progress *progress,
                            orr_distance_grid **grid, orr_error *error)
{
    const orr_grid_triangles *t = f->triangles;
    size_t row = (size_t)row_corners(f), rows = (size_t)(t->bricks[1] + 1) * (size_t)(t->bricks[2] + 1),
           coarse = (size_t)t->bricks[0] * (size_t)t->bricks[1] * (size_t)t->bricks[2];
    f->scratch_floats = 4 * (row > ORR_GRID_SAMPLES ? row : ORR_GRID_SAMPLES);
    ORR_ALLOC(f->corners, row * rows, "corners of a distance grid", error);
    ORR_ALLOC(f->near, coarse, "bricks of a distance grid", error);
    ORR_ALLOC(f->scratch, (size_t)orr_jobs_workers(jobs) * f->scratch_floats, "distances", error);
    orr_jobs_for(jobs, (int)rows, find_row, f);
    int64_t count = 0;
    for (size_t i = 0; i < coarse; i++) {
        count += f->near[i];
    }
    ORR_ALLOC(f->bricks, count, "bricks of a distance grid", error);
    ORR_TRY(orr_distance_grid_create(t->bricks, (int32_t)count, grid, error));
    f->grid = *grid;
    orr_result result = fill_grid(f, jobs, progress, error);
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
                                     triangles->triangle_count, triangles->name, &mesh, error));
    grid_filling f = {.triangles = triangles, .mesh = mesh};
    orr_result result = make_grid(&f, jobs, progress, grid, error);
    orr_free(f.corners);
    orr_free(f.near);
    orr_free(f.bricks);
    orr_free(f.scratch);
    orr_mesh_distance_destroy(mesh);
    return result;
}
