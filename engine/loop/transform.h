// Similarity transforms: what places a layer in the world.
#pragma once

#include "engine/core/result.h"

// The transform with its defaults filled in and its rotation a unit quaternion. NULL: identity.
// ORR_ERROR_ARGUMENT when scale < 0 or a member is not finite.
orr_result orr_transform_resolve(const orr_transform *transform, orr_transform *out, orr_error *error);

// First b, then a. Both resolved.
orr_transform orr_transform_multiply(const orr_transform *a, const orr_transform *b);
