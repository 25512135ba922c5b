// Contacts of two shapes with flat faces: the face or edge of each that touches, one clipped to the other.
// MuJoCo's rules since 3.17 (its multiccd): what touches is known from the vertices that span the deepest
// face of the difference. A cylinder has two faces of 16 corners and an edge along its side, a capsule one.
#pragma once

#include "physics/lanes/collision/convex_depth.h"

// Corners of a face that is clipped: twice as many as one of a hull may have, 150 as in MuJoCo. On CUDA 32,
// since each thread keeps several polygons.
#if defined(__CUDACC__)
#define CONVEX_POLYGON 64
#else
#define CONVEX_POLYGON 300
#endif

enum { CONVEX_SIDES = 32, CLIP_ROOM = 8 }; // most faces of a feature

// Below this angle, 0.0889 rad = 5.1 degrees, faces, or an edge and a face, count as parallel.
#define CONVEX_LEAN_COSINE 0.99605099
#define CONVEX_LEAN_SINE 0.08878294

// Its corners as columns, with room behind them for a vector of a search.
typedef struct convex_polygon {
    double axis[3][CONVEX_POLYGON + CLIP_ROOM];
    int count;
    point normal; // outward
} convex_polygon;

FN point corner_at(const convex_polygon *p, int k)
{
    return make_point(p->axis[0][k], p->axis[1][k], p->axis[2][k]);
}

FN void put_corner(convex_polygon *p, int k, point at)
{
    p->axis[0][k] = at.x;
    p->axis[1][k] = at.y;
    p->axis[2][k] = at.z;
}

// ---- faces of hulls ----

// The cosine between a direction in the hull's frame and the normal of a face.
FN double along_face(const orr_hull *hull, int face, point n)
{
    const double *normal = hull->normal + 3 * face;
    return normal[0] * n.x + normal[1] * n.y + normal[2] * n.z;
}

// A face of a hull, counter-clockwise from outside, or clockwise. vertex: the corner to begin with, counter-
// clockwise; -1: any.
LANE_FN void hull_face(const convex_shape *s, int index, int vertex, int clockwise, convex_polygon *face)
{
    const orr_hull *hull = s->hull;
    const double *normal = hull->normal + 3 * index;
    face->normal = to_world_direction(&s->frame, make_point(normal[0], normal[1], normal[2]));
    int first = hull->first[index], count = hull->first[index + 1] - first, start = 0;
    for (int k = 0; k < count && vertex >= 0; k++) {
        start = hull->vertex[first + k] == vertex ? k : start;
    }
    // a face with many corners: a subset of them
    int stride = count > CONVEX_POLYGON / 2 ? (count + CONVEX_POLYGON / 2 - 1) / (CONVEX_POLYGON / 2) : 1;
    face->count = stride > 1 ? (count + stride - 1) / stride : count;
    for (int k = 0, from = start; k < face->count; k++) {
        int to = clockwise ? face->count - 1 - k : k;
        put_corner(face, to, to_world(&s->frame, hull_vertex(s, hull->vertex[first + from])));
        from += stride;
        from -= from < count ? 0 : count;
    }
}

