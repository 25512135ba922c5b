// Refines a contact of curved shapes. Distance and depth are one function of the direction n: the support
// function of the difference of the cores, h(n) = max n . (a - b), has its minimum at the contact's normal,
// where it is minus the distance. GJK and EPA come close, but h is flat there: a depth to 1e-14 is a
// direction to 1e-7. What they have found tells on which piece of the difference's surface the minimum is,
// and Newton's method finds the direction up to rounding.
#pragma once

#include "physics/lanes/collision/convex_shape.h"

// The vertices of both shapes that span the deepest face of the difference: one vertex against a face, or two
// against two, an edge across an edge.
typedef struct convex_witness {
    int corner1[3], corner2[3]; // of the shapes, as in convex_support
    point on1, on2;             // the first of them
} convex_witness;

// How the support point of a shape along n, of length 1, moves when n turns by t: both in the shape's frame.
FN point support_turn(const convex_shape *s, point n, point t)
{
    const double *size = s->size;
    if (s->type == ORR_GEOM_CYLINDER) { // along the rim
        double across = n.x * n.x + n.y * n.y;
        double turn = across > 1e-30 ? size[0] * (n.x * t.y - n.y * t.x) / (across * sqrt(across)) : 0.0;
        return make_point(-n.y * turn, n.x * turn, 0.0);
    }
    if (s->type == ORR_GEOM_ELLIPSOID) {
        double x = size[0] * size[0], y = size[1] * size[1], z = size[2] * size[2];
        point scaled = make_point(x * n.x, y * n.y, z * n.z), turned = make_point(x * t.x, y * t.y, z * t.z);
        double square = point_dot(scaled, n);
        turned = point_along(turned, -point_dot(scaled, t) / square, scaled);
        return point_scaled(turned, 1.0 / sqrt(square));
    }
    return make_point(0.0, 0.0, 0.0);
}

// The same of the difference of two shapes, in the world.
FN point difference_turn(const convex_shape *a, const convex_shape *b, point n, point t)
{
    point sum = make_point(0.0, 0.0, 0.0);
    for (int k = 0; k < 2; k++) { // turning -n by -t moves the second as turning n by t, the other way
        const convex_shape *s = k ? b : a;
        if (s->type == ORR_GEOM_CYLINDER || s->type == ORR_GEOM_ELLIPSOID) {
            const convex_frame *f = &s->frame;
            point turn = support_turn(s, to_local_direction(f, n), to_local_direction(f, t));
            sum = point_sum(sum, to_world_direction(f, turn));
        }
    }
    return sum;
}

// The support along n, and its components along two tangents: the gradient of h.
typedef struct convex_slope {
    convex_vertex support;
    double height, across[2]; // h, dh
} convex_slope;

LANE_FN convex_slope slope_at(convex_shape *a, convex_shape *b, point n, const point tangent[2])
{
    convex_slope s;
    s.support = difference_support(a, b, n);
    s.height = point_dot(s.support.p, n);
    s.across[0] = point_dot(s.support.p, tangent[0]);
    s.across[1] = point_dot(s.support.p, tangent[1]);
    return s;
}

enum { CONVEX_REFINE_STEPS = 8 };

