// Rays against geoms whose distance is a function, by steps as long as the distance (sphere tracing, Hart
// 1996). As in MuJoCo a step may end behind a surface, where the distance is less than 0, and the next one
// goes on as far.
#pragma once

#include "physics/lanes/collision/function_point.h"
#include "physics/lanes/collision/ray.h"

// MuJoCo's: after so many steps a ray misses; so near [m] it hits.
#define RAY_STEPS 40
#define RAY_NEAR 1e-7

LANE_FN void ray_function(const lane_model *m, lane_ray *ray, int geom)
{
    const function_shape f = function_of_geom(m, geom);
    real met = R(LANE_HUGE);
    real3 normal = axis3(2);
    for (int lane = 0; lane < ORR_LANES; lane++) {
        point from = point_in(&ray->from, lane), along = point_in(&ray->along, lane);
        double length = 0.0, distance = LANE_HUGE;
        for (int step = 0; step < RAY_STEPS && !(distance < RAY_NEAR); step++) {
            distance = fabs(shape_distance_at(&f, point_along(from, length, along)).d);
            length += distance;
        }
        if (distance < RAY_NEAR) {
            distance_at surface = shape_distance_at(&f, point_along(from, length, along));
            put_in(&met, lane, length);
            put_point(&normal, lane, make_point(surface.x, surface.y, surface.z));
        }
    }
    ray_hit_face(ray, met, met < R(LANE_HUGE), normal);
}
