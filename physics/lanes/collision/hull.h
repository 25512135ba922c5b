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

// How deep boxes and hulls must overlap each other to have a contact, as a share of the radii of the spheres
// around both. In float faces that lie flush on each other, as those of a robot's base and its first link,
// would touch in some steps and not in others, as poses are rounded. In double gaps are exact.
#if defined(ORR_SCALAR_DOUBLE)
#define HULL_LEAST_DEPTH 0.0
#else
#define HULL_LEAST_DEPTH 4e-6
#endif

// The gap, as such a share, past which a search in lanes leaves a pair out. All that it leaves out has no
// contact: what rounding makes of a gap is less than the rest of HULL_LEAST_DEPTH.
#define HULL_LANE_GAP (HULL_LEAST_DEPTH > 0.0 ? -0.25 * HULL_LEAST_DEPTH : 1e-5)

// Are both geoms of a pair of these types boxes or hulls?
FN int has_flush_faces(int type1, int type2)
{
    return (type1 == ORR_GEOM_BOX || type1 == ORR_GEOM_MESH) &&
           (type2 == ORR_GEOM_BOX || type2 == ORR_GEOM_MESH);
}

FN int hull_size(const lane_model *m, int geom)
{
    return m->geom_type[geom] == ORR_GEOM_MESH ? m->mesh_hullvertnum[m->geom_dataid[geom]] : 0;
}

FN const uniform_real *hull_vertices(const lane_model *m, int geom)
{
    return m->hull_vert + 3 * m->mesh_hullvertadr[m->geom_dataid[geom]];
}

