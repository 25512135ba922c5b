// The depth of overlapping boxes and hulls in all lanes at once: convex_depth.h's search for the closest face
// of the difference, in float. It only finds which vertices span that face: the contact follows from them in
// double (depth_hit.h). Lanes in which rounding breaks the polytope, or that need more vertices than fit, go
// on in double; what a lane finds does not depend on the others.
#pragma once

#include "physics/lanes/collision/convex.h"
#include "physics/lanes/collision/hull.h"

#if ORR_LANES > 1

enum {
    DEPTH_VERTICES = 32,                  // a bit each in a lane of a sint
    DEPTH_FACES = 2 * DEPTH_VERTICES - 4, // all lanes have 2 n - 4 faces of n vertices
    DEPTH_SEEN = 16,                      // most faces that a new vertex sees
    DEPTH_EDGES = 3 * DEPTH_SEEN
};

typedef struct lane_polytope {
    float row[DEPTH_VERTICES][ORR_LANES][4]; // vertices of the difference
    real3 at[2][DEPTH_VERTICES];             // of the two geoms, in their frames
    real corner[2][DEPTH_VERTICES];          // of the two geoms: of a box as in convex_support, of a hull a
                                             // place of its extremes
    real3 normal[DEPTH_FACES];               // outward
    real distance[DEPTH_FACES];              // of the plane from the origin
    sint corners[DEPTH_FACES];               // a | b << 8 | c << 16
} lane_polytope;

// Where a search has ended: corners of the closest face, and the lanes in which that is known.
typedef struct depth_search {
    sint corners;
    sint vertices;     // of the polytope
    mask found, apart; // apart: the geoms have no contact
    real3 normal;      // of a plane between them, where they are apart
} depth_search;

// What is searched: the pair of each lane, which may be another one, and of another world.
typedef struct depth_shapes {
    real3 between; // of their positions, from the first to the second
    real scale;    // sum of the radii of the spheres around both
    lane_geom geom[2];
    const orr_extremes *hull[2][ORR_LANES]; // of the hulls' vertices; NULL: the geom is a box
    real cells[2];                          // of them; 0 of a box
} depth_shapes;

// The support of the `side`-th geoms along n, in their frames. corner: which it is, as in a polytope.
LANE_FN real3 depth_corner(const depth_shapes *s, int side, real3 n, mask where, real *corner)
{
    mask box = s->cells[side] < R(0.5), hull = and_(where, not_(box));
    real3 p = any(hull) ? large_hull_support(s->hull[side], 1, s->cells[side], n, hull, corner) : zero3();
    if (!any(and_(where, box))) {
        return p;
    }
    real3 half = s->geom[side].size;
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
    real3 p = sub3(rotate(*frame1, on1), add3(s->between, rotate(*frame2, on2)));
    for (int lane = 0; lane < ORR_LANES; lane++) {
        t->row[v][lane][0] = p.x[lane];
        t->row[v][lane][1] = p.y[lane];
        t->row[v][lane][2] = p.z[lane];
    }
    return p;
}

FN real3 depth_vertex(const lane_polytope *t, sint v)
{
    uint32_t at[ORR_LANES];
    real p[4];
    sint_store((int32_t *)at, v * I(ORR_LANES) + lane_index());
    real_gather_row(&t->row[0][0][0], at, 4, p);
    return make_real3(p[0], p[1], p[2]);
}

// The normal and the corners of a face, another one in each lane.
FN real3 depth_normal(const lane_polytope *t, sint face)
{
    const float *first = (const float *)t->normal;
    sint at = face * I(3 * ORR_LANES) + lane_index();
    return make_real3(real_gather(first, at), real_gather(first + ORR_LANES, at),
                      real_gather(first + 2 * ORR_LANES, at));
}

FN sint depth_corners(const lane_polytope *t, sint face)
{
    return sint_gather((const int32_t *)t->corners, face * I(ORR_LANES) + lane_index());
}

