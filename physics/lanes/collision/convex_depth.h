// The penetration depth of two convex cores by the expanding polytope algorithm (van den Bergen 2001): a
// polytope inside their Minkowski difference grows where its surface is closest to the origin. It need not
// contain the origin at first: a face with the origin on its outer side has a negative distance, and is
// expanded first.
#pragma once

#include "physics/lanes/collision/convex_distance.h"

enum {
    CONVEX_VERTICES = 132,
    CONVEX_FACES = 2 * CONVEX_VERTICES // a closed surface of n vertices has 2 n - 4 triangles
};

typedef struct convex_face {
    point normal;                 // outward
    double distance;              // of its plane from the origin
    int16_t vertex[3], beside[3]; // beside: the face across the edge from vertex k to the next
    int16_t seen;                 // does the last vertex see it?
} convex_face;

typedef struct convex_polytope {
    convex_vertex vertex[CONVEX_VERTICES];
    convex_face face[CONVEX_FACES];
    int16_t seen[CONVEX_FACES];         // faces that a new vertex sees
    int16_t edge_from[CONVEX_VERTICES]; // rim of those faces: next vertex, face beyond, its edge
    int16_t edge_beyond[CONVEX_VERTICES], edge_index[CONVEX_VERTICES];
    int vertex_count, face_count;
} convex_polytope;

FN void set_face(convex_polytope *t, int slot, int a, int b, int c)
{
    convex_face *face = &t->face[slot];
    point p = t->vertex[a].p;
    point normal = point_cross(point_difference(t->vertex[b].p, p), point_difference(t->vertex[c].p, p));
    double area = point_length(normal);
    face->vertex[0] = (int16_t)a;
    face->vertex[1] = (int16_t)b;
    face->vertex[2] = (int16_t)c;
    face->seen = 0;
    // a face without an area is never the closest
    face->normal = area > 1e-30 ? point_scaled(normal, 1.0 / area) : make_point(0.0, 0.0, 0.0);
    face->distance = area > 1e-30 ? point_dot(face->normal, p) : 1e300;
}

FN int next_corner(int k)
{
    return k == 2 ? 0 : k + 1;
}

// Replaces the faces that the last vertex sees, found from neighbour to neighbour around `closest`, by faces
// to that vertex. height: how far above a face it must be to see it. Returns 0, without a change, where
// rounding makes their rim more than one loop.
LANE_FN int expand_polytope(convex_polytope *t, int closest, double height)
{
    int last = t->vertex_count - 1, seen = 1, edges = 0, start = -1;
    point p = t->vertex[last].p;
    for (int k = 0; k < last; k++) {
        t->edge_from[k] = -1;
    }
    t->seen[0] = (int16_t)closest;
    t->face[closest].seen = 1;
    int fine = 1;
    for (int k = 0; k < seen; k++) {
        const convex_face *face = &t->face[t->seen[k]];
        for (int e = 0; e < 3; e++) {
            convex_face *beside = &t->face[face->beside[e]];
            if (!beside->seen &&
                (point_dot(beside->normal, p) > beside->distance + height || beside->distance > 1e299)) {
                beside->seen = 1;
                t->seen[seen++] = face->beside[e];
            }
        }
    }
    for (int k = 0; k < seen; k++) {
        int from_face = t->seen[k];
        const convex_face *face = &t->face[from_face];
        for (int e = 0; e < 3; e++) {
            const convex_face *beside = &t->face[face->beside[e]];
            if (beside->seen) {
                continue;
            }
            int from = face->vertex[e];
            fine &= t->edge_from[from] < 0;
            t->edge_from[from] = face->vertex[next_corner(e)];
            t->edge_beyond[from] = face->beside[e];
            t->edge_index[from] = (int16_t)(beside->beside[0] == from_face   ? 0
                                            : beside->beside[1] == from_face ? 1
                                                                             : 2);
            start = from;
            edges++;
        }
    }
    int around = 0;
    for (int at = start; fine && around < edges && at >= 0 && (around == 0 || at != start); around++) {
        at = t->edge_from[at];
    }
    // one loop has two edges more than faces inside: their places are taken first
    if (!fine || around != edges || edges != seen + 2 || t->face_count + 2 > CONVEX_FACES) {
        for (int k = 0; k < seen; k++) {
            t->face[t->seen[k]].seen = 0;
        }
        return 0;
    }
    int first = -1, before = -1, at = start;
    for (int k = 0; k < edges; k++) {
        int to = t->edge_from[at], face = k < seen ? t->seen[k] : t->face_count++;
        set_face(t, face, at, to, last);
        t->face[face].beside[0] = t->edge_beyond[at];
        t->face[t->edge_beyond[at]].beside[t->edge_index[at]] = (int16_t)face;
        if (k == 0) {
            first = face;
        } else {
            t->face[face].beside[2] = (int16_t)before;
            t->face[before].beside[1] = (int16_t)face;
        }
        before = face;
        at = to;
    }
    t->face[first].beside[2] = (int16_t)before;
    t->face[before].beside[1] = (int16_t)first;
    return 1;
}

