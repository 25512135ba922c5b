// Rays against one shape: the first hit. Each lane has a ray of its own, with a direction of length 1.
// Surfaces are hit from either side, planes from their front only.
#pragma once

#include "engine/maths/triangle_formula.h"
#include "physics/lanes/constraint_rows.h"

typedef struct lane_ray {
    real3 from, along; // in the frame of the shape
    real nearest;      // m, the closest hit so far; LANE_HUGE: none
    real3 normal;      // of the flat face that was hit, of any length and either sign
} lane_ray;

FN lane_ray local_ray(real3 pos, matrix3 frame, real3 from, real3 along)
{
    lane_ray ray = {rotate_inverse(frame, sub3(from, pos)), rotate_inverse(frame, along), R(LANE_HUGE),
                    zero3()};
    return ray;
}

// Records a hit; returns the lanes in which it is the closest so far.
FN mask ray_hit(lane_ray *ray, real distance, mask where)
{
    mask closer = and_(where, and_(distance >= R(0.0), distance < ray->nearest));
    ray->nearest = sel(closer, distance, ray->nearest);
    return closer;
}

FN void ray_hit_face(lane_ray *ray, real distance, mask where, real3 normal)
{
    ray->normal = select3(ray_hit(ray, distance, where), normal, ray->normal);
}

// The x at which p + x v reaches `level` along one axis; -1 where v is 0.
FN real ray_reach(real p, real v, real level)
{
    mask moves = abs_(v) > R(LANE_TINY);
    return sel(moves, (level - p) / sel(moves, v, R(1.0)), R(-1.0));
}

// The roots of a x^2 + 2 b x + c; -1 where there are none.
typedef struct lane_roots {
    real x[2];
} lane_roots;

FN lane_roots ray_roots(real a, real b, real c)
{
    lane_roots roots;
    real determinant = b * b - a * c;
    mask exist = and_(determinant >= R(LANE_TINY), a > R(LANE_TINY));
    real root = sqrt_(sel(exist, determinant, R(1.0)));
    real inverse = R(1.0) / sel(exist, a, R(1.0));
    roots.x[0] = sel(exist, (-b - root) * inverse, R(-1.0));
    roots.x[1] = sel(exist, (-b + root) * inverse, R(-1.0));
    return roots;
}

LANE_FN void ray_plane(lane_ray *ray, const real3 *size)
{
    real x = ray_reach(ray->from.z, ray->along.z, R(0.0));
    real3 at = add_scaled3(ray->from, ray->along, x);
    mask inside_x = or_(size->x <= R(0.0), abs_(at.x) <= size->x);
    mask inside_y = or_(size->y <= R(0.0), abs_(at.y) <= size->y);
    ray_hit(ray, x, and_(ray->along.z < R(0.0), and_(inside_x, inside_y)));
}

LANE_FN void ray_ellipsoid(lane_ray *ray, const real3 *size)
{
    real3 p = make_real3(ray->from.x / size->x, ray->from.y / size->y, ray->from.z / size->z);
    real3 v = make_real3(ray->along.x / size->x, ray->along.y / size->y, ray->along.z / size->z);
    lane_roots roots = ray_roots(dot3(v, v), dot3(v, p), dot3(p, p) - R(1.0));
    for (int k = 0; k < 2; k++) {
        ray_hit(ray, roots.x[k], everywhere());
    }
}

LANE_FN void ray_sphere(lane_ray *ray, const real3 *size)
{
    real3 p = ray->from;
    lane_roots roots = ray_roots(R(1.0), dot3(ray->along, p), dot3(p, p) - size->x * size->x);
    for (int k = 0; k < 2; k++) {
        ray_hit(ray, roots.x[k], everywhere());
    }
}

// The round side of capsules and cylinders.
LANE_FN void ray_tube(lane_ray *ray, const real3 *size)
{
    real3 p = ray->from, v = ray->along;
    lane_roots roots =
        ray_roots(v.x * v.x + v.y * v.y, v.x * p.x + v.y * p.y, p.x * p.x + p.y * p.y - size->x * size->x);
    for (int k = 0; k < 2; k++) {
        ray_hit(ray, roots.x[k], abs_(fma_(roots.x[k], v.z, p.z)) <= size->y);
    }
}

