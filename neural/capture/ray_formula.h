// The rays of a camera: from a position on its picture into the space of a field. One text for CPU lanes,
// CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_RAY_FORMULA_H
#define ORR_RAY_FORMULA_H

#include "neural/capture/lens_formula.h"

// A camera in the space of a field.
STRUCT(ray_camera)
{
    photo_lens lens;
    bool distorted;    // otherwise a pinhole
    bool orthographic; // lens.focal: pixels per unit of the world
    int width, height;
    uniform_real origin[3];
    uniform_real axes[3][3];            // right, down, forward: unit vectors
    uniform_real scale;                 // lengths in the field per length in the world
    uniform_real near_plane, far_plane; // along the camera's axis, of a fisheye the ray, in the world's units
}
END_STRUCT(ray_camera)

STRUCT(camera_ray)
{
    real3 origin, direction; // direction: a unit vector
    // Depth along the camera's axis, in the world's units, per distance. A fisheye sees what is beside and
    // behind it: its depth is the distance.
    real depth;
}
END_STRUCT(camera_ray)

FN real ray_across(ray_camera c, int k, real2 p)
{
    return p.x * c.axes[0][k] + p.y * c.axes[1][k];
}

FN camera_ray ray_of_fisheye(ray_camera c, real2 p)
{
    real3 d = fisheye_direction(c.lens, p);
    real2 across = make_real2(d.x, d.y);
    camera_ray ray;
    ray.origin = make_real3(R(c.origin[0]), R(c.origin[1]), R(c.origin[2]));
    ray.direction = make_real3(ray_across(c, 0, across) + d.z * c.axes[2][0],
                               ray_across(c, 1, across) + d.z * c.axes[2][1],
                               ray_across(c, 2, across) + d.z * c.axes[2][2]);
    ray.depth = R(1.0) / c.scale;
    return ray;
}

// The ray of a position on the picture; in pixels, the middle of the first at (0.5, 0.5).
FN camera_ray ray_of_pixel(ray_camera c, real2 pixel)
{
    real2 p = make_real2((pixel.x - c.lens.centre_x) / (R(0.0) + c.lens.focal_x),
                         (pixel.y - c.lens.centre_y) / (R(0.0) + c.lens.focal_y));
    camera_ray ray;
    if (c.orthographic) {
        ray.origin = make_real3(c.origin[0] + c.scale * ray_across(c, 0, p),
                                c.origin[1] + c.scale * ray_across(c, 1, p),
                                c.origin[2] + c.scale * ray_across(c, 2, p));
        ray.direction = make_real3(R(c.axes[2][0]), R(c.axes[2][1]), R(c.axes[2][2]));
        ray.depth = R(1.0) / c.scale;
        return ray;
    }
    if (c.lens.fisheye_limit > 0.0f) {
        return ray_of_fisheye(c, p);
    }
    if (c.distorted) {
        p = lens_undistort(c.lens, p);
    }
    real per_length = R(1.0) / sqrt_(p.x * p.x + p.y * p.y + R(1.0));
    ray.origin = make_real3(R(c.origin[0]), R(c.origin[1]), R(c.origin[2]));
    ray.direction = make_real3(per_length * (ray_across(c, 0, p) + c.axes[2][0]),
                               per_length * (ray_across(c, 1, p) + c.axes[2][1]),
                               per_length * (ray_across(c, 2, p) + c.axes[2][2]));
    ray.depth = per_length / c.scale;
    return ray;
}

// The distances between two depths along the camera's axis.
FN real2 ray_depth_range(real near_depth, real far_depth, real depth_per_distance)
{
    return make_real2(near_depth / depth_per_distance, far_depth / depth_per_distance);
}

FN real ray_divisor(real d) // that can be divided by
{
    return sel(abs_(d) > R(1e-12), d, R(1e-12));
}

FN real2 ray_cut(real2 range, real origin, real direction, uniform_real half_side)
{
    real d = ray_divisor(direction);
    real low = (R(0.5) - half_side - origin) / d, high = (R(0.5) + half_side - origin) / d;
    return make_real2(max_(range.x, min_(low, high)), min_(range.y, max_(low, high)));
}

// The part of a range of distances in which a ray is inside the cube around (0.5, 0.5, 0.5); empty: x >= y.
FN real2 ray_inside(real2 range, real3 origin, real3 direction, uniform_real half_side)
{
    range = ray_cut(range, origin.x, direction.x, half_side);
    range = ray_cut(range, origin.y, direction.y, half_side);
    return ray_cut(range, origin.z, direction.z, half_side);
}

#endif
