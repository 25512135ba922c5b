// A splat as the lens of a photo shows it, by the unscented transform (Julier and Uhlmann 1997; of splats Wu
// et al. 2025): seven points of the Gaussian go through the whole lens, and what they become has the position
// and the covariance on the picture. One text for CPU lanes, CUDA and plain C (see engine/maths/formula.h).
//
// Beside the mean y0 there are two points for each axis, sqrt(3) standard deviations away (a = 1, kappa = 0:
// weights 0 and 1/6 of the mean, 2 and 1/6 of the covariance). With half their difference over sqrt(3), d,
// and their middle less y0, s, the mean is y0 + t, t = sum s / 3, and the covariance is the sum of d d',
// s s' / 3 and t t': squares, so that rounding leaves it positive.
#ifndef ORR_SPLAT_UNSCENTED_FORMULA_H
#define ORR_SPLAT_UNSCENTED_FORMULA_H

#include "neural/capture/lens_formula.h"
#include "render/splat/splat_formula.h"

#define SPLAT_SIGMA_POINTS 1.7320508075688772 // how many standard deviations away they are

// The lens of a photo. A perspective lens's polynomial may fall far outside of the picture, and fold back:
// from `reach` on, a slope x/z and y/z, the picture goes on along rays from its centre, in proportion.
STRUCT(splat_photo_lens)
{
    photo_lens lens;
    uniform_real reach; // of a perspective lens
}
END_STRUCT(splat_photo_lens)

// ---- a point ----

// Where a point is on the plane at distance 1 of a perspective lens.
STRUCT(splat_slope)
{
    real2 within; // the slope, drawn back to the reach
    real beyond;  // the slope is this times that, 1 or more
    real inverse_z;
}
END_STRUCT(splat_slope)

// least_z: nearer points count as this far away, and those behind the camera too.
FN splat_slope splat_slope_of(splat_photo_lens photo, real3 p, real least_z)
{
    splat_slope s;
    s.inverse_z = R(1.0) / max_(p.z, least_z);
    real x = p.x * s.inverse_z, y = p.y * s.inverse_z;
    s.beyond = sqrt_(max_((x * x + y * y) * R(1.0 / (photo.reach * photo.reach)), R(1.0)));
    real inside = R(1.0) / s.beyond;
    s.within = make_real2(x * inside, y * inside);
    return s;
}

STRUCT(splat_point)
{
    real2 at;  // on the picture, from its centre, at focal length 1
    mask seen; // the lens can show it
}
END_STRUCT(splat_point)

// p: in the camera's space.
FN splat_point splat_point_of(splat_photo_lens photo, real3 p, real least_z)
{
    splat_point point;
    if (photo.lens.fisheye_limit > 0.0f) {
        fisheye_place f = fisheye_find(photo.lens, p);
        point.at = make_real2(p.x * f.share, p.y * f.share);
        point.seen = f.angle <= R(photo.lens.fisheye_limit);
        return point;
    }
    splat_slope s = splat_slope_of(photo, p, least_z);
    real2 at = lens_distort(photo.lens, s.within);
    point.at = make_real2(at.x * s.beyond, at.y * s.beyond);
    point.seen = and_(s.beyond <= R(1.0), p.z >= least_z);
    return point;
}

// ---- a splat ----

// A splat before a photo's camera; u, v, ... are on the picture [px].
STRUCT(splat_sigma)
{
    real3 p;           // its mean, in the camera's space
    splat_axes spread; // from there to one of each axis's two points
    real least_z;      // of those points
    real depth;        // along the camera's axis, with a fisheye the distance
    mask inside;       // between the near and the far plane, and one of the points is seen
    real2 centre;
    real3 u, v;            // d of each axis
    real3 bend_u, bend_v;  // s / sqrt(3)
    real shift_u, shift_v; // t
}
END_STRUCT(splat_sigma)

// Both points of an axis.
STRUCT(splat_pair)
{
    real2 difference, bend; // d and s, at focal length 1
    mask seen;
}
END_STRUCT(splat_pair)

FN splat_pair splat_pair_of(splat_photo_lens photo, splat_sigma s, real2 middle, real3 axis)
{
    splat_point more = splat_point_of(photo, add3(s.p, axis), s.least_z);
    splat_point less = splat_point_of(photo, sub3(s.p, axis), s.least_z);
    real halved = R(0.5), share = R(0.5 / SPLAT_SIGMA_POINTS);
    splat_pair pair;
    pair.difference = make_real2((more.at.x - less.at.x) * share, (more.at.y - less.at.y) * share);
    pair.bend =
        make_real2((more.at.x + less.at.x) * halved - middle.x, (more.at.y + less.at.y) * halved - middle.y);
    pair.seen = or_(more.seen, less.seen);
    return pair;
}

