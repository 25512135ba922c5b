// Signed distances of fixed obstacles and their outward normals, at a point in the obstacle's frame.
#ifndef ORR_SOFT_OBSTACLE_FORMULA_H
#define ORR_SOFT_OBSTACLE_FORMULA_H

#include "engine/maths/formula.h"

STRUCT(obstacle_distance)
{
    real distance; // negative inside
    real3 normal;
}
END_STRUCT(obstacle_distance)

FN obstacle_distance plane_distance(real3 p) // z = 0
{
    obstacle_distance d;
    d.distance = p.z;
    d.normal = make_real3(R(0.0), R(0.0), R(1.0));
    return d;
}

FN obstacle_distance sphere_distance(real3 p, uniform_real radius)
{
    obstacle_distance d;
    real length = sqrt_(max_(dot3(p, p), R(1e-30)));
    real inverse = R(1.0) / length;
    d.distance = length - radius;
    d.normal = make_real3(p.x * inverse, p.y * inverse, p.z * inverse);
    return d;
}

// half_length: of the segment, along z
FN obstacle_distance capsule_distance(real3 p, uniform_real radius, uniform_real half_length)
{
    real z = min_(max_(p.z, R(0.0) - half_length), R(0.0) + half_length);
    return sphere_distance(make_real3(p.x, p.y, p.z - z), radius);
}

// x, y, z: half sizes. Inside, the nearest face counts.
FN obstacle_distance box_distance(real3 p, uniform_real x, uniform_real y, uniform_real z)
{
    obstacle_distance d;
    real3 q = make_real3(abs_(p.x) - x, abs_(p.y) - y, abs_(p.z) - z);
    real3 o = make_real3(max_(q.x, R(0.0)), max_(q.y, R(0.0)), max_(q.z, R(0.0)));
    real length = sqrt_(dot3(o, o)), inverse = R(1.0) / max_(length, R(1e-15));
    real deepest = max_(q.x, max_(q.y, q.z));
    mask outside = deepest > R(0.0), on_x = not_(q.x < deepest), on_y = not_(q.y < deepest);
    real nx = sel(outside, o.x * inverse, sel(on_x, R(1.0), R(0.0)));
    real ny = sel(outside, o.y * inverse, sel(and_(on_y, not_(on_x)), R(1.0), R(0.0)));
    real nz = sel(outside, o.z * inverse, sel(or_(on_x, on_y), R(0.0), R(1.0)));
    d.distance = sel(outside, length, deepest);
    d.normal = make_real3(sel(p.x < R(0.0), -nx, nx), sel(p.y < R(0.0), -ny, ny), sel(p.z < R(0.0), -nz, nz));
    return d;
}

#endif
