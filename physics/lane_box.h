// Boxes against spheres, capsules and boxes, in closed form.
#pragma once

#include "physics/lane_convex_shape.h"

// x, y and z of a point as an array, for what goes over axes
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
    double c[3], clamped[3], closest = 1e300;
    point_components(to_local(&box->frame, centre), c);
    int face = 0;
    for (int k = 0; k < 3; k++) {
        clamped[k] = fmin(fmax(c[k], -box->size[k]), box->size[k]);
        if (box->size[k] - fabs(c[k]) < closest) {
            closest = box->size[k] - fabs(c[k]);
            face = k;
        }
    }
    point on_box = to_world(&box->frame, make_point(clamped[0], clamped[1], clamped[2]));
    point way = point_difference(on_box, centre);
    double distance = point_length(way);
    if (distance > 1e-15) {
        hit->normal = point_scaled(way, 1.0 / distance);
    } else { // inside: out through the closest face
        distance = -closest;
        hit->normal = point_scaled(box->frame.axis[face], c[face] > 0.0 ? -1.0 : 1.0);
    }
    hit->distance = distance - radius;
    hit->pos = point_along(centre, 0.5 * (distance + radius), hit->normal);
    return hit->distance < margin;
}

// ---- capsule ----

// Where on a capsule's segment the box is closest, and which part of the box it is.
typedef struct capsule_near_box {
    double at, distance; // on the segment, -1 .. 1; squared
    int clamped[3];      // -1, 0, 1: the box's point is at the end of this axis, or between
    double on_box[3];    // that point
} capsule_near_box;

FN void nearest_if_closer(capsule_near_box *nearest, const double pos[3], const double half[3],
                          const convex_shape *box, double at, const double on_box[3])
{
    double squared = 0.0;
    for (int k = 0; k < 3; k++) {
        double apart = on_box[k] - pos[k] - at * half[k];
        squared += apart * apart;
    }
    if (squared < nearest->distance - 1e-15) {
        nearest->at = at;
        nearest->distance = squared;
        for (int k = 0; k < 3; k++) {
            nearest->on_box[k] = on_box[k];
            nearest->clamped[k] = on_box[k] >= box->size[k] ? 1 : on_box[k] <= -box->size[k] ? -1 : 0;
        }
    }
}

// pos, half: middle of the capsule's segment and half of it, in the box's frame.
LANE_FN capsule_near_box find_capsule_near_box(const double pos[3], const double half[3],
                                               const convex_shape *box)
{
    capsule_near_box nearest = {0.0, 1e300, {0, 0, 0}, {0.0, 0.0, 0.0}};
    for (int end = -1; end <= 1; end += 2) { // an end over a face, or inside
        double on_box[3];
        int outside = 0;
        for (int k = 0; k < 3; k++) {
            double at = pos[k] + end * half[k];
            on_box[k] = fmin(fmax(at, -box->size[k]), box->size[k]);
            outside += at != on_box[k];
        }
        if (outside <= 1) {
            nearest_if_closer(&nearest, pos, half, box, end, on_box);
        }
    }
    double length = half[0] * half[0] + half[1] * half[1] + half[2] * half[2];
    for (int axis = 0; axis < 3; axis++) {
        for (int corner = 0; corner < 4; corner++) { // the edges along this axis
            int u = (axis + 1) % 3, v = (axis + 2) % 3;
            double on_box[3], reach = box->size[axis];
            on_box[axis] = 0.0;
            on_box[u] = corner & 1 ? box->size[u] : -box->size[u];
            on_box[v] = corner & 2 ? box->size[v] : -box->size[v];
            double along = 0.0;
            for (int k = 0; k < 3; k++) {
                along += half[k] * (on_box[k] - pos[k]);
            }
            // closest points of two segments: of at half + pos, and of the edge's on_box + edge axis
            double cross = half[axis], determinant = length - cross * cross;
            if (reach * reach * determinant < 1e-15) {
                continue; // parallel: the ends and the other edges have it
            }
            double edge = fmin(fmax((cross * along + length * pos[axis]) / determinant, -reach), reach);
            double at = (along + cross * edge) / length;
            if (fabs(at) > 1.0) {
                at = at > 0.0 ? 1.0 : -1.0;
                edge = fmin(fmax(pos[axis] + at * cross, -reach), reach);
            }
            on_box[axis] = edge;
            nearest_if_closer(&nearest, pos, half, box, at, on_box);
        }
    }
    return nearest;
}

