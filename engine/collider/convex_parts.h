// The inside of a distance grid as convex parts, for bodies that move: concave meshes, and what was captured.
// Planes across the axes split a lattice of voxels where that takes away the most empty space of the parts'
// hulls or boxes; then parts are joined where the join adds little. (The greedy scheme of Mamou and Ghorbel,
// "A simple and efficient approach for 3D mesh approximate convex decomposition", 2009, over voxels.)
#pragma once

#include "physics/load/load.h"

#include <stdbool.h>

enum { ORR_CONVEX_POINTS = 64 }; // at most, of a part

typedef struct orr_convex_parts {
    int count;
    int32_t start[ORR_BODY_PARTS_MAX + 1]; // part i has the points start[i] .. start[i + 1] - 1
    float *points;                         // x, y, z, in the frame of the grid; with boxes: two corners,
                                           // the lowest coordinates and the highest
} orr_convex_parts;

// max_parts: 1 .. ORR_BODY_PARTS_MAX. Fewer come out where less than `slack` of the solid volume (0.03 is
// good) is left to take away. ORR_CODE_ARGUMENT, with `name` in the message: nothing is inside the grid.
orr_result orr_convex_parts_make(const orr_distance_grid *grid, int max_parts, double slack, bool boxes,
                                 const char *name, orr_convex_parts *parts, orr_error *error);
void orr_convex_parts_free(orr_convex_parts *parts);
