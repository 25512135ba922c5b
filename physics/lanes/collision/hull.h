// Convex shapes in all lanes at once: how far they reach along a direction, and which lanes of a pair cannot
// touch. What remains is collided lane after lane (per_lane.h), so that a lane may be left out only where the
// result there would be nothing.
#pragma once

#include "physics/lanes/collision/primitive.h"

// Vertices of the hulls that are scanned: of larger ones those are tried that can be the farthest.
#if ORR_LANES > 1
enum { HULL_SCANNED = 64 };
#else
enum { HULL_SCANNED = 16 };
#endif

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

// The same, of an array of whole numbers.
FN real index_of(const int32_t *p, real i)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    return (real)p[(int)i];
#else
    return to_real(sint_gather(p, to_int(i)));
#endif
}

FN real3 hull_element(const uniform_real *vertices, real i)
{
    real at = R(3.0) * i;
    return make_real3(element_of(vertices, at), element_of(vertices + 1, at), element_of(vertices + 2, at));
}

// extreme_square (convex_shape.h), in all lanes.
FN real lane_square(const orr_extremes *e, real3 n)
{
    real x = abs_(n.x), y = abs_(n.y), z = abs_(n.z), cells = R(e->cells);
    real most = max_(max_(x, y), z), half = R(0.5) * cells;
    mask first = x >= most, second = y >= most;
    real to = sel(first, n.x, sel(second, n.y, n.z));
    real u = sel(first, n.y, sel(second, n.z, n.x)), v = sel(first, n.z, sel(second, n.x, n.y));
    real side = sel(first, R(0.0), sel(second, R(2.0), R(4.0))) + sel(to < R(0.0), R(1.0), R(0.0));
    real scale = half / max_(most, R(LANE_TINY)), last = cells - R(1.0);
    real row = floor_(clamp_(fma_(u, scale, half), R(0.0), last));
    real column = floor_(clamp_(fma_(v, scale, half), R(0.0), last));
    return fma_(fma_(side, cells, row), cells, column);
}

// The vertex of a geom's hull that is farthest along a direction in its frame; most: how far.
LANE_FN real3 hull_support(const lane_model *m, int geom, real3 direction, real *most)
{
    const uniform_real *vertices = hull_vertices(m, geom);
    real farthest = R(0.0), reach = R(-LANE_HUGE);
    if (hull_size(m, geom) <= HULL_SCANNED) {
        for (int i = 0; i < hull_size(m, geom); i++) {
            real along = dot3(direction, uniform3(vertices, i));
            mask farther = along > reach;
            reach = sel(farther, along, reach);
            farthest = sel(farther, R((double)i), farthest);
        }
        *most = reach;
        return hull_element(vertices, farthest);
    }
    const orr_extremes *e = &m->plan->hull[m->geom_dataid[geom]].vertices;
    real square = R(2.0) * lane_square(e, direction);
    real k = index_of(e->range, square), last = index_of(e->range + 1, square) - R(1.0);
    real3 at = zero3();
    for (mask left = everywhere(); any(left); k = k + R(1.0), left = k <= last) {
        real3 p = hull_element(vertices, index_of(e->candidate, min_(k, last)));
        real along = dot3(direction, p);
        mask farther = along > reach;
        reach = sel(farther, along, reach);
        at = select3(farther, p, at);
    }
    *most = reach;
    return at;
}

// The point of a convex geom that is farthest along a direction of length 1, against its position.
LANE_FN real3 lane_support(const lane_model *m, const lane_geom *g, int geom, real3 direction)
{
    real3 n = rotate_inverse(g->frame, direction), s = g->size, p = zero3();
    real radius = R(0.0), most;
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
        p = hull_support(m, geom, n, &most);
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
    return ORR_LANES > 1 ? not_apart(m, &s, near) : near; // one world alone is searched exactly at once
}

// The lanes in which a plane and a hull may touch.
LANE_FN mask plane_may_touch_hull(const lane_model *m, const lane_data *d, const orr_pair *pair,
                                  const lane_geom *a, const lane_geom *b)
{
    real3 up = a->frame.z, between = sub3(b->pos, a->pos);
    real most, slack = R(1e-5) * (geom_rbound(m, d, pair->geom2) + length3(between));
    hull_support(m, pair->geom2, rotate_inverse(b->frame, scale3(up, R(-1.0))), &most);
    return dot3(up, between) - most < R(pair->margin) + slack;
}
