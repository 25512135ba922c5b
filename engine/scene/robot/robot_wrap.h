// Texture coordinates of boxes and of surfaces that turn around z.
#pragma once

#include "render/mesh.h"

// A picture over each side of a box, upright, and over the caps of a cylinder (flat_caps); else once around
// the axis z, from the top to the bottom. The mesh is around the origin; triangles get corners of their own.
orr_result orr_robot_wrap(orr_mesh *mesh, bool box, bool flat_caps, orr_error *error);
