// A sphere and a hull: the face whose plane the sphere's middle is farthest outside of, or least inside, is
// found among all with the faces in the lanes of a vector. Where the middle is inside of the hull, or over
// that face, the contact is there.
#pragma once

#include "physics/lanes/collision/convex.h"

#if ORR_LANES > 1

enum { PLANE_PARTS = ORR_EXTREME_BLOCK / FEW_LANES }; // vectors of a block

// How far a point is outside of the planes of a vector of triangles.
FN few_real beyond_planes(const orr_hull *hull, int part, const few_real at[3])
{
    const float *plane =
        hull->plane + part / PLANE_PARTS * (4 * ORR_EXTREME_BLOCK) + part % PLANE_PARTS * FEW_LANES;
    few_real along =
        at[2] * few_load(plane + 2 * ORR_EXTREME_BLOCK) - few_load(plane + 3 * ORR_EXTREME_BLOCK);
    return few_fma(at[0], few_load(plane), few_fma(at[1], few_load(plane + ORR_EXTREME_BLOCK), along));
}

// A triangle of a hull, and a point beside it, in the hull's frame.
typedef struct hull_side {
    point normal;  // outward
    double beyond; // of the point, from the triangle's plane
    int over;      // is the point's foot on the plane inside of the triangle?
} hull_side;

// number: of the triangle.
LANE_FN hull_side side_of_hull(const convex_shape *s, int number, point at)
{
    const orr_hull *hull = s->hull;
    hull_side side;
    point v[3], to[3];
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        v[k] = hull_vertex(s, hull->triangle[number][k]);
        to[k] = point_difference(v[k], at);
    }
    for (int k = 0; k < 3; k++) {
        double length = point_length(point_difference(v[(k + 1) % 3], v[k]));
        longest = length > longest ? length : longest;
    }
    point across = point_cross(point_difference(v[1], v[0]), point_difference(v[2], v[0]));
    side.normal = point_direction(across);
    side.beyond = -point_dot(to[0], side.normal);
    if (point_length(across) < ORR_HULL_SLIVER * s->bound * longest) { // as set_planes has it
        const float *plane =
            hull->plane + number / ORR_EXTREME_BLOCK * (4 * ORR_EXTREME_BLOCK) + number % ORR_EXTREME_BLOCK;
        side.normal = make_point((double)plane[0], (double)plane[ORR_EXTREME_BLOCK],
                                 (double)plane[2 * ORR_EXTREME_BLOCK]);
        side.beyond = point_dot(at, side.normal) - (double)plane[3 * ORR_EXTREME_BLOCK];
    }
    side.over = 1;
    for (int k = 0; k < 3; k++) {
        side.over &= point_dot(point_cross(to[k], to[(k + 1) % 3]), side.normal) >= 0.0;
    }
    return side;
}

// The side that a point in the hull's frame is farthest outside of, or least inside.
LANE_FN hull_side nearest_side(const convex_shape *s, point at)
{
    const orr_hull *hull = s->hull;
    const float place[3] = {(float)at.x, (float)at.y, (float)at.z};
    const few_real to[3] = {few_splat(&place[0]), few_splat(&place[1]), few_splat(&place[2])};
    float beyond[FEW_LANES];
    few_real most = beyond_planes(hull, 0, to);
    for (int part = 1; part < hull->plane_blocks * PLANE_PARTS; part++) {
        few_real here = beyond_planes(hull, part, to);
        few_int farther = here > most;
        most = (few_real)((farther & (few_int)here) | (~farther & (few_int)most));
    }
    memcpy(beyond, &most, sizeof beyond);
    const double alike = 1e-12 * s->bound, rounding = 1e-6 * (s->bound + point_length(at));
    const double least = (double)beyond[few_first_most(most)] - rounding;
    hull_side best = {{0.0, 0.0, 0.0}, -1e300, 0};
    // in double those that are equal up to rounding, as the triangles of a face are
    for (int part = 0; part < hull->plane_blocks * PLANE_PARTS; part++) {
        most = beyond_planes(hull, part, to);
        memcpy(beyond, &most, sizeof beyond);
        if ((double)beyond[few_first_most(most)] < least) {
            continue;
        }
        for (int k = 0; k < FEW_LANES; k++) {
            if ((double)beyond[k] >= least) {
                hull_side side = side_of_hull(s, part * FEW_LANES + k, at);
                double more = side.beyond - best.beyond;
                best = more > alike || (more > -alike && side.over && !best.over) ? side : best;
            }
        }
    }
    return best;
}

// Returns how many contacts there are, at most one, or -1 where the closest point may be on an edge or a
// corner. Without a contact the hit's normal is that of a plane between both.
LANE_FN int sphere_hull(const convex_shape *sphere, const convex_shape *s, double margin, convex_hit *hit)
{
    hull_side side = nearest_side(s, to_local(&s->frame, sphere->frame.pos));
    hit->normal = to_world_direction(&s->frame, point_scaled(side.normal, -1.0));
    hit->distance = side.beyond - sphere->size[0];
    hit->pos = point_along(sphere->frame.pos, sphere->size[0] + 0.5 * hit->distance, hit->normal);
    int touches = hit->distance < margin;
    return touches && side.beyond > 0.0 && !side.over ? -1 : touches;
}
#endif
