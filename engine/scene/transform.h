// Similarity transforms: where a layer is in the scene, how it is turned, and its scale.
#pragma once

#include "engine/core/result.h"

// The transform with its defaults filled in and its rotation a unit quaternion. NULL: identity.
// ORR_ERROR_ARGUMENT when scale < 0 or a member is not finite.
orr_result orr_transform_resolve(const orr_transform *transform, orr_transform *out, orr_error *error);

// Of a position and a unit quaternion (w, x, y, z), in double.
orr_transform orr_transform_of(const double position[3], const double rotation[4]);

// First b, then a. Both resolved.
orr_transform orr_transform_multiply(const orr_transform *a, const orr_transform *b);

// A direction turned by a quaternion (w, x, y, z; all zero: identity), which need not be of unit length.
void orr_transform_direction(const float rotation[4], const float direction[3], float out[3]);
