// Ambient occlusion: how much of the light from all around reaches a point past the surfaces near it that
// the camera sees. In a few directions around the line of sight the depth of the picture is searched for the
// horizon; light below it is taken for blocked, and what is left above it is integrated with the cosine to
// the normal in closed form (Jimenez, Wu, Pesce and Jarabo, Practical Realtime Strategies for Accurate
// Indirect Occlusion, 2016). In each pixel of 4 x 4 the directions are turned and the steps moved by another
// part, in a pattern that is the same in every picture; the mean over 4 x 4 pixels of one surface has all of
// them. One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_OCCLUSION_FORMULA_H
#define ORR_OCCLUSION_FORMULA_H

#include "engine/maths/vector_formula.h"

#define OCCLUSION_DIRECTIONS 4 // of a pixel whose neighbours are averaged
#define OCCLUSION_ALONE 32     // of one that stands alone
#define OCCLUSION_STEPS 12     // of each direction
#define OCCLUSION_STEP (1.0f / 12.0f)
#define OCCLUSION_TAPS 4 // rows and columns of the mean

// The picture whose depth is searched, and how far.
STRUCT(occlusion_view)
{
    uniform_real focal_x, focal_y, centre_x, centre_y; // [px], of orthographic views [px per unit]
    uniform_real width, height;                        // [px]
    uniform_real orthographic;                         // 1 or 0
    uniform_real radius;                               // beyond it nothing occludes [scene units], over 0
    uniform_real strength;                             // 0 .. 1, of the darkening
    uniform_real up_x, up_y, up_z;                     // upwards, unit, in the camera's space
}
END_STRUCT(occlusion_view)

STRUCT(occlusion_point)
{
    real3 position;
    real3 to_eye;       // unit
    real3 across, down; // unit, at right angles to it and to each other
    real3 normal;       // its parts along across, down and to_eye
    real x, y;          // [px]
    real turn, move;    // 0 .. 1: of the angle between two directions, and of a step
}
END_STRUCT(occlusion_point)

// Of a direction around the line of sight.
STRUCT(occlusion_angle)
{
    real cosine, sine;
}
END_STRUCT(occlusion_angle)

// Light, summed up over directions: above the horizons, and above the surface's own plane.
STRUCT(occlusion_sums)
{
    real above, all_around;
}
END_STRUCT(occlusion_sums)

// A direction of the search.
STRUCT(occlusion_ray)
{
    real along, facing;  // the normal's parts along it and along the line of sight
    real low;            // cosine between the line of sight and the surface's own plane, the lowest horizon
    real unit_x, unit_y; // of the picture
    real reach;          // how long the radius is there [px]
}
END_STRUCT(occlusion_ray)

// A pixel that is searched.
STRUCT(occlusion_step)
{
    real column, row; // whole; 0 where `there` is not
    mask there;       // it is in the picture
}
END_STRUCT(occlusion_step)

// The remainder of a whole number by four.
FN real occlusion_of_four(real a)
{
    return a - R(4.0) * floor_(a * R(0.25));
}

// position, normal (unit, on the side that is seen): in the camera's space.
FN occlusion_point occlusion_begin(occlusion_view v, real3 position, real3 normal)
{
    mask parallel = R(v.orthographic) > R(0.5);
    real3 back = make_real3(R(0.0), R(0.0), R(-1.0));
    occlusion_point p;
    p.position = position;
    p.to_eye = select3(parallel, back, unit3(scale3(position, R(-1.0))));
    // the picture's x axis without its part along the line of sight, which is short only for what lies far
    // beside the view
    real3 across = add_scaled3(make_real3(R(1.0), R(0.0), R(0.0)), p.to_eye, -p.to_eye.x);
    p.across = unit3(across);
    p.down = cross3(p.to_eye, p.across);
    // a normal that is interpolated may look away a little
    p.normal =
        make_real3(dot3(normal, p.across), dot3(normal, p.down), max_(dot3(normal, p.to_eye), R(0.02)));
    real inverse = R(1.0) / sel(parallel, R(1.0), max_(position.z, R(1e-20)));
    p.x = fma_(position.x * inverse, R(v.focal_x), R(v.centre_x));
    p.y = fma_(position.y * inverse, R(v.focal_y), R(v.centre_y));
    real column = floor_(p.x), row = floor_(p.y);
    p.turn = fma_(occlusion_of_four(column + row), R(0.25), occlusion_of_four(column) * R(0.0625));
    p.move = occlusion_of_four(row - column) * R(0.25);
    return p;
}

