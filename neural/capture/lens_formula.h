// From a photo's pixel to the direction its light came from and back, through OpenCV's distortion or its
// fisheye lens. One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
//
// The distortion (photo_list.h) has no inverse in closed form: Newton's iteration with the exact 2x2
// Jacobian starts at the distorted point and squares its error with every step, so that a fixed number does.
// A fisheye's polynomial has one unknown, its angle, which is kept between bounds, so that the iteration
// arrives wherever the polynomial rises.
#ifndef ORR_LENS_FORMULA_H
#define ORR_LENS_FORMULA_H

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

// How far from the centre it puts what is at a slope, but for what is tangential.
FN real lens_distance(photo_lens lens, real slope)
{
    lens.p1 = lens.p2 = 0.0f;
    return lens_distort(lens, make_real2(slope, R(0.0))).x;
}

// The derivative of lens_distort, which is symmetric.
STRUCT(lens_derivative)
{
    real xx, xy, yy;
}
END_STRUCT(lens_derivative)

FN lens_derivative lens_distort_slope(photo_lens lens, real2 p)
{
    lens_derivative d;
    real r2 = p.x * p.x + p.y * p.y;
    real stretch = R(1.0) + r2 * (lens.k1 + r2 * (lens.k2 + r2 * (lens.k3 + r2 * lens.k4)));
    // twice the derivative of stretch by r2
    real slope =
        R(2.0) * (lens.k1 + r2 * (R(2.0) * lens.k2 + r2 * (R(3.0) * lens.k3 + r2 * (R(4.0) * lens.k4))));
    d.xx = stretch + slope * p.x * p.x + R(2.0) * (lens.p1 * p.y) + R(6.0) * (lens.p2 * p.x);
    d.yy = stretch + slope * p.y * p.y + R(6.0) * (lens.p1 * p.y) + R(2.0) * (lens.p2 * p.x);
    d.xy = slope * p.x * p.y + R(2.0) * (lens.p1 * p.x) + R(2.0) * (lens.p2 * p.y);
    return d;
}

// The inverse, for points inside the radius where the distortion is one to one.
FN real2 lens_undistort(photo_lens lens, real2 target)
{
    real2 p = target;
    for (int step = 0; step < 8; step++) {
        real2 at = lens_distort(lens, p);
        lens_derivative d = lens_distort_slope(lens, p);
        real determinant = d.xx * d.yy - d.xy * d.xy;
        // where the distortion folds over there is no step to take
        mask folds = not_(determinant > R(1e-4));
        real inverse = sel(folds, R(0.0), R(1.0) / sel(folds, R(1.0), determinant));
        real ex = at.x - target.x, ey = at.y - target.y;
        p.x = p.x - (d.yy * ex - d.xy * ey) * inverse;
        p.y = p.y - (d.xx * ey - d.xy * ex) * inverse;
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

// Its derivative.
FN real fisheye_slope(photo_lens lens, real angle)
{
    real s = angle * angle;
    real slope = R(1.0) + s * (R(3.0) * lens.k1 +
                               s * (R(5.0) * lens.k2 + s * (R(7.0) * lens.k3 + s * (R(9.0) * lens.k4))));
    return sel(angle <= R(lens.fisheye_limit), slope, R(1.0));
}

// The inverse, at most pi.
FN real fisheye_angle(photo_lens lens, real distance)
{
    real low = R(0.0), high = R(lens.fisheye_limit);
    real angle = min_(distance, high);
    for (int step = 0; step < 12; step++) {
        real slope = fisheye_slope(lens, angle);
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

// Where a fisheye sees a direction of any length.
STRUCT(fisheye_place)
{
    real across, norm; // of the direction: of its part (x, y), and of all of it
    real angle;        // to the axis
    real share;        // the point of the picture is (x, y) times this
}
END_STRUCT(fisheye_place)

FN fisheye_place fisheye_find(photo_lens lens, real3 direction)
{
    real x = direction.x, y = direction.y, z = direction.z;
    fisheye_place f;
    real across = sqrt_(x * x + y * y), length = sqrt_(x * x + y * y + z * z);
    real angle = angle_of(across, z), half_turns = angle * R(0.31830988618379067);
    // to all digits, as the way back has them: the sine of what is missing
    angle = angle + (across * cos_pi(half_turns) - z * sin_pi(half_turns)) / max_(length, R(1e-30));
    // on the axis the distance is as the angle, which is as its sine
    mask ahead = and_(across<R(1e-6) * length, z> R(0.0));
    f.across = across;
    f.norm = length;
    f.angle = angle;
    f.share =
        sel(ahead, R(1.0) / max_(length, R(1e-30)), fisheye_distance(lens, angle) / max_(across, R(1e-30)));
    return f;
}

// The point of the picture of a direction of any length.
FN real2 fisheye_point(photo_lens lens, real3 direction)
{
    fisheye_place f = fisheye_find(lens, direction);
    return make_real2(direction.x * f.share, direction.y * f.share);
}

// The derivative by the point becomes that by the direction.
FN real3 fisheye_point_backward(photo_lens lens, real3 direction, real2 by)
{
    fisheye_place f = fisheye_find(lens, direction);
    real inverse = R(1.0) / max_(f.norm, R(1e-30));
    real slope = fisheye_slope(lens, f.angle) * inverse * inverse;
    // (x, y) of length 1; on the axis, where it has no direction, nothing is missing: share is slope times z
    real aside = R(1.0) / max_(f.across, R(1e-30)), x = direction.x * aside, y = direction.y * aside;
    real outward = (x * by.x + y * by.y) * (slope * direction.z - f.share);
    return make_real3(f.share * by.x + x * outward, f.share * by.y + y * outward,
                      -slope * (direction.x * by.x + direction.y * by.y));
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

#endif
