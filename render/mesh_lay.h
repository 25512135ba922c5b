// Texture coordinates for meshes that have none.
#pragma once

#include "render/mesh.h"

// The same triangles, each with corners of its own, under a picture that is seen upright along the axis that
// the triangle faces most: z is up in it, or y from above and below. Its middle is at `centre`, and it
// repeats after `period` along each axis. `out` has vertices and triangles alone.
orr_result orr_mesh_lay(const orr_mesh *mesh, const float centre[3], const float period[3], orr_mesh **out,
                        orr_error *error);
// Has any vertex a place in a texture?
bool orr_mesh_has_coordinates(const orr_mesh *mesh);
