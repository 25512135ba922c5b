// From a field to triangles: marching cubes in the field's space, moved to the world it was trained in.
#pragma once

#include "neural/fields/field.h"
#include "neural/fields/marching_cubes.h"

typedef struct orr_field_mesh_desc {
    const orr_field *field; // sdf, nerf or volume
    float to_world[12]; // from the field's space (of a nerf see orr_capture, otherwise the unit cube), 3x4
    const float
        *density_grid; // nerf: optical thickness of cells (occupancy.h), density_cells of them; NULL: none
    int64_t density_cells;
    // cells along a side: of the cube of side aabb_scale for a nerf, otherwise of the unit cube
    int resolution;
    // density at the surface, nerf and volume; 0: 2.5 for a nerf, half of the greatest for a volume
    double threshold;
} orr_field_mesh_desc;

// Of an sdf the surface where it is 0. A radiance field gets the colours seen from straight ahead, and no
// surface in cells that its occupancy grid leaves out, nor, when it is unbounded, outside the unit cube. The
// greatest density of a volume is searched on a lattice of 32^3 points. ORR_CODE_ARGUMENT: an image has no
// surface.
orr_result orr_field_mesh(const orr_field_mesh_desc *desc, orr_jobs *jobs, orr_surface *surface,
                          orr_error *error);
