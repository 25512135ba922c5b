// Whether a tetrahedron or a triangle is too flat to be simulated in float.
#pragma once

#include "engine/maths/inline.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <stdbool.h>

// edge: 3 x 3, from its first corner to the others; six_volumes: their triple product. Flat: below 1e-6 of
// the cube of the longest of them, or turned inside out.
ORR_INLINE bool tet_is_flat(const double *edge, double six_volumes)
{
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, vec3_dot(edge + 3 * k, edge + 3 * k));
    }
    return !(six_volumes > 1e-6 * longest * sqrt(longest));
}

// a, b: two edges from one corner. Flat: twice the area is below 1e-6 of the square of the longer one.
ORR_INLINE bool triangle_is_flat(const double a[3], const double b[3], double twice_area)
{
    return !(twice_area > 1e-6 * fmax(vec3_dot(a, a), vec3_dot(b, b)));
}
