// The depth of overlapping boxes, hulls, cylinders and ellipsoids in all lanes at once: convex_depth.h's
// search for the closest face of the difference, in float. It only finds which vertices span that face: the
// contact follows from them in double (depth_hit.h, convex_refine.h). Lanes in which rounding breaks the
// polytope, or that need more vertices than fit, go on in double; what a lane finds does not depend on the
// others.
#pragma once

#include "physics/lanes/collision/convex.h"
#include "physics/lanes/collision/depth_polytope.h"
#include "physics/lanes/collision/hull.h"

#if ORR_LANES > 1

typedef struct lane_polytope {
    depth_polytope of[ORR_LANES];   // of each lane's pair
    real3 at[2][DEPTH_VERTICES];    // of the two geoms, in their frames
    real corner[2][DEPTH_VERTICES]; // of the two geoms: as in convex_support, of a hull a place of its
                                    // extremes
} lane_polytope;

// Where a search has ended: corners of the closest face, and the lanes in which that is known.
typedef struct depth_search {
    sint corners;
    sint vertices;     // of the polytope
    mask found, apart; // apart: the geoms have no contact
    real3 normal;      // of the face, or of a plane between them, where they are apart
    real least, most;  // bounds of the depth
} depth_search;

// What is searched: the pair of each lane, which may be another one, and of another world.
typedef struct depth_shapes {
    real3 between; // of their positions, from the first to the second
    real scale;    // sum of the radii of the spheres around both
    lane_geom geom[2];
    const orr_extremes *hull[2][ORR_LANES]; // of the hulls' vertices; NULL: another geom
    real cells[2];                          // of them; of others a depth_kind
    real refined;                           // m: refined_gap of curved geoms, 0 of others
} depth_shapes;

// Of geoms without cells.
typedef enum depth_kind { DEPTH_BOX = 0, DEPTH_CYLINDER = -1, DEPTH_ELLIPSOID = -2 } depth_kind;

// The support of the `side`-th geoms along n, in their frames. corner: which it is, as in a polytope.
LANE_FN real3 depth_corner(const depth_shapes *s, int side, real3 n, mask where, real *corner)
{
    real cells = s->cells[side];
    mask box = cells < R(0.5), curved = cells < R(-0.5), hull = and_(where, not_(box));
    real3 p = any(hull) ? large_hull_support(s->hull[side], 1, cells, n, hull, corner) : zero3();
    if (!any(and_(where, box))) {
        return p;
    }
    real3 half = s->geom[side].size;
    if (any(and_(where, curved))) {
        mask ellipsoid = cells < R(-1.5);
        p = select3(curved, cylinder_support(half, n), p);
        p = any(ellipsoid) ? select3(ellipsoid, ellipsoid_support(half, n), p) : p;
        real rim = sel(and_(n.z < R(0.0), not_(ellipsoid)), R(1.0), R(0.0));
        *corner = sel(curved, rim, any(hull) ? *corner : R(0.0));
        box = and_(box, not_(curved));
        hull = or_(hull, curved);
    }
    mask x = n.x < R(0.0), y = n.y < R(0.0), z = n.z < R(0.0);
    real positive = sel(x, R(0.0), R(1.0)) + sel(y, R(0.0), R(2.0)) + sel(z, R(0.0), R(4.0));
    *corner = any(hull) ? sel(box, positive, *corner) : positive;
    half = make_real3(sel(x, -half.x, half.x), sel(y, -half.y, half.y), sel(z, -half.z, half.z));
    return select3(box, half, p);
}

// Stores the difference's support along a direction of length 1 as vertex `v`; returns it.
LANE_FN real3 depth_support(const depth_shapes *s, lane_polytope *t, int v, real3 n, mask where)
{
    const matrix3 *frame1 = &s->geom[0].frame, *frame2 = &s->geom[1].frame;
    real3 on1 = depth_corner(s, 0, rotate_inverse(*frame1, n), where, &t->corner[0][v]);
    real3 on2 = depth_corner(s, 1, rotate_inverse(*frame2, scale3(n, R(-1.0))), where, &t->corner[1][v]);
    t->at[0][v] = on1;
    t->at[1][v] = on2;
    return sub3(rotate(*frame1, on1), add3(s->between, rotate(*frame2, on2)));
}

