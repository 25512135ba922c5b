// Free space of a lattice whose surfaces are marked: small pieces are left out, gaps closed, and the space
// outside or inside is flooded (the steps are those of voxel solids from splats in PlayCanvas'
// splat-transform).
#pragma once

#include "engine/collider/collider.h"
#include "engine/collider/lattice.h"

enum { ORR_GAP_RADIUS_MAX = 15 }; // cells

// `radius`: of the ball that passes no gap [cells], up to ORR_GAP_RADIUS_MAX. Marks free points, and says
// whether the lattice is enclosed.
orr_result orr_free_space_find(orr_lattice *lattice, const orr_collider_desc *desc, int radius,
                               const char *name, orr_jobs *jobs, orr_collider_report *report,
                               orr_error *error);
