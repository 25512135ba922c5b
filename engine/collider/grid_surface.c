#include "engine/collider/grid_surface.h"

#include "engine/core/memory.h"

#include <math.h>

typedef struct grid_walk {
    const orr_distance_grid *grid;
    double side;  // the longest of the box that is walked over
    float invert; // -1: the surface winds around what is free
} grid_walk;

static void values(void *context, int worker, const float *points, float *out)
{
    (void)worker;
    const grid_walk *w = context;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        double point[3];
        bool within = true; // the box around the grid is more than the grid
        for (int k = 0; k < 3; k++) {
            double along = w->side * (double)points[k * ORR_SAMPLES + i];
            point[k] = w->grid->origin[k] + along;
            within = within && along <= w->grid->bricks[k] * ORR_GRID_BRICK * w->grid->cell;
        }
        out[i] = within ? w->invert * (float)orr_distance_grid_at(w->grid, point, NULL) : (float)w->side;
    }
}

// Marching cubes closes a shape that leaves its cube: the shape must be what does not.
static bool corner_is_solid(const orr_distance_grid *grid)
{
    return grid->corner[0] < 0.0f;
}

static void turn_over(orr_surface *surface)
{
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        uint32_t *corner = surface->indices + 3 * t, kept = corner[1];
        corner[1] = corner[2];
        corner[2] = kept;
    }
    for (int64_t i = 0; i < 3 * surface->vertex_count; i++) {
        surface->normals[i] = -surface->normals[i];
    }
}

orr_result orr_grid_surface(const orr_distance_grid *grid, orr_jobs *jobs, orr_surface *surface,
                            orr_error *error)
{
    int longest = grid->bricks[0] > grid->bricks[1] ? grid->bricks[0] : grid->bricks[1];
    longest = longest > grid->bricks[2] ? longest : grid->bricks[2];
    const int most = longest < ORR_MARCHING_RESOLUTION_MAX / ORR_GRID_BRICK ? longest * ORR_GRID_BRICK
                                                                            : ORR_MARCHING_RESOLUTION_MAX;
    int cells[3]; // one more than there is: what is beyond closes the surface
    for (int k = 0; k < 3; k++) {
        const int own = (int)ceil((double)grid->bricks[k] * most / longest) + 1;
        cells[k] = own < most ? own : most;
    }
    grid_walk w = {.grid = grid,
                   .side = grid->cell * longest * ORR_GRID_BRICK,
                   .invert = corner_is_solid(grid) ? -1.0f : 1.0f};
    const orr_marching_function function = {.context = &w, .values = values};
    ORR_TRY(orr_marching_cubes(&function, jobs, cells, surface, error));
    const float side = (float)w.side;
    const float place[12] = {side, 0.0f, 0.0f, (float)grid->origin[0],
                             0.0f, side, 0.0f, (float)grid->origin[1],
                             0.0f, 0.0f, side, (float)grid->origin[2]};
    orr_surface_transform(surface, place);
    if (w.invert < 0.0f) {
        turn_over(surface);
    }
    return ORR_OK;
}