// Turns n to where a smooth h has its minimum. at: the support there. Returns whether it is one.
LANE_FN int refine_smooth(convex_shape *a, convex_shape *b, point *n, convex_vertex *at)
{
    const double scale = a->bound + b->bound;
    point tangent[2];
    point_tangents(*n, tangent);
    convex_slope here = slope_at(a, b, *n, tangent);
    double steepness = hypot(here.across[0], here.across[1]);
    for (int k = 0; k < CONVEX_REFINE_STEPS && steepness > 1e-15 * scale; k++) {
        point turn = difference_turn(a, b, *n, tangent[0]);
        double xx = point_dot(turn, tangent[0]) - here.height, xy = point_dot(turn, tangent[1]);
        double yy = point_dot(difference_turn(a, b, *n, tangent[1]), tangent[1]) - here.height;
        double determinant = xx * yy - xy * xy;
        if (!(xx > 0.0) || !(determinant > 0.0)) {
            return 0;
        }
        double x = -(yy * here.across[0] - xy * here.across[1]) / determinant;
        double y = -(xx * here.across[1] - xy * here.across[0]) / determinant;
        point next = point_direction(point_along(point_along(*n, x, tangent[0]), y, tangent[1]));
        point turned[2];
        point_tangents(next, turned);
        convex_slope there = slope_at(a, b, next, turned);
        double flatter = hypot(there.across[0], there.across[1]);
        if (!(flatter < 0.5 * steepness)) {
            break;
        }
        *n = next;
        here = there;
        steepness = flatter;
        tangent[0] = turned[0];
        tangent[1] = turned[1];
    }
    *at = here.support;
    return steepness <= 1e-11 * scale;
}

// Refines the closest points of shapes apart. Returns 0, and does not change the hit, where h is not smooth:
// where corners or flat faces are closest.
LANE_FN int refine_distance(convex_shape *a, convex_shape *b, convex_hit *hit)
{
    const double scale = a->bound + b->bound;
    point n = hit->normal, tangent[2];
    point_tangents(n, tangent);
    convex_slope here = slope_at(a, b, n, tangent);
    // the hit is on h, unless h is not smooth nearby
    if (hypot(here.across[0], here.across[1]) > 1e-3 * scale || here.height + hit->distance > 1e-6 * scale) {
        return 0;
    }
    convex_vertex at;
    if (!refine_smooth(a, b, &n, &at)) {
        return 0;
    }
    hit->normal = n;
    hit->distance = -point_dot(at.p, n);
    hit->pos = point_scaled(point_sum(at.on1, at.on2), 0.5);
    return 1;
}

// Turns n to where h is least among the directions perpendicular to an edge e of the difference, of length 1.
LANE_FN int refine_along_edge(convex_shape *a, convex_shape *b, point e, point *n)
{
    const double scale = a->bound + b->bound;
    double slope = 1e300;
    *n = point_direction(point_along(*n, -point_dot(*n, e), e));
    for (int k = 0; k < CONVEX_REFINE_STEPS; k++) {
        point across = point_cross(e, *n), p = difference_support(a, b, *n).p;
        double curvature = point_dot(difference_turn(a, b, *n, across), across) - point_dot(p, *n);
        double before = fabs(slope);
        slope = point_dot(p, across);
        if (!(curvature > 0.0) || !(fabs(slope) < 0.5 * before)) {
            break;
        }
        *n = point_direction(point_along(*n, -slope / curvature, across));
    }
    return fabs(slope) <= 1e-11 * scale;
}

// The vertices of the difference with given corners of both shapes that are farthest along n.
FN void corners_along(const convex_shape *a, const convex_shape *b, const convex_witness *w, point n,
                      convex_vertex v[3])
{
    point n1 = to_local_direction(&a->frame, n);
    point n2 = to_local_direction(&b->frame, point_scaled(n, -1.0));
    for (int k = 0; k < 3; k++) {
        v[k] = make_vertex(a, b, corner_support(a, n1, w->corner1[k]), corner_support(b, n2, w->corner2[k]));
    }
}

// Shares of three vertices of the foot of the origin on their plane. n: along its normal. Returns whether it
// is between them.
FN int foot_between(const convex_vertex v[3], point foot, point n, double share[3])
{
    double total = 0.0;
    for (int k = 0; k < 3; k++) {
        point left = point_difference(v[(k + 1) % 3].p, foot);
        share[k] = point_dot(point_cross(left, point_difference(v[(k + 2) % 3].p, foot)), n);
        total += share[k];
    }
    for (int k = 0; k < 3; k++) {
        share[k] /= total;
    }
    return share[0] >= 0.0 && share[1] >= 0.0 && share[2] >= 0.0;
}