// The same of a pixel that stands alone, where the pattern would be seen.
FN occlusion_point occlusion_without_pattern(occlusion_point p)
{
    p.turn = R(0.5);
    p.move = R(0.5);
    return p;
}

// The normal of a captured surface, which is not known: that of a level one, on the side that is seen.
FN real3 occlusion_level(occlusion_view v, real3 position)
{
    real3 up = make_real3(R(v.up_x), R(v.up_y), R(v.up_z));
    real away = sel(R(v.orthographic) > R(0.5), up.z, dot3(up, position));
    return scale3(up, sel(away > R(0.0), R(-1.0), R(1.0)));
}

// between: the angle between two directions [radians], at most a quarter turn
FN occlusion_angle occlusion_first_angle(occlusion_point p, uniform_real between)
{
    real middle = (p.turn + R(0.03125)) * R(0.5f * between), square = middle * middle;
    real tangent =
        middle * fma_(square, fma_(square, R(2.0 / 15.0), R(1.0 / 3.0)), R(1.0)); // of half the angle
    real inverse = R(1.0) / fma_(tangent, tangent, R(1.0));
    occlusion_angle a;
    a.cosine = fma_(-tangent, tangent, R(1.0)) * inverse;
    a.sine = R(2.0) * tangent * inverse;
    return a;
}

// cosine, sine: of the angle between two directions
FN occlusion_angle occlusion_next_angle(occlusion_angle a, uniform_real cosine, uniform_real sine)
{
    occlusion_angle next;
    next.cosine = a.cosine * R(cosine) - a.sine * R(sine);
    next.sine = a.sine * R(cosine) + a.cosine * R(sine);
    return next;
}

FN occlusion_ray occlusion_ray_of(occlusion_view v, occlusion_point p, occlusion_angle a)
{
    real3 t = add_scaled3(scale3(p.across, a.cosine), p.down, a.sine);
    occlusion_ray r;
    r.along = fma_(p.normal.x, a.cosine, p.normal.y * a.sine);
    r.facing = p.normal.z;
    r.low = -r.along / sqrt_(fma_(r.along, r.along, r.facing * r.facing));
    // a step along t is one along a line of the picture, because t and the line of sight lie in a plane
    mask parallel = R(v.orthographic) > R(0.5);
    real inverse = R(1.0) / max_(p.position.z, R(1e-20));
    real x = R(v.focal_x) * sel(parallel, t.x, (t.x - t.z * p.position.x * inverse) * inverse);
    real y = R(v.focal_y) * sel(parallel, t.y, (t.y - t.z * p.position.y * inverse) * inverse);
    real length = sqrt_(max_(fma_(x, x, y * y), R(1e-20)));
    r.unit_x = x / length;
    r.unit_y = y / length;
    r.reach = length * R(v.radius);
    return r;
}

// number: 1 .. OCCLUSION_STEPS. The steps lie closer near the point, where more depends on them, but not in
// one pixel.
FN occlusion_step occlusion_step_to(occlusion_view v, occlusion_point p, occlusion_ray r, uniform_real number)
{
    real part = (R(number) - p.move) * R(OCCLUSION_STEP);
    real length = max_(r.reach * part * part, R(number));
    real column = floor_(fma_(r.unit_x, length, p.x)), row = floor_(fma_(r.unit_y, length, p.y));
    occlusion_step s;
    s.there = and_(and_(column >= R(0.0), column < R(v.width)), and_(row >= R(0.0), row < R(v.height)));
    s.column = sel(s.there, column, R(0.0));
    s.row = sel(s.there, row, R(0.0));
    return s;
}

// The point of the camera's space that a pixel shows; column, row: whole.
FN real3 occlusion_seen(occlusion_view v, real column, real row, real depth)
{
    real w = sel(R(v.orthographic) > R(0.5), R(1.0), depth);
    return make_real3((column + R(0.5f - v.centre_x)) * R(1.0f / v.focal_x) * w,
                      (row + R(0.5f - v.centre_y)) * R(1.0f / v.focal_y) * w, depth);
}

