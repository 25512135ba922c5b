// Normals of meshes that have none.
#pragma once

#include "engine/mesh/mesh_file.h"

// Smooth normals, by the rule that assimp's reader applies to files (aiProcess_GenSmoothNormals at 60
// degrees): a corner of a triangle gets the mean of the unit normals of those triangles that meet at its
// position and are turned by 60 degrees or less against its own. Replaces the vertices: those whose corners
// get different normals are split, and those that no triangle uses are dropped. Positions and indices must be
// valid. ORR_ERROR_ARGUMENT when splitting gives more than ORR_MESH_VERTEX_MAX.
orr_result orr_mesh_smooth_normals(orr_mesh_file *mesh, orr_error *error);
