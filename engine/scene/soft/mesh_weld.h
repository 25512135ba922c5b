// Vertices of a mesh at one place, as one.
#pragma once

#include "engine/scene/scene.h"

// number: vertex_count; count: how many places there are.
orr_result orr_mesh_weld(const orr_mesh *mesh, int32_t **number, int *count, orr_error *error);
// Edges whose two ends are not joined by as many triangles one way as the other: 0 of a closed mesh.
orr_result orr_mesh_open_edges(const orr_mesh *mesh, int64_t *open, orr_error *error);
