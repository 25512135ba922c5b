// Convex shapes in all lanes at once: how far they reach along a direction, and which lanes of a pair cannot
// touch. What remains is collided lane after lane (per_lane.h), so that a lane may be left out only where the
// result there would be nothing.
#pragma once

#include "physics/lanes/collision/primitive.h"

// Vertices of the hulls that are scanned: above, climbing from neighbour to neighbour is faster; for a plane,
// which takes one scan, and for each step of a search.
enum { HULL_SCAN_ONCE = 256, HULL_SCAN_STEPS = 64 };

FN int hull_size(const lane_model *m, int geom)
{
    return m->geom_type[geom] == ORR_GEOM_MESH ? m->mesh_hullvertnum[m->geom_dataid[geom]] : 0;
}

// Element `i` of an array of the model, in each lane another one; i is a whole number.
FN real element_of(const uniform_real *p, real i)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    return p[(int)i];
#else
    return real_gather(p, to_int(i));
#endif
}

FN const uniform_real *hull_vertices(const lane_model *m, int geom)
{
    return m->hull_vert + 3 * m->mesh_hullvertadr[m->geom_dataid[geom]];
}

// The number of the vertex of a geom's hull that is farthest along a direction in its frame; most: how far.
LANE_FN real scan_hull(const lane_model *m, int geom, real3 direction, real *most)
{
    const uniform_real *vertex = hull_vertices(m, geom);
    real farthest = R(0.0), reach = R(-LANE_HUGE);
    for (int i = 0; i < hull_size(m, geom); i++) {
        real along = fma_(direction.x, R(vertex[3 * i]),
                          fma_(direction.y, R(vertex[3 * i + 1]), direction.z * R(vertex[3 * i + 2])));
        mask farther = along > reach;
        reach = sel(farther, along, reach);
        farthest = sel(farther, R((double)i), farthest);
    }
    *most = reach;
    return farthest;
}

FN real3 hull_support(const lane_model *m, int geom, real3 direction)
{
    real most, at = R(3.0) * scan_hull(m, geom, direction, &most);
    const uniform_real *vertex = hull_vertices(m, geom);
    return make_real3(element_of(vertex, at), element_of(vertex + 1, at), element_of(vertex + 2, at));
}

// The point of a convex geom that is farthest along a direction of length 1, against its position.
LANE_FN real3 lane_support(const lane_model *m, const lane_geom *g, int geom, real3 direction)
{
    real3 n = rotate_inverse(g->frame, direction), s = g->size, p = zero3();
    real radius = R(0.0);
    switch (m->geom_type[geom]) {
    case ORR_GEOM_SPHERE:
        radius = s.x;
        break;
    case ORR_GEOM_CAPSULE:
        radius = s.x;
        p.z = sel(n.z < R(0.0), -s.y, s.y);
        break;
    case ORR_GEOM_ELLIPSOID: {
        real3 scaled = make_real3(n.x * s.x, n.y * s.y, n.z * s.z);
        real inverse = R(1.0) / length3(scaled);
        p = make_real3(scaled.x * s.x * inverse, scaled.y * s.y * inverse, scaled.z * s.z * inverse);
        break;
    }
    case ORR_GEOM_CYLINDER: {
        real across = sqrt_(n.x * n.x + n.y * n.y);
        real scale = s.x / max_(across, R(LANE_TINY));
        p = make_real3(n.x * scale, n.y * scale, sel(n.z < R(0.0), -s.y, s.y));
        break;
    }
    case ORR_GEOM_BOX:
        p = make_real3(sel(n.x < R(0.0), -s.x, s.x), sel(n.y < R(0.0), -s.y, s.y),
                       sel(n.z < R(0.0), -s.z, s.z));
        break;
    default:
        p = hull_support(m, geom, n);
        break;
    }
    return add_scaled3(rotate(g->frame, p), direction, radius);
}

// Of the box around a geom along its own axes: half sizes, and the centre from the geom's position.
FN real3 lane_box(const lane_model *m, const lane_geom *g, int geom, real3 *centre)
{
    real3 s = g->size;
    *centre = zero3();
    switch (m->geom_type[geom]) {
    case ORR_GEOM_MESH:
        *centre = rotate(g->frame, uniform3(m->geom_aabb, 2 * geom));
        return uniform3(m->geom_aabb, 2 * geom + 1);
    case ORR_GEOM_SPHERE:
        return make_real3(s.x, s.x, s.x);
    case ORR_GEOM_CAPSULE:
        return make_real3(s.x, s.x, s.y + s.x);
    case ORR_GEOM_CYLINDER:
        return make_real3(s.x, s.x, s.y);
    default:
        return s;
    }
}

