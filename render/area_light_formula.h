// Light of a rectangle that shines evenly from its front: how much of it a matte surface receives, by
// Lambert's integral over the edges of the part above the horizon (Photometria, 1760), and how much a glossy
// one mirrors, by the same integral after a linear map that makes its lobe a cosine's (Heitz et al. 2016).
// One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_AREA_LIGHT_FORMULA_H
#define ORR_AREA_LIGHT_FORMULA_H

#include "engine/maths/angle_formula.h"
#include "engine/maths/vector_formula.h"

// The edge from a to a + step, as seen from the origin: its angle, by how much of it faces along n.
FN real area_edge(real3 a, real3 step, real3 n)
{
    real3 c = cross3(a, step);
    real length = length3(c);
    return angle_of(length, dot3(a, add3(a, step))) * dot3(c, n) / max_(length, R(1e-30));
}

// Of the edges so far, and where the outline goes below the horizon and comes back.
STRUCT(area_sum)
{
    real turned;
    real3 leaves, enters; // 0: it does not
}
END_STRUCT(area_sum)

// Adds the part of an edge above the horizon. from, to: heights of its ends above it.
FN area_sum area_add_edge(area_sum s, real3 a, real3 step, real from, real to, real3 n)
{
    mask first_up = from >= R(0.0), last_up = to >= R(0.0);
    real difference = from - to;
    real crossing = from / sel(difference == R(0.0), R(1.0), difference);
    real begin = sel(first_up, R(0.0), sel(last_up, crossing, R(0.0)));
    real end = sel(last_up, R(1.0), sel(first_up, crossing, R(0.0)));
    real3 start = add_scaled3(a, step, begin);
    s.turned = s.turned + area_edge(start, scale3(step, end - begin), n);
    s.leaves = select3(and_(first_up, not_(last_up)), add_scaled3(a, step, end), s.leaves);
    s.enters = select3(and_(last_up, not_(first_up)), start, s.enters);
    return s;
}

// The form factor, 0 .. 1, of a parallelogram seen from the origin by a surface with the normal n (unit):
// the light that it receives, of what it would receive were the sky as bright all over.
FN real area_form_factor(real3 corner, real3 right, real3 up, real3 n)
{
    real height = dot3(corner, n), to_right = dot3(right, n), to_up = dot3(up, n);
    real3 zero = make_real3(R(0.0), R(0.0), R(0.0));
    area_sum s;
    s.turned = R(0.0);
    s.leaves = zero;
    s.enters = zero;
    real3 b = add3(corner, right), c = add3(b, up), d = add3(corner, up);
    real height_b = height + to_right, height_c = height_b + to_up, height_d = height + to_up;
    s = area_add_edge(s, corner, right, height, height_b, n);
    s = area_add_edge(s, b, up, height_b, height_c, n);
    s = area_add_edge(s, c, sub3(zero, right), height_c, height_d, n);
    s = area_add_edge(s, d, sub3(zero, up), height_d, height, n);
    s.turned = s.turned + area_edge(s.leaves, sub3(s.enters, s.leaves), n);
    return min_(abs_(s.turned) * R(0.5 / ANGLE_PI), R(1.0));
}

// The map after which the lobe of a glossy surface is a cosine's: coordinates along the rows.
STRUCT(area_lobe)
{
    real3 across, aside, along;
}
END_STRUCT(area_lobe)

// Of the GGX lobe with the correlated visibility term, whose integral is a table's (bsdf_formula.h). normal,
// to_eye: unit. Its middle leans from the mirrored direction to the normal, and it is narrower across the
// plane of the eye: numbers by tests/render/fit_area_lobe.py, with which what a rectangle adds is 0.027 off
// (root of the mean square) where it is 0.155 in the mean and can be 1.
FN area_lobe area_lobe_of(real3 normal, real3 to_eye, real alpha)
{
    real cosine = min_(max_(dot3(normal, to_eye), R(0.05)), R(1.0));
    real wide = R(2.0) * max_(alpha, R(5e-4)) / fma_(alpha, fma_(R(0.718), alpha, R(-0.027)), R(1.0));
    real narrow = wide * fma_(R(1.0) - cosine, alpha * fma_(R(-0.974), alpha, R(1.866)), cosine);
    real lean = min_(R(1.169) * pow_(max_(alpha, R(1e-6)), R(1.307)), R(1.0));
    real3 mirrored = sub3(scale3(normal, R(2.0) * dot3(normal, to_eye)), to_eye);
    real3 along = normalise3(add_scaled3(mirrored, sub3(normal, mirrored), lean));
    real3 aside = cross3(normal, to_eye);
    // seen from straight above, any direction in the plane will do
    mask tilted = abs_(normal.x) < R(0.6);
    real3 other =
        cross3(normal, make_real3(sel(tilted, R(1.0), R(0.0)), sel(tilted, R(0.0), R(1.0)), R(0.0)));
    aside = normalise3(select3(dot3(aside, aside) > R(1e-8), aside, other));
    area_lobe lobe;
    lobe.across = scale3(cross3(aside, along), R(1.0) / wide);
    lobe.aside = scale3(aside, R(1.0) / narrow);
    lobe.along = along;
    return lobe;
}

FN real3 area_into_lobe(area_lobe l, real3 v)
{
    return make_real3(dot3(l.across, v), dot3(l.aside, v), dot3(l.along, v));
}

#endif