// mean, axes: in the layer's space.
FN splat_sigma splat_sigma_of(splat_lens lens, splat_photo_lens photo, real3 mean, splat_axes axes)
{
    splat_sigma s;
    s.p = affine_point(lens.view, mean);
    s.depth = s.p.z;
    if (photo.lens.fisheye_limit > 0.0f) {
        s.depth = sqrt_(dot3(s.p, s.p));
    }
    mask inside = and_(s.depth >= R(lens.near_plane), s.depth <= R(lens.far_plane));
    // A splat as large as its distance has points behind the camera. Half the mean's depth keeps all in
    // front, and the others where they are.
    s.least_z = sel(inside, R(0.5) * s.p.z, R(1.0));
    s.spread.a = scale3(affine_direction(lens.view, axes.a), R(SPLAT_SIGMA_POINTS));
    s.spread.b = scale3(affine_direction(lens.view, axes.b), R(SPLAT_SIGMA_POINTS));
    s.spread.c = scale3(affine_direction(lens.view, axes.c), R(SPLAT_SIGMA_POINTS));

    splat_point middle = splat_point_of(photo, s.p, s.least_z);
    splat_pair a = splat_pair_of(photo, s, middle.at, s.spread.a);
    splat_pair b = splat_pair_of(photo, s, middle.at, s.spread.b);
    splat_pair c = splat_pair_of(photo, s, middle.at, s.spread.c);
    s.inside = and_(inside, or_(or_(middle.seen, a.seen), or_(b.seen, c.seen)));
    real fx = R(0.0) + photo.lens.focal_x, fy = R(0.0) + photo.lens.focal_y, third = R(1.0 / 3.0);
    real bx = fx * R(1.0 / SPLAT_SIGMA_POINTS), by = fy * R(1.0 / SPLAT_SIGMA_POINTS);
    s.u = scale3(make_real3(a.difference.x, b.difference.x, c.difference.x), fx);
    s.v = scale3(make_real3(a.difference.y, b.difference.y, c.difference.y), fy);
    s.bend_u = scale3(make_real3(a.bend.x, b.bend.x, c.bend.x), bx);
    s.bend_v = scale3(make_real3(a.bend.y, b.bend.y, c.bend.y), by);
    s.shift_u = (a.bend.x + b.bend.x + c.bend.x) * fx * third;
    s.shift_v = (a.bend.y + b.bend.y + c.bend.y) * fy * third;
    s.centre = make_real2(middle.at.x * fx + photo.lens.centre_x + s.shift_u,
                          middle.at.y * fy + photo.lens.centre_y + s.shift_v);
    return s;
}

// The determinant's part of one vector (u, v) and three others.
FN real splat_areas(real u, real v, real3 others_u, real3 others_v)
{
    real3 area = sub3(scale3(others_v, u), scale3(others_u, v));
    return dot3(area, area);
}

FN real splat_area(real3 u, real3 v)
{
    real3 area = cross3(u, v);
    return dot3(area, area);
}

FN splat_covariance splat_sigma_spread(splat_sigma s)
{
    real sharp = splat_area(s.u, s.v) + splat_area(s.bend_u, s.bend_v);
    sharp = sharp + splat_areas(s.shift_u, s.shift_v, s.u, s.v);
    sharp = sharp + splat_areas(s.shift_u, s.shift_v, s.bend_u, s.bend_v);
    sharp = sharp + splat_areas(s.bend_u.x, s.bend_v.x, s.u, s.v);
    sharp = sharp + splat_areas(s.bend_u.y, s.bend_v.y, s.u, s.v);
    sharp = sharp + splat_areas(s.bend_u.z, s.bend_v.z, s.u, s.v);
    return splat_blurred(dot3(s.u, s.u) + dot3(s.bend_u, s.bend_u) + s.shift_u * s.shift_u,
                         dot3(s.u, s.v) + dot3(s.bend_u, s.bend_v) + s.shift_u * s.shift_v,
                         dot3(s.v, s.v) + dot3(s.bend_v, s.bend_v) + s.shift_v * s.shift_v, sharp);
}

// As splat_project. lens: of the same camera.
FN splat_screen splat_project_unscented(splat_lens lens, splat_photo_lens photo, real3 mean, splat_axes axes,
                                        real opacity)
{
    splat_sigma s = splat_sigma_of(lens, photo, mean, axes);
    return splat_screen_of(lens, s.centre, s.depth, s.inside, splat_sigma_spread(s), opacity);
}

#endif
