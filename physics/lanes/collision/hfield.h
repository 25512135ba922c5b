// A height field against a convex shape: each half of a cell is a prism from the base to the surface.
#pragma once

#include "engine/maths/nearest_triangle.h"
#include "physics/lanes/collision/convex.h"

// How far a shape, with the ball around its core, is from a prism along a direction, from the prism to the
// shape. No more than their distance (negative: no deeper than their depth).
LANE_FN double gap_along(convex_shape *prism, convex_shape *shape, point direction)
{
    point nearest = core_support(shape, point_scaled(direction, -1.0));
    return point_dot(point_difference(nearest, local_support(prism, direction).at), direction) -
           shape->radius;
}

// A bound of the distance of a shape from a prism: along the shape's axis that is most vertical, from the
// middle of the prism's top to the shape's, and by their extents over the cells (low, high: the shape's).
LANE_FN double prism_bound(convex_shape *prism, convex_shape *shape, const double low[3],
                           const double high[3])
{
    const point *axis = shape->frame.axis, *top = prism->prism + 3;
    int k = fabs(axis[0].z) > fabs(axis[1].z) ? 0 : 1;
    k = fabs(axis[k].z) > fabs(axis[2].z) ? k : 2;
    double bound = gap_along(prism, shape, point_scaled(axis[k], axis[k].z < 0.0 ? -1.0 : 1.0));
    point middle = point_scaled(point_sum(point_sum(top[0], top[1]), top[2]), 1.0 / 3.0);
    bound = fmax(bound, gap_along(prism, shape, point_direction(point_difference(shape->frame.pos, middle))));
    // the strip's first corner is on one side of the cell, its last on the other
    bound = fmax(bound, fmax(low[0] - top[2].x, top[0].x - high[0]));
    double near = fmin(top[0].y, top[1].y), far = fmax(top[0].y, top[1].y);
    return fmax(bound, fmax(low[1] - far, near - high[1]));
}

// The point of one of a prism's triangles that is nearest to p, if it is nearer than `closest`, at the square
// of the distance `least`.
LANE_FN void take_nearer(const convex_shape *prism, int a, int b, int c, point p, double *least,
                         point *closest)
{
    const point from[3] = {point_difference(prism->prism[a], p), point_difference(prism->prism[b], p),
                           point_difference(prism->prism[c], p)};
    const double corner[9] = {from[0].x, from[0].y, from[0].z, from[1].x, from[1].y,
                              from[1].z, from[2].x, from[2].y, from[2].z};
    double weight[3];
    nearest_in_triangle(corner, weight);
    point nearest =
        point_along(point_along(point_scaled(from[0], weight[0]), weight[1], from[1]), weight[2], from[2]);
    double square = point_dot(nearest, nearest);
    if (square < *least) {
        *least = square;
        *closest = point_sum(p, nearest);
    }
}

// The face of a prism, of five, that p is least behind; in front of it p is outside. Faces: walls at corners
// 0 and 1, 1 and 2, 2 and 0, the top, the base.
typedef struct prism_side {
    int in_front; // bits of the faces that p is in front of
    point normal; // if it is inside: of the nearest face
    double depth;
} prism_side;

LANE_FN prism_side side_of_prism(const convex_shape *prism, point p)
{
    const point *c = prism->prism;
    prism_side side = {0, {0.0, 0.0, 1.0}, 1e300};
    point up = point_cross(point_difference(c[4], c[3]), point_difference(c[5], c[3]));
    double turn = up.z < 0.0 ? -1.0 : 1.0; // corners turn to the left or to the right
    for (int face = 0; face < 5; face++) {
        int a = face < 3 ? face : 0, b = (a + 1) % 3;
        point normal = face == 4   ? make_point(0.0, 0.0, -1.0)
                       : face == 3 ? point_scaled(up, turn)
                                   : make_point(turn * (c[b].y - c[a].y), turn * (c[a].x - c[b].x), 0.0);
        double behind = point_dot(point_difference(c[face == 3 ? 3 : a], p), normal);
        double depth = behind < 0.0 ? 1e300 : behind / point_length(normal);
        side.in_front |= (behind < 0.0) << face;
        if (depth < side.depth) {
            side.depth = depth;
            side.normal = point_direction(normal);
        }
    }
    return side;
}

// A sphere and a prism, from the nearest point of its surface to the centre.
LANE_FN void sphere_and_prism(const convex_shape *prism, const convex_shape *sphere, convex_hit *hit)
{
    point centre = sphere->frame.pos, nearest = centre;
    prism_side side = side_of_prism(prism, centre);
    if (side.in_front) { // the nearest point is in one of these faces
        double least = 1e300;
        for (int a = 0; a < 3; a++) {
            if (side.in_front >> a & 1) {
                int b = (a + 1) % 3;
                take_nearer(prism, a, b, a + 3, centre, &least, &nearest);
                take_nearer(prism, b, a + 3, b + 3, centre, &least, &nearest);
            }
        }
        if (side.in_front & 8) {
            take_nearer(prism, 3, 4, 5, centre, &least, &nearest);
        }
        if (side.in_front & 16) {
            take_nearer(prism, 0, 1, 2, centre, &least, &nearest);
        }
        side.depth = -sqrt(least);
        side.normal = point_direction(point_difference(centre, nearest));
    } else {
        nearest = point_along(centre, side.depth, side.normal);
    }
    hit->distance = -side.depth - sphere->radius;
    hit->normal = side.normal;
    hit->pos = point_along(point_scaled(point_sum(centre, nearest), 0.5), -0.5 * sphere->radius, hit->normal);
}

