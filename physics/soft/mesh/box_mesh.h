// Regular meshes to make soft bodies of. Free with orr_soft_mesh_destroy.
#pragma once

#include "engine/core/result.h"

#include <stdint.h>

typedef struct orr_soft_mesh {
    int vertices, tets, triangles;
    double *vertex;    // vertices x 3
    int32_t *tet;      // tets x 4
    int32_t *triangle; // triangles x 3
} orr_soft_mesh;

// A box of cells[0] x cells[1] x cells[2] equal cells, centred at the origin, six tets to a cell, as
// the flexcomp of type grid of MuJoCo 4.0 makes them. Vertex (i, j, k) has index
// k + (cells[2] + 1) (j + (cells[1] + 1) i).
orr_result orr_soft_box(const int cells[3], const double size[3], orr_soft_mesh *mesh, orr_error *error);
// A sheet in the plane z = 0, two triangles to a cell. Vertex (i, j) has index j + (cells[1] + 1) i.
orr_result orr_soft_sheet(const int cells[2], const double size[2], orr_soft_mesh *mesh, orr_error *error);
void orr_soft_mesh_destroy(orr_soft_mesh *mesh);
