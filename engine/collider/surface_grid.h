// From triangles to a distance grid.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/progress.h"
#include "physics/grid/distance_grid.h"

typedef struct orr_grid_triangles {
    const char *name;
    const float *positions; // vertex_count x 3, in cells from the grid's origin
    const uint32_t *indices;
    int64_t vertex_count, triangle_count;
    bool enclosed; // they wind around what is free
    double origin[3], cell;
    int32_t bricks[3];
} orr_grid_triangles;

// Exact distances at the samples of bricks within ORR_GRID_BAND cells of a triangle, and at all corners.
// ORR_CODE_ARGUMENT: the triangles enclose no volume.
enum { ORR_GRID_BAND = 2 };
orr_result orr_surface_grid(const orr_grid_triangles *triangles, orr_jobs *jobs, const orr_progress *progress,
                            orr_distance_grid **grid, orr_error *error);
