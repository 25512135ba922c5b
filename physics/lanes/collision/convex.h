// Contacts of two convex shapes: the deepest or closest point, and further points that keep flat shapes from
// rocking.
#pragma once

#include "physics/lanes/collision/convex_depth.h"
#include "physics/lanes/collision/convex_distance.h"
#include "physics/lanes/collision/convex_polish.h"

// Parameters of the search, from the model's options.
typedef struct convex_search {
    double margin;    // m: contacts below this distance
    double tolerance; // m, of a depth
    int iterations;
    int several; // may a pair have more than one contact?
} convex_search;

// The deepest or closest point. Returns whether the shapes are closer than the margin. witness: the features
// that touch, where the cores overlap.
LANE_FN int convex_closest_witness(convex_shape *a, convex_shape *b, const convex_search *search,
                                   convex_hit *hit, convex_witness *witness)
{
    double radii = a->radius + b->radius;
    convex_simplex simplex;
    convex_result result = core_distance(a, b, radii + search->margin, hit, &simplex);
    if (result == CONVEX_FAR) {
        return 0;
    }
    if (result != CONVEX_APART &&
        !core_depth(a, b, &simplex, search->tolerance, search->iterations, hit, witness) &&
        result == CONVEX_OVERLAP) {
        return 0;
    }
    if (!has_flat_faces(a) || !has_flat_faces(b)) {
        polish_hit(a, b, hit);
    }
    hit->distance -= radii;
    hit->pos = point_along(hit->pos, 0.5 * (a->radius - b->radius), hit->normal);
    return hit->distance < search->margin;
}

LANE_FN int convex_closest(convex_shape *a, convex_shape *b, const convex_search *search, convex_hit *hit)
{
    convex_witness witness;
    return convex_closest_witness(a, b, search, hit, &witness);
}

// ---- flat faces ----

enum { CONVEX_POLYGON = 64 };

// Below this angle, 5.1 degrees, faces, or an edge and a face, count as parallel.
#define CONVEX_LEAN_COSINE 0.996
#define CONVEX_LEAN_SINE 0.0893

typedef struct convex_polygon {
    point corner[CONVEX_POLYGON]; // counter-clockwise seen from the side of the normal
    int count;
    point normal;
} convex_polygon;

// The cosine between a direction in the hull's frame and the normal of a face.
FN double along_face(const orr_hull *hull, int face, point n)
{
    const double *normal = hull->normal + 3 * face;
    return normal[0] * n.x + normal[1] * n.y + normal[2] * n.z;
}

// A face of a hull. vertex: the corner to begin with; -1: any.
LANE_FN void hull_face(const convex_shape *s, int index, int vertex, convex_polygon *face)
{
    const orr_hull *hull = s->hull;
    const double *normal = hull->normal + 3 * index;
    convex_frame turn = s->frame;
    turn.pos = make_point(0.0, 0.0, 0.0);
    face->normal = to_world(&turn, make_point(normal[0], normal[1], normal[2]));
    int first = hull->first[index], count = hull->first[index + 1] - first, start = 0;
    for (int k = 0; k < count && vertex >= 0; k++) {
        start = hull->vertex[first + k] == vertex ? k : start;
    }
    int stride =
        (count + CONVEX_POLYGON / 2 - 1) / (CONVEX_POLYGON / 2); // a face with many corners: a subset of them
    face->count = 0;
    for (int k = 0; k < count; k += stride) {
        face->corner[face->count++] =
            to_world(&s->frame, hull_vertex(s, hull->vertex[first + (start + k) % count]));
    }
}

// Of the faces at a vertex, the one whose normal is closest to a direction in the hull's frame.
LANE_FN int face_at_vertex(const convex_shape *s, int vertex, point direction)
{
    const orr_hull *hull = s->hull;
    int best = 0;
    double most = -2.0;
    for (int k = hull->of_first[vertex]; k < hull->of_first[vertex + 1]; k++) {
        double along = along_face(hull, hull->of_face[k], direction);
        if (along > most) {
            most = along;
            best = hull->of_face[k];
        }
    }
    return best;
}

