// On which side of each splat free space is.
#pragma once

#include "engine/collider/splat_tiles.h"

// Turns the splats' normals towards free space and says of which kind they are. up: unit; where both sides
// are free, the surface is the side that looks up, or for walls towards the nearest of the eyes.
void splat_sides_find(const orr_lattice *lattice, const orr_collider_desc *desc, const float up[3],
                      lattice_splat *splats, int64_t count, orr_jobs *jobs);
