// The distance of two convex cores by GJK (Gilbert, Johnson, Keerthi 1988): the point of their Minkowski
// difference that is closest to the origin, found with a simplex of its vertices.
#pragma once

#include "physics/lanes/collision/convex_shape.h"

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

FN int contains_origin(const convex_simplex *s)
{
    for (int apart = 0; apart < 4; apart++) {
        point a = s->vertex[(apart + 1) % 4].p;
        point normal = point_cross(point_difference(s->vertex[(apart + 2) % 4].p, a),
                                   point_difference(s->vertex[(apart + 3) % 4].p, a));
        double here = point_dot(normal, point_difference(s->vertex[apart].p, a));
        double origin = -point_dot(normal, a);
        if (here * origin <= 0.0) {
            return 0;
        }
    }
    return 1;
}

// Keeps only the vertices that span the simplex's point closest to the origin, testing all vertices, edges
// and triangles. Returns 1 when the origin is inside.
LANE_FN int reduce_simplex(convex_simplex *s)
{
    if (s->count == 4 && contains_origin(s)) {
        return 1;
    }
    double least = 1e300, best_weight[3] = {0.0};
    int best = 0;
    for (int subset = 1; subset < 1 << s->count; subset++) {
        point p[3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        int count = 0;
        for (int k = 0; k < s->count && subset != 15; k++) {
            if (subset >> k & 1) {
                p[count++] = s->vertex[k].p;
            }
        }
        double weight[3] = {0.0};
        if (subset == 15 || !affine_weights(p, count, weight)) {
            continue;
        }
        point closest = make_point(0.0, 0.0, 0.0);
        for (int k = 0; k < count; k++) {
            closest = point_along(closest, weight[k], p[k]);
        }
        double squared = point_dot(closest, closest);
        if (squared < least) {
            least = squared;
            best = subset;
            memcpy(best_weight, weight, sizeof best_weight);
        }
    }
    int kept = 0;
    for (int k = 0; k < s->count; k++) {
        if (best >> k & 1) {
            s->vertex[kept] = s->vertex[k];
            s->weight[kept] = best_weight[kept];
            kept++;
        }
    }
    s->count = kept;
    return 0;
}

FN convex_vertex simplex_point(const convex_simplex *s)
{
    convex_vertex sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int k = 0; k < s->count; k++) {
        sum.p = point_along(sum.p, s->weight[k], s->vertex[k].p);
        sum.on1 = point_along(sum.on1, s->weight[k], s->vertex[k].on1);
        sum.on2 = point_along(sum.on2, s->weight[k], s->vertex[k].on2);
    }
    return sum;
}

typedef enum convex_result { CONVEX_FAR, CONVEX_APART, CONVEX_OVERLAP, CONVEX_UNSURE } convex_result;

enum { CONVEX_DISTANCE_STEPS = 200 };

// simplex: of CONVEX_OVERLAP with 4 vertices, a tetrahedron that contains the origin.
// CONVEX_APART: hit is where the cores are closest, its normal from the first to the second. CONVEX_FAR: they
// are more than `reach` apart. CONVEX_UNSURE: rounding stopped the search; as CONVEX_APART, unless they
// overlap.
LANE_FN convex_result core_distance(convex_shape *a, convex_shape *b, double reach, convex_hit *hit,
                                    convex_simplex *simplex)
{
    convex_simplex s;
    simplex->count = 0;
    point between = point_difference(a->frame.pos, b->frame.pos);
    s.vertex[0] = difference_support(a, b, point_scaled(point_direction(between), -1.0));
    s.weight[0] = 1.0;
    s.count = 1;
    convex_vertex closest = s.vertex[0];
    double length = point_length(closest.p), gap = length, touching = 1e-10 * (a->bound + b->bound);
    for (int step = 0; step < CONVEX_DISTANCE_STEPS && length > touching; step++) {
        convex_vertex next = difference_support(a, b, point_scaled(closest.p, -1.0 / length));
        double bound = point_dot(next.p, closest.p) / length; // lower bound of the distance
        if (bound > reach) {
            return CONVEX_FAR;
        }
        gap = length - bound;
        if (gap <= 1e-14 * length) {
            break;
        }
        s.vertex[s.count++] = next;
        if (reduce_simplex(&s)) {
            if (bound > 0.0) {
                break; // a plane separates the cores: rounding puts the origin inside a flat simplex
            }
            *simplex = s;
            return CONVEX_OVERLAP;
        }
        convex_vertex found = simplex_point(&s);
        double closer = point_length(found.p);
        if (!(closer < length)) {
            break;
        }
        closest = found;
        length = closer;
    }
    if (length <= touching) {
        return CONVEX_OVERLAP;
    }
    hit->distance = length;
    hit->normal = point_scaled(closest.p, -1.0 / length);
    hit->pos = point_scaled(point_sum(closest.on1, closest.on2), 0.5);
    return gap < 1e-6 * length ? CONVEX_APART : CONVEX_UNSURE;
}
