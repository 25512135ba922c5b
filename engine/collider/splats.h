// From a splat cloud to a lattice of values.
#pragma once

#include "engine/collider/collider.h"
#include "engine/collider/lattice.h"

// Every number of `desc` is resolved. On failure the lattice holds nothing.
orr_result orr_collider_of_splats(const orr_splat_pack *pack, const orr_collider_desc *desc, const char *name,
                                  orr_jobs *jobs, const orr_progress *progress, orr_lattice *lattice,
                                  orr_collider_report *report, orr_error *error);
