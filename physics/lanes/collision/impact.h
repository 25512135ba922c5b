// When two convex shapes that move will touch within a step, and where: conservative advancement of MuJoCo's
// flag `speculative` (its documentation, "Computation", "Speculative contacts"). Times are shares of a step.
#pragma once

#include "physics/lanes/collision/convex.h"

// How a shape moves in one step.
typedef struct convex_motion {
    point slide, turn; // m, of its centre; rad, a rotation vector
    double most;       // m that a point of its surface moves, at most
    double spin;       // m of `most` that are the rotation's
} convex_motion;

typedef struct convex_impact {
    double time;
    double speed;       // m per step at which the shapes approach
    double distance;    // m between them where they were searched for contacts
    convex_hit nearest; // there
    convex_witness witness;
} convex_impact;

// v, turned by a share of a rotation vector (Rodrigues).
FN point point_turned(point v, point turn, double share)
{
    double angle = share * point_length(turn);
    if (angle == 0.0) {
        return v;
    }
    point axis = point_direction(turn);
    double cosine = cos(angle);
    point turned = point_along(point_scaled(v, cosine), sin(angle), point_cross(axis, v));
    return point_along(turned, (1.0 - cosine) * point_dot(axis, v), axis);
}

FN convex_frame moved_frame(const convex_frame *f, const convex_motion *by, double share)
{
    convex_frame moved;
    moved.pos = point_along(f->pos, share, by->slide);
    for (int k = 0; k < 3; k++) {
        moved.axis[k] = point_turned(f->axis[k], by->turn, share);
    }
    return moved;
}

// Where a point of the moved shape was at the start of the step.
FN point point_at_start(const convex_frame *start, const convex_frame *moved, point at)
{
    return to_world(start, to_local(moved, at));
}

// The point of a shape that is lowest above a plane.
LANE_FN void lowest_above(const convex_frame *plane, convex_shape *b, convex_hit *hit)
{
    point normal = plane->axis[2];
    point at = point_along(core_support(b, point_scaled(normal, -1.0)), -b->radius, normal);
    hit->distance = point_dot(point_difference(at, plane->pos), normal);
    hit->normal = normal;
    hit->pos = point_along(at, -0.5 * hit->distance, normal);
}

FN point slide_at(const convex_frame *frame, const convex_motion *m, point at)
{
    return point_sum(m->slide, point_cross(m->turn, point_difference(at, frame->pos)));
}

// How fast the closest points approach, in m per step.
FN double closing_speed(const convex_shape *a, const convex_shape *b, const convex_motion motion[2],
                        const convex_hit *hit)
{
    point on1 = point_along(hit->pos, -0.5 * hit->distance, hit->normal);
    point on2 = point_along(hit->pos, 0.5 * hit->distance, hit->normal);
    point v = point_difference(slide_at(&a->frame, &motion[0], on1), slide_at(&b->frame, &motion[1], on2));
    return point_dot(v, hit->normal);
}

// Moves two shapes that are farther apart than the margin until they nearly are at it: no point approaches
// faster than the bound, so that they cannot pass each other. Returns whether that is within the step. The
// shapes are then where they were searched last.
LANE_FN int find_impact(convex_shape *a, convex_shape *b, const convex_motion motion[2],
                        const convex_search *search, convex_impact *impact)
{
    enum { ADVANCES = 16 };
    const double target = 0.02, close = 0.03; // shares of the first distance, past the margin
    const convex_frame start[2] = {a->frame, b->frame};
    convex_search all = *search;
    all.margin = 1e30;
    double time = 0.0, first = 0.0, left = 0.0;
    for (int step = 0; step <= ADVANCES; step++) {
        convex_hit *hit = &impact->nearest;
        a->frame = moved_frame(&start[0], &motion[0], time);
        b->frame = moved_frame(&start[1], &motion[1], time);
        if (a->type == ORR_GEOM_PLANE) {
            lowest_above(&a->frame, b, hit);
        } else if (!convex_closest_witness(a, b, &all, hit, &impact->witness)) {
            return 0;
        }
        left = hit->distance - search->margin;
        first = step == 0 ? left : first;
        if (!(first > 0.0)) {
            return 0;
        }
        double closing = closing_speed(a, b, motion, hit);
        impact->time = time;
        impact->distance = hit->distance;
        impact->speed = step == 0 ? closing : fmax(closing, (first - left) / time);
        if (left <= close * first) { // as fast as they are the rest is within the step
            return left <= (1.0 - time) * (motion[0].most + motion[1].most);
        }
        double bound = point_dot(point_difference(motion[0].slide, motion[1].slide), hit->normal) +
                       motion[0].spin + motion[1].spin;
        if (!(bound > 0.0)) {
            return 0;
        }
        bound = step == ADVANCES ? closing : bound; // the last one goes where the points lead
        time += (left - target * first) / bound;
        if (!(time > 0.0 && time < 1.0)) {
            return 0;
        }
    }
    impact->time = time;
    return 1;
}

