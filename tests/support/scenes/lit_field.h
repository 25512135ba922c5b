// Fields for tests of light: values on a dense grid, which their networks hand on as they are.
#pragma once

#include "engine/core/jobs.h"
#include "neural/fields/field.h"
#include "neural/fields/occupancy.h"
#include "tests/support/scenes/lit_cloud.h"

// From the room, [m], to the field's unit cube.
extern const float lit_field_to_unit[12];

// A radiance field of what `look` says of points of the room: their distance to a surface, and how bright
// that is. Fails the test where it cannot be made. The caller destroys both.
typedef void lit_field_look(const void *context, lit_point *points, int count);
void lit_field_of(lit_field_look *look, const void *context, orr_isa isa, orr_jobs *jobs, orr_field **field,
                  orr_occupancy *grid);

// The room of lit_cloud.h as a radiance field.
void lit_field(const lit_cloud_desc *desc, orr_isa isa, orr_jobs *jobs, orr_field **field,
               orr_occupancy *grid);

// A ball of signed distances, 0.3 in radius, in the middle of the unit cube.
orr_field *ball_field(orr_isa isa);
