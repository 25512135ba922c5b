// From a model to triangles: marching cubes of its field, in the world it was trained in.
#pragma once

#include "neural/fields/marching_cubes.h"
#include "neural/ingp/ingp.h"

// Of an sdf the surface where it is 0; of a nerf or a volume where the density is `threshold` (0: 2.5 for a nerf, half of
// the greatest on a coarse lattice for a volume). Radiance fields get the colours that are seen from straight ahead, and no
// surface in cells that their occupancy grid leaves out, nor an unbounded one outside the unit cube. ORR_ERROR_ARGUMENT: an image has no surface.
orr_result orr_field_mesh(const orr_field_model *model, orr_jobs *jobs, int resolution, double threshold,
                          orr_surface *surface, orr_error *error);
