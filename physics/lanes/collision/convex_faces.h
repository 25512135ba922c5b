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

enum { CONVEX_SIDES = 32 }; // most faces of a feature

// Below this angle, 0.0889 rad = 5.1 degrees, faces, or an edge and a face, count as parallel.
#define CONVEX_LEAN_COSINE 0.99605099
#define CONVEX_LEAN_SINE 0.08878294

typedef struct convex_polygon {
    point corner[CONVEX_POLYGON]; // of shape_face clockwise, of hull_face counter-clockwise from outside
    int count;
    point normal; // outward
} convex_polygon;

// ---- faces of hulls ----

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
        int at = start + k < count ? start + k : start + k - count;
        face->corner[face->count++] = to_world(&s->frame, hull_vertex(s, hull->vertex[first + at]));
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

FN int face_has_vertex(const orr_hull *hull, int face, int vertex)
{
    for (int k = hull->of_first[vertex]; k < hull->of_first[vertex + 1]; k++) {
        if (hull->of_face[k] == face) {
            return 1;
        }
    }
    return 0;
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

// The k-th face that all corners of a feature can be on; -1: this one is not. Faces of a box: x, -x, y, ...;
// where its corners are on no common face, the one that points outward.
LANE_FN int feature_face(const convex_shape *s, const convex_feature *f, int k)
{
    const int *corner = f->corner;
    if (s->type == ORR_GEOM_MESH) {
        int face = s->hull->of_face[s->hull->of_first[corner[0]] + k];
        return (f->count < 2 || face_has_vertex(s->hull, face, corner[1])) &&
                       (f->count < 3 || face_has_vertex(s->hull, face, corner[2]))
                   ? face
                   : -1;
    }
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
        convex_frame turn = s->frame;
        turn.pos = make_point(0.0, 0.0, 0.0);
        return to_world(&turn, make_point(n[0], n[1], n[2]));
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
        hull_face(s, index, -1, face);
        for (int k = 0, last = face->count - 1; k < last; k++, last--) {
            point swap = face->corner[k];
            face->corner[k] = face->corner[last];
            face->corner[last] = swap;
        }
        return;
    }
    face->normal = face_normal(s, index);
    face->count = s->type == ORR_GEOM_BOX ? 4 : 16;
    for (int k = 0; k < face->count; k++) {
        double up = index ? -1.0 : 1.0;
        face->corner[k] =
            s->type == ORR_GEOM_BOX
                ? corner_of_box(s, box[index][k])
                : to_world(&s->frame, make_point(s->size[0] * sixteenth(k),
                                                 -up * s->size[0] * sixteenth(k - 4), up * s->size[1]));
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

// outward: the side that touches, in the world. Of more faces than fit, at the tip of a hull, those are kept
// that face most to that side: two tips would cost the product of their faces. Where a tip is on a face, the
// contact's normal is that face's, and those that are left out are not the one that lies on it.
LANE_FN void find_sides(const convex_shape *s, const convex_feature *f, point outward, convex_sides *sides)
{
    sides->count = 0;
    for (int k = 0, faces = feature_faces(s, f); k < faces; k++) {
        int face = feature_face(s, f, k);
        point normal = face < 0 ? outward : face_normal(s, face);
        if (face >= 0 && (sides->count < CONVEX_SIDES || drop_side(sides, normal, outward))) {
            sides->face[sides->count] = face;
            sides->normal[sides->count++] = normal;
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
// the first in the order of its tables. towards: from the second shape to the first; on: where the contact
// touches the first. Returns whether they count as parallel.
LANE_FN int facing_edge(const convex_shape *a, const convex_feature *one, const convex_sides *two,
                        point towards, point on, convex_polygon *edge, int *face)
{
    double least = CONVEX_LEAN_SINE;
    int found = 0, edges = feature_edges(a, one);
    for (int j = 0; j < two->count; j++) {
        point n = two->normal[j];
        if (point_dot(n, towards) <= 0.0) {
            continue;
        }
        for (int i = 0; i < edges; i++) {
            point end[2];
            feature_edge(a, one, i, on, end);
            double lean = fabs(point_dot(point_direction(point_difference(end[1], end[0])), n));
            if (lean < least) {
                least = lean;
                edge->corner[0] = end[0];
                edge->corner[1] = end[1];
                *face = two->face[j];
                found = 1;
            }
        }
    }
    edge->count = 2;
    return found;
}

// ---- clipping ----

enum { CLIP_BLOCK = 8, CLIP_BITS = 64 };

// The corners of a polygon as columns, which end with copies of the last one.
typedef struct clip_columns {
    double axis[3][CONVEX_POLYGON + CLIP_BLOCK];
    int count;
} clip_columns;

FN void end_columns(clip_columns *c)
{
    for (int axis = 0; axis < 3; axis++) {
        double last = c->axis[axis][c->count > 0 ? c->count - 1 : 0];
        for (int k = 0; k < CLIP_BLOCK; k++) {
            c->axis[axis][c->count + k] = last;
        }
    }
}

FN void put_column(clip_columns *c, int k, point p)
{
    c->axis[0][k] = p.x;
    c->axis[1][k] = p.y;
    c->axis[2][k] = p.z;
}

FN point column_at(const clip_columns *c, int k)
{
    return make_point(c->axis[0][k], c->axis[1][k], c->axis[2][k]);
}

// How far inside of a side the corners are; returns a bit for each that is outside, of the k-th and all that
// follow it CLIP_BITS apart one.
FN uint64_t corners_outside(const clip_columns *c, point corner, point inward, double rounding,
                            double *inside)
{
    uint64_t outside = 0;
#if ORR_LANES > 1
    for (int k = 0; k < c->count; k += WIDE_LANES) {
        wide_real in = W(0.0);
        in += (wide_load_double(&c->axis[0][k]) - W(corner.x)) * W(inward.x);
        in += (wide_load_double(&c->axis[1][k]) - W(corner.y)) * W(inward.y);
        in += (wide_load_double(&c->axis[2][k]) - W(corner.z)) * W(inward.z);
        memcpy(inside + k, &in, sizeof in);
        uint64_t bits = wide_bits((wide_mask)(in > W(-rounding))) ^ ((1u << WIDE_LANES) - 1);
        outside |= bits << (k & (CLIP_BITS - 1));
    }
#else
    for (int k = 0; k < c->count; k++) {
        inside[k] = point_dot(point_difference(column_at(c, k), corner), inward);
        outside |= (uint64_t)(inside[k] > -rounding ? 0 : 1) << (k & (CLIP_BITS - 1));
    }
#endif
    return c->count < CLIP_BITS ? outside & (((uint64_t)1 << c->count) - 1) : outside;
}

FN int next_around(int k, int count)
{
    return k + 1 < count ? k + 1 : 0;
}

// Where a side crosses the edge from the k-th corner.
FN point crossing_after(const clip_columns *c, int k, const double *inside)
{
    int next = next_around(k, c->count);
    double share = fmin(fmax(inside[k] / (inside[k] - inside[next]), 0.0), 1.0);
    point p = column_at(c, k);
    return point_along(p, share, point_difference(column_at(c, next), p));
}

FN void copy_columns(clip_columns *to, const clip_columns *from, int first, int count)
{
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < count; k += CLIP_BLOCK) { // in whole blocks, for which there is room
            memcpy(&to->axis[axis][to->count + k], &from->axis[axis][first + k], CLIP_BLOCK * sizeof(double));
        }
    }
    to->count += count;
}

// Are the corners that are outside, of fewer than all, neighbours?
FN int is_one_run(uint64_t outside, int count)
{
    if (count < 2 || count >= CLIP_BITS) {
        return 0;
    }
    uint64_t before = outside << 1 | outside >> (count - 1);
    uint64_t begins = outside & ~before;
    return begins != 0 && (begins & (begins - 1)) == 0;
}

// Cuts off one run of corners, those of a bit each. start: the edge with which to begin; returns that of what
// is left, whose corners are those from behind the run on, and the two crossings.
LANE_FN int cut_run(const clip_columns *from, uint64_t outside, int start, const double *inside,
                    clip_columns *to)
{
    int count = from->count;
    uint64_t all = count < CLIP_BITS ? ((uint64_t)1 << count) - 1 : ~(uint64_t)0;
    uint64_t before = (outside << 1 | outside >> (count - 1)) & all; // is the corner before each outside?
    int last = lowest_bit64(outside & ~before), first = lowest_bit64(~outside & before & all);
    last = last > 0 ? last - 1 : count - 1;
    to->count = 0;
    if (first <= last) {
        copy_columns(to, from, first, last + 1 - first);
    } else {
        copy_columns(to, from, first, count - first);
        copy_columns(to, from, 0, last + 1);
    }
    int kept = to->count;
    put_column(to, kept, crossing_after(from, last, inside));
    put_column(to, kept + 1, crossing_after(from, first > 0 ? first - 1 : count - 1, inside));
    to->count += 2;
    int next = next_around(start, count), along = next >= first ? next - first : next - first + count;
    return along > 0 && along < kept ? along : start == last ? kept : kept + 1;
}

// The same of any corners, from the edge `start` on.
LANE_FN void cut_corners(const clip_columns *from, int start, const double *inside, double rounding,
                         clip_columns *to)
{
    to->count = 0;
    for (int i = 0, k = start, next; i < from->count; i++, k = next) {
        next = next_around(k, from->count);
        int keep = inside[next] > -rounding, crosses = keep != (inside[k] > -rounding);
        if (crosses && to->count < CONVEX_POLYGON) {
            put_column(to, to->count++, crossing_after(from, k, inside));
        }
        if (keep && to->count < CONVEX_POLYGON) {
            put_column(to, to->count++, column_at(from, next));
        }
    }
}

// Clips a polygon or an edge to the prism above a face (Sutherland, Hodgman 1974). Each side moves the first
// corner on by one, as in MuJoCo: which four of many corners are kept depends on it.
LANE_FN void clip_polygon(convex_polygon *polygon, const convex_polygon *by)
{
    const double rounding = 1e-10; // of areas in m^2: corners that are on a side of the prism are kept
    double inside[CONVEX_POLYGON + CLIP_BLOCK];
    clip_columns columns[2], *from = &columns[0], *to = &columns[1];
    int start = 0; // the first corner
    from->count = polygon->count;
    for (int k = 0; k < polygon->count; k++) {
        put_column(from, k, polygon->corner[k]);
    }
    end_columns(from);
    for (int side = 0; side < by->count && from->count > 0; side++) {
        point corner = by->corner[side], end = by->corner[side + 1 < by->count ? side + 1 : 0];
        point inward = point_cross(point_difference(end, corner), by->normal);
        uint64_t outside = corners_outside(from, corner, inward, rounding, inside);
        if (outside == 0) {
            start = next_around(start, from->count);
            continue;
        }
        if (is_one_run(outside, from->count)) {
            start = cut_run(from, outside, start, inside, to);
        } else {
            cut_corners(from, start, inside, rounding, to);
            start = 0;
        }
        clip_columns *clipped = to;
        to = from;
        from = clipped;
        end_columns(from);
    }
    polygon->count = from->count;
    for (int k = 0; k < from->count; k++) {
        polygon->corner[k] = column_at(from, start);
        start = next_around(start, from->count);
    }
}

// Twice the area of the quadrilateral of four corners.
FN double quadrilateral(const convex_polygon *p, int a, int b, int c, int d)
{
    return point_length(point_cross(point_difference(p->corner[c], p->corner[a]),
                                    point_difference(p->corner[d], p->corner[b])));
}

// Keeps the first corner, and three others that move on around the polygon as long as the area of the four
// grows, by more than rounding, as in MuJoCo for hulls on planes.
LANE_FN void keep_four_corners(convex_polygon *p)
{
    const double grows = 1.0 + 1e-12;
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
    p->corner[1] = p->corner[b];
    p->corner[2] = p->corner[c];
    p->corner[3] = p->corner[d];
    p->count = 4;
}

// Four corners of a polygon, and twice the area of their quadrilateral.
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
        if (area <= best->area) {
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
        corner[k] = p->corner[best.corner[k]];
    }
    memcpy(p->corner, corner, sizeof corner);
    p->count = 4;
}

// Keeps the two corners of what is left of an edge that are farthest apart.
LANE_FN void keep_ends(convex_polygon *p)
{
    int first = 0, last = 1;
    double most = 0.0;
    for (int i = 0; i < p->count; i++) {
        for (int j = i + 1; j < p->count; j++) {
            point apart = point_difference(p->corner[j], p->corner[i]);
            double squared = point_dot(apart, apart);
            if (squared > most) {
                most = squared;
                first = i;
                last = j;
            }
        }
    }
    point end = p->corner[last];
    p->corner[0] = p->corner[first];
    p->corner[1] = end;
    p->count = 2;
}

// ---- contacts ----

// Contacts of two faces that lie on each other, else of an edge on a face: the corners of what both have in
// common, each with its own depth. Of two faces the second is clipped to the first, and gives the normal.
// Returns how many there are, at most 4; without such faces 1, and hits[0] stays.
LANE_FN int face_contacts(const convex_shape *a, const convex_shape *b, double margin,
                          const convex_witness *witness, convex_hit *hits)
{
    convex_polygon face, other;
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
        shape_face(b, index, &face);
        opposite = face.normal;
        sign = -1.0;
        edge = 1;
        for (int k = 0; k < 2; k++) {
            other.corner[k] = point_along(other.corner[k], inflated, face.normal);
        }
    } else if (two.count < 3 && facing_edge(b, &two, &sides1, normal, hits[0].pos, &other, &index)) {
        shape_face(a, index, &face);
        opposite = point_scaled(face.normal, -1.0);
        edge = 1;
    } else {
        return 1;
    }
    clip_polygon(&other, &face);
    int count = 0;
    for (int k = 0; k < other.count; k++) {
        if (point_dot(point_difference(other.corner[k], face.corner[0]), face.normal) <= margin) {
            other.corner[count++] = other.corner[k];
        }
    }
    other.count = count;
    if (edge && count > 2) {
        keep_ends(&other);
    } else if (count > 4) {
        keep_largest_quadrilateral(&other);
    }
    for (int k = 0; k < other.count; k++) {
        point p = other.corner[k];
        double height = point_dot(point_difference(p, face.corner[0]), face.normal);
        point on = point_along(p, -height, face.normal);                        // on the face
        hits[k].distance = sign * point_dot(point_difference(on, p), opposite); // along the normal
        hits[k].normal = point_scaled(opposite, -1.0);
        hits[k].pos = point_along(on, -0.5 * sign * hits[k].distance, opposite);
    }
    return other.count ? other.count : 1;
}
