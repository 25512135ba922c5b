// Where rays pass through round shapes around the origin: ellipsoids, and capsules and cylinders along z. All
// are convex: a ray is inside of one from one distance to another.
//
// How near a ray passes to the middle is found at its nearest point. The discriminant b^2 - ac of the
// quadratic equation loses all digits where a shape is small and far away (Haines, Guenther and
// Akenine-Moeller, "Precision Improvements for Ray/Sphere Intersection", Ray Tracing Gems, 2019).
#ifndef ORR_ROUND_FORMULA_H
#define ORR_ROUND_FORMULA_H

#include "engine/maths/vector_formula.h"

#define ROUND_FAR 1e30 // a distance that no ray has

// Inside from `enter` to `leave`, in lengths of the ray's direction; nowhere where enter > leave.
STRUCT(round_span)
{
    real enter, leave;
}
END_STRUCT(round_span)

FN round_span round_where(mask inside, real enter, real leave)
{
    round_span s;
    s.enter = sel(inside, enter, R(ROUND_FAR));
    s.leave = sel(inside, leave, R(-ROUND_FAR));
    return s;
}

// Around the point of a ray that is nearest to the middle, at `nearest`; inverse: of the direction's square;
// room: how much nearer than the surface it is there, in squares.
FN round_span round_around(real nearest, real inverse, real room)
{
    real half_ = sqrt_(max_(room, R(0.0)) * inverse);
    return round_where(room >= R(0.0), nearest - half_, nearest + half_);
}

// Within both; and within either, where the two together are convex.
FN round_span round_both(round_span a, round_span b)
{
    real enter = max_(a.enter, b.enter), leave = min_(a.leave, b.leave);
    return round_where(enter <= leave, enter, leave);
}

FN round_span round_either(round_span a, round_span b)
{
    round_span s;
    s.enter = min_(a.enter, b.enter);
    s.leave = max_(a.leave, b.leave);
    return s;
}

// The ray from p along v, of any length, in a ball.
FN round_span round_ball(real3 p, real3 v, real radius)
{
    real inverse = R(1.0) / max_(dot3(v, v), R(1e-30)), nearest = -dot3(p, v) * inverse;
    real3 there = add_scaled3(p, v, nearest);
    return round_around(nearest, inverse, radius * radius - dot3(there, there));
}

FN round_span round_ellipsoid(real3 p, real3 v, real3 size)
{
    real3 part = make_real3(R(1.0) / size.x, R(1.0) / size.y, R(1.0) / size.z);
    return round_ball(times3(p, part), times3(v, part), R(1.0));
}

// The tube around z without its ends, and what is between them.
FN round_span round_tube(real3 p, real3 v, real radius, real half_length)
{
    real inverse = R(1.0) / max_(v.x * v.x + v.y * v.y, R(1e-30));
    real nearest = -(p.x * v.x + p.y * v.y) * inverse;
    real x = fma_(v.x, nearest, p.x), y = fma_(v.y, nearest, p.y);
    round_span tube = round_around(nearest, inverse, radius * radius - (x * x + y * y));
    real step = R(1.0) / sel(abs_(v.z) > R(1e-30), v.z, R(1e-30));
    real bottom = (-half_length - p.z) * step, top = (half_length - p.z) * step;
    round_span slab;
    slab.enter = min_(bottom, top);
    slab.leave = max_(bottom, top);
    return round_both(tube, slab);
}

FN round_span round_capsule(real3 p, real3 v, real radius, real half_length)
{
    round_span ends = round_either(round_ball(make_real3(p.x, p.y, p.z - half_length), v, radius),
                                   round_ball(make_real3(p.x, p.y, p.z + half_length), v, radius));
    return round_either(round_tube(p, v, radius, half_length), ends);
}

// ---- normals, outward and of any length, at a point of the surface ----

FN real3 round_ellipsoid_normal(real3 p, real3 size)
{
    return make_real3(p.x / (size.x * size.x), p.y / (size.y * size.y), p.z / (size.z * size.z));
}

FN real3 round_capsule_normal(real3 p, real half_length)
{
    return make_real3(p.x, p.y, p.z - max_(min_(p.z, half_length), -half_length));
}

// Of the face that is nearer.
FN real3 round_cylinder_normal(real3 p, real radius, real half_length)
{
    mask end = half_length - abs_(p.z) < radius - sqrt_(p.x * p.x + p.y * p.y);
    return select3(end, make_real3(R(0.0), R(0.0), p.z), make_real3(p.x, p.y, R(0.0)));
}

#endif
