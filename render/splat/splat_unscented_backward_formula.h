// The derivatives of splat_unscented_formula.h, exact as it stands: each of the seven points carries what it
// gets back through the lens's own derivative. One text for CPU lanes, CUDA and plain C (see
// engine/maths/formula.h).
#ifndef ORR_SPLAT_UNSCENTED_BACKWARD_FORMULA_H
#define ORR_SPLAT_UNSCENTED_BACKWARD_FORMULA_H

#include "render/splat/splat_backward_formula.h"
#include "render/splat/splat_unscented_formula.h"

// What a point gets back.
STRUCT(splat_point_gradient)
{
    real3 p;
    real least_z;
}
END_STRUCT(splat_point_gradient)

// by: the derivative by the point on the picture, at focal length 1.
FN splat_point_gradient splat_point_backward(splat_photo_lens photo, real3 p, real least_z, real2 by)
{
    splat_point_gradient g;
    if (photo.lens.fisheye_limit > 0.0f) {
        g.p = fisheye_point_backward(photo.lens, p, by);
        g.least_z = R(0.0);
        return g;
    }
    splat_slope s = splat_slope_of(photo, p, least_z);
    lens_derivative d = lens_distort_slope(photo.lens, s.within);
    // beyond the reach the point is `beyond` times that of the slope at the reach, both of which move
    real2 turned = make_real2(d.xx * by.x + d.xy * by.y, d.xy * by.x + d.yy * by.y);
    real2 at = lens_distort(photo.lens, s.within);
    real along = at.x * by.x + at.y * by.y - (s.within.x * turned.x + s.within.y * turned.y);
    along = sel(s.beyond > R(1.0), along * R(1.0 / (photo.reach * photo.reach)), R(0.0));
    turned = make_real2(turned.x + along * s.within.x, turned.y + along * s.within.y);
    real by_z = -(turned.x * s.within.x + turned.y * s.within.y) * s.beyond * s.inverse_z;
    mask nearer = p.z < least_z;
    g.p = make_real3(turned.x * s.inverse_z, turned.y * s.inverse_z, sel(nearer, R(0.0), by_z));
    g.least_z = sel(nearer, by_z, R(0.0));
    return g;
}

// What the mean, the way to an axis's points and their least z get back.
STRUCT(splat_pair_gradient)
{
    real3 p, axis;
    real least_z;
}
END_STRUCT(splat_pair_gradient)

FN splat_pair_gradient splat_pair_backward(splat_photo_lens photo, splat_sigma s, real3 axis,
                                           real2 by_difference, real2 by_bend)
{
    real halved = R(0.5), share = R(0.5 / SPLAT_SIGMA_POINTS);
    real2 even = make_real2(by_bend.x * halved, by_bend.y * halved);
    real2 odd = make_real2(by_difference.x * share, by_difference.y * share);
    splat_point_gradient more =
        splat_point_backward(photo, add3(s.p, axis), s.least_z, make_real2(even.x + odd.x, even.y + odd.y));
    splat_point_gradient less =
        splat_point_backward(photo, sub3(s.p, axis), s.least_z, make_real2(even.x - odd.x, even.y - odd.y));
    splat_pair_gradient g;
    g.p = add3(more.p, less.p);
    g.axis = sub3(more.p, less.p);
    g.least_z = more.least_z + less.least_z;
    return g;
}

// Half of a symmetric matrix's effect: the derivative by each vector whose squares the covariance sums up.
STRUCT(splat_square_gradient)
{
    real xx, xy, yy;
}
END_STRUCT(splat_square_gradient)

FN splat_square_gradient splat_squares_backward(splat_screen_gradient g, splat_covariance c)
{
    splat_square_gradient b;
    // the determinant's derivative by the covariance before the blur is the other diagonal
    real sharp = R(2.0) * g.sharp;
    b.xx = g.xx + g.size + sharp * (c.yy - R(SPLAT_BLUR));
    b.xy = g.xy - sharp * c.xy;
    b.yy = g.yy + g.size + sharp * (c.xx - R(SPLAT_BLUR));
    return b;
}

// As splat_project_backward.
FN splat_gradient splat_unscented_backward(splat_lens lens, splat_photo_lens photo, real3 mean,
                                           splat_shape shape, real opacity, splat_moments m)
{
    splat_sigma s = splat_sigma_of(lens, photo, mean, shape.axes);
    splat_covariance c = splat_sigma_spread(s);
    splat_screen_gradient g = splat_place_backward(lens, c, m);
    splat_square_gradient b = splat_squares_backward(g, c);
    real fx = R(0.0) + photo.lens.focal_x, fy = R(0.0) + photo.lens.focal_y;
    real third = R(1.0 / 3.0), root = R(1.0 / SPLAT_SIGMA_POINTS);
    real3 by_u = scale3(add3(scale3(s.u, b.xx), scale3(s.v, b.xy)), fx);
    real3 by_v = scale3(add3(scale3(s.u, b.xy), scale3(s.v, b.yy)), fy);
    // t also moves the centre
    real shift_u = (g.x + b.xx * s.shift_u + b.xy * s.shift_v) * third;
    real shift_v = (g.y + b.xy * s.shift_u + b.yy * s.shift_v) * third;
    real3 bend_u = scale3(add3(scale3(s.bend_u, b.xx), scale3(s.bend_v, b.xy)), root);
    real3 bend_v = scale3(add3(scale3(s.bend_u, b.xy), scale3(s.bend_v, b.yy)), root);
    bend_u = scale3(add3(bend_u, make_real3(shift_u, shift_u, shift_u)), fx);
    bend_v = scale3(add3(bend_v, make_real3(shift_v, shift_v, shift_v)), fy);

    splat_pair_gradient a =
        splat_pair_backward(photo, s, s.spread.a, make_real2(by_u.x, by_v.x), make_real2(bend_u.x, bend_v.x));
    splat_pair_gradient d =
        splat_pair_backward(photo, s, s.spread.b, make_real2(by_u.y, by_v.y), make_real2(bend_u.y, bend_v.y));
    splat_pair_gradient e =
        splat_pair_backward(photo, s, s.spread.c, make_real2(by_u.z, by_v.z), make_real2(bend_u.z, bend_v.z));
    real2 by_middle =
        make_real2(fx * g.x - bend_u.x - bend_u.y - bend_u.z, fy * g.y - bend_v.x - bend_v.y - bend_v.z);
    splat_point_gradient middle = splat_point_backward(photo, s.p, s.least_z, by_middle);

    real spread = R(SPLAT_SIGMA_POINTS);
    splat_gradient back = splat_axes_backward(shape, splat_view_backward(lens.view, scale3(a.axis, spread)),
                                              splat_view_backward(lens.view, scale3(d.axis, spread)),
                                              splat_view_backward(lens.view, scale3(e.axis, spread)));
    back.logit = m.one * (R(1.0) - opacity);
    real3 by_p = add3(add3(middle.p, a.p), add3(d.p, e.p));
    by_p.z = by_p.z + R(0.5) * (middle.least_z + a.least_z + d.least_z + e.least_z);
    back.mean = splat_view_backward(lens.view, by_p);
    return back;
}

// As splat_depth_backward.
FN real3 splat_unscented_depth_backward(splat_lens lens, splat_photo_lens photo, real3 mean, real by_depth)
{
    if (photo.lens.fisheye_limit > 0.0f) {
        return splat_view_backward(lens.view, scale3(unit3(affine_point(lens.view, mean)), by_depth));
    }
    return splat_depth_backward(lens, by_depth);
}

#endif