// The face of a box or hull whose normal is closest to a direction.
LANE_FN void face_towards(const convex_shape *s, point direction, convex_polygon *face)
{
    point n = to_local_direction(&s->frame, direction);
    face->count = 0;
    if (s->type == ORR_GEOM_BOX) {
        double along[3] = {n.x, n.y, n.z};
        int k = fabs(n.x) >= fabs(n.y) && fabs(n.x) >= fabs(n.z) ? 0 : fabs(n.y) >= fabs(n.z) ? 1 : 2;
        double sign = along[k] >= 0.0 ? 1.0 : -1.0;
        face->normal = point_scaled(s->frame.axis[k], sign);
        for (int corner = 0; corner < 4; corner++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            point p = point_along(s->frame.pos, s->size[k], face->normal);
            p = point_along(p, corner == 0 || corner == 3 ? s->size[u] : -s->size[u], s->frame.axis[u]);
            p = point_along(p, (corner < 2 ? 1.0 : -1.0) * sign * s->size[v], s->frame.axis[v]);
            face->corner[face->count++] = p;
        }
        return;
    }
    const orr_extremes *e = &s->hull->normals;
    const int32_t *range = e->range + 2 * extreme_square(e, n);
    int best = 0;
    double most = -2.0;
    for (int k = range[0]; k < range[1]; k++) {
        double along = along_face(s->hull, e->candidate[k], n);
        best = along > most ? e->candidate[k] : best;
        most = along > most ? along : most;
    }
    hull_face(s, best, -1, face);
}

// Clips a polygon to the prism above another one (Sutherland, Hodgman 1974).
LANE_FN void clip_polygon(convex_polygon *polygon, const convex_polygon *by)
{
    for (int side = 0; side < by->count; side++) {
        point corner = by->corner[side];
        point inward = point_cross(by->normal, point_difference(by->corner[(side + 1) % by->count], corner));
        convex_polygon kept;
        double inside[CONVEX_POLYGON];
        int beyond = 0;
        for (int k = 0; k < polygon->count; k++) {
            inside[k] = point_dot(point_difference(polygon->corner[k], corner), inward);
            beyond += !(inside[k] > -1e-15);
        }
        kept.count = 0;
        if (beyond == 0 && polygon->count > 0) { // nothing is cut: the same polygon from its second corner
            const point first = polygon->corner[0];
            for (int k = 1; k < polygon->count; k++) { // memmove is not for kernels
                polygon->corner[k - 1] = polygon->corner[k];
            }
            polygon->corner[polygon->count - 1] = first;
            continue;
        }
        for (int k = 0; k < polygon->count; k++) {
            int next = k + 1 < polygon->count ? k + 1 : 0;
            point p = polygon->corner[k], q = polygon->corner[next];
            double p_inside = inside[k], q_inside = inside[next];
            int keep = q_inside > -1e-15, crosses = keep != (p_inside > -1e-15);
            if (crosses && kept.count < CONVEX_POLYGON) {
                double share = p_inside / (p_inside - q_inside);
                kept.corner[kept.count++] = point_along(p, share, point_difference(q, p));
            }
            if (keep && kept.count < CONVEX_POLYGON) {
                kept.corner[kept.count++] = q;
            }
        }
        polygon->count = kept.count;
        memcpy(polygon->corner, kept.corner, (size_t)kept.count * sizeof *kept.corner);
    }
    int count = 0;
    for (int k = 0; k < polygon->count; k++) {
        int again = 0;
        for (int j = 0; j < count && !again; j++) {
            point apart = point_difference(polygon->corner[j], polygon->corner[k]);
            again = point_dot(apart, apart) < 1e-24;
        }
        if (!again) {
            polygon->corner[count++] = polygon->corner[k];
        }
    }
    polygon->count = count;
}

// Twice the area of the quadrilateral of four corners.
FN double quadrilateral(const convex_polygon *p, int a, int b, int c, int d)
{
    return point_length(point_cross(point_difference(p->corner[c], p->corner[a]),
                                    point_difference(p->corner[d], p->corner[b])));
}

