// A sparse signed distance grid: the surface of a captured world or of a mesh, for contacts. Cells are cubes;
// 8 x 8 x 8 of them are a brick. Bricks near the surface store distances at the corners of their cells; of
// the others only the distances at their own corners are known. Distances are negative inside.
//
//   corner (x, y, z), each 0 .. 8, of brick b: sample[((b * 9 + z) * 9 + y) * 9 + x]
//   corner (i, j, k) of the bricks, 0 .. bricks[]:
//       corner[(k * (bricks[1] + 1) + j) * (bricks[0] + 1) + i]
//   brick (i, j, k), 0 .. bricks[] - 1: brick[(k * bricks[1] + j) * bricks[0] + i]
//
// Within a brick that has samples the distance is their trilinear interpolation in the cell, elsewhere that
// of the corners of the coarse cell; outside the grid it is that of the nearest point of the grid's box plus
// the distance to it. Neighbouring bricks store the same numbers on the faces that they share.
#pragma once

#include "engine/core/result.h"

#include <stddef.h>
#include <stdint.h>

enum {
    ORR_GRID_BRICK = 8,            // cells along an edge of a brick
    ORR_GRID_EDGE = 9,             // samples along an edge of a brick
    ORR_GRID_SAMPLES = 729,        // of a brick
    ORR_GRID_BRICKS_MAX = 1 << 20, // with samples
    ORR_GRID_COARSE_MAX = 1 << 24  // corners of the coarse grid
};

typedef struct orr_distance_grid {
    double origin[3];    // corner of the grid with the lowest coordinates, in the frame of its layer
    double cell;         // edge of a cell, > 0, in units of its layer
    int32_t bricks[3];   // along x, y, z; each >= 1
    int32_t brick_count; // with samples
    int32_t *brick;      // bricks[2] x bricks[1] x bricks[0]: index of its samples, -1: it has none
    float *corner;       // distances at the corners of bricks
    float *sample;       // brick_count x 9 x 9 x 9
    uint64_t source;     // hash of what it was made from, with the settings; 0: unknown
} orr_distance_grid;

// The arrays, which the caller fills: `brick` with -1, no samples yet.
orr_result orr_distance_grid_create(const int32_t bricks[3], int32_t brick_count, orr_distance_grid **grid,
                                    orr_error *error);
void orr_distance_grid_destroy(orr_distance_grid *grid);         // NULL is allowed
size_t orr_distance_grid_coarse(const orr_distance_grid *grid);  // number of bricks, with samples or without
size_t orr_distance_grid_corners(const orr_distance_grid *grid); // number of corners of bricks
// Whether sizes, indices and numbers are in range and finite; `name` is for the message.
orr_result orr_distance_grid_check(const orr_distance_grid *grid, const char *name, orr_error *error);
// The volume inside the surface; centre: of mass; inertia: row-major, about the centre, per unit of density.
// Within half a cell of the surface a cell counts by its distance. 0: nothing is inside, then the rest is 0.
double orr_distance_grid_volume(const orr_distance_grid *grid, double centre[3], double inertia[9]);
// The distance at a point of the grid's frame, and its gradient (nullable), exact for the interpolation.
double orr_distance_grid_at(const orr_distance_grid *grid, const double point[3], double gradient[3]);
