// Normals of meshes that have none.
#pragma once

#include "engine/mesh/mesh_file.h"

// Normals for vertices that have none (0): a corner of a triangle gets its triangle's where the mesh says
// flat_normals, else the mean of the unit normals of those triangles that meet at its position and are turned
// by 60 degrees or less against its own (of more than 512 corners at one position only those of a run of 512
// are compared). Replaces the vertices: those whose corners get different normals are split, and those that
// no triangle uses are dropped. Positions and indices must be valid. ORR_ERROR_ARGUMENT when splitting gives
// more than ORR_MESH_VERTEX_MAX.
orr_result orr_mesh_make_normals(orr_mesh_file *mesh, orr_error *error);

// Vertices that agree in everything become one; those that no triangle uses are dropped.
orr_result orr_mesh_share_vertices(orr_mesh_file *mesh, orr_error *error);