// The same of the point of their sides that is closest to the foot. Returns its distance.
LANE_FN double nearest_on_sides(const convex_vertex v[3], point foot, double share[3])
{
    double nearest = 1e300;
    for (int k = 0; k < 3; k++) {
        int to = (k + 1) % 3;
        point side = point_difference(v[to].p, v[k].p), rest = point_difference(foot, v[k].p);
        double squared = point_dot(side, side), along = squared > 0.0 ? point_dot(rest, side) / squared : 0.0;
        along = along > 0.0 ? along < 1.0 ? along : 1.0 : 0.0;
        double distance = point_length(point_along(rest, -along, side));
        if (distance < nearest) {
            nearest = distance;
            share[0] = share[1] = share[2] = 0.0;
            share[k] = 1.0 - along;
            share[to] = along;
        }
    }
    return nearest;
}

// Turns n to the axis of a cylinder whose cap is perpendicular to it up to an angle of 0.045. radius: of the
// shapes' caps that are then perpendicular, 0 of others.
FN void turn_to_caps(const convex_shape *a, const convex_shape *b, point *n, double radius[2])
{
    double least = 0.999;
    for (int k = 0; k < 2; k++) {
        const convex_shape *s = k ? b : a;
        double along = s->type == ORR_GEOM_CYLINDER ? point_dot(*n, s->frame.axis[2]) : 0.0;
        radius[k] = fabs(along) > least ? s->size[0] : 0.0;
        if (radius[k] > 0.0) {
            *n = point_scaled(s->frame.axis[2], along < 0.0 ? -1.0 : 1.0);
            least = 1.0 - 1e-12;
        }
    }
}

// How many of three vertices differ in their corners: the first `count` of `to`.
FN int different_corners(const convex_vertex v[3], int to[3])
{
    int count = 0;
    for (int k = 0; k < 3; k++) {
        int known = 0;
        for (int i = 0; i < count; i++) {
            known |= v[k].corner1 == v[to[i]].corner1 && v[k].corner2 == v[to[i]].corner2;
        }
        to[count] = k;
        count += !known;
    }
    return count;
}

FN point triangle_area(const convex_vertex v[3])
{
    return point_cross(point_difference(v[1].p, v[0].p), point_difference(v[2].p, v[0].p));
}

// Turns n to the minimum of h on the piece of the surface that vertices along n span: smooth, a strip along
// an edge, or flat, as they differ. Returns 0 where there is none.
LANE_FN int turn_to_piece(convex_shape *a, convex_shape *b, const convex_vertex v[3], point *n)
{
    const double scale = a->bound + b->bound;
    convex_vertex at;
    int to[3], count = different_corners(v, to);
    point normal = triangle_area(v);
    double area = point_length(normal);
    if (count == 1) {
        return refine_smooth(a, b, n, &at);
    }
    if (area > 1e-9 * scale * scale) {
        *n = point_scaled(normal, (point_dot(normal, *n) < 0.0 ? -1.0 : 1.0) / area);
        return 1;
    }
    point edge = point_difference(v[to[1]].p, v[0].p); // three are along parallel edges of both shapes
    return refine_along_edge(a, b, point_direction(edge), n);
}

FN void set_corner(convex_witness *w, int k, const convex_vertex *v)
{
    w->corner1[k] = v->corner1;
    w->corner2[k] = v->corner2;
}

// Lets vertices span another piece, with one that is beyond. Returns 0 where none of theirs has the foot.
LANE_FN int move_piece_on(const convex_vertex v[3], const convex_vertex *beyond, point n, convex_witness *w)
{
    int to[3], count = different_corners(v, to);
    if (count < 3) {
        set_corner(w, 3 - (count == 2 ? to[1] : 1), beyond); // in the place of the last of those alike
        return 1;
    }
    for (int k = 0; k < 3; k++) {
        convex_vertex next[3] = {v[0], v[1], v[2]};
        double share[3];
        next[k] = *beyond;
        point normal = point_direction(triangle_area(next));
        if (fabs(point_dot(normal, n)) > 0.5 &&
            foot_between(next, point_scaled(normal, point_dot(normal, next[0].p)), normal, share)) {
            set_corner(w, k, beyond);
            return 1;
        }
    }
    return 0;
}

