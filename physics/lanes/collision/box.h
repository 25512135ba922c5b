// Boxes against spheres, capsules and boxes, in closed form.
#pragma once

#include "physics/lanes/collision/convex_shape.h"

// x, y and z of a point as an array, for loops over axes
FN void point_components(point p, double c[3])
{
    c[0] = p.x;
    c[1] = p.y;
    c[2] = p.z;
}

// ---- sphere ----

// Normal from the sphere to the box.
LANE_FN int sphere_box(point centre, double radius, const convex_shape *box, double margin, convex_hit *hit)
{
    double c[3], clamped[3], closest = 1e300, square = 0.0;
    point_components(to_local(&box->frame, centre), c);
    int face = 0;
    for (int k = 0; k < 3; k++) {
        clamped[k] = lesser(greater(c[k], -box->size[k]), box->size[k]);
        square += (c[k] - clamped[k]) * (c[k] - clamped[k]);
        if (box->size[k] - fabs(c[k]) < closest) {
            closest = box->size[k] - fabs(c[k]);
            face = k;
        }
    }
    point on_box = to_world(&box->frame, make_point(clamped[0], clamped[1], clamped[2]));
    point offset = point_difference(on_box, centre);
    double distance = point_length(offset);
    // in the frame of the box: worlds in float have frames that are not exactly orthonormal, and put a point
    // of the surface, where a segment enters the box, beside it
    if (square > 1e-30) {
        hit->normal = point_scaled(offset, 1.0 / distance);
    } else { // inside: out through the closest face
        distance = -closest;
        hit->normal = point_scaled(box->frame.axis[face], c[face] > 0.0 ? -1.0 : 1.0);
    }
    hit->distance = distance - radius;
    hit->pos = point_along(centre, 0.5 * (distance + radius), hit->normal);
    return hit->distance <= margin;
}

// ---- capsule ----

// A capsule's segment in the box's frame: middle + t half, t from -1 to 1.
typedef struct box_segment {
    double middle[3], half[3], size[3]; // size: of the box
} box_segment;

// Half of the slope over t of the squared distance from the box, the sum of (|x| - size)^2 over the axes
// where that is positive. The square is convex, so that its slope never falls; between the planes of faces it
// is linear.
FN double segment_slope(const box_segment *s, double t)
{
    double slope = 0.0;
    for (int k = 0; k < 3; k++) {
        double x = s->middle[k] + t * s->half[k];
        slope += s->half[k] * (x - lesser(greater(x, -s->size[k]), s->size[k]));
    }
    return slope;
}

// The first t at which the segment, passed in the direction of sign (-1 or 1), gets no closer to the box.
LANE_FN double first_closest(const box_segment *s, double sign)
{
    double rounding = 0.0;
    for (int k = 0; k < 3; k++) {
        rounding += 1e-14 * fabs(s->half[k]) * (fabs(s->middle[k]) + fabs(s->half[k]) + s->size[k]);
    }
    double before = -1.0, behind = 1.0, falling = sign * segment_slope(s, -sign),
           rising = sign * segment_slope(s, sign);
    if (falling >= -rounding) {
        return -sign;
    }
    if (rising < -rounding) {
        return sign;
    }
    for (int plane = 0; plane < 6; plane++) {
        int k = plane / 2;
        double side = plane % 2 ? s->size[k] : -s->size[k];
        double t = s->half[k] != 0.0 ? sign * (side - s->middle[k]) / s->half[k] : 2.0;
        if (t > before && t < behind) {
            double slope = sign * segment_slope(s, sign * t);
            if (slope < -rounding) {
                before = t;
                falling = slope;
            } else {
                behind = t;
                rising = slope;
            }
        }
    }
    return sign * (rising <= rounding ? behind : before + (behind - before) * falling / (falling - rising));
}

// A point of the segment, and the feature of the box that is closest to it: out[k] is -1 or 1 where it is
// beyond that end of axis k.
typedef struct segment_point {
    double t, squared; // of the distance
    int out[3];
} segment_point;