LANE_FN void ray_capsule(lane_ray *ray, const real3 *size)
{
    ray_tube(ray, size);
    for (int end = 0; end < 2; end++) {
        real sign = R(end ? -1.0 : 1.0);
        real3 p = ray->from, v = ray->along;
        p.z = p.z - sign * size->y;
        lane_roots roots = ray_roots(R(1.0), dot3(v, p), dot3(p, p) - size->x * size->x);
        for (int k = 0; k < 2; k++) { // the half sphere beyond the tube
            ray_hit(ray, roots.x[k], sign * fma_(roots.x[k], v.z, p.z) >= R(0.0));
        }
    }
}

LANE_FN void ray_cylinder(lane_ray *ray, const real3 *size)
{
    ray_tube(ray, size);
    for (int end = 0; end < 2; end++) {
        real x = ray_reach(ray->from.z, ray->along.z, end ? -size->y : size->y);
        real3 at = add_scaled3(ray->from, ray->along, x);
        ray_hit(ray, x, at.x * at.x + at.y * at.y <= size->x * size->x);
    }
}

// centre: z of the box's centre
FN void ray_box_around(lane_ray *ray, real3 size, real centre)
{
    real p[3] = {ray->from.x, ray->from.y, ray->from.z - centre};
    real v[3] = {ray->along.x, ray->along.y, ray->along.z};
    real half[3] = {size.x, size.y, size.z};
    for (int face = 0; face < 6; face++) {
        int axis = face / 2, b = (axis + 1) % 3, c = (axis + 2) % 3;
        real x = ray_reach(p[axis], v[axis], face % 2 ? -half[axis] : half[axis]);
        mask inside = and_(abs_(fma_(x, v[b], p[b])) <= half[b], abs_(fma_(x, v[c], p[c])) <= half[c]);
        ray_hit_face(ray, x, inside, scale3(axis3(axis), R(face % 2 ? -1.0 : 1.0)));
    }
}

// a, b, c: corners; the same in all lanes
LANE_FN void ray_triangle(lane_ray *ray, const double a[3], const double b[3], const double c[3])
{
    real3 corner = make_real3(R(a[0]), R(a[1]), R(a[2]));
    real3 edge1 = make_real3(R(b[0] - a[0]), R(b[1] - a[1]), R(b[2] - a[2]));
    real3 edge2 = make_real3(R(c[0] - a[0]), R(c[1] - a[1]), R(c[2] - a[2]));
    triangle_hit hit = intersect_triangle(sub3(ray->from, corner), ray->along, edge1, edge2, R(LANE_TINY));
    ray_hit_face(ray, hit.distance, hit.inside, cross3(edge1, edge2));
}

// Shapes that are given by their sizes: geoms and sites.
LANE_FN void ray_shape(lane_ray *ray, int type, const real3 *size)
{
    switch (type) {
    case ORR_GEOM_PLANE:
        ray_plane(ray, size);
        break;
    case ORR_GEOM_SPHERE:
        ray_sphere(ray, size);
        break;
    case ORR_GEOM_CAPSULE:
        ray_capsule(ray, size);
        break;
    case ORR_GEOM_ELLIPSOID:
        ray_ellipsoid(ray, size);
        break;
    case ORR_GEOM_CYLINDER:
        ray_cylinder(ray, size);
        break;
    case ORR_GEOM_BOX:
        ray_box_around(ray, *size, R(0.0));
        break;
    default:
        break;
    }
}

// The outward normal of such a shape, of any length, where a ray has hit it.
LANE_FN real3 ray_normal(const lane_ray *ray, int type, const real3 *size)
{
    real3 p = add_scaled3(ray->from, ray->along, ray->nearest);
    switch (type) {
    case ORR_GEOM_PLANE:
        return axis3(2);
    case ORR_GEOM_ELLIPSOID:
        return make_real3(p.x / (size->x * size->x), p.y / (size->y * size->y), p.z / (size->z * size->z));
    case ORR_GEOM_CAPSULE:
        p.z = p.z - clamp_(p.z, -size->y, size->y);
        return p;
    case ORR_GEOM_CYLINDER: {
        real round = sqrt_(p.x * p.x + p.y * p.y);
        mask cap = size->y - abs_(p.z) < size->x - round;
        return select3(cap, make_real3(R(0.0), R(0.0), p.z), make_real3(p.x, p.y, R(0.0)));
    }
    case ORR_GEOM_SPHERE:
        return p;
    default: // faces
        return ray->normal;
    }
}
