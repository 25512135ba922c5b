// From a photo's pixel to the direction its light came from and back, through OpenCV's distortion or its
// fisheye lens. One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
//
// The distortion (photo_list.h) has no inverse in closed form: Newton's iteration with the exact 2x2
// Jacobian starts at the distorted point and squares its error with every step, so that a fixed number does.
// A fisheye's polynomial has one unknown, its angle, which is kept between bounds, so that the iteration
// arrives wherever the polynomial rises.
#ifndef ORR_RAY_FORMULA_H
#define ORR_RAY_FORMULA_H

#include "engine/maths/angle_formula.h"
#include "neural/network/encoding_formula.h"

// An image's lens, as orr_capture_image has it.
STRUCT(photo_lens)
{
    uniform_real focal_x, focal_y;   // [px]
    uniform_real centre_x, centre_y; // [px]
    uniform_real k1, k2, k3, k4;
    uniform_real p1, p2;
    uniform_real fisheye_limit; // orr_fisheye_limit [rad]; 0: a perspective lens
}
END_STRUCT(photo_lens)

// Where the lens puts the point (right, down) of the plane at distance 1.
FN real2 lens_distort(photo_lens lens, real2 p)
{
    real r2 = p.x * p.x + p.y * p.y;
    real stretch = R(1.0) + r2 * (lens.k1 + r2 * (lens.k2 + r2 * (lens.k3 + r2 * lens.k4)));
    real xy = R(2.0) * p.x * p.y;
    return make_real2(p.x * stretch + lens.p1 * xy + lens.p2 * (r2 + R(2.0) * p.x * p.x),
                      p.y * stretch + lens.p1 * (r2 + R(2.0) * p.y * p.y) + lens.p2 * xy);
}

// The inverse, for points inside the radius where the distortion is one to one.
FN real2 lens_undistort(photo_lens lens, real2 target)
{
    real2 p = target;
    for (int step = 0; step < 8; step++) {
        real2 at = lens_distort(lens, p);
        real r2 = p.x * p.x + p.y * p.y;
        real stretch = R(1.0) + r2 * (lens.k1 + r2 * (lens.k2 + r2 * (lens.k3 + r2 * lens.k4)));
        // twice the derivative of stretch by r2
        real slope =
            R(2.0) * (lens.k1 + r2 * (R(2.0) * lens.k2 + r2 * (R(3.0) * lens.k3 + r2 * (R(4.0) * lens.k4))));
        real xx = stretch + slope * p.x * p.x + R(2.0) * (lens.p1 * p.y) + R(6.0) * (lens.p2 * p.x);
        real yy = stretch + slope * p.y * p.y + R(6.0) * (lens.p1 * p.y) + R(2.0) * (lens.p2 * p.x);
        real xy = slope * p.x * p.y + R(2.0) * (lens.p1 * p.x) + R(2.0) * (lens.p2 * p.y);
        real determinant = xx * yy - xy * xy;
        // where the distortion folds over there is no step to take
        mask folds = not_(determinant > R(1e-4));
        real inverse = sel(folds, R(0.0), R(1.0) / sel(folds, R(1.0), determinant));
        real ex = at.x - target.x, ey = at.y - target.y;
        p.x = p.x - (yy * ex - xy * ey) * inverse;
        p.y = p.y - (xx * ey - xy * ex) * inverse;
    }
    return p;
}

// ---- fisheye ----

// How far from the centre, at focal length 1, a fisheye puts what is at an angle to its axis. Beyond the
// limit the polynomial would fold back: a line of slope 1 goes on from it, so that other directions stay
// outside.
FN real fisheye_distance(photo_lens lens, real angle)
{
    real inside = min_(angle, R(lens.fisheye_limit)), s = inside * inside;
    real stretch = R(1.0) + s * (lens.k1 + s * (lens.k2 + s * (lens.k3 + s * lens.k4)));
    return inside * stretch + (angle - inside);
}