// The horizon's cosine with what is seen at a step, at most 1; before the first, r.low. depth: along the
// camera's axis; where nothing is, over 1e37. The middle of a pixel is a little aside of the direction: it is
// turned into it at its height above the surface's plane, so that a plane does not occlude itself. From half
// the radius on a surface counts for less.
FN real occlusion_raise(occlusion_view v, occlusion_point p, occlusion_ray r, occlusion_step s, real depth,
                        real horizon)
{
    mask some = and_(s.there, depth < R(1e37));
    real3 d = sub3(occlusion_seen(v, s.column, s.row, sel(some, depth, R(1.0))), p.position);
    real across = dot3(d, p.across), down = dot3(d, p.down), square = fma_(across, across, down * down);
    real aside = fma_(p.normal.x, across, p.normal.y * down) - r.along * sqrt_(square);
    real rise = dot3(d, p.to_eye) + aside / r.facing;
    real cosine = rise / sqrt_(max_(fma_(rise, rise, square), R(1e-20)));
    real part = (R(1.0) - dot3(d, d) * R(1.0f / (v.radius * v.radius))) * R(4.0 / 3.0);
    part = min_(max_(part, R(0.0)), R(1.0));
    return max_(horizon, sel(some, fma_(cosine - r.low, part, r.low), r.low));
}

// Abramowitz and Stegun 4.4.45: within 7e-5.
FN real occlusion_arccosine(real x)
{
    real a = min_(abs_(x), R(1.0));
    real series = fma_(fma_(fma_(R(-0.0187293), a, R(0.0742610)), a, R(-0.2121144)), a, R(1.5707288));
    real angle = series * sqrt_(R(1.0) - a);
    return sel(x < R(0.0), R(3.14159265) - angle, angle);
}

// The light between the line of sight and a horizon: the integral of the cosine to the normal times the sine
// of the angle to the line of sight.
FN real occlusion_arc(occlusion_ray r, real horizon)
{
    real square = max_(fma_(-horizon, horizon, R(1.0)), R(0.0));
    real angle = occlusion_arccosine(horizon) - sqrt_(square) * horizon;
    return fma_(r.along, angle, r.facing * square);
}

FN occlusion_sums occlusion_add(occlusion_sums sums, occlusion_ray r, real horizon)
{
    sums.above = sums.above + occlusion_arc(r, horizon);
    sums.all_around = sums.all_around + occlusion_arc(r, r.low);
    return sums;
}

// The open part, 0 .. 1; where nothing was summed up, 1.
FN real occlusion_open(occlusion_view v, occlusion_sums sums)
{
    real part = sums.above / max_(sums.all_around, R(1e-6));
    part = sel(sums.all_around > R(1e-6), min_(max_(part, R(0.0)), R(1.0)), R(1.0));
    return fma_(part - R(1.0), R(v.strength), R(1.0));
}

// ---- the mean over the pixels around a point ----

// The normal of what a pixel shows, by the nearer in depth of its neighbours in each direction; depths: of
// the pixel and of those to the left, to the right, above and below, all finite.
FN real3 occlusion_normal(occlusion_view v, real column, real row, real centre, real left, real right,
                          real above, real below)
{
    mask by_left = abs_(left - centre) < abs_(right - centre);
    mask by_above = abs_(above - centre) < abs_(below - centre);
    real across = sel(by_left, R(-1.0), R(1.0)), down = sel(by_above, R(-1.0), R(1.0));
    real3 p = occlusion_seen(v, column, row, centre);
    real3 a = sub3(occlusion_seen(v, column + across, row, sel(by_left, left, right)), p);
    real3 b = sub3(occlusion_seen(v, column, row + down, sel(by_above, above, below)), p);
    return normalise3(scale3(cross3(b, a), across * down)); // towards the eye: y points down in the picture
}

// The first of the columns or rows around a point at which the mean is taken; at: its column or row [px]. The
// centre of a pixel is not at the border between two of them, where rounding would choose.
FN real occlusion_first_tap(real at)
{
    return floor_(at - R(1.25));
}

// How much a pixel counts: by how far what it shows is off the plane through the point, which may be as much
// as three pixels are wide there.
FN real occlusion_weight(occlusion_view v, real3 position, real3 normal, real3 seen)
{
    real pixel = sel(R(v.orthographic) > R(0.5), R(1.0), max_(position.z, R(1e-20))) * R(1.0f / v.focal_x);
    real off = abs_(dot3(sub3(seen, position), normal));
    return max_(R(1.0) - off / (R(3.0) * pixel), R(0.0));
}

#endif
