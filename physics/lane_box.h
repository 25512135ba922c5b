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

// How far a second contact may stand along the segment from the nearest one, with the direction as its sign; 0: none.
// From a face: as far as the segment stays over it. From an edge or a corner: only when the segment leads over one of
// the faces there, or along one of the edges.
LANE_FN double second_contact(const capsule_near_box *n, const double pos[3], const double half[3],
                              const convex_shape *box)
{
    double length = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
    int ends = 0, inward = 0, odd = 0, through = 0;
    for (int k = 0; k < 3; k++) {
        ends += n->clamped[k] != 0;
        through += n->clamped[k] == 0 ? k : 0;
    }
    if (ends == 0) {
        return 0.0; // inside of the box
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
        return direction * way;
    }
    int points_inward[3] = {0, 0, 0}; // does the segment's direction lead from this end to the other?
    for (int k = 0; k < 3; k++) {
        points_inward[k] = n->clamped[k] != 0 && (half[k] > 0.0) == (n->clamped[k] < 0);
        inward += points_inward[k];
    }
    if (ends == 2) {
        if (inward != 1) {
            return 0.0;
        }
        int u = (through + 1) % 3, v = (through + 2) % 3;
        int over = fabs(half[u]) > fabs(half[v]) ? u : v; // the axis along which it crosses the face
        double direction = points_inward[over] ? 1.0 : -1.0;
        double way = fmin(1.0 - direction * n->at, limit[over]);
        double side = direction * half[through] > 0.0 ? box->size[through] : -box->size[through];
        if (half[through] != 0.0) {
            way = fmin(way, fabs((side - n->on_box[through]) / half[through]));
        }
        return direction * way;
    }
    if (inward == 0 || inward == 3) {
        return 0.0;
    }
    for (int k = 0; k < 3; k++) { // the axis that differs from the two others
        odd = points_inward[k] == (inward == 1) ? k : odd;
    }
    double direction = inward == 1 ? 1.0 : -1.0;
    if (half[odd] * half[odd] > 0.5 * length * length) { // along the edge
        return direction * fmin(1.0 - direction * n->at, limit[odd]);
    }
    direction = -direction; // over the face
    double way = 1.0 - direction * n->at;
    return direction * fmin(way, fmin(limit[(odd + 1) % 3], limit[(odd + 2) % 3]));
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
    double way = second_contact(&nearest, pos, half, box);
    if (way != 0.0) {
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

// The contacts of a face with a point, a segment or a parallelogram (1, 2 or 4 corners, the deepest first) along
// `way`, which points out of the face: the corners of what they share. normal: of the contact.
LANE_FN int face_contacts(const box_face *face, point way, const point *feature, int feature_count,
                          int deepest_counts, double margin, point normal, convex_hit *hits)
{
    box_corner corner[BOX_CORNERS];
    double slope = point_dot(way, face->normal);
    for (int k = 0; k < feature_count; k++) {
        point from = point_difference(feature[k], face->middle);
        corner[k].height = point_dot(from, face->normal) / slope;
        from = point_along(from, -corner[k].height, way);
        corner[k].at[0] = point_dot(from, face->axis[0]);
        corner[k].at[1] = point_dot(from, face->axis[1]);
    }
    box_corner deepest = corner[0];
    int count = feature_count;
    for (int side = 0; side < 4 && count > 0; side++) {
        count = clip_box_corners(corner, count, side / 2, side % 2 ? -1.0 : 1.0, face->size[side / 2]);
    }
    if (deepest_counts && (fabs(deepest.at[0]) > face->size[0] || fabs(deepest.at[1]) > face->size[1])) {
        corner[count++] = deepest;
    }
    int found = 0;
    for (int k = 0; k < count; k++) {
        int again = corner[k].height > margin;
        for (int j = 0; j < k && !again; j++) {
            again = fabs(corner[j].at[0] - corner[k].at[0]) + fabs(corner[j].at[1] - corner[k].at[1]) < 1e-12;
        }
        if (again || found == 8) {
            continue;
        }
        point pos = point_along(face->middle, corner[k].at[0], face->axis[0]);
        pos = point_along(pos, corner[k].at[1], face->axis[1]);
        hits[found].pos = point_along(pos, 0.5 * corner[k].height, way);
        hits[found].distance = corner[k].height;
        hits[found].normal = normal;
        found++;
    }
    return found;
}

// The face `axis` (on the side of `sign`) of box a, against what of b leans on it: the lowest corner, and the edges
// there that are nearer to the face's plane than to its normal.
LANE_FN int box_face_box(const convex_shape *a, int axis, double sign, const convex_shape *b, int swapped,
                         double margin, convex_hit *hits)
{
    box_face face = face_of_box(a, axis, sign);
    point lowest = b->frame.pos, edge[3];
    int edges = 0;
    for (int k = 0; k < 3; k++) {
        double along = point_dot(b->frame.axis[k], face.normal);
        double end = along < 0.0 ? b->size[k] : -b->size[k];
        lowest = point_along(lowest, end, b->frame.axis[k]);
        if (fabs(along) < 0.5) {
            edge[edges++] = point_scaled(b->frame.axis[k], -2.0 * end);
        }
    }
    point feature[4] = {lowest, lowest, lowest, lowest};
    if (edges > 0) {
        feature[1] = point_sum(lowest, edge[0]);
    }
    if (edges > 1) {
        feature[2] = point_sum(feature[1], edge[1]);
        feature[3] = point_sum(lowest, edge[1]);
    }
    return face_contacts(&face, face.normal, feature, edges > 1 ? 4 : edges + 1, 1, margin,
                         point_scaled(face.normal, swapped ? -1.0 : 1.0), hits);
}

// Of the two axes of `box` beside `axis`, the one that is less (or more) parallel to a direction.
FN int axis_beside(const convex_shape *box, int axis, point direction)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    return fabs(point_dot(box->frame.axis[u], direction)) < fabs(point_dot(box->frame.axis[v], direction)) ? u : v;
}

// Edge `axis1` of a on edge `axis2` of b: the face of b that leans most along a's edge, seen along the normal on the
// face of a that leans most along b's edge.
LANE_FN int box_edge_box(const convex_shape *a, int axis1, const convex_shape *b, int axis2, point normal,
                         double margin, convex_hit *hits)
{
    int up = axis_beside(a, axis1, b->frame.axis[axis2]), down = axis_beside(b, axis2, a->frame.axis[axis1]);
    box_face face = face_of_box(a, up, point_dot(normal, a->frame.axis[up]) > 0.0 ? 1.0 : -1.0);
    box_face other = face_of_box(b, down, point_dot(normal, b->frame.axis[down]) > 0.0 ? -1.0 : 1.0);
    if (fabs(point_dot(normal, face.normal)) < 1e-15) {
        return 0;
    }
    point feature[4];
    for (int k = 0; k < 4; k++) {
        point p = point_along(other.middle, k == 0 || k == 3 ? other.size[0] : -other.size[0], other.axis[0]);
        feature[k] = point_along(p, k < 2 ? other.size[1] : -other.size[1], other.axis[1]);
    }
    return face_contacts(&face, normal, feature, 4, 0, margin, normal, hits);
}

// Separating axes: the one along which the boxes overlap least says what touches. At most 8 contacts.
LANE_FN int box_box(const convex_shape *a, const convex_shape *b, double margin, convex_hit *hits)
{
    point apart = point_difference(b->frame.pos, a->frame.pos), normal = {0.0, 0.0, 0.0};
    double least = 1e300;
    int face = -1, edge = -1;
    for (int k = 0; k < 3; k++) {
        for (int side = 0; side < 2; side++) {
            const convex_shape *from = side ? b : a, *to = side ? a : b;
            point axis = from->frame.axis[k];
            double overlap = from->size[k] - fabs(point_dot(apart, axis));
            for (int j = 0; j < 3; j++) {
                overlap += to->size[j] * fabs(point_dot(to->frame.axis[j], axis));
            }
            if (overlap < -margin) {
                return 0;
            }
            if (overlap < least) {
                least = overlap;
                face = 2 * k + side;
            }
        }
    }
    for (int pair = 0; pair < 9; pair++) {
        point axis = point_cross(a->frame.axis[pair / 3], b->frame.axis[pair % 3]);
        double length = point_length(axis);
        if (length < 1e-15) {
            continue;
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
        if (overlap < least * (1.0 - 1e-12)) {
            least = overlap;
            edge = pair;
            normal = along < 0.0 ? point_scaled(axis, -1.0) : axis;
        }
    }
    if (edge >= 0) {
        return box_edge_box(a, edge / 3, b, edge % 3, normal, margin, hits);
    }
    int swapped = face % 2;
    const convex_shape *from = swapped ? b : a, *to = swapped ? a : b;
    double side = point_dot(apart, from->frame.axis[face / 2]) * (swapped ? -1.0 : 1.0);
    return box_face_box(from, face / 2, side < 0.0 ? -1.0 : 1.0, to, swapped, margin, hits);
}
