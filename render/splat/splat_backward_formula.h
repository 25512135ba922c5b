// What splats get back from a picture: the derivatives of splat_formula.h and blend_formula.h. One text for
// CPU lanes, CUDA and plain C (see engine/maths/formula.h).
//
// Gradients are of a loss by what a trainer stores: position, logarithms of the scales, a quaternion of any
// length, the logit of the opacity, harmonics. A splat that is skipped, clamped or hidden gets no gradient by
// what was cut off, so that the derivative is exact wherever the picture has one.
#ifndef ORR_SPLAT_BACKWARD_FORMULA_H
#define ORR_SPLAT_BACKWARD_FORMULA_H

#include "render/splat/blend_formula.h"
#include "render/splat/splat_formula.h"

// ---- a pixel: blending is replayed from front to back ----

// A pixel between two splats. The loss's derivative by the pixel's colour is a constant vector g.
STRUCT(splat_replay)
{
    real transmittance; // as blend_pixel has it: negative when the pixel has stopped
    real rest;          // g . what the splats behind and the background still add to the colour
}
END_STRUCT(splat_replay)

STRUCT(splat_replayed)
{
    splat_replay next;
    real weight; // of the splat's colour in the pixel's: the derivative by its colour is weight g
    real slope;  // derivative of the loss by the natural logarithm of the splat's coverage
}
END_STRUCT(splat_replayed)

// shade: g . the splat's colour.
FN splat_replayed splat_replay_one(splat_replay p, real log2_opacity, real2 d, ellipse shape, real shade)
{
    // the same operations as splat_alpha and blend_splat, so that both skip the same splats
    real coverage = splat_coverage(log2_opacity, d, shape);
    real alpha = min_(coverage, R(SPLAT_ALPHA_MAX));
    alpha = sel(alpha < R(SPLAT_ALPHA_MIN), R(0.0), alpha);
    real clear = R(1.0) - alpha;
    real next = p.transmittance * clear;
    mask stops = next <= R(BLEND_TRANSMITTANCE_MIN);
    splat_replayed r;
    r.weight = sel(stops, R(0.0), alpha * p.transmittance);
    real lit = r.weight * shade;
    r.next.rest = p.rest - lit;
    r.next.transmittance = sel(stops, -abs_(p.transmittance), next);
    mask moves = and_(not_(stops), coverage <= R(SPLAT_ALPHA_MAX));
    r.slope = sel(moves, lit - r.next.rest * alpha / clear, R(0.0));
    return r;
}

// Where a replay begins: what all splats and the background behind them add. colour, alpha: of the picture
// without background; by_alpha: the loss by alpha, where it does not come through the background alone.
FN real splat_replay_rest(real3 g, real3 colour, real alpha, real3 background, real by_alpha)
{
    return fma_(by_alpha, alpha, dot3(g, add_scaled3(colour, background, R(1.0) - alpha)));
}

// The same where the loss depends on depth, too. by_depth: the loss by the pixel's sum of weights times
// depths; depth: drawn, the mean by weight.
FN real splat_replay_rest_depth(real rest, real by_depth, real depth, real alpha)
{
    return fma_(by_depth * depth, alpha, rest);
}

// g . the splat's colour with what its depth adds to it.
FN real splat_shade_depth(real shade, real by_depth, real depth)
{
    return fma_(by_depth, depth, shade);
}

// Sums over a splat's pixels of its slopes times powers of d, the pixel's centre less the splat's [px].
STRUCT(splat_moments)
{
    real one, x, y, xx, xy, yy;
}
END_STRUCT(splat_moments)

FN splat_moments splat_moments_add(splat_moments m, real slope, real2 d)
{
    real x = slope * d.x, y = slope * d.y;
    splat_moments sum;
    sum.one = m.one + slope;
    sum.x = m.x + x;
    sum.y = m.y + y;
    sum.xx = fma_(x, d.x, m.xx);
    sum.xy = fma_(x, d.y, m.xy);
    sum.yy = fma_(y, d.y, m.yy);
    return sum;
}

// Sums over pixels of |the loss's derivative by the splat's centre|, for each axis: the statistic of absolute
// gradients (Ye et al. 2024), which pixels that pull to opposite sides do not cancel. Factors that all of a
// splat's pixels share are splat_magnitude's.
FN real2 splat_magnitude_add(real2 sum, ellipse shape, real slope, real2 d)
{
    real along = fma_(shape.lean, d.y, d.x);
    real across = fma_(shape.sharp_x * shape.lean, along, shape.sharp_y * d.y);
    return make_real2(sum.x + abs_(slope * along), sum.y + abs_(slope * across));
}

