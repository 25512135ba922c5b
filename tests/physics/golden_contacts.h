// Contacts that a script recorded from MuJoCo: of each distance, position and normal.
#pragma once

#include "physics/simulation/world.h"
#include "tests/physics/golden_numbers.h"

#include <math.h>

enum { CONTACT_NUMBERS = 7 };

// How far a contact is from the nearest of `count` recorded ones in distance, position and normal.
static inline double contact_error(const orr_physics_contact *c, const double *expected, int count)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        const double *e = expected + CONTACT_NUMBERS * i;
        double error = fabs(c->dist - e[0]);
        for (int k = 0; k < 3; k++) {
            error = fmax(error, fmax(fabs(c->pos[k] - e[1 + k]), fabs(c->frame[k] - e[4 + k])));
        }
        least = fmin(least, error);
    }
    return least;
}
