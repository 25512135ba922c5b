// The triangles of one cell of marching cubes, for each choice of inside corners.
//
// Corner c is at (c & 1, c >> 1 & 1, c >> 2). Edge e = 4 axis + k joins the corner whose other two
// coordinates are the bits of k (in cyclic order of axes) with its neighbour along the axis.
#pragma once

#include <stdint.h>

enum { ORR_CELL_EDGES = 12, ORR_CELL_TRIANGLES_MAX = 6 };

typedef struct orr_cell_triangles {
    int8_t count;
    int8_t edges[ORR_CELL_TRIANGLES_MAX][3]; // counter-clockwise seen from outside
} orr_cell_triangles;

// cases: 256, by the set of inside corners, one bit each
void orr_marching_table(orr_cell_triangles cases[256]);
// the corner at the lower end of an edge
int orr_cell_edge_corner(int edge);