// extreme_square (convex_shape.h), in all lanes. cells: of the hull's extremes.
FN real lane_square(real cells, real3 n)
{
    real x = abs_(n.x), y = abs_(n.y), z = abs_(n.z);
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

#if ORR_LANES > 1
enum { EXTREME_PARTS = ORR_EXTREME_BLOCK / FEW_LANES }; // vectors of a block

// Where the coordinates of a vector of candidates are: x; y and z follow ORR_EXTREME_BLOCK apart.
FN const float *extreme_part(const orr_extremes *e, int part)
{
    uint32_t block = (uint32_t)part / EXTREME_PARTS, in_block = (uint32_t)part % EXTREME_PARTS;
    return e->at + (size_t)block * (3 * ORR_EXTREME_BLOCK) + in_block * FEW_LANES;
}

// Their extents along a direction.
FN few_real extent_of_part(const float *at, const few_real n[3])
{
    few_real z = n[2] * few_load(at + 2 * ORR_EXTREME_BLOCK);
    return few_fma(n[0], few_load(at), few_fma(n[1], few_load(at + ORR_EXTREME_BLOCK), z));
}

// hull_support by the hulls' lists of candidates. Each lane has a list of another length: it is searched with
// the candidates in the lanes of a vector, world after world. hull: of each lane, `stride` apart; cells: of
// theirs; place: of the vertex in the blocks of its hull's extremes, or NULL.
LANE_FN real3 large_hull_support(const orr_extremes *const *hull, int stride, real cells, real3 direction,
                                 mask where, real *place)
{
    float along[3][ORR_LANES], support[3][ORR_LANES];
    int32_t square[ORR_LANES], places[ORR_LANES], first[ORR_LANES], end[ORR_LANES];
    const float *at[ORR_LANES];
    real_store(along[0], direction.x);
    real_store(along[1], direction.y);
    real_store(along[2], direction.z);
    for (int axis = 0; axis < 3; axis++) { // lanes that are not asked for
        real_store(support[axis], R(0.0));
    }
    sint_store(places, I(0));
    sint_store(square, to_int(lane_square(cells, direction)));
    uint32_t lanes = mask_bits(where);
    for (uint32_t left = lanes; left != 0; left &= left - 1) { // fetches the candidates of all lanes at once
        int lane = lowest_bit(left);
        const orr_extremes *e = hull[stride * lane];
        const int32_t *block = &e->block[square[lane]];
        first[lane] = block[0] * EXTREME_PARTS;
        end[lane] = block[1] * EXTREME_PARTS;
        at[lane] = extreme_part(e, first[lane]);
        __builtin_prefetch(at[lane]);
        __builtin_prefetch(at[lane] + 3 * ORR_EXTREME_BLOCK - 1);
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        int lane = lowest_bit(left);
        const few_real n[3] = {few_splat(&along[0][lane]), few_splat(&along[1][lane]),
                               few_splat(&along[2][lane])};
        const float *from = at[lane];
        few_real most = extent_of_part(from, n);
        int part = first[lane], farthest;
        if (end[lane] == part + 1) { // most often
            farthest = few_first_most(most);
        } else {
            const orr_extremes *e = hull[stride * lane];
            few_int found = part - (few_int){0};
            for (int k = part + 1; k < end[lane]; k++) {
                few_real far = extent_of_part(extreme_part(e, k), n);
                few_int farther = far > most;
                most = (few_real)((farther & (few_int)far) | (~farther & (few_int)most));
                found = (farther & k) | (~farther & found);
            }
            farthest = few_first_most(most);
            int32_t parts[FEW_LANES];
            memcpy(parts, &found, sizeof parts);
            part = parts[farthest];
            from = extreme_part(e, part);
        }
        for (int axis = 0; axis < 3; axis++) {
            support[axis][lane] = from[axis * ORR_EXTREME_BLOCK + farthest];
        }
        places[lane] = part * FEW_LANES + farthest;
    }
    if (place) {
        *place = to_real(sint_load(places));
    }
    return make_real3(real_load(support[0]), real_load(support[1]), real_load(support[2]));
}
#else
LANE_FN real3 large_hull_support(const orr_extremes *e, const uniform_real *vertices, real3 direction)
{
    const int32_t *range = e->range + 2 * (int)lane_square(R(e->cells), direction);
    real reach = R(-LANE_HUGE);
    real3 at = zero3();
    for (int k = range[0]; k < range[1]; k++) {
        real3 p = uniform3(vertices, e->candidate[k]);
        real along = dot3(direction, p);
        mask farther = along > reach;
        reach = sel(farther, along, reach);
        at = select3(farther, p, at);
    }
    return at;
}
#endif

// The farthest of all vertices.
FN real3 scan_hull(const uniform_real *vertices, int count, real3 direction)
{
    real reach = R(-LANE_HUGE);
    real3 at = zero3();
    for (int i = 0; i < count; i++) {
        real3 p = uniform3(vertices, i);
        real along = dot3(direction, p);
        mask farther = along > reach;
        reach = sel(farther, along, reach);
        at = select3(farther, p, at);
    }
    return at;
}

// In the lanes of `where`, the vertex of a geom's hull that is farthest along a direction in its frame.
LANE_FN real3 hull_support(const lane_model *m, int geom, real3 direction, mask where)
{
    const uniform_real *vertices = hull_vertices(m, geom);
    if (hull_size(m, geom) > HULL_SCANNED) {
        const orr_extremes *e = &m->plan->hull[m->geom_dataid[geom]].vertices;
#if ORR_LANES > 1
        return large_hull_support(&e, 0, R(e->cells), direction, where, NULL);
#else
        (void)where;
        return large_hull_support(e, vertices, direction);
#endif
    }
    return scan_hull(vertices, hull_size(m, geom), direction);
}

// The points of cylinders and ellipsoids that are farthest along a direction n of length 1, in their frames.
FN real3 cylinder_support(real3 size, real3 n)
{
    real scale = size.x / max_(sqrt_(n.x * n.x + n.y * n.y), R(LANE_TINY));
    return make_real3(n.x * scale, n.y * scale, sel(n.z < R(0.0), -size.y, size.y));
}

FN real3 ellipsoid_support(real3 size, real3 n)
{
    real3 scaled = make_real3(n.x * size.x, n.y * size.y, n.z * size.z);
    real inverse = R(1.0) / max_(length3(scaled), R(LANE_TINY));
    return make_real3(scaled.x * size.x * inverse, scaled.y * size.y * inverse, scaled.z * size.z * inverse);
}

// In the lanes of `where`, the point of a convex geom that is farthest along a direction n of length 1, both
// in the geom's frame.
LANE_FN real3 lane_local_support(const lane_model *m, const lane_geom *g, int geom, real3 n, mask where)
{
    real3 s = g->size, p = zero3();
    switch (m->geom_type[geom]) {
    case ORR_GEOM_SPHERE:
        p = scale3(n, s.x);
        break;
    case ORR_GEOM_CAPSULE:
        p = scale3(n, s.x);
        p.z = p.z + sel(n.z < R(0.0), -s.y, s.y);
        break;
    case ORR_GEOM_ELLIPSOID:
        p = ellipsoid_support(s, n);
        break;
    case ORR_GEOM_CYLINDER:
        p = cylinder_support(s, n);
        break;
    case ORR_GEOM_BOX:
        p = make_real3(sel(n.x < R(0.0), -s.x, s.x), sel(n.y < R(0.0), -s.y, s.y),
                       sel(n.z < R(0.0), -s.z, s.z));
        break;
    default:
        p = hull_support(m, geom, n, where);
        break;
    }
    return p;
}

// The same in the world's axes, against the geom's position.
LANE_FN real3 lane_support(const lane_model *m, const lane_geom *g, int geom, real3 direction, mask where)
{
    return rotate(g->frame, lane_local_support(m, g, geom, rotate_inverse(g->frame, direction), where));
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
    real reach;    // they have no contact where a gap is larger
} lane_pair_shapes;

FN lane_pair_shapes make_pair_shapes(const lane_model *m, const lane_data *d, const orr_pair *pair,
                                     const lane_geom *a, const lane_geom *b)
{
    lane_pair_shapes s = {a, b, pair->geom1, pair->geom2, sub3(b->pos, a->pos), R(0.0)};
    real bounds = geom_rbound(m, d, pair->geom1) + geom_rbound(m, d, pair->geom2);
    int flush = has_flush_faces(m->geom_type[pair->geom1], m->geom_type[pair->geom2]);
    s.reach = R(pair->margin);
    s.reach = s.reach + (flush ? R(HULL_LANE_GAP) * bounds : R(1e-5) * (bounds + length3(s.between)));
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

// Where d->apart has what is known of a pair: pairs share places, and may find what is known of another.
FN reals apart_at(const lane_model *m, const lane_data *d, int pair_index)
{
    return d->apart + 3 * (int)((unsigned)pair_index % (unsigned)m->plan->apart_count);
}

// Steps of the search; lanes that touched when they were last searched try one. One world alone is searched
// exactly at once, unless a direction is known.
enum { APART_STEPS = ORR_LANES > 1 ? 6 : 1 };

// The lanes of `near` in which no separating plane is found, by a few steps towards the point of the
// Minkowski difference that is closest to the origin (Gilbert 1966). last: from the second geom to the first,
// the direction to begin with, or 0. It gets that which separates, of length 1; or of length 2, if none does.
LANE_FN mask not_apart(const lane_model *m, const lane_pair_shapes *s, mask near, real3 *last)
{
    real known = length3(*last);
    real3 closest = s->between, n = scale3(*last, R(1.0) / max_(known, R(LANE_TINY)));
    mask searched = ORR_LANES > 1 ? near : and_(near, known > R(0.5));
    for (int step = 0; step < APART_STEPS && any(searched); step++) {
        mask given = and_(known > R(0.5), R((float)step) < R(0.5));
        n = select3(given, n, scale3(closest, R(-1.0) / max_(length3(closest), R(LANE_TINY))));
        real3 next = sub3(add3(s->between, lane_support(m, s->b, s->geom2, n, searched)),
                          lane_support(m, s->a, s->geom1, scale3(n, R(-1.0)), searched));
        mask directed = dot3(n, n) > R(0.5); // it is 0 where the origin has been reached
        mask separated = and_(and_(searched, directed), -dot3(next, n) > s->reach);
        *last = select3(separated, n, select3(searched, scale3(n, R(2.0)), *last));
        near = and_(near, not_(separated));
        searched = and_(searched, not_(or_(separated, known > R(1.5))));
        closest = select3(given, next, closest);
        real3 along = sub3(next, closest);
        real share = -dot3(closest, along) / max_(dot3(along, along), R(LANE_TINY));
        closest = add_scaled3(closest, along, clamp_(share, R(0.0), R(1.0)));
    }
    return near;
}

// The lanes of a pair that the routines of per_lane.h must collide: those in which the geoms may touch.
LANE_FN mask may_collide(const lane_model *m, lane_data *d, int index, const lane_geom *a, const lane_geom *b,
                         mask near)
{
    lane_pair_shapes s = make_pair_shapes(m, d, lane_pair(m, d, index), a, b);
    near = and_(near, boxes_meet(m, &s));
    if (!any(near) || m->plan->apart_count == 0) {
        return near;
    }
    reals apart = apart_at(m, d, index);
    real3 last = load3(apart, 0);
    near = not_apart(m, &s, near, &last);
    store3(apart, 0, last);
    return near;
}

// The lanes of `near` in which a plane and a hull may touch.
LANE_FN mask plane_may_touch_hull(const lane_model *m, const lane_data *d, const orr_pair *pair,
                                  const lane_geom *a, const lane_geom *b, mask near)
{
    real3 up = a->frame.z, between = sub3(b->pos, a->pos);
    real slack = R(1e-5) * (geom_rbound(m, d, pair->geom2) + length3(between));
    real3 down = rotate_inverse(b->frame, scale3(up, R(-1.0)));
    real most = dot3(down, hull_support(m, pair->geom2, down, near));
    return and_(near, dot3(up, between) - most < R(pair->margin) + slack);
}
