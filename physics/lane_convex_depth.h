// How deep two convex cores overlap, by the expanding polytope algorithm (van den Bergen 2001): a polytope inside
// their difference grows where its surface is closest to the origin. It may begin anywhere: a face that has the
// origin on its outer side counts as negatively far, and is pushed out first.
#pragma once

#include "physics/lane_convex_shape.h"

enum {
    CONVEX_VERTICES = 132,
    CONVEX_FACES = 2 * CONVEX_VERTICES, // a closed surface of n vertices has 2 n - 4 triangles
    CONVEX_HORIZON = CONVEX_FACES
};

typedef struct convex_face {
    point normal;    // outward
    double distance; // of its plane from the origin
    int16_t vertex[3];
    int16_t alive;
} convex_face;

typedef struct convex_polytope {
    convex_vertex vertex[CONVEX_VERTICES];
    convex_face face[CONVEX_FACES];
    int16_t edge[CONVEX_HORIZON][2]; // around the faces that a new vertex sees
    int vertex_count, face_count, edge_count;
} convex_polytope;

FN void add_face(convex_polytope *t, int a, int b, int c)
{
    int slot = 0;
    while (slot < t->face_count && t->face[slot].alive) {
        slot++;
    }
    if (slot == CONVEX_FACES) {
        return; // only where rounding tore the surface
    }
    t->face_count += slot == t->face_count;
    convex_face *face = &t->face[slot];
    point p = t->vertex[a].p;
    point normal =
        point_cross(point_difference(t->vertex[b].p, p), point_difference(t->vertex[c].p, p));
    double area = point_length(normal);
    face->vertex[0] = (int16_t)a;
    face->vertex[1] = (int16_t)b;
    face->vertex[2] = (int16_t)c;
    face->alive = 1;
    // a face without an area is never the closest, nor seen
    face->normal = area > 1e-30 ? point_scaled(normal, 1.0 / area) : make_point(0.0, 0.0, 0.0);
    face->distance = area > 1e-30 ? point_dot(face->normal, p) : 1e300;
}

// An edge between two faces that are both seen is not on the horizon: its reverse is there already, and both go.
FN void toggle_edge(convex_polytope *t, int from, int to)
{
    for (int k = 0; k < t->edge_count; k++) {
        if (t->edge[k][0] == to && t->edge[k][1] == from) {
            t->edge_count--;
            t->edge[k][0] = t->edge[t->edge_count][0];
            t->edge[k][1] = t->edge[t->edge_count][1];
            return;
        }
    }
    if (t->edge_count < CONVEX_HORIZON) {
        t->edge[t->edge_count][0] = (int16_t)from;
        t->edge[t->edge_count][1] = (int16_t)to;
        t->edge_count++;
    }
}

// Puts the last vertex outside of the faces that it sees.
LANE_FN void expand_polytope(convex_polytope *t)
{
    int last = t->vertex_count - 1;
    point p = t->vertex[last].p;
    t->edge_count = 0;
    for (int k = 0; k < t->face_count; k++) {
        convex_face *face = &t->face[k];
        if (face->alive && point_dot(face->normal, p) - face->distance > 1e-15) {
            face->alive = 0;
            for (int e = 0; e < 3; e++) {
                toggle_edge(t, face->vertex[e], face->vertex[(e + 1) % 3]);
            }
        }
    }
    for (int k = 0; k < t->edge_count; k++) {
        add_face(t, t->edge[k][0], t->edge[k][1], last);
    }
}

// The farther of the difference's extremes along +-direction, seen from a point.
LANE_FN convex_vertex farther_support(convex_shape *a, convex_shape *b, point direction, point from)
{
    convex_vertex up = difference_support(a, b, direction);
    convex_vertex down = difference_support(a, b, point_scaled(direction, -1.0));
    double above = point_dot(point_difference(up.p, from), direction);
    double below = point_dot(point_difference(from, down.p), direction);
    return above >= below ? up : down;
}

// A tetrahedron of extremes. Returns 0 when the difference is flat.
LANE_FN int first_polytope(convex_polytope *t, convex_shape *a, convex_shape *b)
{
    point way = point_direction(point_difference(b->frame.pos, a->frame.pos)), tangent[2];
    point_tangents(way, tangent);
    convex_vertex *v = t->vertex;
    v[0] = difference_support(a, b, way);
    v[1] = difference_support(a, b, point_scaled(way, -1.0));
    point line = point_direction(point_difference(v[1].p, v[0].p));
    point across = point_direction(point_along(tangent[0], -point_dot(tangent[0], line), line));
    v[2] = farther_support(a, b, across, v[0].p);
    point normal =
        point_direction(point_cross(point_difference(v[1].p, v[0].p), point_difference(v[2].p, v[0].p)));
    v[3] = farther_support(a, b, normal, v[0].p);
    double height = point_dot(point_difference(v[3].p, v[0].p), normal);
    t->vertex_count = 4;
    t->face_count = t->edge_count = 0;
    int flip = height > 0.0;
    add_face(t, 0, flip ? 2 : 1, flip ? 1 : 2);
    for (int k = 0; k < 3; k++) {
        int from = k, to = (k + 1) % 3;
        add_face(t, flip ? from : to, flip ? to : from, 3);
    }
    return fabs(height) > 1e-14;
}

// Returns 0 when the cores do not overlap after all. tolerance: m, of the depth; iterations: most vertices that are
// added.
LANE_FN int core_depth(convex_shape *a, convex_shape *b, double tolerance, int iterations, convex_hit *hit)
{
    convex_polytope t;
    if (!first_polytope(&t, a, b)) {
        return 0;
    }
    int most = iterations + 4 < CONVEX_VERTICES ? iterations + 4 : CONVEX_VERTICES;
    tolerance = fmax(tolerance, 1e-15 * (a->bound + b->bound));
    const convex_face *closest;
    for (;;) {
        int best = 0;
        for (int k = 1; k < t.face_count; k++) {
            if (t.face[k].alive && (!t.face[best].alive || t.face[k].distance < t.face[best].distance)) {
                best = k;
            }
        }
        closest = &t.face[best];
        convex_vertex next = difference_support(a, b, closest->normal);
        double extent = point_dot(next.p, closest->normal);
        if (extent < 0.0) {
            return 0;
        }
        if (extent - closest->distance <= tolerance || t.vertex_count >= most) {
            break;
        }
        t.vertex[t.vertex_count++] = next;
        expand_polytope(&t);
    }
    // where the origin projects to in the face
    const convex_vertex *v[3] = {&t.vertex[closest->vertex[0]], &t.vertex[closest->vertex[1]],
                                 &t.vertex[closest->vertex[2]]};
    point at = point_scaled(closest->normal, closest->distance), on1 = {0.0, 0.0, 0.0}, on2 = on1;
    double total = 0.0;
    for (int k = 0; k < 3; k++) {
        point left = point_difference(v[(k + 1) % 3]->p, at), right = point_difference(v[(k + 2) % 3]->p, at);
        double weight = point_dot(point_cross(left, right), closest->normal);
        on1 = point_along(on1, weight, v[k]->on1);
        on2 = point_along(on2, weight, v[k]->on2);
        total += weight;
    }
    hit->distance = -closest->distance;
    hit->normal = closest->normal;
    hit->pos = point_scaled(point_sum(on1, on2), 0.5 / total);
    return 1;
}
