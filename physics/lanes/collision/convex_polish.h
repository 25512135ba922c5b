// Refines a contact between curved shapes. Distance and depth are one function of the direction n: the
// support function of the difference of the cores, h(n) = max n . (a - b), has its minimum at the contact's
// normal, where it is minus the distance. GJK and EPA come close, but h is flat there: a depth to 1e-14 is a
// direction to 1e-7. Newton's method on the gradient of h finds the direction up to rounding.
#pragma once

#include "physics/lanes/collision/convex_shape.h"

// The support along n, and its components along two tangents: the gradient of h.
typedef struct convex_slope {
    convex_vertex support;
    double height, across[2]; // h, dh
} convex_slope;

LANE_FN convex_slope slope_at(convex_shape *a, convex_shape *b, point n, const point tangent[2])
{
    convex_slope s;
    s.support = difference_support(a, b, n);
    s.height = point_dot(s.support.p, n);
    s.across[0] = point_dot(s.support.p, tangent[0]);
    s.across[1] = point_dot(s.support.p, tangent[1]);
    return s;
}

enum { CONVEX_POLISH_STEPS = 6 };

// Returns 0, and does not change the hit, where h is not smooth: where corners or flat faces touch.
LANE_FN int polish_hit(convex_shape *a, convex_shape *b, convex_hit *hit)
{
    const double step = 1e-6, scale = a->bound + b->bound;
    point n = hit->normal, tangent[2];
    point_tangents(n, tangent);
    convex_slope here = slope_at(a, b, n, tangent);
    double steepness = hypot(here.across[0], here.across[1]);
    // the hit is on h, unless h is not smooth nearby
    if (steepness > 1e-3 * scale || here.height + hit->distance > 1e-6 * scale) {
        return 0;
    }
    for (int k = 0; k < CONVEX_POLISH_STEPS && steepness > 1e-15 * scale; k++) {
        double h[2][2];
        for (int j = 0; j < 2; j++) {
            convex_slope up = slope_at(a, b, point_direction(point_along(n, step, tangent[j])), tangent);
            convex_slope down = slope_at(a, b, point_direction(point_along(n, -step, tangent[j])), tangent);
            h[0][j] = (up.across[0] - down.across[0]) / (2.0 * step) - (j == 0 ? here.height : 0.0);
            h[1][j] = (up.across[1] - down.across[1]) / (2.0 * step) - (j == 1 ? here.height : 0.0);
        }
        double determinant = h[0][0] * h[1][1] - h[0][1] * h[1][0];
        if (!(h[0][0] > 0.0) || !(determinant > 0.0)) {
            return 0;
        }
        double x = -(h[1][1] * here.across[0] - h[0][1] * here.across[1]) / determinant;
        double y = -(h[0][0] * here.across[1] - h[1][0] * here.across[0]) / determinant;
        point next = point_direction(point_along(point_along(n, x, tangent[0]), y, tangent[1]));
        point turned[2];
        point_tangents(next, turned);
        convex_slope there = slope_at(a, b, next, turned);
        double flatter = hypot(there.across[0], there.across[1]);
        if (!(flatter < 0.5 * steepness)) {
            break;
        }
        n = next;
        here = there;
        steepness = flatter;
        tangent[0] = turned[0];
        tangent[1] = turned[1];
    }
    if (steepness > 1e-11 * scale) {
        return 0;
    }
    hit->normal = n;
    hit->distance = -here.height;
    hit->pos = point_scaled(point_sum(here.support.on1, here.support.on2), 0.5);
    return 1;
}
