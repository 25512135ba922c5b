// The path of a tendon around a sphere or a cylinder (MuJoCo's documentation, "Spatial tendons"). The
// shortest path is in a plane, in which the geom is a circle about the origin.
#pragma once

#include "engine/maths/rotation_formula.h"
#include "physics/lanes/lane.h"

#if defined(ORR_SCALAR_DOUBLE)
#define WRAP_TOLERANCE 1e-6 // rad, of the angle at which an inside path touches: MuJoCo's own
#else
#define WRAP_TOLERANCE 4e-6 // a few roundings of angles up to pi
#endif

typedef struct wrap_path {
    mask touches;   // otherwise the path is straight
    real arc;       // m, length between the touching points
    real2 touch[2]; // where the path meets the circle and where it leaves it
} wrap_path;

typedef struct tendon_wrap {
    mask touches;
    real arc;
    real3 touch[2];
} tendon_wrap;

FN real2 sub2(real2 a, real2 b)
{
    return make_real2(a.x - b.x, a.y - b.y);
}

FN real2 scale2(real2 a, real s)
{
    return make_real2(a.x * s, a.y * s);
}

FN real dot2(real2 a, real2 b)
{
    return a.x * b.x + a.y * b.y;
}

FN real cross2(real2 a, real2 b)
{
    return a.x * b.y - a.y * b.x;
}

FN real2 select2(mask m, real2 a, real2 b)
{
    return make_real2(sel(m, a.x, b.x), sel(m, a.y, b.y));
}

// a vector of zeros is not changed
FN real2 normalise2(real2 a)
{
    real square = dot2(a, a);
    return scale2(a, R(1.0) / sqrt_(sel(square > R(0.0), square, R(1.0))));
}

// A divisor; where it is 0, 1, and the quotient is not used.
FN real not_zero(real a)
{
    return sel(abs_(a) > R(0.0), a, R(1.0));
}

FN real arcsine(real x) // 0 .. 1
{
    return atan2_(x, sqrt_(max_((R(1.0) - x) * (R(1.0) + x), R(0.0))));
}

FN real arccosine(real x) // -1 .. 1
{
    return atan2_(sqrt_(max_((R(1.0) - x) * (R(1.0) + x), R(0.0))), x);
}

// The angle from a to b, -pi .. pi, positive counterclockwise.
FN real angle2(real2 a, real2 b)
{
    real cross = cross2(a, b), angle = atan2_(abs_(cross), dot2(a, b));
    return sel(cross < R(0.0), -angle, angle);
}

// Where the tangent from p touches the circle: one of two points, by the sign.
FN real2 tangent_point(real2 p, real radius, real sign)
{
    real square = dot2(p, p), root = sqrt_(max_(square - radius * radius, R(0.0)));
    real scale = radius / not_zero(square);
    return make_real2((p.x * radius + sign * p.y * root) * scale, (p.y * radius - sign * p.x * root) * scale);
}

// The point nearest to the origin on the segment from p to p + along; *where: 0 at its start, 1 at its end.
FN real2 nearest_on_segment(real2 p, real2 along, real *where)
{
    real length = dot2(along, along);
    *where = sel(length > R(LANE_TINY), -dot2(along, p) / not_zero(length), R(0.0));
    real t = clamp_(*where, R(0.0), R(1.0));
    return make_real2(p.x + t * along.x, p.y + t * along.y);
}

// The angle at the origin between p and where a tangent from p touches the circle.
FN real tangent_angle(real2 p, real radius)
{
    return atan2_(sqrt_(max_(dot2(p, p) - radius * radius, R(0.0))), radius);
}