LANE_FN segment_point point_of_segment(const box_segment *s, double t)
{
    segment_point p = {t, 0.0, {0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        double x = s->middle[k] + t * s->half[k], beyond = greater(fabs(x) - s->size[k], 0.0);
        p.out[k] = x > s->size[k] ? 1 : x < -s->size[k] ? -1 : 0;
        p.squared += beyond * beyond;
    }
    return p;
}

// Where a segment that passes through the box is closest to one of its edges, unless an end is closer to a
// face, or inside. An edge is a box of width 0.
LANE_FN segment_point closest_to_edges(const box_segment *s)
{
    segment_point best = {0.0, 1e300, {0, 0, 0}};
    for (int end = -1; end <= 1; end += 2) {
        segment_point p = point_of_segment(s, end);
        if (p.squared < best.squared &&
            p.out[0] * p.out[0] + p.out[1] * p.out[1] + p.out[2] * p.out[2] <= 1) {
            best = p;
        }
    }
    for (int i = 0; i < 12; i++) {
        box_segment edge = *s;
        int side[3] = {0, 0, 0};
        for (int k = 1; k < 3; k++) {
            int axis = (i / 4 + k) % 3;
            side[axis] = i % 4 & k ? 1 : -1;
            edge.middle[axis] -= side[axis] * s->size[axis];
            edge.size[axis] = 0.0;
        }
        segment_point p = point_of_segment(&edge, first_closest(&edge, 1.0));
        for (int k = 0; k < 3; k++) {
            p.out[k] = side[k] ? side[k] : p.out[k];
        }
        if (p.squared < best.squared) {
            best = p;
        }
    }
    return best;
}

// Where an end of the segment is closest to an edge, but the line through it to a point of the edge's line
// beyond an end of the edge, MuJoCo goes on as from that corner of the box: the edge's own axis is out, too.
LANE_FN void pass_end_of_edge(const box_segment *s, segment_point *p)
{
    int along = p->out[0] == 0 ? 0 : p->out[1] == 0 ? 1 : 2;
    double square = 0.0, product = 0.0;
    for (int i = 1; i < 3; i++) {
        int k = (along + i) % 3;
        if (p->out[k] == 0) {
            return; // closest to a face
        }
        square += s->half[k] * s->half[k];
        product += s->half[k] * (s->middle[k] - p->out[k] * s->size[k]);
    }
    if (p->out[along] != 0 || fabs(p->t) < 1.0 || square == 0.0) {
        return;
    }
    double x = s->middle[along] - product / square * s->half[along];
    p->out[along] = x > s->size[along] ? 1 : x < -s->size[along] ? -1 : 0;
}

// How far the segment runs over the box from one of its points, along the feature of the box that is closest
// there, signed. From a face: towards the other end. From an edge or a corner each direction moves some axes
// inside the box and stays along an edge or a face; of both, the one less than 45 degrees away from it.
// Returns 0 when there is no such direction.
LANE_FN int slide_over_box(const box_segment *s, const segment_point *p, double *slide)
{
    double inward = 0.0, outward = 0.0; // squared parts of the segment's direction that lead in and out
    int outs = 0, ins = 0;
    for (int k = 0; k < 3; k++) {
        double square = s->half[k] * s->half[k];
        int in = p->out[k] * s->half[k] < 0.0;
        outs += p->out[k] != 0;
        ins += in;
        inward += in ? square : 0.0;
        outward += p->out[k] && !in ? square : 0.0;
    }
    if (outs == 0 || (outs > 1 && (ins == 0 || ins == outs))) {
        return 0;
    }
    double direction = outs == 1 ? (p->t < 0.0 ? 1.0 : -1.0) : inward > outward ? 1.0 : -1.0;
    double length = 1.0 - direction * p->t;
    for (int k = 0; k < 3; k++) {
        double step = direction * s->half[k];
        int inwards = outs > 1 && p->out[k] * step < 0.0;
        if ((p->out[k] == 0 || inwards) && step != 0.0) {
            double from = inwards ? p->out[k] * s->size[k] : s->middle[k] + p->t * s->half[k];
            length = lesser(length, greater(((step > 0.0 ? s->size[k] : -s->size[k]) - from) / step, 0.0));
        }
    }
    *slide = direction * length;
    return 1;
}

// At most 2 contacts, normals from the capsule to the box: both ends of the part of the segment that is
// closest, or if that is a point, the point and the end of the segment's run over the box from there. The run
// may have length 0, where the segment ends on an edge: MuJoCo counts that contact twice.
LANE_FN int capsule_box(const convex_shape *capsule, const convex_shape *box, double margin, convex_hit *hits)
{
    box_segment s;
    point half = point_scaled(capsule->frame.axis[2], capsule->size[1]);
    point_components(to_local(&box->frame, capsule->frame.pos), s.middle);
    point_components(to_local_direction(&box->frame, half), s.half);
    memcpy(s.size, box->size, sizeof s.size);
    double first = first_closest(&s, 1.0), slide = first_closest(&s, -1.0) - first;
    segment_point p = point_of_segment(&s, first + 0.5 * slide);
    int inside = p.squared == 0.0, flat = slide > 1e-6 && !inside;
    p = inside ? closest_to_edges(&s) : point_of_segment(&s, first);
    pass_end_of_edge(&s, &p);
    point at = point_along(capsule->frame.pos, p.t, half);
    int count = sphere_box(at, capsule->size[0], box, margin, hits);
    if (flat || slide_over_box(&s, &p, &slide)) {
        count += sphere_box(point_along(at, slide, half), capsule->size[0], box, margin, hits + count);
    }
    return count;
}

// ---- box ----

// A corner of a polygon over a rectangle: its position in the rectangle's plane, and its height along the
// contact's normal.
typedef struct box_corner {
    double at[2], height;
} box_corner;

enum { BOX_CORNERS = 12 };

// Clips a polygon to sign * at[axis] <= limit.
LANE_FN int clip_box_corners(box_corner *corner, int count, int axis, double sign, double limit)
{
    box_corner kept[BOX_CORNERS];
    double out[BOX_CORNERS + 1];
    int kept_count = 0, beyond = 0;
    for (int k = 0; k < count; k++) {
        out[k] = sign * corner[k].at[axis] - limit;
        beyond |= out[k] > 0.0;
    }
    if (!beyond) {
        return count;
    }
    out[count] = out[0];
    for (int k = 0; k < count; k++) {
        box_corner p = corner[k];
        const box_corner q = corner[k + 1 < count ? k + 1 : 0];
        double p_out = out[k], q_out = out[k + 1];
        if (p_out <= 0.0 && kept_count < BOX_CORNERS) {
            kept[kept_count++] = p;
        }
        if ((p_out < 0.0 && q_out > 0.0) || (p_out > 0.0 && q_out < 0.0)) {
            double share = p_out / (p_out - q_out);
            for (int j = 0; j < 2; j++) {
                p.at[j] += share * (q.at[j] - p.at[j]);
            }
            p.height += share * (q.height - p.height);
            if (kept_count < BOX_CORNERS) {
                kept[kept_count++] = p;
            }
        }
    }
    memcpy(corner, kept, (size_t)kept_count * sizeof *kept);
    return kept_count;
}

// A face of a box: its middle, normal, and two axes with the half sizes along them.
typedef struct box_face {
    point middle, normal, axis[2];
    double size[2];
} box_face;

FN box_face face_of_box(const convex_shape *box, int axis, double sign)
{
    box_face f;
    f.normal = point_scaled(box->frame.axis[axis], sign);
    f.middle = point_along(box->frame.pos, box->size[axis], f.normal);
    for (int k = 0; k < 2; k++) {
        f.axis[k] = box->frame.axis[(axis + 1 + k) % 3];
        f.size[k] = box->size[(axis + 1 + k) % 3];
    }
    return f;
}

// The contacts of the face `axis` (on the side of `sign`) of box a with box b: the most opposite face of b is
// clipped to it; each corner is a contact with its own depth. At most 8.
LANE_FN int box_face_box(const convex_shape *a, int axis, double sign, const convex_shape *b, int swapped,
                         double margin, convex_hit *hits)
{
    box_face face = face_of_box(a, axis, sign);
    int facing = 0;
    double most = -1.0;
    for (int k = 0; k < 3; k++) {
        double along = fabs(point_dot(b->frame.axis[k], face.normal));
        if (along > most) {
            most = along;
            facing = k;
        }
    }
    box_face other = face_of_box(b, facing, point_dot(b->frame.axis[facing], face.normal) > 0.0 ? -1.0 : 1.0);
    box_corner corner[BOX_CORNERS];
    for (int k = 0; k < 4; k++) {
        point p = point_along(other.middle, k == 0 || k == 3 ? other.size[0] : -other.size[0], other.axis[0]);
        p = point_along(p, k < 2 ? other.size[1] : -other.size[1], other.axis[1]);
        p = point_difference(p, face.middle);
        corner[k].at[0] = point_dot(p, face.axis[0]);
        corner[k].at[1] = point_dot(p, face.axis[1]);
        corner[k].height = point_dot(p, face.normal);
    }
    int count = 4, found = 0;
    for (int side = 0; side < 4 && count > 0; side++) {
        count = clip_box_corners(corner, count, side / 2, side % 2 ? -1.0 : 1.0, face.size[side / 2]);
    }
    for (int k = 0; k < count; k++) {
        int again = corner[k].height > margin;
        for (int j = 0; j < k && !again; j++) {
            again = fabs(corner[j].at[0] - corner[k].at[0]) + fabs(corner[j].at[1] - corner[k].at[1]) < 1e-12;
        }
        if (again || found == 8) {
            continue;
        }
        point pos = point_along(face.middle, corner[k].at[0], face.axis[0]);
        pos = point_along(pos, corner[k].at[1], face.axis[1]);
        hits[found].pos = point_along(pos, 0.5 * corner[k].height, face.normal);
        hits[found].distance = corner[k].height;
        hits[found].normal = point_scaled(face.normal, swapped ? -1.0 : 1.0);
        found++;
    }
    return found;
}

// Edge `axis1` of a across edge `axis2` of b: one contact, where they are closest.
LANE_FN int box_edge_box(const convex_shape *a, int axis1, const convex_shape *b, int axis2, point normal,
                         double overlap, convex_hit *hit)
{
    point on1 = a->frame.pos, on2 = b->frame.pos;
    for (int k = 0; k < 3; k++) {
        double along1 = point_dot(a->frame.axis[k], normal), along2 = point_dot(b->frame.axis[k], normal);
        if (k != axis1) {
            on1 = point_along(on1, along1 > 0.0 ? a->size[k] : -a->size[k], a->frame.axis[k]);
        }
        if (k != axis2) {
            on2 = point_along(on2, along2 > 0.0 ? -b->size[k] : b->size[k], b->frame.axis[k]);
        }
    }
    point u = a->frame.axis[axis1], v = b->frame.axis[axis2], apart = point_difference(on2, on1);
    double cosine = point_dot(u, v), along_u = point_dot(apart, u), along_v = point_dot(apart, v);
    double half1 = a->size[axis1], half2 = b->size[axis2];
    double at1 = (along_u - cosine * along_v) / (1.0 - cosine * cosine);
    at1 = lesser(greater(at1, -half1), half1);
    double at2 = lesser(greater(cosine * at1 - along_v, -half2), half2);
    at1 = lesser(greater(cosine * at2 + along_u, -half1), half1);
    on1 = point_along(on1, at1, u);
    on2 = point_along(on2, at2, v);
    hit->distance = -overlap;
    hit->normal = normal;
    hit->pos = point_scaled(point_sum(on1, on2), 0.5);
    return 1;
}

// The axes along which two boxes overlap least.
typedef struct box_separation {
    double face_overlap, edge_overlap;
    int face, swapped; // axis of a, or of b when swapped
    int edge1, edge2;  // axes
    point edge_normal; // from a to b
} box_separation;

// Returns 0 when they are more than the margin apart.
LANE_FN int separate_boxes(const convex_shape *a, const convex_shape *b, double margin, box_separation *s)
{
    point apart = point_difference(b->frame.pos, a->frame.pos);
    memset(s, 0, sizeof *s);
    s->face_overlap = s->edge_overlap = 1e300;
    for (int side = 0; side < 2; side++) {
        const convex_shape *from = side ? b : a, *to = side ? a : b;
        for (int k = 0; k < 3; k++) {
            point axis = from->frame.axis[k];
            double overlap = from->size[k] - fabs(point_dot(apart, axis));
            for (int j = 0; j < 3; j++) {
                overlap += to->size[j] * fabs(point_dot(to->frame.axis[j], axis));
            }
            if (overlap < -margin) {
                return 0;
            }
            if (overlap < s->face_overlap) {
                s->face_overlap = overlap;
                s->face = k;
                s->swapped = side;
            }
        }
    }
    for (int pair = 0; pair < 9; pair++) {
        point axis = point_cross(a->frame.axis[pair / 3], b->frame.axis[pair % 3]);
        double length = point_length(axis);
        if (length < 1e-6) {
            continue; // nearly parallel: the axes of faces are enough
        }
        axis = point_scaled(axis, 1.0 / length);
        double along = point_dot(apart, axis), overlap = -fabs(along);
        for (int k = 0; k < 3; k++) {
            overlap += a->size[k] * fabs(point_dot(a->frame.axis[k], axis)) +
                       b->size[k] * fabs(point_dot(b->frame.axis[k], axis));
        }
        if (overlap < -margin) {
            return 0;
        }
        if (overlap < s->edge_overlap) {
            s->edge_overlap = overlap;
            s->edge1 = pair / 3;
            s->edge2 = pair % 3;
            s->edge_normal = along < 0.0 ? point_scaled(axis, -1.0) : axis;
        }
    }
    return 1;
}

// The axis along which the boxes overlap least is the contact's normal. As in MuJoCo a face is preferred to
// an edge whose normal is nearly the face's, by 5 %, and boxes that are apart have no contact where the
// clipped face is empty, although an edge may be within the margin. At most 8 contacts.
LANE_FN int box_box(const convex_shape *a, const convex_shape *b, double margin, convex_hit *hits)
{
    box_separation s;
    if (!separate_boxes(a, b, margin, &s)) {
        return 0;
    }
    const convex_shape *from = s.swapped ? b : a, *to = s.swapped ? a : b;
    int alike = fabs(point_dot(s.edge_normal, from->frame.axis[s.face])) >= 0.99;
    if (s.edge_overlap < s.face_overlap - (alike ? 0.05 * fabs(s.face_overlap) : 0.0)) {
        return box_edge_box(a, s.edge1, b, s.edge2, s.edge_normal, s.edge_overlap, hits);
    }
    double side = point_dot(point_difference(to->frame.pos, from->frame.pos), from->frame.axis[s.face]);
    return box_face_box(from, s.face, side < 0.0 ? -1.0 : 1.0, to, s.swapped, margin, hits);
}