// Of the faces at a vertex, the one whose normal is closest to a direction in the hull's frame; -1: it has
// none.
LANE_FN int face_at_vertex(const convex_shape *s, int vertex, point direction)
{
    const orr_hull *hull = s->hull;
    int best = -1;
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

// A vertex' faces, in ascending order, from some on.
typedef struct hull_faces {
    const int32_t *at, *end;
} hull_faces;

FN hull_faces faces_at(const orr_hull *hull, int vertex)
{
    const int32_t *first = hull->of_first + vertex;
    return (hull_faces){hull->of_face + first[0], hull->of_face + first[1]};
}

// Is a face, one not below those asked for before, among them?
FN int has_face(hull_faces *faces, int face)
{
    while (faces->at < faces->end && *faces->at < face) {
        faces->at++;
    }
    return faces->at < faces->end && *faces->at == face;
}

// ---- what touches ----

// A vertex, an edge or a face of a shape, by its corners as in convex_support.
typedef struct convex_feature {
    int corner[3], count;
    point at;      // of the first corner, in the world
    point outward; // in the shape's frame: the side that touches
} convex_feature;

FN point corner_of_box(const convex_shape *s, int bits)
{
    return to_world(&s->frame,
                    make_point(bits & 1 ? s->size[0] : -s->size[0], bits & 2 ? s->size[1] : -s->size[1],
                               bits & 4 ? s->size[2] : -s->size[2]));
}

// corner, on: the witness' corners on the shape, and the first of them in the world; outward: the side that
// touches, in the world.
FN convex_feature feature_of(const convex_shape *s, const int corner[3], point on, point outward)
{
    convex_feature f = {{corner[0], corner[1], corner[2]}, 1, on, to_local_direction(&s->frame, outward)};
    if (f.corner[0] != f.corner[1]) {
        f.count = f.corner[2] == f.corner[0] || f.corner[2] == f.corner[1] ? 2 : 3;
    } else {
        f.corner[1] = f.corner[2];
        f.count = f.corner[0] != f.corner[2] ? 2 : 1;
    }
    return f;
}

// How many faces feature_face goes through.
FN int feature_faces(const convex_shape *s, const convex_feature *f)
{
    return s->type == ORR_GEOM_MESH  ? s->hull->of_first[f->corner[0] + 1] - s->hull->of_first[f->corner[0]]
           : s->type == ORR_GEOM_BOX ? 3
           : s->type == ORR_GEOM_CYLINDER ? f->count == 1
                                          : 0;
}

// The k-th face of a box or a cylinder that all corners of a feature can be on; -1: this one is not. Faces of
// a box: x, -x, y, ...; where its corners are on no common face, the one that points outward.
LANE_FN int feature_face(const convex_shape *s, const convex_feature *f, int k)
{
    const int *corner = f->corner;
    if (s->type == ORR_GEOM_CYLINDER) {
        return corner[0];
    }
    double outward[3] = {f->outward.x, f->outward.y, f->outward.z};
    int third = f->count == 3 ? corner[2] : corner[0], second = f->count > 1 ? corner[1] : corner[0];
    int alike = ~(corner[0] ^ second) & ~(corner[0] ^ third) & 7;
    if (alike) {
        return alike >> k & 1 ? 2 * k + !(corner[0] >> k & 1) : -1;
    }
    return fabs(outward[k]) > CONVEX_LEAN_COSINE ? 2 * k + (outward[k] < 0.0) : -1;
}

// The outward normal of a face in the world.
FN point face_normal(const convex_shape *s, int face)
{
    if (s->type == ORR_GEOM_MESH) {
        const double *n = s->hull->normal + 3 * face;
        return to_world_direction(&s->frame, make_point(n[0], n[1], n[2]));
    }
    return s->type == ORR_GEOM_BOX ? point_scaled(s->frame.axis[face / 2], face % 2 ? -1.0 : 1.0)
                                   : point_scaled(s->frame.axis[2], face ? -1.0 : 1.0);
}

// Cosines and sines of sixteenths of a turn.
FN double sixteenth(int k)
{
    const double cosine[5] = {1.0, 0.92387953251128674, 0.70710678118654752, 0.38268343236508977, 0.0};
    k &= 15;
    k = k > 8 ? 16 - k : k;
    return k > 4 ? -cosine[8 - k] : cosine[k];
}

// The corners of a face, clockwise from outside.
LANE_FN void shape_face(const convex_shape *s, int index, convex_polygon *face)
{
    static const int box[6][4] = {{7, 3, 1, 5}, {2, 6, 4, 0}, {2, 3, 7, 6},
                                  {4, 5, 1, 0}, {6, 7, 5, 4}, {3, 2, 0, 1}};
    if (s->type == ORR_GEOM_MESH) {
        hull_face(s, index, -1, 1, face);
        return;
    }
    face->normal = face_normal(s, index);
    face->count = s->type == ORR_GEOM_BOX ? 4 : 16;
    for (int k = 0; k < face->count; k++) {
        double up = index ? -1.0 : 1.0;
        put_corner(
            face, k,
            s->type == ORR_GEOM_BOX
                ? corner_of_box(s, box[index][k])
                : to_world(&s->frame, make_point(s->size[0] * sixteenth(k),
                                                 -up * s->size[0] * sixteenth(k - 4), up * s->size[1])));
    }
}

// How many edges feature_edge goes through: those at a vertex, or the one between two.
FN int feature_edges(const convex_shape *s, const convex_feature *f)
{
    return f->count == 3 ? 0
           : f->count == 2 || s->type == ORR_GEOM_CYLINDER || s->type == ORR_GEOM_CAPSULE
               ? 1
               : feature_faces(s, f);
}

// The ends of an edge. on: where the contact touches the shape, for a capsule.
LANE_FN void feature_edge(const convex_shape *s, const convex_feature *f, int k, point on, point end[2])
{
    if (s->type == ORR_GEOM_CAPSULE) {
        double along = point_dot(point_difference(on, s->frame.pos), s->frame.axis[2]);
        end[0] = point_along(on, -along - s->size[1], s->frame.axis[2]);
        end[1] = point_along(on, -along + s->size[1], s->frame.axis[2]);
        return;
    }
    if (s->type == ORR_GEOM_CYLINDER) {
        // at the normal's azimuth, to which the witness comes only as close as the search's tolerance
        double across = sqrt(f->outward.x * f->outward.x + f->outward.y * f->outward.y);
        double scale = across > 1e-9 ? s->size[0] / across : 0.0,
               up = f->corner[0] ? -s->size[1] : s->size[1];
        point at = make_point(f->outward.x * scale, f->outward.y * scale, up);
        end[0] = scale > 0.0 ? to_world(&s->frame, at) : f->at;
        end[1] = point_along(end[0], -2.0 * up, s->frame.axis[2]);
        return;
    }
    int from = f->corner[0], to = f->corner[1];
    if (s->type == ORR_GEOM_BOX) {
        end[0] = corner_of_box(s, from);
        end[1] = corner_of_box(s, f->count == 1 ? from ^ 1 << k : to);
        return;
    }
    const orr_hull *hull = s->hull;
    if (f->count == 1) { // to the corner before it on the face
        int face = hull->of_face[hull->of_first[from] + k], first = hull->first[face];
        int before = hull->first[face + 1] - 1; // of the corner at c
        for (int c = first; hull->vertex[c] != from; c++) {
            before = c;
        }
        to = hull->vertex[before];
    }
    end[0] = to_world(&s->frame, hull_vertex(s, from));
    end[1] = to_world(&s->frame, hull_vertex(s, to));
}

// The faces that all corners of a feature can be on, in the order of feature_face, and their normals in the
// world.
typedef struct convex_sides {
    int face[CONVEX_SIDES], count;
    point normal[CONVEX_SIDES];
} convex_sides;

// Makes room for a face with this normal: takes out that which faces least along `outward`. Returns 0 when
// none faces less than the new one.
LANE_FN int drop_side(convex_sides *sides, point normal, point outward)
{
    int drop = -1;
    double least = point_dot(normal, outward);
    for (int k = 0; k < sides->count; k++) {
        double along = point_dot(sides->normal[k], outward);
        drop = along < least ? k : drop;
        least = along < least ? along : least;
    }
    if (drop < 0) {
        return 0;
    }
    sides->count--;
    for (int k = drop; k < sides->count; k++) {
        sides->face[k] = sides->face[k + 1];
        sides->normal[k] = sides->normal[k + 1];
    }
    return 1;
}

FN void add_side(const convex_shape *s, int face, point outward, convex_sides *sides)
{
    point normal = face_normal(s, face);
    if (sides->count < CONVEX_SIDES || drop_side(sides, normal, outward)) {
        sides->face[sides->count] = face;
        sides->normal[sides->count++] = normal;
    }
}

// find_sides of a hull.
LANE_FN void hull_sides(const convex_shape *s, const convex_feature *f, point outward, convex_sides *sides)
{
    hull_faces faces = faces_at(s->hull, f->corner[0]);
    hull_faces second = faces_at(s->hull, f->corner[f->count > 1 ? 1 : 0]);
    hull_faces third = faces_at(s->hull, f->corner[f->count > 2 ? 2 : 0]);
    for (; faces.at < faces.end; faces.at++) {
        if (has_face(&second, *faces.at) && has_face(&third, *faces.at)) {
            add_side(s, *faces.at, outward, sides);
        }
    }
}

// outward: the side that touches, in the world. Of more faces than fit, at the tip of a hull, those are kept
// that face most to that side: two tips would cost the product of their faces. Where a tip is on a face, the
// contact's normal is that face's, and those that are left out are not the one that lies on it.
LANE_FN void find_sides(const convex_shape *s, const convex_feature *f, point outward, convex_sides *sides)
{
    sides->count = 0;
    if (s->type == ORR_GEOM_MESH) {
        hull_sides(s, f, outward, sides);
        return;
    }
    for (int k = 0, faces = feature_faces(s, f); k < faces; k++) {
        int face = feature_face(s, f, k);
        if (face >= 0) {
            add_side(s, face, outward, sides);
        }
    }
}

// The two faces that lie on each other most closely. normal: of the contact.
LANE_FN int facing_faces(const convex_sides *one, const convex_sides *two, point normal, int face[2])
{
    double best = -CONVEX_LEAN_COSINE;
    int found = 0;
    for (int i = 0; i < one->count; i++) {
        point n = one->normal[i];
        if (point_dot(n, normal) <= CONVEX_LEAN_SINE) {
            continue;
        }
        for (int j = 0; j < two->count; j++) {
            point opposite = two->normal[j];
            double along = point_dot(n, opposite);
            if (point_dot(opposite, normal) < -CONVEX_LEAN_SINE && along < best) {
                best = along;
                face[0] = one->face[i];
                face[1] = two->face[j];
                found = 1;
            }
        }
    }
    return found;
}

// The edge of the first shape and the face of the second that are closest to parallel, where MuJoCo takes
// the first in the order of its tables, by faces. towards: from the second shape to the first; on: where the
// contact touches the first. Returns whether they count as parallel.
LANE_FN int facing_edge(const convex_shape *a, const convex_feature *one, const convex_sides *two,
                        point towards, point on, convex_polygon *edge, int *face)
{
    double least = CONVEX_LEAN_SINE;
    int best = -1, edges = two->count > 0 ? feature_edges(a, one) : 0;
    edge->count = 2;
    for (int i = 0; i < edges; i++) {
        point end[2];
        feature_edge(a, one, i, on, end);
        point along = point_direction(point_difference(end[1], end[0]));
        for (int j = 0; j < two->count; j++) {
            double lean = fabs(point_dot(along, two->normal[j]));
            int closer = lean < least || (lean <= least && j < best);
            if (closer && point_dot(two->normal[j], towards) > 0.0) {
                least = lean;
                best = j;
                put_corner(edge, 0, end[0]);
                put_corner(edge, 1, end[1]);
            }
        }
    }
    *face = best < 0 ? -1 : two->face[best];
    return best >= 0;
}

// ---- clipping ----

FN int next_around(int k, int count)
{
    return k + 1 < count ? k + 1 : 0;
}

// The corners that are left of a polygon, as a ring. A polygon and a face have CONVEX_POLYGON / 2 corners at
// most, and a side takes up one place more at most.
typedef struct clip_ring {
    int16_t next[CONVEX_POLYGON], before[CONVEX_POLYGON];
    int used;
    int cut[2]; // the last two that a side has added, or -1
} clip_ring;

// A side of the prism: a point is outside where this, an area in m^2, is not above -rounding.
typedef struct clip_side {
    point inward;
    double level;
} clip_side;

#define CLIP_ROUNDING 1e-10 // corners that are on a side are kept

FN double inside_of(const clip_side *side, point p)
{
    return point_dot(side->inward, p) - side->level;
}

FN int is_outside(const convex_polygon *p, int k, const clip_side *side)
{
    return !(inside_of(side, corner_at(p, k)) > -CLIP_ROUNDING);
}

FN void link_corners(clip_ring *r, int before, int next)
{
    r->next[before] = (int16_t)next;
    r->before[next] = (int16_t)before;
}

LANE_FN void make_ring(int count, clip_ring *r)
{
    for (int k = 0; k < count; k++) {
        r->next[k] = (int16_t)(k + 1);
        r->before[k] = (int16_t)(k - 1);
    }
    link_corners(r, count - 1, 0);
    r->used = count;
    r->cut[0] = r->cut[1] = -1;
}

// A ball around a polygon: no side cuts that is farther from its centre than its radius.
typedef struct clip_ball {
    point centre;
    double squared; // of the radius
} clip_ball;

LANE_FN clip_ball ball_around(const convex_polygon *p)
{
    clip_ball ball = {{0.0, 0.0, 0.0}, 0.0};
    for (int k = 0; k < p->count; k++) {
        ball.centre = point_sum(ball.centre, corner_at(p, k));
    }
    ball.centre = point_scaled(ball.centre, 1.0 / p->count);
    for (int k = 0; k < p->count; k++) {
        point from = point_difference(corner_at(p, k), ball.centre);
        double squared = point_dot(from, from);
        ball.squared = squared > ball.squared ? squared : ball.squared;
    }
    return ball;
}

// The sides of a prism as columns.
typedef struct clip_sides {
    double inward[3][CONVEX_POLYGON / 2], level[CONVEX_POLYGON / 2];
    double clear[CONVEX_POLYGON / 2]; // positive: the ball is inside
} clip_sides;

// The face has room for one corner more.
LANE_FN void make_sides(convex_polygon *face, const clip_ball *ball, clip_sides *sides)
{
    put_corner(face, face->count, corner_at(face, 0));
    for (int k = 0; k < face->count; k++) {
        point corner = corner_at(face, k);
        point inward = point_cross(point_difference(corner_at(face, k + 1), corner), face->normal);
        double inside = point_dot(inward, point_difference(ball->centre, corner));
        double clear = inside * inside - ball->squared * point_dot(inward, inward);
        sides->inward[0][k] = inward.x;
        sides->inward[1][k] = inward.y;
        sides->inward[2][k] = inward.z;
        sides->level[k] = point_dot(inward, corner);
        sides->clear[k] = inside > 0.0 ? clear : -1.0;
    }
}

enum { CLIP_MANY = 8 }; // corners or sides

// A corner that is outside of a side, or -1. start: the first corner.
LANE_FN int corner_outside(const convex_polygon *p, const clip_ring *r, const clip_side *side, int start)
{
    for (int k = 0; k < 2 && r->cut[k] >= 0; k++) { // most often those
        if (is_outside(p, r->cut[k], side)) {
            return r->cut[k];
        }
    }
#if ORR_LANES > 1
    for (int k = 0; r->used > CLIP_MANY; k += WIDE_LANES) {
        if (k >= r->used) {
            return -1;
        }
        wide_real along = wide_load_double(&p->axis[0][k]) * W(side->inward.x);
        along += wide_load_double(&p->axis[1][k]) * W(side->inward.y);
        along += wide_load_double(&p->axis[2][k]) * W(side->inward.z);
        uint32_t outside = wide_bits((wide_mask)(along <= W(side->level - CLIP_ROUNDING)));
        if (outside) {
            return k + lowest_bit(outside);
        }
    }
#endif
    int at = start;
    do {
        if (is_outside(p, at, side)) {
            return at;
        }
        at = r->next[at];
    } while (at != start);
    return -1;
}

// Where a side crosses an edge.
FN point crossing_of(const convex_polygon *p, int from, int to, const clip_side *side)
{
    point one = corner_at(p, from), two = corner_at(p, to);
    double inside = inside_of(side, one), share = inside / (inside - inside_of(side, two));
    share = share > 0.0 ? share < 1.0 ? share : 1.0 : 0.0;
    return point_along(one, share, point_difference(two, one));
}

// Cuts off the corners around one that is outside of a side. start: the first corner; returns the next first
// one, -1 where none is left.
LANE_FN int cut_corners(convex_polygon *p, clip_ring *r, const clip_side *side, int outside, int start)
{
    int first = outside, last = outside, among = start == outside, before, next;
    while (before = r->before[first], is_outside(p, before, side)) {
        if (before == last) {
            return -1;
        }
        first = before;
        among |= first == start;
    }
    while (next = r->next[last], is_outside(p, next, side)) {
        last = next;
        among |= last == start;
    }
    point leaves = crossing_of(p, before, first, side), enters = crossing_of(p, last, next, side);
    for (int k = r->next[first]; first != last && k != last; k = r->next[k]) {
        p->axis[0][k] = NAN;
    }
    r->cut[0] = first;
    r->cut[1] = last;
    if (first == last) {
        r->cut[1] = r->used++;
        p->axis[0][r->used + CLIP_ROOM - 1] = NAN;
    }
    put_corner(p, r->cut[0], leaves);
    put_corner(p, r->cut[1], enters);
    link_corners(r, before, r->cut[0]);
    link_corners(r, r->cut[0], r->cut[1]);
    link_corners(r, r->cut[1], next);
    return among ? r->cut[1] : r->next[start];
}

// Clips a polygon or an edge to the prism above a face (Sutherland, Hodgman 1974), and keeps the corners that
// are no more than `margin` above it. Each side moves the first corner on by one, as in MuJoCo: which four of
// many corners are kept depends on it. The polygon is used up.
LANE_FN void clip_polygon(convex_polygon *polygon, convex_polygon *by, double margin, convex_polygon *to)
{
    clip_ring ring;
    clip_sides sides;
    clip_ball ball = {corner_at(polygon, 0), 1e300};
    int start = 0;
    if (by->count > CLIP_MANY) { // or it costs more than it saves
        ball = ball_around(polygon);
    }
    make_ring(polygon->count, &ring);
    for (int k = 0; k < CLIP_ROOM; k++) {
        polygon->axis[0][polygon->count + k] = NAN;
    }
    make_sides(by, &ball, &sides);
    for (int k = 0; k < by->count && start >= 0; k++) {
        clip_side side = {{sides.inward[0][k], sides.inward[1][k], sides.inward[2][k]}, sides.level[k]};
        int outside = sides.clear[k] > 0.0 ? -1 : corner_outside(polygon, &ring, &side, start);
        start = outside >= 0 ? cut_corners(polygon, &ring, &side, outside, start) : ring.next[start];
    }
    to->count = 0;
    point on = corner_at(by, 0);
    for (int at = start, more = start >= 0; more; more = at != start) {
        point corner = corner_at(polygon, at);
        put_corner(to, to->count, corner);
        to->count += point_dot(point_difference(corner, on), by->normal) <= margin;
        at = ring.next[at];
    }
}

// Twice the area of the quadrilateral of four corners, squared.
FN double quadrilateral(const convex_polygon *p, int a, int b, int c, int d)
{
    point across = point_difference(corner_at(p, c), corner_at(p, a));
    point area = point_cross(across, point_difference(corner_at(p, d), corner_at(p, b)));
    return point_dot(area, area);
}

// Keeps the first corner, and three others that move on around the polygon as long as the area of the four
// grows, by more than rounding, as in MuJoCo for hulls on planes.
LANE_FN void keep_four_corners(convex_polygon *p)
{
    const double grows = 1.0 + 2e-12;
    int b = 1, c = 2, d = 3;
    for (int moved = 1; moved;) {
        double area = quadrilateral(p, 0, b, c, d);
        moved = 0;
        while (d + 1 < p->count && quadrilateral(p, 0, b, c, d + 1) > area * grows) {
            area = quadrilateral(p, 0, b, c, ++d);
            moved = 1;
        }
        while (c + 1 < d && quadrilateral(p, 0, b, c + 1, d) > area * grows) {
            area = quadrilateral(p, 0, b, ++c, d);
            moved = 1;
        }
        while (b + 1 < c && quadrilateral(p, 0, b + 1, c, d) > area * grows) {
            area = quadrilateral(p, 0, ++b, c, d);
            moved = 1;
        }
    }
    put_corner(p, 1, corner_at(p, b));
    put_corner(p, 2, corner_at(p, c));
    put_corner(p, 3, corner_at(p, d));
    p->count = 4;
}

// Four corners of a polygon, and twice the area of their quadrilateral, squared.
typedef struct convex_quadrilateral {
    int corner[4];
    double area;
} convex_quadrilateral;

// Moves one of the four corners on as long as the area grows; whether it does at once.
LANE_FN int move_corner(const convex_polygon *p, int moving, int at[4], convex_quadrilateral *best)
{
    for (int moved = 0;; moved = 1) {
        int from = at[moving];
        at[moving] = next_around(from, p->count);
        double area = quadrilateral(p, at[0], at[1], at[2], at[3]);
        if (area <= best->area * (1.0 + 4e-16)) { // by less than the roots differ
            at[moving] = from;
            return moved;
        }
        best->area = area;
        memcpy(best->corner, at, sizeof best->corner);
        if (moving == 3) {
            return 1;
        }
    }
}

// Keeps the four corners of the largest quadrilateral that MuJoCo's search around a polygon meets.
LANE_FN void keep_largest_quadrilateral(convex_polygon *p)
{
    int at[4] = {0, 1, 2, 3};
    convex_quadrilateral best = {{0, 1, 2, 3}, quadrilateral(p, 0, 1, 2, 3)};
    for (at[0] = 0; at[0] < p->count; at[0]++) {
        while (move_corner(p, 3, at, &best)) {
            move_corner(p, 2, at, &best);
            move_corner(p, 1, at, &best);
        }
        for (int k = 1; k < 4 && at[k] == at[k - 1]; k++) {
            at[k] = next_around(at[k], p->count);
        }
    }
    point corner[4];
    for (int k = 0; k < 4; k++) {
        corner[k] = corner_at(p, best.corner[k]);
    }
    for (int k = 0; k < 4; k++) {
        put_corner(p, k, corner[k]);
    }
    p->count = 4;
}

// Keeps the two corners of what is left of an edge that are farthest apart.
LANE_FN void keep_ends(convex_polygon *p)
{
    int first = 0, last = 1;
    double most = 0.0;
    for (int i = 0; i < p->count; i++) {
        for (int j = i + 1; j < p->count; j++) {
            point apart = point_difference(corner_at(p, j), corner_at(p, i));
            double squared = point_dot(apart, apart);
            if (squared > most) {
                most = squared;
                first = i;
                last = j;
            }
        }
    }
    point end = corner_at(p, last);
    put_corner(p, 0, corner_at(p, first));
    put_corner(p, 1, end);
    p->count = 2;
}

// ---- contacts ----

// Is it the cap of a cylinder that touches, to which its side is perpendicular? MuJoCo clips the side all the
// same, at whichever point of the rim its search ended, and where it meets a face gives contacts sideways.
FN int cap_touches(const convex_shape *s, const convex_feature *f)
{
    return s->type == ORR_GEOM_CYLINDER && fabs(f->outward.z) > 1.0 - 1e-6;
}

// Contacts of two faces that lie on each other, else of an edge on a face: the corners of what both have in
// common, each with its own depth. Of two faces the second is clipped to the first, and gives the normal.
// Returns how many there are, at most 4; without such faces 1, and hits[0] stays.
LANE_FN int face_contacts(const convex_shape *a, const convex_shape *b, double margin,
                          const convex_witness *witness, convex_hit *hits)
{
    convex_polygon face, other, clipped;
    point normal = hits[0].normal, opposite = point_scaled(normal, -1.0);
    convex_feature one = feature_of(a, witness->corner1, witness->on1, normal);
    convex_feature two = feature_of(b, witness->corner2, witness->on2, opposite);
    point on1 = point_along(hits[0].pos, -0.5 * hits[0].distance, normal);
    int faces[2], index, edge = 0;
    convex_sides sides1, sides2;
    find_sides(a, &one, normal, &sides1);
    find_sides(b, &two, opposite, &sides2);
    // the edge of a capsule is that of one that is thicker by half the margin
    double inflated = a->type == ORR_GEOM_CAPSULE ? 0.5 * margin : 0.0;
    double sign = 1.0; // -1: `opposite` is away from `other`
    if (facing_faces(&sides1, &sides2, normal, faces)) {
        shape_face(a, faces[0], &face);
        shape_face(b, faces[1], &other);
        opposite = other.normal;
    } else if (one.count < 3 && sides2.count > 0 && (one.count <= two.count || sides1.count == 0) &&
               facing_edge(a, &one, &sides2, opposite, point_along(on1, inflated, normal), &other, &index)) {
        if (cap_touches(a, &one)) {
            return 1;
        }
        shape_face(b, index, &face);
        opposite = face.normal;
        sign = -1.0;
        edge = 1;
        for (int k = 0; k < 2; k++) {
            put_corner(&other, k, point_along(corner_at(&other, k), inflated, face.normal));
        }
    } else if (two.count < 3 && facing_edge(b, &two, &sides1, normal, hits[0].pos, &other, &index)) {
        if (cap_touches(b, &two)) {
            return 1;
        }
        shape_face(a, index, &face);
        opposite = point_scaled(face.normal, -1.0);
        edge = 1;
    } else {
        return 1;
    }
    clip_polygon(&other, &face, margin, &clipped);
    if (edge && clipped.count > 2) {
        keep_ends(&clipped);
    } else if (clipped.count > 4) {
        keep_largest_quadrilateral(&clipped);
    }
    for (int k = 0; k < clipped.count; k++) {
        point p = corner_at(&clipped, k);
        double height = point_dot(point_difference(p, corner_at(&face, 0)), face.normal);
        point on = point_along(p, -height, face.normal);                        // on the face
        hits[k].distance = sign * point_dot(point_difference(on, p), opposite); // along the normal
        hits[k].normal = point_scaled(opposite, -1.0);
        hits[k].pos = point_along(on, -0.5 * sign * hits[k].distance, opposite);
    }
    return clipped.count ? clipped.count : 1;
}