// A tendon around the outside of the circle: the shortest path, or with a side site the shortest of those
// that turn about the circle as the path over that site does, as in MuJoCo 4.0.
FN wrap_path wrap_outside(real2 p0, real2 p1, int has_side, real2 side, real radius)
{
    real square = radius * radius;
    real turn = has_side ? angle2(p0, side) + angle2(side, p1) : angle2(p0, p1);
    real clockwise = sel(turn < R(0.0), R(1.0), R(-1.0));
    real angle = abs_(turn) - tangent_angle(p0, radius) - tangent_angle(p1, radius);
    mask outside = and_(dot2(p0, p0) >= square, dot2(p1, p1) >= square);
    wrap_path path;
    path.touch[0] = tangent_point(p0, radius, clockwise);
    path.touch[1] = tangent_point(p1, radius, -clockwise);
    path.touches = and_(outside, angle > R(0.0));
    path.arc = radius * angle;
    return path;
}

// A tendon on the inside touches the circle in one point, where it makes equal angles with it: Newton's
// method for the sine of that angle, from nearly 1 down. Where it does not converge, the direction halfway
// between the ends is used.
FN wrap_path wrap_inside(real2 p0, real2 p1, real radius)
{
    real r0 = sqrt_(dot2(p0, p0)), r1 = sqrt_(dot2(p1, p1));
    real2 along = sub2(p1, p0);
    real where;
    real2 nearest = nearest_on_segment(p0, along, &where);
    mask through = and_(and_(where > R(0.0), where < R(1.0)), dot2(nearest, nearest) <= radius * radius);
    real a = radius / not_zero(r0), b = radius / not_zero(r1);
    real cosine = (r0 * r0 + r1 * r1 - dot2(along, along)) / not_zero(R(2.0) * r0 * r1);
    wrap_path path;
    path.arc = R(0.0);
    path.touches = and_(and_(r0 > radius, r1 > radius), not_(through));
    path.touches = and_(path.touches, cosine >= R(-1.0 + LANE_TINY));
    real2 middle = normalise2(
        make_real2(p0.x / not_zero(r0) + p1.x / not_zero(r1), p0.y / not_zero(r0) + p1.y / not_zero(r1)));
    real gap = arccosine(clamp_(cosine, R(-1.0), R(1.0)));
    real z = R(1.0 - 1e-7);
    real f = arcsine(min_(a * z, R(1.0))) + arcsine(min_(b * z, R(1.0))) - R(2.0) * arcsine(z) + gap;
    mask good = and_(path.touches, and_(cosine <= R(1.0 - LANE_TINY), f <= R(0.0)));
    mask running = and_(good, abs_(f) > R(WRAP_TOLERANCE));
    for (int i = 0; i < 20 && any(running); i++) {
        real slope = a / max_(sqrt_(max_(R(1.0) - z * z * a * a, R(0.0))), R(LANE_TINY)) +
                     b / max_(sqrt_(max_(R(1.0) - z * z * b * b, R(0.0))), R(LANE_TINY)) -
                     R(2.0) / max_(sqrt_(max_((R(1.0) - z) * (R(1.0) + z), R(0.0))), R(LANE_TINY));
        real next = z - f / not_zero(slope);
        mask lost = and_(running, or_(slope > R(-LANE_TINY), next > z));
        good = and_(good, not_(lost));
        running = and_(running, good);
        z = sel(running, next, z);
        f = arcsine(clamp_(a * z, R(0.0), R(1.0))) + arcsine(clamp_(b * z, R(0.0), R(1.0))) -
            R(2.0) * arcsine(clamp_(z, R(0.0), R(1.0))) + gap;
        good = and_(good, not_(and_(running, f > R(WRAP_TOLERANCE))));
        running = and_(running, and_(good, abs_(f) > R(WRAP_TOLERANCE)));
    }
    good = and_(good, not_(running));
    mask first = cross2(p0, p1) > R(0.0);
    real2 from = normalise2(select2(first, p0, p1));
    real angle = arcsine(clamp_(z, R(0.0), R(1.0))) - arcsine(clamp_(sel(first, a, b) * z, R(0.0), R(1.0)));
    real sine, turned;
    sincos_(angle, &sine, &turned);
    real2 at = make_real2(turned * from.x - sine * from.y, sine * from.x + turned * from.y);
    path.touch[0] = path.touch[1] = scale2(select2(good, at, middle), radius);
    return path;
}