// A tetrahedron of supports. Returns the lanes in which it is not flat.
LANE_FN mask depth_begin(const depth_shapes *s, lane_polytope *t, mask where)
{
    real3 p[4], between = normalise3(s->between);
    p[0] = depth_support(s, t, 0, between, where);
    p[1] = depth_support(s, t, 1, scale3(between, R(-1.0)), where);
    real3 line = normalise3(sub3(p[1], p[0]));
    real3 start = select3(abs_(line.y) >= R(0.5), axis3(2), axis3(1));
    real3 across = scale3(p[0], R(-1.0)); // to the origin, unless that is on the line
    across = add_scaled3(across, line, -dot3(across, line));
    across =
        select3(length3(across) > R(1e-3) * s->scale, across, add_scaled3(start, line, -dot3(start, line)));
    p[2] = depth_support(s, t, 2, normalise3(across), where);
    real3 normal = normalise3(cross3(sub3(p[1], p[0]), sub3(p[2], p[0])));
    real side = sel(dot3(normal, p[0]) > R(0.0), R(-1.0), R(1.0));
    p[3] = depth_support(s, t, 3, scale3(normal, side), where);
    real height = dot3(sub3(p[3], p[0]), normal);
    mask above = height > R(0.0);
    uint32_t turned = mask_bits(above);
    for (uint32_t left = mask_bits(where); left != 0; left &= left - 1) {
        int lane = lowest_bit(left);
        depth_polytope *of = &t->of[lane];
        for (int v = 0; v < 4; v++) {
            const float at[3] = {p[v].x[lane], p[v].y[lane], p[v].z[lane]};
            set_point_32(&of->vertex, v, at);
        }
        depth_tetrahedron(of, (int)(turned >> lane & 1));
    }
    return abs_(height) > R(1e-4) * s->scale;
}

// The faces of the lanes' polytopes that are closest to the origin.
typedef struct depth_faces {
    float normal[3][ORR_LANES], distance[ORR_LANES];
    int32_t corners[ORR_LANES], place[ORR_LANES];
} depth_faces;

LANE_FN void find_closest(const lane_polytope *t, int faces, uint32_t lanes, depth_faces *face)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        int lane = lowest_bit(lanes);
        const depth_polytope *of = &t->of[lane];
        int place = depth_closest(of, faces);
        for (int axis = 0; axis < 3; axis++) {
            face->normal[axis][lane] = of->normal[axis][place];
        }
        face->distance[lane] = of->distance[place];
        face->corners[lane] = of->corner[place];
        face->place[lane] = place;
    }
}

// Adds vertex `v` at p to the polytopes of some lanes; returns those in which it could.
LANE_FN uint32_t expand_lanes(lane_polytope *t, int v, const real3 *p, const depth_faces *closest,
                              uint32_t lanes, const real *height)
{
    float at[ORR_LANES][4];
    uint64_t seen[ORR_LANES];
    depth_edges rim[ORR_LANES];
    for (uint32_t left = lanes; left != 0; left &= left - 1) { // loops of few steps: many lanes are under way
        int lane = lowest_bit(left);
        at[lane][0] = p->x[lane];
        at[lane][1] = p->y[lane];
        at[lane][2] = p->z[lane];
        seen[lane] = depth_seen(&t->of[lane], 2 * v - 4, at[lane], (*height)[lane], closest->place[lane]);
    }
    uint32_t grown = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        int lane = lowest_bit(left);
        grown |= (uint32_t)depth_find_rim(&t->of[lane], seen[lane], &rim[lane]) << lane;
    }
    for (uint32_t left = grown; left != 0; left &= left - 1) {
        int lane = lowest_bit(left);
        depth_replace(&t->of[lane], 2 * v - 4, seen[lane], &rim[lane], v, at[lane]);
    }
    return grown;
}

