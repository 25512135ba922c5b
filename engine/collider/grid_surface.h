// The surface of a distance grid as triangles: to look at, and for other programs.
#pragma once

#include "neural/fields/marching_cubes.h"
#include "physics/grid/distance_grid.h"

orr_result orr_grid_surface(const orr_distance_grid *grid, orr_jobs *jobs, orr_surface *surface,
                            orr_error *error);
