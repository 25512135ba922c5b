// From a radiance field to a lattice of values.
#pragma once

#include "engine/collider/collider.h"
#include "engine/collider/lattice.h"

// As orr_collider_of_splats: a surface is where a cell has the opacity.
orr_result orr_collider_of_radiance(const orr_field_layer *field, const orr_collider_desc *desc,
                                    const char *name, orr_jobs *jobs, const orr_progress *progress,
                                    orr_lattice *lattice, orr_collider_report *report, orr_error *error);