// iterations: most vertices that are added.
LANE_FN depth_search find_depth(const depth_shapes *s, lane_polytope *t, mask active, int iterations)
{
    real scale = s->scale, rounding = R(4e-7) * scale;
    mask curved = s->refined > R(0.0);
    depth_search found = {I(0), I(0), nowhere(), nowhere(), zero3(), R(0.0), R(0.0)};
    real lower = R(-LANE_HUGE), upper = R(LANE_HUGE);
    real least_extent = sel(curved, -rounding, R(-HULL_LANE_GAP) * scale);
    real tolerance = max_(s->refined, rounding);
    depth_faces closest = {0};
    active = and_(active, depth_begin(s, t, active));
    found.vertices = sel_int(active, I(4), I(0));
    int most = iterations + 4 < DEPTH_VERTICES ? iterations + 4 : DEPTH_VERTICES;
    for (int v = 4; any(active) && v < most; v++) {
        find_closest(t, 2 * v - 4, mask_bits(active), &closest);
        real least = real_load(closest.distance);
        real3 normal = make_real3(real_load(closest.normal[0]), real_load(closest.normal[1]),
                                  real_load(closest.normal[2]));
        mask rises = or_(lower <= R(0.0), least > lower - rounding); // or rounding has flipped a face
        active = and_(active, and_(rises, least < R(LANE_HUGE)));
        lower = sel(active, least, lower);
        real3 p = depth_support(s, t, v, normal, active);
        real extent = dot3(p, normal);
        mask apart = and_(active, extent < least_extent);
        found.apart = or_(found.apart, apart);
        active = and_(active, not_(apart));
        mask better = and_(active, extent < upper + R(0.25) * rounding);
        upper = sel(better, min_(upper, extent), upper);
        mask done = and_(active, extent - lower <= tolerance);
        better = or_(better, and_(done, curved)); // of curved geoms a later face is nearer to the surface
        found.corners = sel_int(better, sint_load(closest.corners), found.corners);
        found.found = or_(found.found, done);
        found.normal = select3(or_(apart, better), normal, found.normal);
        active = and_(active, not_(done));
        if (any(active)) {
            real height = R(0.5) * rounding;
            active = lanes_of_bits(expand_lanes(t, v, &p, &closest, mask_bits(active), &height));
            found.vertices = sel_int(active, I(v + 1), found.vertices);
        }
    }
    found.least = lower;
    found.most = upper;
    return found;
}

// A corner of a lane's polytope, in double; at: it in float, which is moved onto a curved surface.
FN convex_support support_of_lane(const convex_shape *s, int corner, point at)
{
    if (s->type == ORR_GEOM_CYLINDER) {
        return corner_support(s, at, corner);
    }
    if (s->type == ORR_GEOM_ELLIPSOID) {
        const double *size = s->size;
        double share = 1.0 / point_length(make_point(at.x / size[0], at.y / size[1], at.z / size[2]));
        return make_support(at.x * share, at.y * share, at.z * share, corner);
    }
    return corner_support(s, at, s->hull ? s->hull->vertices.number[corner] : corner);
}

// A vertex of a lane's polytope, in double.
LANE_FN convex_vertex vertex_of_lane(const lane_polytope *t, int v, int lane, const convex_shape *a,
                                     const convex_shape *b)
{
    return make_vertex(a, b, support_of_lane(a, (int)t->corner[0][v][lane], point_in(&t->at[0][v], lane)),
                       support_of_lane(b, (int)t->corner[1][v][lane], point_in(&t->at[1][v], lane)));
}

// The polytope of a lane, in double.
LANE_FN void polytope_of_lane(const lane_polytope *t, int vertices, int lane, const convex_shape *a,
                              const convex_shape *b, convex_polytope *to)
{
    int16_t face_of[DEPTH_VERTICES][DEPTH_VERTICES]; // of each directed edge, all of which have their reverse
    to->vertex_count = vertices;
    to->face_count = 2 * vertices - 4;
    for (int v = 0; v < vertices; v++) {
        to->vertex[v] = vertex_of_lane(t, v, lane, a, b);
    }
    const depth_polytope *from = &t->of[lane];
    for (int f = 0; f < to->face_count; f++) {
        int corners = from->corner[f];
        const int corner[3] = {corners & 255, corners >> 8 & 255, corners >> 16 & 255};
        set_face(to, f, corner[0], corner[1], corner[2]);
        for (int e = 0; e < 3; e++) {
            face_of[corner[e]][corner[next_corner(e)]] = (int16_t)f;
        }
    }
    for (int f = 0; f < to->face_count; f++) {
        convex_face *face = &to->face[f];
        for (int e = 0; e < 3; e++) {
            face->beside[e] = face_of[face->vertex[next_corner(e)]][face->vertex[e]];
        }
    }
}

// Goes on in double with the polytope of a lane, in which the search in float has not ended, or not at a face
// of the difference.
LANE_FN convex_result grow_lane(const lane_polytope *t, const depth_search *depth, int lane, convex_shape *a,
                                convex_shape *b, const convex_search *search, convex_hit *hit,
                                convex_witness *witness)
{
    convex_polytope polytope;
    if (depth->vertices[lane] == 0) {
        return CONVEX_UNSURE;
    }
    polytope_of_lane(t, depth->vertices[lane], lane, a, b, &polytope);
    return grow_polytope(a, b, &polytope, search->tolerance, search->iterations, hit, witness);
}
#endif