// Of the difference's supports along +-direction, the one farther from a point.
LANE_FN convex_vertex farther_support(convex_shape *a, convex_shape *b, point direction, point from)
{
    convex_vertex up = difference_support(a, b, direction);
    convex_vertex down = difference_support(a, b, point_scaled(direction, -1.0));
    double above = point_dot(point_difference(up.p, from), direction);
    double below = point_dot(point_difference(from, down.p), direction);
    return above >= below ? up : down;
}

// Makes the faces of a tetrahedron of the first four vertices. Returns its height above the first three.
LANE_FN double make_tetrahedron(convex_polytope *t)
{
    convex_vertex *v = t->vertex;
    point normal =
        point_direction(point_cross(point_difference(v[1].p, v[0].p), point_difference(v[2].p, v[0].p)));
    double height = point_dot(point_difference(v[3].p, v[0].p), normal);
    if (height > 0.0) { // reversed, so that the base's normal points away from v[3]
        convex_vertex swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
    t->vertex_count = 4;
    t->face_count = 4;
    set_face(t, 0, 0, 1, 2);
    for (int k = 0; k < 3; k++) {
        set_face(t, k + 1, next_corner(k), k, 3);
        t->face[0].beside[k] = (int16_t)(k + 1);
        t->face[k + 1].beside[0] = 0;
        t->face[k + 1].beside[1] = (int16_t)((k + 2) % 3 + 1); // across the edge from corner k
        t->face[k + 1].beside[2] = (int16_t)(next_corner(k) + 1);
    }
    return fabs(height);
}

// The tetrahedron in which the search for the distance has ended, unless it is flat.
LANE_FN int polytope_of_simplex(convex_polytope *t, const convex_simplex *simplex, double scale)
{
    for (int k = 0; k < simplex->count; k++) {
        t->vertex[k] = simplex->vertex[k];
    }
    return simplex->count == 4 && make_tetrahedron(t) > 1e-2 * scale;
}

// A tetrahedron of supports. Returns 0 when the difference is flat.
LANE_FN int first_polytope(convex_polytope *t, convex_shape *a, convex_shape *b)
{
    point between = point_direction(point_difference(b->frame.pos, a->frame.pos)), tangent[2];
    point_tangents(between, tangent);
    convex_vertex *v = t->vertex;
    v[0] = difference_support(a, b, between);
    v[1] = difference_support(a, b, point_scaled(between, -1.0));
    point line = point_direction(point_difference(v[1].p, v[0].p));
    point across = point_direction(point_along(tangent[0], -point_dot(tangent[0], line), line));
    v[2] = farther_support(a, b, across, v[0].p);
    point normal =
        point_direction(point_cross(point_difference(v[1].p, v[0].p), point_difference(v[2].p, v[0].p)));
    v[3] = farther_support(a, b, normal, v[0].p);
    return make_tetrahedron(t) > 1e-14;
}

// The vertices that span the closest points of shapes that do not overlap.
FN void witness_of_simplex(const convex_simplex *s, convex_witness *witness)
{
    for (int k = 0; k < 3 && s->count > 0; k++) {
        const convex_vertex *v = &s->vertex[k < s->count ? k : 0];
        witness->corner1[k] = v->corner1;
        witness->corner2[k] = v->corner2;
    }
    witness->on1 = s->vertex[0].on1;
    witness->on2 = s->vertex[0].on2;
}

// The hit at the origin's projection onto a face with these corners. distance: of its plane from the origin.
LANE_FN void hit_on_face(const convex_vertex corner[3], point normal, double distance, convex_hit *hit,
                         convex_witness *witness)
{
    point at = point_scaled(normal, distance), on1 = {0.0, 0.0, 0.0}, on2 = on1;
    double total = 0.0;
    for (int k = 0; k < 3; k++) {
        const convex_vertex *v = &corner[k];
        point left = point_difference(corner[next_corner(k)].p, at);
        point right = point_difference(corner[next_corner(next_corner(k))].p, at);
        double weight = point_dot(point_cross(left, right), normal);
        on1 = point_along(on1, weight, v->on1);
        on2 = point_along(on2, weight, v->on2);
        witness->corner1[k] = v->corner1;
        witness->corner2[k] = v->corner2;
        total += weight;
    }
    witness->on1 = corner[0].on1;
    witness->on2 = corner[0].on2;
    hit->distance = -distance;
    hit->normal = normal;
    hit->pos = point_scaled(point_sum(on1, on2), 0.5 / total);
}

LANE_FN void hit_of_face(const convex_polytope *t, const convex_face *face, convex_hit *hit,
                         convex_witness *witness)
{
    convex_vertex corner[3];
    for (int k = 0; k < 3; k++) {
        corner[k] = t->vertex[face->vertex[k]];
    }
    hit_on_face(corner, face->normal, face->distance, hit, witness);
}

FN int closest_face(const convex_polytope *t)
{
    int closest = 0;
    double least = 1e301;
    for (int k = 0; k < t->face_count; k++) {
        closest = t->face[k].distance < least ? k : closest;
        least = t->face[k].distance < least ? t->face[k].distance : least;
    }
    return closest;
}

// Replaces a hit by one along a direction n in which the difference extends less than `upper`. Returns the
// lesser extent.
LANE_FN double try_direction(convex_shape *a, convex_shape *b, point n, double upper, convex_hit *hit,
                             convex_witness *witness)
{
    convex_vertex v = difference_support(a, b, n);
    double extent = point_dot(v.p, n);
    if (!(extent < upper)) {
        return upper;
    }
    // which points of a rim or a side are the farthest is rounding: the hit is between the centres
    point middle = point_scaled(point_sum(a->frame.pos, b->frame.pos), 0.5);
    double level = 0.5 * point_dot(point_sum(v.on1, v.on2), n) - point_dot(middle, n);
    hit->distance = -extent;
    hit->normal = n;
    hit->pos = point_along(middle, level, n);
    for (int i = 0; i < 3; i++) {
        witness->corner1[i] = v.corner1;
        witness->corner2[i] = v.corner2;
    }
    witness->on1 = v.on1;
    witness->on2 = v.on2;
    return extent;
}

// Where rounding has stopped the search short of the depth: cylinders that stand on each other or side by
// side are deepest along their axis, or across it from centre to centre.
LANE_FN void try_axes(convex_shape *a, convex_shape *b, double upper, convex_hit *hit,
                      convex_witness *witness)
{
    point between = point_difference(b->frame.pos, a->frame.pos);
    for (int k = 0; k < 2; k++) {
        const convex_shape *s = k ? b : a;
        if (s->type == ORR_GEOM_CYLINDER) {
            point axis = s->frame.axis[2];
            double along = point_dot(between, axis);
            point up = point_scaled(axis, along < 0.0 ? -1.0 : 1.0);
            point across = point_direction(point_along(between, -along, axis));
            upper = try_direction(a, b, up, upper, hit, witness);
            upper = try_direction(a, b, across, upper, hit, witness);
        }
    }
}

// How far a face may be below the surface of the difference of curved shapes, and tell where they are
// deepest, as a share of the smaller one's bound: their depth elsewhere is less by no more.
#define CONVEX_REFINED 1e-4

// That gap in m; 0: both shapes are flat.
FN double refined_gap(const convex_shape *a, const convex_shape *b)
{
    double least = has_flat_faces(a) ? b->bound : has_flat_faces(b) ? a->bound : lesser(a->bound, b->bound);
    return has_flat_faces(a) && has_flat_faces(b) ? 0.0 : CONVEX_REFINED * least;
}

// Grows a polytope until its closest face is one of the difference: CONVEX_OVERLAP. CONVEX_APART: the cores
// do not overlap, and the hit's normal, which alone is set, is that of a plane between them. CONVEX_UNSURE:
// rounding or the number of vertices ended the search, with the best face so far; of flat faces only where
// the depth is known less well than float knows poses. tolerance: m, of the depth of curved shapes;
// iterations: most vertices of a polytope, less its first four. The depth is between the distance of the
// closest face, which does not decrease once the origin is inside, and the extent of the difference along
// that face's normal; the result is the face of the least extent.
LANE_FN convex_result grow_polytope(convex_shape *a, convex_shape *b, convex_polytope *t, double tolerance,
                                    int iterations, convex_hit *hit, convex_witness *witness)
{
    double scale = a->bound + b->bound;
    // with flat faces many vertices are in the plane of a face up to rounding; with curved shapes thin faces
    // arise, which must be replaced
    int flat = has_flat_faces(a) && has_flat_faces(b);
    double height = flat ? 1e-12 * scale : 0.0;
    // flat faces are searched to the end, as in MuJoCo: further contacts follow from the face
    tolerance = flat ? height : greater(tolerance, 1e-15 * scale);
    double lower = -1e300, upper = 1e300;
    int most = iterations + 4 < CONVEX_VERTICES ? iterations + 4 : CONVEX_VERTICES;
    double refined = refined_gap(a, b);
    convex_face best = t->face[0];
    convex_result result = CONVEX_UNSURE;
    for (;;) {
        int closest = closest_face(t);
        const convex_face *face = &t->face[closest];
        if (lower > 0.0 && !(face->distance > lower - 1e-12 * scale)) {
            break; // rounding has flipped a thin face
        }
        lower = face->distance;
        convex_vertex next = difference_support(a, b, face->normal);
        double extent = point_dot(next.p, face->normal);
        if (extent < 0.0) {
            hit->normal = face->normal;
            return CONVEX_APART;
        }
        if (extent <
            upper +
                1e-13 * scale) { // equal up to rounding: later faces are closer to those of the difference
            upper = lesser(upper, extent);
            best = *face;
        }
        if (extent - lower <= refined) {
            hit_of_face(t, face, hit, witness);
            if (refine_depth(a, b, refined, hit, witness)) {
                return CONVEX_OVERLAP;
            }
            refined *= 0.25;
        }
        if (extent - lower <= tolerance) {
            result = CONVEX_OVERLAP;
            break;
        }
        if (t->vertex_count >= most) {
            break;
        }
        t->vertex[t->vertex_count++] = next;
        // caps, too, have many vertices in a plane up to rounding
        if (!expand_polytope(t, closest, height) && !expand_polytope(t, closest, 1e-12 * scale)) {
            break;
        }
    }
    hit_of_face(t, &best, hit, witness);
    if (!flat && refine_depth(a, b, upper - best.distance, hit, witness)) {
        return CONVEX_OVERLAP;
    }
    if (flat && upper - best.distance <= 1e-8 * scale) {
        result = CONVEX_OVERLAP;
    }
    if (result == CONVEX_UNSURE) {
        try_axes(a, b, upper, hit, witness);
    }
    return result;
}

// Returns 0, without a change, when the cores do not overlap. simplex: of core_distance; tolerance,
// iterations: as above.
LANE_FN int core_depth(convex_shape *a, convex_shape *b, const convex_simplex *simplex, double tolerance,
                       int iterations, convex_hit *hit, convex_witness *witness)
{
    convex_polytope t;
    convex_hit found;
    if (!polytope_of_simplex(&t, simplex, a->bound + b->bound) && !first_polytope(&t, a, b)) {
        return 0;
    }
    if (grow_polytope(a, b, &t, tolerance, iterations, &found, witness) == CONVEX_APART) {
        return 0;
    }
    *hit = found;
    return 1;
}
