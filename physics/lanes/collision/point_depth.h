// How deep a point is in a geom, as MuJoCo's tactile sensors feel it: by distance functions of one point, in
// closed form. After I. Quilez, "3D distance functions", of which the ellipsoid's is of first order.
#pragma once

#include "physics/lanes/collision/primitive.h"

// Along a direction that turns, on the way to a side, from that of the half sizes to the side's normal. 0
// outside.
FN real depth_in_box(real3 p, real3 size)
{
    real3 left = make_real3(size.x - abs_(p.x), size.y - abs_(p.y), size.z - abs_(p.z));
    mask inside = min_(left.x, min_(left.y, left.z)) > R(0.0);
    left = select3(inside, left, size);
    real direction = length3(make_real3(size.x / left.x, size.y / left.y, size.z / left.z));
    real way = min_(left.x * left.x / size.x, min_(left.y * left.y / size.y, left.z * left.z / size.z));
    return sel(inside, way * direction, R(0.0));
}

FN real depth_in_ellipsoid(real3 p, real3 size)
{
    real3 a = make_real3(p.x / size.x, p.y / size.y, p.z / size.z);
    real level = length3(a), slope = length3(make_real3(a.x / size.x, a.y / size.y, a.z / size.z));
    mask centre = slope == R(0.0);
    real depth = level * (R(1.0) - level) / sel(centre, R(1.0), slope);
    return sel(centre, min_(size.x, min_(size.y, size.z)), depth);
}

// m, 0 or less outside. p: in the geom's frame. Meshes, height fields and distance grids have no depth, 0;
// functions have function_depth.
LANE_FN real point_depth(int type, real3 size, real3 p)
{
    real round = p.x * p.x + p.y * p.y;
    switch (type) {
    case ORR_GEOM_PLANE:
        return -p.z;
    case ORR_GEOM_SPHERE:
        return size.x - length3(p);
    case ORR_GEOM_CAPSULE: {
        real beyond = max_(abs_(p.z) - size.y, R(0.0));
        return size.x - sqrt_(round + beyond * beyond);
    }
    case ORR_GEOM_ELLIPSOID:
        return depth_in_ellipsoid(p, size);
    case ORR_GEOM_CYLINDER:
        return min_(size.x - sqrt_(round), size.y - abs_(p.z));
    case ORR_GEOM_BOX:
        return depth_in_box(p, size);
    default:
        return R(0.0);
    }
}