// The inverse, at most pi.
FN real fisheye_angle(photo_lens lens, real distance)
{
    real low = R(0.0), high = R(lens.fisheye_limit);
    real angle = min_(distance, high);
    for (int step = 0; step < 12; step++) {
        real s = angle * angle;
        real slope = R(1.0) + s * (R(3.0) * lens.k1 +
                                   s * (R(5.0) * lens.k2 + s * (R(7.0) * lens.k3 + s * (R(9.0) * lens.k4))));
        real error = fisheye_distance(lens, angle) - distance;
        low = sel(error < R(0.0), angle, low);
        high = sel(error > R(0.0), angle, high);
        real next = angle - error / max_(slope, R(1e-6));
        // where it leaves the bounds, or is not a number, half their distance is certain
        angle = sel(and_(next >= low, next <= high), next, R(0.5) * (low + high));
    }
    real past = distance - fisheye_distance(lens, R(lens.fisheye_limit));
    return min_(sel(past > R(0.0), past + lens.fisheye_limit, angle), R(3.1415925)); // just below pi
}

// A unit vector in the camera's axes of a point of the picture, at focal length 1 from its centre.
FN real3 fisheye_direction(photo_lens lens, real2 target)
{
    real distance = sqrt_(target.x * target.x + target.y * target.y);
    real half_turns = fisheye_angle(lens, distance) * R(0.31830988618379067);
    real aside = sin_pi(half_turns) / max_(distance, R(1e-30));
    return make_real3(target.x * aside, target.y * aside, cos_pi(half_turns));
}

// The point of the picture of a direction of any length.
FN real2 fisheye_point(photo_lens lens, real3 direction)
{
    real x = direction.x, y = direction.y, z = direction.z;
    real across = sqrt_(x * x + y * y), length = sqrt_(x * x + y * y + z * z);
    real angle = angle_of(across, z), half_turns = angle * R(0.31830988618379067);
    // to all digits, as the way back has them: the sine of what is missing
    angle = angle + (across * cos_pi(half_turns) - z * sin_pi(half_turns)) / max_(length, R(1e-30));
    // on the axis the distance is as the angle, which is as its sine
    mask ahead = and_(across<R(1e-6) * length, z> R(0.0));
    real share =
        sel(ahead, R(1.0) / max_(length, R(1e-30)), fisheye_distance(lens, angle) / max_(across, R(1e-30)));
    return make_real2(x * share, y * share);
}

// Is a pixel, with those beside it, where the polynomial rises? Others show nothing.
FN mask fisheye_shows(photo_lens lens, real2 pixel)
{
    real x = (pixel.x - lens.centre_x) / (R(0.0) + lens.focal_x);
    real y = (pixel.y - lens.centre_y) / (R(0.0) + lens.focal_y);
    real beside = R(1.0) / min_(R(lens.focal_x), R(lens.focal_y));
    return sqrt_(x * x + y * y) + beside <= fisheye_distance(lens, R(lens.fisheye_limit));
}

// ---- pixels ----

// In the camera's axes (right, down, forward), of no certain length: of a perspective lens forward is 1, of a
// fisheye it may be below 0.
FN real3 photo_direction(photo_lens lens, real2 pixel)
{
    real2 target = make_real2((pixel.x - lens.centre_x) / (R(0.0) + lens.focal_x),
                              (pixel.y - lens.centre_y) / (R(0.0) + lens.focal_y));
    if (lens.fisheye_limit > 0.0f) {
        return fisheye_direction(lens, target);
    }
    real2 p = lens_undistort(lens, target);
    return make_real3(p.x, p.y, R(1.0));
}

// The pixel of a direction; with a perspective lens forward > 0.
FN real2 photo_pixel(photo_lens lens, real3 direction)
{
    real2 p;
    if (lens.fisheye_limit > 0.0f) {
        p = fisheye_point(lens, direction);
    } else {
        p = lens_distort(lens, make_real2(direction.x / direction.z, direction.y / direction.z));
    }
    return make_real2(lens.focal_x * p.x + lens.centre_x, lens.focal_y * p.y + lens.centre_y);
}

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
