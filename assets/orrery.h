// The arrangement: the position of each part of the orrery. y is up, the table is y = 0, the column is the y
// axis.
#pragma once

#include "assets/shape.h"

// The sun, which lights the rest.
static const float sun_height = 1.50f;
static const float sun_radius = 0.175f;

static const float table_radius = 1.55f;

// All parts; material_colour gives their colours.
orr_result orrery_build(shape_mesh *s, orr_error *error);
