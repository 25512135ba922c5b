// The distance of two convex cores by GJK (Gilbert, Johnson, Keerthi 1988): the point of their Minkowski
// difference that is closest to the origin, found with a simplex of its vertices.
#pragma once

#include "physics/lanes/collision/convex_refine.h"

typedef struct convex_simplex {
    convex_vertex vertex[4];
    double weight[4]; // of the closest point
    int count;
} convex_simplex;

// Weights of the point closest to the origin in the plane, line or point through `count` vertices; returns
// whether it lies inside of them.
LANE_FN int affine_weights(const point *p, int count, double weight[3])
{
    if (count == 1) {
        weight[0] = 1.0;
        return 1;
    }
    point a = p[0], ab = point_difference(p[1], a);
    double bb = point_dot(ab, ab), b0 = -point_dot(ab, a);
    if (count == 2) {
        weight[1] = bb > 0.0 ? b0 / bb : -1.0;
        weight[0] = 1.0 - weight[1];
        return weight[0] > 0.0 && weight[1] > 0.0;
    }
    point ac = point_difference(p[2], a);
    point normal = point_cross(ab, ac);
    double area = point_dot(normal, normal);
    if (!(area > 0.0)) {
        return 0;
    }
    point to_origin = point_scaled(a, -1.0);
    weight[1] = point_dot(point_cross(to_origin, ac), normal) / area;
    weight[2] = point_dot(point_cross(ab, to_origin), normal) / area;
    weight[0] = 1.0 - weight[1] - weight[2];
    return weight[0] > 0.0 && weight[1] > 0.0 && weight[2] > 0.0;
}

// Is the origin on the same side of a tetrahedron's face as the vertex apart from it?
FN int inside_of_face(const convex_simplex *s, int apart)
{
    point a = s->vertex[(apart + 1) & 3].p;
    point normal = point_cross(point_difference(s->vertex[(apart + 2) & 3].p, a),
                               point_difference(s->vertex[(apart + 3) & 3].p, a));
    double here = point_dot(normal, point_difference(s->vertex[apart].p, a));
    return here * -point_dot(normal, a) > 0.0;
}

FN int contains_origin(const convex_simplex *s)
{
    return inside_of_face(s, 0) && inside_of_face(s, 1) && inside_of_face(s, 2) && inside_of_face(s, 3);
}

// Is a point that some vertices of a simplex span, the last among them, the one closest to the origin? No
// other of the vertices is on the origin's side of the plane through it that is perpendicular to it.
FN int is_closest(const convex_simplex *s, int spanned, point p, double squared)
{
    for (int k = 0; k + 1 < s->count; k++) {
        if (!(spanned >> k & 1) && point_dot(s->vertex[k].p, p) < squared) {
            return 0;
        }
    }
    return 1;
}

// Keeps only the vertices that span the simplex's point closest to the origin: the last one is among them,
// since the others were such before it was added. Returns 1 when the origin is inside.
LANE_FN int reduce_simplex(convex_simplex *s)
{
    if (s->count == 4 && contains_origin(s)) {
        return 1;
    }
    // sets of the first three vertices that are tried with the last: triangles first, it is in one most
    // often, and then known to be closest; rounding can leave that open, and all are compared
    static const int tried[7] = {3, 5, 6, 1, 2, 4, 0};
    int last = s->count - 1, best_count = 0, best[3] = {0}, known = 0;
    double least = 1e300, best_weight[3] = {0.0};
    for (int i = 0; i < 7 && !known; i++) {
        int vertex[4], count = 0;
        if (tried[i] >= 1 << last) {
            continue;
        }
        for (int k = 0; k < last; k++) {
            vertex[count] = k;
            count += tried[i] >> k & 1;
        }
        vertex[count++] = last;
        double weight[3] = {0.0};
        point p[3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        for (int k = 0; k < count; k++) {
            p[k] = s->vertex[vertex[k]].p;
        }
        if (!affine_weights(p, count, weight)) {
            continue;
        }
        point closest = make_point(0.0, 0.0, 0.0);
        for (int k = 0; k < count; k++) {
            closest = point_along(closest, weight[k], p[k]);
        }
        double squared = point_dot(closest, closest);
        if (squared < least) {
            least = squared;
            best_count = count;
            memcpy(best, vertex, sizeof best);
            memcpy(best_weight, weight, sizeof best_weight);
            known = is_closest(s, tried[i], closest, squared);
        }
    }
    for (int k = 0; k < best_count; k++) { // best[k] >= k
        s->vertex[k] = s->vertex[best[k]];
        s->weight[k] = best_weight[k];
    }
    s->count = best_count;
    return 0;
}

FN convex_vertex simplex_point(const convex_simplex *s)
{
    convex_vertex sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0, 0};
    for (int k = 0; k < s->count; k++) {
        sum.p = point_along(sum.p, s->weight[k], s->vertex[k].p);
        sum.on1 = point_along(sum.on1, s->weight[k], s->vertex[k].on1);
        sum.on2 = point_along(sum.on2, s->weight[k], s->vertex[k].on2);
    }
    return sum;
}