// Keeps the first corner, and three others that move on around the polygon as long as the area of the four
// grows, as in MuJoCo.
LANE_FN void keep_four_corners(convex_polygon *p)
{
    int b = 1, c = 2, d = 3;
    for (int moved = 1; moved;) {
        double area = quadrilateral(p, 0, b, c, d);
        moved = 0;
        while (d + 1 < p->count && quadrilateral(p, 0, b, c, d + 1) > area) {
            area = quadrilateral(p, 0, b, c, ++d);
            moved = 1;
        }
        while (c + 1 < d && quadrilateral(p, 0, b, c + 1, d) > area) {
            area = quadrilateral(p, 0, b, ++c, d);
            moved = 1;
        }
        while (b + 1 < c && quadrilateral(p, 0, b + 1, c, d) > area) {
            area = quadrilateral(p, 0, ++b, c, d);
            moved = 1;
        }
    }
    p->corner[1] = p->corner[b];
    p->corner[2] = p->corner[c];
    p->corner[3] = p->corner[d];
    p->count = 4;
}

// Keeps, of the two edges at a polygon's deepest corner below a face, the one at the smaller angle with the
// face. Returns whether that counts as parallel.
LANE_FN int keep_lowest_edge(convex_polygon *p, const convex_polygon *face)
{
    int deepest = 0;
    for (int k = 1; k < p->count; k++) {
        if (point_dot(point_difference(p->corner[k], p->corner[deepest]), face->normal) < 0.0) {
            deepest = k;
        }
    }
    point from = p->corner[deepest], best = from;
    double least = CONVEX_LEAN_SINE;
    for (int k = 0; k < 2; k++) {
        point to = p->corner[(deepest + (k ? 1 : p->count - 1)) % p->count];
        double sine = point_dot(point_direction(point_difference(to, from)), face->normal);
        if (sine < least) {
            least = sine;
            best = to;
        }
    }
    p->corner[0] = from;
    p->corner[1] = best;
    p->count = 2;
    return least < CONVEX_LEAN_SINE;
}