FN real2 splat_magnitude(real2 sum, ellipse shape)
{
    return make_real2(R(2.0 / SPLAT_LOG2E) * shape.sharp_x * sum.x, R(2.0 / SPLAT_LOG2E) * sum.y);
}

// ---- a splat: from the screen to what is stored ----

STRUCT(splat_gradient)
{
    real3 mean, log_scale;
    real4 rotation; // w in .w
    real logit;
}
END_STRUCT(splat_gradient)

// What a trainer stores of a splat, and what drawing makes of it.
STRUCT(splat_shape)
{
    real4 rotation; // unit
    real norm;      // of the quaternion as stored
    real3 scale;
    splat_axes axes;
}
END_STRUCT(splat_shape)

// q: w in .w, any length from 1e-15 on.
FN splat_shape splat_make_shape(real3 log_scale, real4 q)
{
    splat_shape s;
    s.norm = sqrt_(max_(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w, R(1e-30)));
    real inverse = R(1.0) / s.norm;
    s.rotation = make_real4(q.x * inverse, q.y * inverse, q.z * inverse, q.w * inverse);
    s.scale = make_real3(exp2_(log_scale.x * R(SPLAT_LOG2E)), exp2_(log_scale.y * R(SPLAT_LOG2E)),
                         exp2_(log_scale.z * R(SPLAT_LOG2E)));
    s.axes = splat_make_axes(s.rotation, s.scale);
    return s;
}

FN real splat_opacity(real logit)
{
    return R(1.0) / (R(1.0) + exp2_(min_(-logit * R(SPLAT_LOG2E), R(100.0))));
}

// x, y, z: derivatives by the columns of q's rotation matrix; the result is by the quaternion as stored.
FN real4 quaternion_backward(real4 q, real norm, real3 x, real3 y, real3 z)
{
    real two = R(2.0);
    real4 g;
    g.w = two * (q.x * (y.z - z.y) + q.y * (z.x - x.z) + q.z * (x.y - y.x));
    g.x = two * (q.y * (x.y + y.x) + q.z * (x.z + z.x) + q.w * (y.z - z.y) - two * q.x * (y.y + z.z));
    g.y = two * (q.x * (x.y + y.x) + q.z * (y.z + z.y) + q.w * (z.x - x.z) - two * q.y * (x.x + z.z));
    g.z = two * (q.x * (x.z + z.x) + q.y * (y.z + z.y) + q.w * (x.y - y.x) - two * q.z * (x.x + y.y));
    real along = g.x * q.x + g.y * q.y + g.z * q.z + g.w * q.w; // the norm has no effect
    real inverse = R(1.0) / norm;
    return make_real4((g.x - along * q.x) * inverse, (g.y - along * q.y) * inverse,
                      (g.z - along * q.z) * inverse, (g.w - along * q.w) * inverse);
}

// The derivative of sharp, the squared area that u and v span, by u: 2 v x (u x v).
FN real3 area_backward(real3 u, real3 v)
{
    return scale3(sub3(scale3(u, dot3(v, v)), scale3(v, dot3(u, v))), R(2.0));
}

// The derivative by a splat's depth along the camera's axis becomes that by its position, which
// splat_project_backward leaves out.
FN real3 splat_depth_backward(splat_lens lens, real by_depth)
{
    return make_real3(lens.view.zx * by_depth, lens.view.zy * by_depth, lens.view.zz * by_depth);
}

// What a splat's place on the screen gets back.
STRUCT(splat_screen_gradient)
{
    real x, y;       // by its centre
    real xx, xy, yy; // twice the derivative by its covariance
    real sharp;      // by the covariance's determinant before the blur, through the compensation
    real size;       // through the determinant after it: twice the derivative by xx and by yy
}
END_STRUCT(splat_screen_gradient)