// The plane through three points, to the place `face`; a face without an area has a distance of LANE_HUGE.
FN void depth_plane(real3 a, real3 b, real3 c, real3 *normal, real *distance)
{
    real3 n = cross3(sub3(b, a), sub3(c, a));
    real area = sqrt_(dot3(n, n));
    mask none = not_(area > R(1e-15));
    *normal = scale3(n, sel(none, R(0.0), R(1.0) / area));
    *distance = sel(none, R(LANE_HUGE), dot3(*normal, a));
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
    static const int corner[4][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
    for (int f = 0; f < 4; f++) { // reversed where the base's normal points to p[3]
        const int *c = corner[f];
        t->corners[f] = sel_int(above, I(c[1] | c[0] << 8 | c[2] << 16), I(c[0] | c[1] << 8 | c[2] << 16));
        depth_plane(select3(above, p[c[1]], p[c[0]]), select3(above, p[c[0]], p[c[1]]), p[c[2]],
                    &t->normal[f], &t->distance[f]);
    }
    return abs_(height) > R(1e-4) * s->scale;
}

// Takes the lowest bit of 64 in each lane that has one; returns those lanes. at: which.
FN mask take_lowest(sint bits[2], sint *at)
{
    mask low = bits[0] != I(0), any_left = (bits[0] | bits[1]) != I(0);
    sint one = sel_int(low, bits[0] & -bits[0], bits[1] & -bits[1]);
    bits[0] = bits[0] & ~(one & low);
    bits[1] = bits[1] & ~(one & ~low);
    *at = to_int(exponent_(abs_(to_real(one)))) + sel_int(low, I(0), I(32));
    return any_left;
}

// The faces that a new vertex sees, and the rim around them: directed edges from | to << 8.
typedef struct depth_rim {
    sint face[DEPTH_SEEN], edge[DEPTH_EDGES];
    sint faces, edges; // their numbers
    int most;          // edges, of all lanes
} depth_rim;

// Lists the faces seen, in the lanes of `active`; returns the lanes in which their rim is one loop.
LANE_FN mask depth_find_rim(const lane_polytope *t, sint seen[2], mask active, depth_rim *rim)
{
    sint edge[DEPTH_EDGES], left[2] = {seen[0] & active, seen[1] & active};
    int listed = 0;
    rim->faces = rim->edges = I(0);
    for (; listed < DEPTH_SEEN && any((left[0] | left[1]) != I(0)); listed++) {
        sint face;
        mask has = take_lowest(left, &face);
        rim->face[listed] = face = face & has;
        rim->faces = rim->faces - has; // a mask is -1
        sint c = depth_corners(t, face);
        sint corner[3] = {c & I(255), (c >> 8) & I(255), (c >> 16) & I(255)};
        for (int e = 0; e < 3; e++) {
            sint from = corner[e], to = corner[e == 2 ? 0 : e + 1], back = to | from << 8;
            mask inner = I(0) != I(0);
            for (int k = 0; k < 3 * listed; k++) {
                mask same = has & (edge[k] == back);
                edge[k] = edge[k] | same; // -1: none
                inner = inner | same;
            }
            edge[3 * listed + e] = (from | to << 8) | ~(has & ~inner);
        }
    }
    sint bits[2] = {I(0), I(0)}, starts = I(0);
    mask simple = (left[0] | left[1]) == I(0);
    for (int k = 0; k < 3 * listed; k++) {
        bits[k / 32] = bits[k / 32] | ((edge[k] >= I(0)) & I((int32_t)(1u << k % 32)));
    }
    for (rim->most = 0; any((bits[0] | bits[1]) != I(0)); rim->most++) {
        sint at;
        mask has = take_lowest(bits, &at);
        sint e = sint_gather((const int32_t *)edge, (at & has) * I(ORR_LANES) + lane_index());
        sint start = (I(1) << (e & I(31))) & has;
        simple = simple & ((starts & start) == I(0));
        starts = starts | start;
        rim->edge[rim->most] = e & has;
        rim->edges = rim->edges - has;
    }
    return simple & active & (rim->edges == rim->faces + I(2));
}

// Replaces the faces that vertex `v` at p sees; `count` faces so far. Returns the lanes in which it could.
LANE_FN mask depth_expand(lane_polytope *t, int v, real3 p, int count, sint closest, mask active, real height)
{
    sint seen[2] = {I(0), I(0)};
    for (int f = 0; f < count; f++) {
        mask sees = or_(dot3(t->normal[f], p) > t->distance[f] + height, t->distance[f] > R(1e29));
        seen[f / 32] = seen[f / 32] | ((sees | (closest == I(f))) & I((int32_t)(1u << f % 32)));
    }
    depth_rim rim;
    mask fine = depth_find_rim(t, seen, active, &rim);
    for (int k = 0; k < rim.most; k++) {
        sint from = rim.edge[k] & I(255), to = rim.edge[k] >> 8;
        real3 normal;
        real distance;
        depth_plane(depth_vertex(t, from), depth_vertex(t, to), p, &normal, &distance);
        mask again = k < DEPTH_SEEN ? I(k) < rim.faces : I(0) != I(0);
        sint slot = sel_int(again, rim.face[k < DEPTH_SEEN ? k : 0], I(count + k) - rim.faces);
        sint corners = rim.edge[k] | I(v << 16);
        for (uint32_t left = mask_bits(fine & (I(k) < rim.edges)); left != 0; left &= left - 1) {
            int lane = lowest_bit(left), at = slot[lane];
            t->normal[at].x[lane] = normal.x[lane];
            t->normal[at].y[lane] = normal.y[lane];
            t->normal[at].z[lane] = normal.z[lane];
            t->distance[at][lane] = distance[lane];
            t->corners[at][lane] = corners[lane];
        }
    }
    return fine;
}

// iterations: most vertices that are added.
LANE_FN depth_search find_depth(const depth_shapes *s, lane_polytope *t, mask active, int iterations)
{
    real scale = s->scale;
    depth_search found = {I(0), I(0), nowhere(), nowhere(), zero3()};
    real lower = R(-LANE_HUGE), upper = R(LANE_HUGE), rounding = R(4e-7) * scale;
    active = and_(active, depth_begin(s, t, active));
    found.vertices = sel_int(active, I(4), I(0));
    int most = iterations + 4 < DEPTH_VERTICES ? iterations + 4 : DEPTH_VERTICES;
    for (int v = 4; any(active) && v < most; v++) {
        int count = 2 * v - 4;
        real least = t->distance[0];
        sint closest = I(0);
        for (int f = 1; f < count; f++) {
            closest = sel_int(t->distance[f] < least, I(f), closest);
            least = min_(t->distance[f], least);
        }
        real3 normal = depth_normal(t, closest);
        active =
            and_(active, or_(lower <= R(0.0), least > lower - rounding)); // or rounding has flipped a face
        lower = least;
        real3 p = depth_support(s, t, v, normal, active);
        real extent = dot3(p, normal);
        mask apart = and_(active, extent < R(-HULL_LANE_GAP) * scale);
        apart = and_(apart, least < R(LANE_HUGE)); // or the face has no normal
        found.apart = or_(found.apart, apart);
        found.normal = select3(apart, normal, found.normal);
        active = and_(active, not_(apart));
        mask better = and_(active, extent < upper + R(0.25) * rounding);
        upper = sel(better, min_(upper, extent), upper);
        found.corners = sel_int(better, depth_corners(t, closest), found.corners);
        mask done = and_(active, extent - lower <= rounding);
        found.found = or_(found.found, done);
        active = and_(active, not_(done));
        if (any(active)) {
            active = depth_expand(t, v, p, count, closest, active, R(0.5) * rounding);
            found.vertices = sel_int(active, I(v + 1), found.vertices);
        }
    }
    return found;
}

// A corner of a lane's polytope, in double.
FN convex_support support_of_lane(const convex_shape *s, int corner)
{
    if (s->hull) {
        int vertex = s->hull->vertices.number[corner];
        return (convex_support){hull_vertex(s, vertex), vertex};
    }
    return make_support(corner & 1 ? s->size[0] : -s->size[0], corner & 2 ? s->size[1] : -s->size[1],
                        corner & 4 ? s->size[2] : -s->size[2], corner);
}

// A vertex of a lane's polytope, in double.
LANE_FN convex_vertex vertex_of_lane(const lane_polytope *t, int at, int lane, const convex_shape *a,
                                     const convex_shape *b)
{
    return make_vertex(a, b, support_of_lane(a, (int)t->corner[0][at][lane]),
                       support_of_lane(b, (int)t->corner[1][at][lane]));
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
    for (int f = 0; f < to->face_count; f++) {
        int corners = t->corners[f][lane];
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
                                convex_shape *b, int iterations, convex_hit *hit, convex_witness *witness)
{
    convex_polytope polytope;
    if (depth->vertices[lane] == 0) {
        return CONVEX_UNSURE;
    }
    polytope_of_lane(t, depth->vertices[lane], lane, a, b, &polytope);
    return grow_polytope(a, b, &polytope, 0.0, iterations, hit, witness);
}
#endif