// Turns n to the minimum of h on the piece that the corners of w span, or, as long as others are beyond it,
// on one beside, whose corners w gets. v: the corners there; cap: radii of caps, which are tried alone if
// `caps` says so. Returns 0 where there is none.
LANE_FN int find_piece(convex_shape *a, convex_shape *b, int caps, convex_witness *w, point *n,
                       convex_vertex v[3], double cap[2])
{
    enum { PIECES = 6 };
    const double rounding = 1e-12 * (a->bound + b->bound);
    cap[0] = cap[1] = 0.0;
    for (int piece = 0; piece < PIECES; piece++) {
        corners_along(a, b, w, *n, v);
        if (caps) {
            turn_to_caps(a, b, n, cap);
        }
        if (caps ? !(cap[0] + cap[1] > 0.0) : !turn_to_piece(a, b, v, n)) {
            return 0;
        }
        corners_along(a, b, w, *n, v);
        convex_vertex beyond = difference_support(a, b, *n);
        double least = point_dot(beyond.p, *n) - rounding;
        if (point_dot(v[0].p, *n) >= least && point_dot(v[1].p, *n) >= least &&
            point_dot(v[2].p, *n) >= least) {
            return 1;
        }
        if (caps || !move_piece_on(v, &beyond, *n, w)) {
            return 0;
        }
    }
    return 0;
}

// As refine_depth, with caps that touch, or with none.
LANE_FN int refine_piece(convex_shape *a, convex_shape *b, int caps, double gap, convex_hit *hit,
                         convex_witness *witness)
{
    const double scale = a->bound + b->bound;
    convex_witness w = *witness;
    convex_vertex v[3];
    point n = hit->normal;
    double cap[2], share[3];
    int to[3];
    if (!find_piece(a, b, caps, &w, &n, v, cap)) {
        return 0;
    }
    double height = point_dot(v[0].p, n), above = height + hit->distance, reach = cap[0] + cap[1];
    point foot = point_scaled(n, height);
    int inside = different_corners(v, to) == 3 && foot_between(v, foot, n, share);
    if (above < -1e-12 * scale || above > gap ||
        (!inside && nearest_on_sides(v, foot, share) > reach + 1e-10 * scale)) {
        return 0;
    }
    point on1 = make_point(0.0, 0.0, 0.0), on2 = on1;
    for (int k = 0; k < 3; k++) {
        on1 = point_along(on1, share[k], v[k].on1);
        on2 = point_along(on2, share[k], v[k].on2);
    }
    // a cap touches beside its middle, opposite what is on it; of two the points are halfway
    point apart = point_difference(point_difference(on1, on2), foot);
    on1 = point_along(on1, reach > 0.0 ? -cap[0] / reach : -0.5, apart);
    hit->distance = -height;
    hit->normal = n;
    hit->pos = point_along(on1, -0.5 * height, n);
    *witness = w;
    witness->on1 = v[0].on1;
    witness->on2 = v[0].on2;
    return 1;
}

// Refines a hit on a face of a polytope in the difference, whose corners the witness has: they tell on which
// piece of the surface the minimum of h is, or beside which. Returns 0, without a change, where it is not
// found, or higher than `gap` above the face.
LANE_FN int refine_depth(convex_shape *a, convex_shape *b, double gap, convex_hit *hit,
                         convex_witness *witness)
{
    return refine_piece(a, b, 1, gap, hit, witness) || refine_piece(a, b, 0, gap, hit, witness);
}