// Of a shape and a prism; none that is not closer than `limit`.
LANE_FN int prism_contact(convex_shape *prism, convex_shape *shape, const double low[3], const double high[3],
                          const convex_search *search, double limit, convex_hit *hit)
{
    if (shape->type == ORR_GEOM_SPHERE) {
        sphere_and_prism(prism, shape, hit);
        return hit->distance < search->margin && hit->distance < limit;
    }
    double bound = prism_bound(prism, shape, low, high);
    return bound <= search->margin && bound < limit && convex_closest(prism, shape, search, hit) &&
           hit->distance < limit;
}

FN int shallowest_hit(const convex_hit *hits, int count)
{
    int shallowest = 0;
    for (int k = 1; k < count; k++) {
        shallowest = hits[k].distance > hits[shallowest].distance ? k : shallowest;
    }
    return shallowest;
}

// size: half widths, height of a sample 1, depth of the base; samples: rows x columns. Normals from the
// height field to the shape, in the order of cells. Of more than ORR_PAIR_CONTACTS contacts the deepest are
// kept (MuJoCo keeps the first).
LANE_FN int hfield_contacts(const convex_frame *hfield, const uniform_real *size, const float *samples,
                            int rows, int columns, convex_shape *shape, const convex_search *search,
                            convex_hit *hits)
{
    convex_shape prism = {0};
    prism.type = ORR_GEOM_HFIELD;
    prism.bound = (double)(size[0] + size[1]);
    for (int k = 0; k < 3; k++) {
        prism.frame.axis[k] = make_point(k == 0, k == 1, k == 2);
    }
    convex_frame world = shape->frame; // calculate in the height field's frame
    shape->frame.pos = to_local(hfield, world.pos);
    for (int k = 0; k < 3; k++) {
        shape->frame.axis[k] = to_local_direction(hfield, world.axis[k]);
    }
    double low[3], high[3], margin = search->margin;
    for (int k = 0; k < 3; k++) {
        point axis = prism.frame.axis[k];
        low[k] = point_dot(core_support(shape, point_scaled(axis, -1.0)), axis) - shape->radius;
        high[k] = point_dot(core_support(shape, axis), axis) + shape->radius;
    }
    double half_x = (double)size[0], half_y = (double)size[1], scale = (double)size[2],
           base = -(double)size[3];
    double dx = 2.0 * half_x / (columns - 1), dy = 2.0 * half_y / (rows - 1);
    int first_column = (int)fmax(0.0, floor((low[0] - margin + half_x) / dx));
    int first_row = (int)fmax(0.0, floor((low[1] - margin + half_y) / dy));
    int last_column = (int)fmin(columns - 1.0, ceil((high[0] + margin + half_x) / dx));
    int last_row = (int)fmin(rows - 1.0, ceil((high[1] + margin + half_y) / dy));
    int count = 0, shallowest = 0;
    double bottom = low[2] - margin;
    for (int row = first_row; row < last_row && high[2] + margin >= base; row++) {
        // a triangle strip: corners alternate between the two rows
        double height[3] = {base, base, base};
        for (int corner = 2 * first_column; corner <= 2 * last_column + 1; corner++) {
            height[0] = height[1];
            height[1] = height[2];
            height[2] = (double)samples[(row + 1 - corner % 2) * columns + corner / 2] * scale;
            if (corner < 2 * first_column + 2 ||
                (height[0] < bottom && height[1] < bottom && height[2] < bottom)) {
                continue;
            }
            for (int k = 0; k < 3; k++) {
                int c = corner - 2 + k;
                double x = dx * (c / 2) - half_x, y = dy * (row + 1 - c % 2) - half_y;
                prism.prism[k] = make_point(x, y, base);
                prism.prism[k + 3] = make_point(x, y, height[k]);
            }
            prism.frame.pos = make_point(0.0, 0.0, 0.0);
            convex_hit hit;
            double limit = count == ORR_PAIR_CONTACTS ? hits[shallowest].distance : 1e300;
            if (!prism_contact(&prism, shape, low, high, search, limit, &hit)) {
                continue;
            }
            hit.pos = to_world(hfield, hit.pos);
            hit.normal = point_difference(to_world(hfield, hit.normal), hfield->pos);
            hits[count < ORR_PAIR_CONTACTS ? count++ : shallowest] = hit;
            if (count == ORR_PAIR_CONTACTS) {
                shallowest = shallowest_hit(hits, count);
            }
        }
    }
    shape->frame = world;
    return count;
}