// The plane of a path around a sphere, through both points and the centre.
FN void sphere_plane(real3 a, real3 b, real3 *x, real3 *y)
{
    real3 normal = cross3(a, b);
    mask flat = dot3(normal, normal) < R(LANE_TINY) * R(LANE_TINY);
    mask x_longest = and_(abs_(a.x) > abs_(a.y), abs_(a.x) > abs_(a.z));
    mask y_longer = abs_(a.y) > abs_(a.z);
    real one = R(1.0), none = R(0.0);
    real3 other = make_real3(sel(x_longest, none, one), sel(and_(not_(x_longest), y_longer), none, one),
                             sel(or_(x_longest, y_longer), one, none));
    *x = normalise3(a);
    normal = normalise3(select3(flat, cross3(a, other), normal));
    *y = normalise3(cross3(normal, *x));
}

// From p0 to p1 around a geom at pos with axes frame; a cylinder's axis is z. side: site on whose side it
// passes; if that is inside the geom, the tendon passes on the inside.
FN tendon_wrap wrap_tendon(real3 p0, real3 p1, real3 pos, matrix3 frame, real radius, int cylinder,
                           int has_side, real3 side)
{
    real3 a = rotate_inverse(frame, sub3(p0, pos)), b = rotate_inverse(frame, sub3(p1, pos));
    real3 s = rotate_inverse(frame, sub3(side, pos));
    real3 x = make_real3(R(1.0), R(0.0), R(0.0)), y = make_real3(R(0.0), R(1.0), R(0.0));
    if (!cylinder) {
        sphere_plane(a, b, &x, &y);
    }
    real2 a2 = make_real2(dot3(a, x), dot3(a, y)), b2 = make_real2(dot3(b, x), dot3(b, y));
    real2 s2 = make_real2(dot3(s, x), dot3(s, y));
    wrap_path path = wrap_outside(a2, b2, has_side, s2, radius);
    mask inside = has_side ? dot3(s, s) < radius * radius : R(1.0) < R(0.0);
    if (any(inside)) {
        wrap_path through = wrap_inside(a2, b2, radius);
        path.touches = or_(and_(inside, through.touches), and_(not_(inside), path.touches));
        path.arc = sel(inside, through.arc, path.arc);
        for (int end = 0; end < 2; end++) {
            path.touch[end] = select2(inside, through.touch[end], path.touch[end]);
        }
    }
    tendon_wrap wrap;
    wrap.arc = path.arc;
    for (int end = 0; end < 2; end++) {
        wrap.touch[end] = add_scaled3(scale3(x, path.touch[end].x), y, path.touch[end].y);
    }
    if (cylinder) { // it rises evenly along its path
        real2 to0 = sub2(a2, path.touch[0]), to1 = sub2(b2, path.touch[1]);
        real before = sqrt_(dot2(to0, to0)), after = sqrt_(dot2(to1, to1));
        real climb = (b.z - a.z) / not_zero(before + path.arc + after);
        wrap.touch[0].z = a.z + climb * before;
        wrap.touch[1].z = a.z + climb * (before + path.arc);
        real rise = wrap.touch[1].z - wrap.touch[0].z;
        wrap.arc = sqrt_(path.arc * path.arc + rise * rise);
    }
    for (int end = 0; end < 2; end++) {
        wrap.touch[end] = add3(rotate(frame, wrap.touch[end]), pos);
    }
    mask sound = and_(dot3(a, a) >= R(1e-30), dot3(b, b) >= R(1e-30));
    wrap.touches = and_(and_(path.touches, sound), radius >= R(LANE_TINY));
    return wrap;
}