// The side of a shape that faces a plane: corners of a face, ends of an edge, or the lowest point. The edge
// of a capsule is that of one thicker by `inflated`, moved back, as in MuJoCo.
LANE_FN void side_facing_plane(point normal, convex_shape *b, const convex_hit *lowest, double inflated,
                               convex_polygon *side)
{
    point down = to_local_direction(&b->frame, point_scaled(normal, -1.0));
    double local[3] = {down.x, down.y, down.z};
    int upright = fabs(down.z) > CONVEX_LEAN_SINE;
    put_corner(side, 0, point_along(lowest->pos, 0.5 * lowest->distance, normal));
    side->count = 1;
    if (b->type == ORR_GEOM_BOX) {
        int axis = fabs(local[0]) >= fabs(local[1]) ? 0 : 1;
        axis = fabs(local[2]) > fabs(local[axis]) ? 2 : axis;
        shape_face(b, 2 * axis + (local[axis] < 0.0), side);
    } else if (b->type == ORR_GEOM_MESH) {
        int face = face_at_vertex(b, farthest_vertex(b, down), down);
        if (face >= 0) {
            shape_face(b, face, side);
        }
    } else if (b->type == ORR_GEOM_CYLINDER && upright) {
        shape_face(b, down.z < 0.0, side);
    } else if ((b->type == ORR_GEOM_CYLINDER || b->type == ORR_GEOM_CAPSULE) && !upright) {
        inflated = b->type == ORR_GEOM_CAPSULE ? inflated : 0.0;
        int from = down.z < 0.0;
        convex_feature edge = {{from, from, from}, 1, corner_at(side, 0), down};
        point end[2];
        feature_edge(b, &edge, 0, point_along(corner_at(side, 0), -inflated, normal), end);
        put_corner(side, 0, point_along(end[0], inflated, normal));
        put_corner(side, 1, point_along(end[1], inflated, normal));
        side->count = 2;
    }
}

// Contacts of what will touch a plane in the rest of the step, at most 4.
LANE_FN int plane_impacts(const convex_shape *a, convex_shape *b, const convex_impact *impact, double reach,
                          convex_hit *hits)
{
    convex_polygon side;
    point normal = a->frame.axis[2];
    side_facing_plane(normal, b, &impact->nearest, 0.5 * reach, &side);
    int count = 0;
    for (int k = 0; k < side.count; k++) {
        if (point_dot(point_difference(corner_at(&side, k), a->frame.pos), normal) <= reach) {
            put_corner(&side, count++, corner_at(&side, k));
        }
    }
    side.count = count;
    if (count > 4) {
        keep_four_corners(&side);
    }
    for (int k = 0; k < side.count; k++) {
        hits[k].distance = point_dot(point_difference(corner_at(&side, k), a->frame.pos), normal);
        hits[k].normal = normal;
        hits[k].pos = point_along(corner_at(&side, k), -0.5 * hits[k].distance, normal);
    }
    return side.count;
}

// A contact before it happens.
typedef struct convex_speculation {
    point pos, normal, on[2]; // on: where it will be on each shape, as that is now
    point meeting;            // where these meet, if each moves on at its share of the speed
} convex_speculation;

// The contacts of an impact, at most 4; the shapes return to where they are.
LANE_FN int impact_contacts(convex_shape *a, convex_shape *b, const convex_frame start[2],
                            const convex_motion motion[2], const convex_search *search,
                            const convex_impact *impact, convex_speculation *found)
{
    convex_hit hits[4];
    convex_search within = *search;
    within.margin = 2.0 * impact->distance + (1.0 - impact->time) * impact->speed + search->tolerance;
    hits[0] = impact->nearest;
    int count = a->type == ORR_GEOM_PLANE ? plane_impacts(a, b, impact, within.margin, hits)
                                          : further_contacts(a, b, &within, &impact->witness, hits);
    double share = motion[0].most / (motion[0].most + motion[1].most);
    for (int k = 0; k < count; k++) {
        // MuJoCo moves the sides towards each other, by half the margin along their normals, and the points
        // back along the nearest points' normal
        point normal = impact->nearest.normal;
        point moved = point_scaled(point_difference(hits[k].normal, normal), 0.5 * within.margin);
        point on1 = point_along(hits[k].pos, -0.5 * hits[k].distance, hits[k].normal);
        point on2 = point_along(hits[k].pos, 0.5 * hits[k].distance, hits[k].normal);
        on1 = point_sum(on1, moved);
        on2 = point_difference(on2, moved);
        found[k].on[0] = point_at_start(&start[0], &a->frame, on1);
        found[k].on[1] = point_at_start(&start[1], &b->frame, on2);
        point across = point_difference(found[k].on[1], found[k].on[0]);
        found[k].meeting = point_along(found[k].on[0], share, across);
        found[k].pos = point_along(found[k].on[0], 1.0 - share, across);
        found[k].normal = normal;
    }
    a->frame = start[0];
    b->frame = start[1];
    return count;
}