FN int same_point(point a, point b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Do three vertices span an edge: are two of them one?
FN int is_edge(const point v[3])
{
    return same_point(v[0], v[1]) + same_point(v[1], v[2]) + same_point(v[2], v[0]) == 1;
}

// Keeps the edge that three vertices span. Returns whether it counts as parallel to a face.
LANE_FN int keep_witness_edge(convex_polygon *p, const point v[3], const convex_polygon *face)
{
    p->corner[0] = v[0];
    p->corner[1] = v[same_point(v[0], v[1]) ? 2 : 1];
    p->count = 2;
    point along = point_direction(point_difference(p->corner[1], p->corner[0]));
    return fabs(point_dot(along, face->normal)) < CONVEX_LEAN_SINE;
}

// Contacts of two opposite flat faces: the corners of their intersection, each with its own depth below one
// of them. Where the faces are not parallel, an edge against the other's face: the lowest edge at a corner
// that touches a face; of two crossing edges, that of the first shape against the second's face. MuJoCo's
// rules, as are that two faces have the normal of the second's, and that a crossing edge with one end below
// counts twice. At most four; returns the number of hits.
LANE_FN int flat_contacts(const convex_shape *a, const convex_shape *b, const convex_witness *witness,
                          convex_hit *hits)
{
    convex_polygon one, two;
    point normal = hits[0].normal, opposite = point_scaled(normal, -1.0);
    face_towards(a, normal, &one);
    face_towards(b, opposite, &two);
    int alike = -point_dot(one.normal, two.normal) >= CONVEX_LEAN_COSINE;
    int crossing = is_edge(witness->on1) && is_edge(witness->on2);
    int second = crossing ? !alike : point_dot(two.normal, opposite) > point_dot(one.normal, normal);
    const convex_polygon *face = second ? &two : &one;
    convex_polygon *other = second ? &one : &two;
    if (!alike &&
        !(crossing ? keep_witness_edge(other, witness->on1, face) : keep_lowest_edge(other, face))) {
        return 1;
    }
    normal = alike || second ? point_scaled(two.normal, -1.0) : one.normal;
    clip_polygon(other, face);
    int count = 0;
    for (int k = 0; k < other->count; k++) {
        if (point_dot(point_difference(other->corner[k], face->corner[0]), face->normal) < 0.0) {
            other->corner[count++] = other->corner[k];
        }
    }
    if (count == 1 && crossing && !alike) {
        other->corner[count++] = other->corner[0];
    }
    other->count = count;
    if (count > 4) {
        keep_four_corners(other);
        count = 4;
    }
    for (int k = 0; k < count; k++) {
        point p = other->corner[k];
        hits[k].distance = point_dot(point_difference(p, face->corner[0]), face->normal);
        hits[k].normal = normal;
        hits[k].pos = point_along(p, second ? 0.5 * hits[k].distance : -0.5 * hits[k].distance, normal);
    }
    return count ? count : 1;
}

// ---- by rotating the shapes ----

// A frame rotated about a point by a small angle: Rodrigues' formula.
LANE_FN convex_frame turned_frame(const convex_frame *f, point about, point axis, double angle)
{
    double sine = sin(angle), cosine = cos(angle);
    point from[4] = {f->axis[0], f->axis[1], f->axis[2], point_difference(f->pos, about)}, to[4];
    for (int k = 0; k < 4; k++) {
        point along = point_scaled(axis, point_dot(axis, from[k]) * (1.0 - cosine));
        to[k] = point_along(point_along(along, cosine, from[k]), sine, point_cross(axis, from[k]));
    }
    convex_frame result = {point_sum(about, to[3]), {to[0], to[1], to[2]}};
    return result;
}

// Further contacts of shapes without faces, as in MuJoCo: where the contact moves when both shapes are
// rotated by 1 mrad against each other about its tangents. They get the depth of hits[0].
LANE_FN int turned_contacts(convex_shape *a, convex_shape *b, const convex_search *search, convex_hit *hits)
{
    point tangent[2];
    point_tangents(hits[0].normal, tangent);
    double apart = 1e-3 * fmin(a->bound, b->bound);
    convex_frame frame1 = a->frame, frame2 = b->frame;
    int count = 1;
    for (int turn = 0; turn < 4; turn++) {
        double angle = turn % 2 ? 1e-3 : -1e-3;
        a->frame = turned_frame(&frame1, hits[0].pos, tangent[turn / 2], angle);
        b->frame = turned_frame(&frame2, hits[0].pos, tangent[turn / 2], -angle);
        convex_hit hit;
        int found = convex_closest(a, b, search, &hit);
        for (int k = 0; k < count && found; k++) {
            found = point_length(point_difference(hits[k].pos, hit.pos)) > apart;
        }
        if (found) {
            hit.distance = hits[0].distance;
            hits[count++] = hit;
        }
    }
    a->frame = frame1;
    b->frame = frame2;
    return count;
}

FN int is_round(const convex_shape *s)
{
    return s->type == ORR_GEOM_SPHERE || s->type == ORR_GEOM_ELLIPSOID;
}

// At most 5 contacts; hits[0] is the first, witness its features.
LANE_FN int further_contacts(convex_shape *a, convex_shape *b, const convex_search *search,
                             const convex_witness *witness, convex_hit *hits)
{
    if (!search->several || is_round(a) || is_round(b)) {
        return 1;
    }
    if (search->margin <= 0.0 && has_flat_faces(a) && has_flat_faces(b)) {
        return flat_contacts(a, b, witness, hits);
    }
    return turned_contacts(a, b, search, hits);
}

// At most 5 contacts.
LANE_FN int convex_contacts(convex_shape *a, convex_shape *b, const convex_search *search, convex_hit *hits)
{
    convex_witness witness;
    return convex_closest_witness(a, b, search, hits, &witness)
               ? further_contacts(a, b, search, &witness, hits)
               : 0;
}