// Whether there is a second contact, and how far along the segment from the nearest one, with the direction as its sign
// (0 where the segment ends there: then MuJoCo counts the contact twice). From a face: as far as the segment stays over it. From an edge or a corner: only when the segment leads over one of
// the faces there, or along one of the edges.
LANE_FN int second_contact(const capsule_near_box *n, const double pos[3], const double half[3],
                           const convex_shape *box, double *second)
{
    double length = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
    int ends = 0, inward = 0, odd = 0, through = 0;
    for (int k = 0; k < 3; k++) {
        ends += n->clamped[k] != 0;
        through += n->clamped[k] == 0 ? k : 0;
    }
    if (ends == 0) {
        return 0; // inside of the box
    }
    double limit[3]; // along the segment until it has crossed the box
    for (int k = 0; k < 3; k++) {
        limit[k] = fabs(half[k]) > 0.0 ? 2.0 * box->size[k] / fabs(half[k]) : 1e300;
    }
    if (ends == 1) {
        double direction = n->at < 0.0 ? 1.0 : -1.0, way = 2.0;
        for (int k = 0; k < 3; k++) {
            if (n->clamped[k] == 0 && half[k] != 0.0) {
                double start = pos[k] + n->at * half[k];
                double side = direction * half[k] > 0.0 ? box->size[k] : -box->size[k];
                way = fmin(way, fabs((side - start) / half[k]));
            }
        }
        *second = direction * way;
        return 1;
    }
    int points_inward[3] = {0, 0, 0}; // does the segment's direction lead from this end to the other?
    for (int k = 0; k < 3; k++) {
        points_inward[k] = n->clamped[k] != 0 && (half[k] > 0.0) == (n->clamped[k] < 0);
        inward += points_inward[k];
    }
    if (ends == 2) {
        if (inward != 1) {
            return 0;
        }
        int u = (through + 1) % 3, v = (through + 2) % 3;
        int over = fabs(half[u]) > fabs(half[v]) ? u : v; // the axis along which it crosses the face
        double direction = points_inward[over] ? 1.0 : -1.0;
        double way = fmin(1.0 - direction * n->at, limit[over]);
        double side = direction * half[through] > 0.0 ? box->size[through] : -box->size[through];
        if (half[through] != 0.0) {
            way = fmin(way, fabs((side - n->on_box[through]) / half[through]));
        }
        *second = direction * way;
        return 1;
    }
    if (inward == 0 || inward == 3) {
        return 0;
    }
    for (int k = 0; k < 3; k++) { // the axis that differs from the two others
        odd = points_inward[k] == (inward == 1) ? k : odd;
    }
    double direction = inward == 1 ? 1.0 : -1.0;
    if (half[odd] * half[odd] > 0.5 * length * length) { // along the edge
        *second = direction * fmin(1.0 - direction * n->at, limit[odd]);
        return 1;
    }
    direction = -direction; // over the face
    double way = 1.0 - direction * n->at;
    *second = direction * fmin(way, fmin(limit[(odd + 1) % 3], limit[(odd + 2) % 3]));
    return 1;
}

// At most 2 contacts, normals from the capsule to the box.
LANE_FN int capsule_box(const convex_shape *capsule, const convex_shape *box, double margin, convex_hit *hits)
{
    double pos[3], half[3];
    point halfaxis = point_scaled(capsule->frame.axis[2], capsule->size[1]);
    point_components(to_local(&box->frame, capsule->frame.pos), pos);
    point_components(to_local_direction(&box->frame, halfaxis), half);
    capsule_near_box nearest = find_capsule_near_box(pos, half, box);
    point first = point_along(capsule->frame.pos, nearest.at, halfaxis);
    int count = sphere_box(first, capsule->size[0], box, margin, hits);
    double way;
    if (second_contact(&nearest, pos, half, box, &way)) {
        count += sphere_box(point_along(first, way, halfaxis), capsule->size[0], box, margin, hits + count);
    }
    return count;
}

// ---- box ----

// A corner of the feature that meets a rectangle: where it falls on its plane, and how far it is from there along
// the contact's normal.
typedef struct box_corner {
    double at[2], height;
} box_corner;

enum { BOX_CORNERS = 12 };

// Keeps what of a polygon lies on sign * at[axis] <= limit.
LANE_FN int clip_box_corners(box_corner *corner, int count, int axis, double sign, double limit)
{
    box_corner kept[BOX_CORNERS];
    int kept_count = 0;
    for (int k = 0; k < count; k++) {
        box_corner p = corner[k], q = corner[(k + 1) % count];
        double p_out = sign * p.at[axis] - limit, q_out = sign * q.at[axis] - limit;
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

// The contacts of the face `axis` (on the side of `sign`) of box a with box b: the corners of what the face of b that
// looks at it most shares with it, each as deep as it is. At most 8.
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
        int again = corner[k].height >= margin;
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
    at1 = fmin(fmax(at1, -half1), half1);
    double at2 = fmin(fmax(cosine * at1 - along_v, -half2), half2);
    at1 = fmin(fmax(cosine * at2 + along_u, -half1), half1);
    on1 = point_along(on1, at1, u);
    on2 = point_along(on2, at2, v);
    hit->distance = -overlap;
    hit->normal = normal;
    hit->pos = point_scaled(point_sum(on1, on2), 0.5);
    return 1;
}

// Along which axes two boxes overlap least.
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
            continue; // nearly parallel: the faces tell
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

// The axis along which the boxes overlap least says what touches. A face is preferred to an edge whose normal is nearly
// the face's, by 5 %: so does MuJoCo. At most 8 contacts.
LANE_FN int box_box(const convex_shape *a, const convex_shape *b, double margin, convex_hit *hits)
{
    box_separation s;
    if (!separate_boxes(a, b, margin, &s)) {
        return 0;
    }
    const convex_shape *from = s.swapped ? b : a, *to = s.swapped ? a : b;
    int count = 0, alike = fabs(point_dot(s.edge_normal, from->frame.axis[s.face])) >= 0.99;
    if (s.edge_overlap >= s.face_overlap - (alike ? 0.05 * fabs(s.face_overlap) : 0.0)) {
        point way = point_difference(to->frame.pos, from->frame.pos);
        double side = point_dot(way, from->frame.axis[s.face]);
        count = box_face_box(from, s.face, side < 0.0 ? -1.0 : 1.0, to, s.swapped, margin, hits);
    }
    return count || s.edge_overlap > 1e299
               ? count
               : box_edge_box(a, s.edge1, b, s.edge2, s.edge_normal, s.edge_overlap, hits);
}
