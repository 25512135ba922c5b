// The point of a tetrahedron that is closest to another.
#pragma once

#include "physics/lanes/collision/convex_distance.h"

// Weights of the corners of which the origin is the mean; false: it is outside, or the tetrahedron is flat.
LANE_FN int weights_inside(const point corner[4], double weight[4])
{
    for (int k = 0; k < 4; k++) {
        point a = corner[(k + 1) & 3];
        point normal =
            point_cross(point_difference(corner[(k + 2) & 3], a), point_difference(corner[(k + 3) & 3], a));
        weight[k] = -point_dot(normal, a) / point_dot(normal, point_difference(corner[k], a));
        if (!(weight[k] >= 0.0 && weight[k] <= 1.0)) {
            return 0;
        }
    }
    return 1;
}

// Weights, of sum 1, of the point that is closest to the origin. Corners may coincide.
LANE_FN void closest_in_tetrahedron(const point corner[4], double weight[4])
{
    double least = 1e300;
    if (weights_inside(corner, weight)) {
        return;
    }
    weight[0] = 1.0; // where corners are not finite
    weight[1] = weight[2] = weight[3] = 0.0;
    for (int set = 1; set < 15; set++) { // corners of a face, an edge, or one
        int vertex[4], count = 0;
        point p[4], closest = make_point(0.0, 0.0, 0.0);
        double part[3];
        for (int k = 0; k < 4; k++) {
            vertex[count] = k;
            p[count] = corner[k];
            count += set >> k & 1;
        }
        if (!affine_weights(p, count, part)) {
            continue;
        }
        for (int k = 0; k < count; k++) {
            closest = point_along(closest, part[k], p[k]);
        }
        double squared = point_dot(closest, closest);
        if (squared < least) {
            least = squared;
            weight[0] = weight[1] = weight[2] = weight[3] = 0.0;
            for (int k = 0; k < count; k++) {
                weight[vertex[k]] = part[k];
            }
        }
    }
}