FN splat_screen_gradient splat_place_backward(splat_lens lens, splat_covariance c, splat_moments m)
{
    splat_screen_gradient g;
    // exponent 1/2 d' Q d with Q the inverse covariance
    real inverse = R(1.0) / c.determinant;
    real qxx = c.yy * inverse, qxy = -c.xy * inverse, qyy = c.xx * inverse;
    g.x = qxx * m.x + qxy * m.y;
    g.y = qxy * m.x + qyy * m.y;
    // Q M Q
    real hxx = qxx * m.xx + qxy * m.xy, hxy = qxx * m.xy + qxy * m.yy;
    real hyx = qxy * m.xx + qyy * m.xy, hyy = qxy * m.xy + qyy * m.yy;
    g.xx = hxx * qxx + hxy * qxy;
    g.xy = hxx * qxy + hxy * qyy;
    g.yy = hyx * qxy + hyy * qyy;
    // the compensation is the square root of sharp / determinant
    mask compensates = and_(R(lens.antialias) > R(0.5),
                            c.sharp > R(SPLAT_COMPENSATION_MIN * SPLAT_COMPENSATION_MIN) * c.determinant);
    real share = sel(compensates, R(0.5) * m.one, R(0.0));
    g.sharp = share * (R(1.0) / sel(compensates, c.sharp, R(1.0)) - inverse);
    g.size = -share * inverse * R(2.0 * SPLAT_BLUR);
    return g;
}

// The derivative by the axes becomes that by what is stored.
FN splat_gradient splat_axes_backward(splat_shape shape, real3 by_a, real3 by_b, real3 by_c)
{
    splat_gradient g;
    g.mean = make_real3(R(0.0), R(0.0), R(0.0));
    g.log_scale = make_real3(dot3(by_a, shape.axes.a), dot3(by_b, shape.axes.b), dot3(by_c, shape.axes.c));
    g.rotation = quaternion_backward(shape.rotation, shape.norm, scale3(by_a, shape.scale.x),
                                     scale3(by_b, shape.scale.y), scale3(by_c, shape.scale.z));
    g.logit = R(0.0);
    return g;
}

// A vector of the camera's space in the layer's, by the transposed view.
FN real3 splat_view_backward(affine w, real3 by)
{
    return make_real3(w.xx * by.x + w.yx * by.y + w.zx * by.z, w.xy * by.x + w.yy * by.y + w.zy * by.z,
                      w.xz * by.x + w.yz * by.y + w.zz * by.z);
}

// m: of a splat that is visible; opacity: in 0 .. 1, before the compensation of anti-aliasing.
FN splat_gradient splat_project_backward(splat_lens lens, real3 mean, splat_shape shape, real opacity,
                                         splat_moments m)
{
    splat_flat f = splat_flatten(lens, mean, shape.axes);
    splat_screen_gradient s = splat_place_backward(lens, splat_spread(f.u, f.v), m);
    mask perspective = R(lens.orthographic) < R(0.5);
    real3 by_u = add3(scale3(f.u, s.xx), scale3(f.v, s.xy));
    real3 by_v = add3(scale3(f.v, s.yy), scale3(f.u, s.xy));
    by_u = add3(by_u, add3(scale3(area_backward(f.u, f.v), s.sharp), scale3(f.u, s.size)));
    by_v = add3(by_v, add3(scale3(area_backward(f.v, f.u), s.sharp), scale3(f.v, s.size)));

    // by the axes, then by scales and rotation
    real3 by_a = add3(scale3(f.row_x, by_u.x), scale3(f.row_y, by_v.x));
    real3 by_b = add3(scale3(f.row_x, by_u.y), scale3(f.row_y, by_v.y));
    real3 by_c = add3(scale3(f.row_x, by_u.z), scale3(f.row_y, by_v.z));
    splat_gradient g = splat_axes_backward(shape, by_a, by_b, by_c);
    g.logit = m.one * (R(1.0) - opacity); // the logarithm of the opacity by its logit

    // by the rows, then by the position in the camera's space
    real3 by_row_x =
        add3(add3(scale3(shape.axes.a, by_u.x), scale3(shape.axes.b, by_u.y)), scale3(shape.axes.c, by_u.z));
    real3 by_row_y =
        add3(add3(scale3(shape.axes.a, by_v.x), scale3(shape.axes.b, by_v.y)), scale3(shape.axes.c, by_v.z));
    real3 forward = make_real3(R(lens.view.zx), R(lens.view.zy), R(lens.view.zz));
    real by_inverse_z = lens.focal_x * (f.p.x * s.x + dot3(by_row_x, f.lean_x)) +
                        lens.focal_y * (f.p.y * s.y + dot3(by_row_y, f.lean_y));
    real ratio_x = f.p.x * f.inverse_z, ratio_y = f.p.y * f.inverse_z;
    mask free_x = and_(perspective, and_(ratio_x > R(lens.slope_x_low), ratio_x < R(lens.slope_x_high)));
    mask free_y = and_(perspective, and_(ratio_y > R(lens.slope_y_low), ratio_y < R(lens.slope_y_high)));
    real by_slope_x = sel(free_x, -lens.focal_x * f.inverse_z * dot3(by_row_x, forward), R(0.0));
    real by_slope_y = sel(free_y, -lens.focal_y * f.inverse_z * dot3(by_row_y, forward), R(0.0));
    by_inverse_z = by_inverse_z + f.p.x * by_slope_x + f.p.y * by_slope_y;
    real3 by_p = make_real3(f.inverse_z * (lens.focal_x * s.x + by_slope_x),
                            f.inverse_z * (lens.focal_y * s.y + by_slope_y),
                            sel(perspective, -f.inverse_z * f.inverse_z * by_inverse_z, R(0.0)));
    g.mean = splat_view_backward(lens.view, by_p);
    return g;
}