typedef enum convex_result { CONVEX_FAR, CONVEX_APART, CONVEX_OVERLAP, CONVEX_UNSURE } convex_result;

enum { CONVEX_DISTANCE_STEPS = 200 };

// s: of CONVEX_OVERLAP with 4 vertices, a tetrahedron that contains the origin; of CONVEX_APART and
// CONVEX_UNSURE one to three vertices whose hull has the closest point. With vertices at first, the search
// goes on from there. gap: m, how much too far the distance may be; at least 1e-14 of it.
// CONVEX_APART: hit is where the cores are closest, its normal from the first to the second. CONVEX_FAR: they
// are more than `reach` apart along the hit's normal, which alone is set. CONVEX_UNSURE: rounding stopped the
// search; as CONVEX_APART, unless they overlap.
LANE_FN convex_result core_distance(convex_shape *a, convex_shape *b, double reach, double gap,
                                    convex_hit *hit, convex_simplex *s)
{
    if (s->count == 0) {
        point between = point_difference(a->frame.pos, b->frame.pos);
        s->vertex[0] = difference_support(a, b, point_scaled(point_direction(between), -1.0));
        s->weight[0] = 1.0;
        s->weight[1] = s->weight[2] = s->weight[3] = 0.0;
        s->count = 1;
    }
    convex_vertex closest = simplex_point(s);
    double length = point_length(closest.p), left = length, touching = 1e-10 * (a->bound + b->bound);
    for (int step = 0; step < CONVEX_DISTANCE_STEPS && length > touching; step++) {
        convex_vertex next = difference_support(a, b, point_scaled(closest.p, -1.0 / length));
        double bound = point_dot(next.p, closest.p) / length; // lower bound of the distance
        if (bound > reach) {
            hit->normal = point_scaled(closest.p, -1.0 / length);
            return CONVEX_FAR;
        }
        left = length - bound;
        if (left <= greater(gap, 1e-14 * length)) {
            break;
        }
        s->vertex[s->count++] = next;
        if (reduce_simplex(s)) {
            if (bound > 0.0) {
                break; // a plane separates the cores: rounding puts the origin inside a flat simplex
            }
            return CONVEX_OVERLAP;
        }
        convex_vertex found = simplex_point(s);
        double closer = point_length(found.p);
        if (!(closer < length)) {
            break;
        }
        closest = found;
        length = closer;
    }
    s->count = s->count < 3 ? s->count : 3;
    if (length <= touching) {
        return CONVEX_OVERLAP;
    }
    hit->distance = length;
    hit->normal = point_scaled(closest.p, -1.0 / length);
    hit->pos = point_scaled(point_sum(closest.on1, closest.on2), 0.5);
    return left < greater(gap, 1e-6 * length) ? CONVEX_APART : CONVEX_UNSURE;
}
