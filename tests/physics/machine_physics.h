// Worlds on the machine of a test program, and how far their numbers are from recorded ones.
#pragma once

#include "physics/simulation/world.h"
#include "tests/support/machine.h"

#include <math.h>

// In float even where a model asks for double, as long chains do, unless double_precision.
static inline orr_physics *make_physics(const orr_model *model, int worlds, bool double_precision)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {.worlds = worlds,
                                   .double_precision = double_precision,
                                   .single_precision = !double_precision,
                                   .cuda = cuda,
                                   .team = team};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    return physics;
}

// The largest of the numbers, by size, or of their differences; b NULL: of a. Infinite: one is not finite.
static inline double largest(const double *a, const double *b, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        double value = b ? a[i] - b[i] : a[i];
        most = fmax(most, isfinite(value) ? fabs(value) : INFINITY);
    }
    return most;
}