// ---- harmonics: by the direction; w: for each function of a band, the derivative by it ----

FN real3 sh_degree1_backward(sh_band1 w)
{
    real k = R(0.4886025119029199);
    return make_real3(-k * w.c, -k * w.a, k * w.b);
}

FN real3 sh_degree2_backward(real3 v, sh_band2 w)
{
    real k = R(1.0925484305920792), m = R(2.0 * 0.31539156525252005), n = R(2.0 * 0.5462742152960396);
    return make_real3(k * (v.y * w.a - v.z * w.d) - m * v.x * w.c + n * v.x * w.e,
                      k * (v.x * w.a - v.z * w.b) - m * v.y * w.c - n * v.y * w.e,
                      R(2.0) * m * v.z * w.c - k * (v.y * w.b + v.x * w.d));
}

FN real3 sh_degree3_backward(real3 v, sh_band3 w)
{
    real xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z, xy = v.x * v.y, yz = v.y * v.z, xz = v.x * v.z;
    real k = R(0.5900435899266435), l = R(2.890611442640554), m = R(0.4570457994644658);
    real n = R(0.3731763325901154), o = R(1.445305721320277);
    real three = R(3.0), four = R(4.0), six = R(6.0), eight = R(8.0), two = R(2.0);
    return make_real3(-six * k * xy * w.a + l * yz * w.b + two * m * xy * w.c - six * n * xz * w.d -
                          m * (four * zz - three * xx - yy) * w.e + two * o * xz * w.f -
                          three * k * (xx - yy) * w.g,
                      -three * k * (xx - yy) * w.a + l * xz * w.b - m * (four * zz - xx - three * yy) * w.c -
                          six * n * yz * w.d + two * m * xy * w.e - two * o * yz * w.f + six * k * xy * w.g,
                      l * xy * w.b - eight * m * yz * w.c + three * n * (two * zz - xx - yy) * w.d -
                          eight * m * xz * w.e + o * (xx - yy) * w.f);
}

// The derivative by a direction becomes that by the splat's position.
FN real3 splat_direction_backward(splat_lens lens, real3 mean, real3 direction, real3 by_direction)
{
    real3 offset = sub3(mean, make_real3(R(lens.eye_x), R(lens.eye_y), R(lens.eye_z)));
    real inverse = R(1.0) / sqrt_(max_(dot3(offset, offset), R(1e-30)));
    return scale3(sub3(by_direction, scale3(direction, dot3(direction, by_direction))), inverse);
}

// ---- the camera ----

// What a camera gets back from one splat, in the layer's space.
STRUCT(splat_camera_gradient)
{
    real3 shift; // by the eye's position
    real3 turn;  // by a rotation vector of the camera about its eye
}
END_STRUCT(splat_camera_gradient)

// A camera that moves sees what it would see of a splat that moves the other way, and only a shift changes
// the direction that harmonics are evaluated in. g: of splat_project_backward; by_direction: of
// splat_direction_backward.
FN splat_camera_gradient splat_camera_backward(splat_lens lens, real3 mean, splat_shape shape,
                                               splat_gradient g, real3 by_direction)
{
    real3 offset = sub3(mean, make_real3(R(lens.eye_x), R(lens.eye_y), R(lens.eye_z)));
    real3 axis = make_real3(shape.rotation.x, shape.rotation.y, shape.rotation.z);
    real3 by_axis = make_real3(g.rotation.x, g.rotation.y, g.rotation.z);
    // a rotation vector w moves a unit quaternion by half the product of (w, 0) with it
    real3 spin =
        add3(cross3(axis, by_axis), sub3(scale3(by_axis, shape.rotation.w), scale3(axis, g.rotation.w)));
    splat_camera_gradient c;
    c.shift = scale3(add3(g.mean, by_direction), R(-1.0));
    c.turn = scale3(add3(cross3(offset, g.mean), scale3(spin, R(0.5) * shape.norm)), R(-1.0));
    return c;
}

#endif