// A pair of convex geoms.
typedef struct lane_pair_shapes {
    const lane_geom *a, *b;
    int geom1, geom2;
    real3 between; // of their positions, from the first to the second
    real reach;    // they are apart where a gap is larger: the margin, and what rounding can make of a gap
} lane_pair_shapes;

FN lane_pair_shapes make_pair_shapes(const lane_model *m, const lane_data *d, const orr_pair *pair,
                                     const lane_geom *a, const lane_geom *b)
{
    lane_pair_shapes s = {a, b, pair->geom1, pair->geom2, sub3(b->pos, a->pos), R(0.0)};
    real bounds = geom_rbound(m, d, pair->geom1) + geom_rbound(m, d, pair->geom2);
    s.reach = R(pair->margin) + R(1e-5) * (bounds + length3(s.between));
    return s;
}

// The lanes in which no side of the boxes around two geoms separates them.
LANE_FN mask boxes_meet(const lane_model *m, const lane_pair_shapes *s)
{
    real3 centre[2];
    real3 half[2] = {lane_box(m, s->a, s->geom1, &centre[0]), lane_box(m, s->b, s->geom2, &centre[1])};
    real3 between = add3(s->between, sub3(centre[1], centre[0]));
    mask meet = everywhere();
    for (int side = 0; side < 2; side++) {
        matrix3 one = side ? s->b->frame : s->a->frame, two = side ? s->a->frame : s->b->frame;
        real3 axis[3] = {one.x, one.y, one.z}, other = half[1 - side];
        real own[3] = {half[side].x, half[side].y, half[side].z};
        for (int k = 0; k < 3; k++) {
            real3 turned = rotate_inverse(two, axis[k]);
            real extent =
                own[k] + other.x * abs_(turned.x) + other.y * abs_(turned.y) + other.z * abs_(turned.z);
            meet = and_(meet, not_(abs_(dot3(between, axis[k])) - extent > s->reach));
        }
    }
    return meet;
}

enum { APART_STEPS = 6 };

// The lanes of `near` in which no separating plane is found, by a few steps towards the point of the
// Minkowski difference that is closest to the origin (Gilbert 1966).
LANE_FN mask not_apart(const lane_model *m, const lane_pair_shapes *s, mask near)
{
    real3 closest = s->between;
    for (int step = 0; step < APART_STEPS && any(near); step++) {
        real length = length3(closest);
        real3 n = scale3(closest, R(-1.0) / max_(length, R(LANE_TINY))); // from the second to the first
        real3 next = sub3(add3(s->between, lane_support(m, s->b, s->geom2, n)),
                          lane_support(m, s->a, s->geom1, scale3(n, R(-1.0))));
        near = and_(near, not_(-dot3(next, n) > s->reach));
        real3 along = sub3(next, closest);
        real share = -dot3(closest, along) / max_(dot3(along, along), R(LANE_TINY));
        closest = add_scaled3(closest, along, clamp_(share, R(0.0), R(1.0)));
    }
    return near;
}

// The lanes of a pair that the routines of per_lane.h must collide: those in which the geoms may touch.
LANE_FN mask may_collide(const lane_model *m, const lane_data *d, const orr_pair *pair, const lane_geom *a,
                         const lane_geom *b, mask near)
{
    lane_pair_shapes s = make_pair_shapes(m, d, pair, a, b);
    near = and_(near, boxes_meet(m, &s));
    int small = hull_size(m, pair->geom1) <= HULL_SCAN_STEPS && hull_size(m, pair->geom2) <= HULL_SCAN_STEPS;
    return small && any(near) ? not_apart(m, &s, near) : near;
}

// The lanes in which a plane and a hull may touch. lowest: the number of the hull's lowest vertex, or of one
// that is as low up to rounding.
LANE_FN mask plane_may_touch_hull(const lane_model *m, const lane_data *d, const orr_pair *pair,
                                  const lane_geom *a, const lane_geom *b, real *lowest)
{
    *lowest = R(0.0);
    if (hull_size(m, pair->geom2) > HULL_SCAN_ONCE) {
        return everywhere();
    }
    real3 up = a->frame.z, between = sub3(b->pos, a->pos);
    real3 down = rotate_inverse(b->frame, scale3(up, R(-1.0)));
    real most;
    *lowest = scan_hull(m, pair->geom2, down, &most);
    real slack = R(1e-5) * (geom_rbound(m, d, pair->geom2) + length3(between));
    return dot3(up, between) - most < R(pair->margin) + slack;
}
