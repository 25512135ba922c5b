// The mathematics of one splat: covariance, projection, footprint, colour, coverage. One text for CPU lanes,
// CUDA and GLSL (see engine/maths/formula.h).
//
// Semantics of Kerbl et al. 2023 ("3D Gaussian splatting for real-time radiance field rendering") with
// gsplat's constants; the projection is EWA splatting (Zwicker et al. 2001), the compensation that of
// Mip-Splatting (Yu et al. 2024). The exponent and the opacity are in base-2 logarithms, so that coverage
// costs one exp2.
#ifndef ORR_SPLAT_FORMULA_H
#define ORR_SPLAT_FORMULA_H

#include "engine/maths/rotation_formula.h"

#define SPLAT_ALPHA_MIN (1.0 / 255.0) // contributions under this are skipped
#define SPLAT_ALPHA_MAX 0.99          // no splat covers more
#define SPLAT_BLUR 0.3                // variance added to the 2D covariance [px^2]
#define SPLAT_COMPENSATION_MIN 0.005  // least opacity factor of the anti-aliasing compensation
#define SPLAT_LOG2E 1.4426950408889634

// The camera and the layer, for the projection; lengths in the camera's space are in view units.
STRUCT(splat_lens)
{
    affine view;                      // layer to camera: x right, y down, z forward
    uniform_real eye_x, eye_y, eye_z; // the camera's position in the layer's space
    uniform_real focal_x, focal_y;    // [px], or [px per unit] when orthographic
    uniform_real centre_x, centre_y;  // [px]
    uniform_real near_plane, far_plane;
    uniform_real slope_x_low, slope_x_high; // bounds of x/z inside the Jacobian
    uniform_real slope_y_low, slope_y_high;
    uniform_real width, height; // [px]
    uniform_real orthographic;  // 1 or 0
    uniform_real antialias;     // 1 or 0
}
END_STRUCT(splat_lens)

// The ellipse of a splat: sharp_x (dx + lean dy)^2 + sharp_y dy^2 is the exponent of its coverage. This form
// of the inverse covariance stays exact for needles: the usual xx, xy, yy lose all digits where long and
// short axes differ by 10^3.
STRUCT(ellipse)
{
    real sharp_x, lean, sharp_y; // [1/px^2], [1], [1/px^2]; times log2(e)/2, so that coverage costs one exp2
}
END_STRUCT(ellipse)

// A splat on the screen.
STRUCT(splat_screen)
{
    real2 centre; // [px]
    ellipse shape;
    real log2_opacity; // <= 0
    real depth;        // along the camera's axis
    real reach;        // coverage is 1/255 or more exactly where the exponent is at most this
    real2 half_size;   // half the bounding box of that ellipse [px]
    mask visible;      // false: draws nothing; the other values are then meaningless
}
END_STRUCT(splat_screen)

// The axes of a splat, each scaled by its standard deviation: the columns of R S, so that Sigma = R S S R' .
STRUCT(splat_axes)
{
    real3 a, b, c;
}
END_STRUCT(splat_axes)

// q: unit quaternion with w in .w; scale: standard deviations.
FN splat_axes splat_make_axes(real4 q, real3 scale)
{
    matrix3 rotation = unit_quaternion_matrix(make_quaternion(q.w, q.x, q.y, q.z));
    splat_axes m;
    m.a = scale3(rotation.x, scale.x);
    m.b = scale3(rotation.y, scale.y);
    m.c = scale3(rotation.z, scale.z);
    return m;
}

FN real square(real a)
{
    return a * a;
}

// The exponent up to which a splat's coverage is 1/255 or more.
FN real splat_reach(real log2_opacity)
{
    return log2_opacity + R(7.994353436858858); // log2(255)
}

// A splat before the camera, by its derivative from the layer to the screen.
STRUCT(splat_flat)
{
    real3 p;               // in the camera's space
    mask inside;           // between the near and the far plane
    real inverse_z;        // 1 where orthographic or outside
    real slope_x, slope_y; // x/z and y/z within the lens's bounds; 0 where orthographic
    real3 lean_x, lean_y; // rows of that derivative, less the factors focal_x inverse_z and focal_y inverse_z
    real3 row_x, row_y;   // with them
    real3 u, v;           // the splat's axes on the screen, a row each [px]
}
END_STRUCT(splat_flat)

// mean, axes: in the layer's space.
FN splat_flat splat_flatten(splat_lens lens, real3 mean, splat_axes axes)
{
    splat_flat f;
    f.p = affine_point(lens.view, mean);
    mask perspective = R(lens.orthographic) < R(0.5);
    f.inside = and_(f.p.z >= R(lens.near_plane), f.p.z <= R(lens.far_plane));
    // a depth of 1 makes the perspective formulas the orthographic ones
    f.inverse_z = R(1.0) / sel(and_(f.inside, perspective), f.p.z, R(1.0));
    // the slope is bounded so that splats far outside stay tame
    real slope_x = min_(max_(f.p.x * f.inverse_z, R(lens.slope_x_low)), R(lens.slope_x_high));
    real slope_y = min_(max_(f.p.y * f.inverse_z, R(lens.slope_y_low)), R(lens.slope_y_high));
    f.slope_x = sel(perspective, slope_x, R(0.0));
    f.slope_y = sel(perspective, slope_y, R(0.0));
    f.lean_x = make_real3(lens.view.xx - f.slope_x * lens.view.zx, lens.view.xy - f.slope_x * lens.view.zy,
                          lens.view.xz - f.slope_x * lens.view.zz);
    f.lean_y = make_real3(lens.view.yx - f.slope_y * lens.view.zx, lens.view.yy - f.slope_y * lens.view.zy,
                          lens.view.yz - f.slope_y * lens.view.zz);
    f.row_x = scale3(f.lean_x, lens.focal_x * f.inverse_z);
    f.row_y = scale3(f.lean_y, lens.focal_y * f.inverse_z);
    f.u = make_real3(dot3(f.row_x, axes.a), dot3(f.row_x, axes.b), dot3(f.row_x, axes.c));
    f.v = make_real3(dot3(f.row_y, axes.a), dot3(f.row_y, axes.b), dot3(f.row_y, axes.c));
    return f;
}

// The 2D covariance that u and v span, blurred, and its determinant. Determinants are sums of squares
// (Cauchy-Binet), which no cancellation can spoil.
STRUCT(splat_covariance)
{
    real xx, xy, yy;  // [px^2]
    real sharp;       // determinant before the blur
    real determinant; // after it
}
END_STRUCT(splat_covariance)

// xx, xy, yy, sharp: before the blur.
FN splat_covariance splat_blurred(real xx, real xy, real yy, real sharp)
{
    splat_covariance c;
    c.sharp = sharp;
    c.determinant = sharp + R(SPLAT_BLUR) * (xx + yy) + R(SPLAT_BLUR * SPLAT_BLUR);
    c.xx = xx + R(SPLAT_BLUR);
    c.xy = xy;
    c.yy = yy + R(SPLAT_BLUR);
    return c;
}

FN splat_covariance splat_spread(real3 u, real3 v)
{
    return splat_blurred(dot3(u, u), dot3(u, v), dot3(v, v),
                         square(u.x * v.y - u.y * v.x) + square(u.y * v.z - u.z * v.y) +
                             square(u.z * v.x - u.x * v.z));
}

// A splat on the screen from where it is and how far it spreads. inside: between the near and the far plane.
FN splat_screen splat_screen_of(splat_lens lens, real2 centre, real depth, mask inside, splat_covariance c,
                                real opacity)
{
    splat_screen s;
    s.depth = depth;
    s.centre = centre;
    real compensation =
        sqrt_(max_(c.sharp / c.determinant, R(SPLAT_COMPENSATION_MIN * SPLAT_COMPENSATION_MIN)));
    opacity = sel(R(lens.antialias) > R(0.5), opacity * compensation, opacity);

    s.shape.sharp_x = R(0.5 * SPLAT_LOG2E) * c.yy / c.determinant;
    s.shape.lean = -c.xy / c.yy;
    s.shape.sharp_y = R(0.5 * SPLAT_LOG2E) / c.yy;

    mask opaque_enough = opacity >= R(SPLAT_ALPHA_MIN);
    s.log2_opacity = log2_(sel(opaque_enough, opacity, R(1.0)));
    s.reach = splat_reach(s.log2_opacity);
    real stretch = s.reach * R(2.0 / SPLAT_LOG2E);
    s.half_size.x = sqrt_(stretch * c.xx);
    s.half_size.y = sqrt_(stretch * c.yy);
    // a pixel's centre is half a pixel inside the picture
    mask on_screen = and_(
        and_(s.centre.x + s.half_size.x >= R(0.5), s.centre.x - s.half_size.x <= R(lens.width) - R(0.5)),
        and_(s.centre.y + s.half_size.y >= R(0.5), s.centre.y - s.half_size.y <= R(lens.height) - R(0.5)));
    // comparisons that NaN and overflow fail keep broken splats out
    s.visible = and_(and_(inside, opaque_enough), and_(on_screen, c.determinant < R(1e30)));
    return s;
}

// mean, axes: in the layer's space. opacity in 0 .. 1.
FN splat_screen splat_project(splat_lens lens, real3 mean, splat_axes axes, real opacity)
{
    splat_flat f = splat_flatten(lens, mean, axes);
    real2 centre = make_real2(lens.focal_x * f.p.x * f.inverse_z + lens.centre_x,
                              lens.focal_y * f.p.y * f.inverse_z + lens.centre_y);
    return splat_screen_of(lens, centre, f.p.z, f.inside, splat_spread(f.u, f.v), opacity);
}

// How much a splat would cover a pixel without bounds. d: pixel centre - splat centre [px].
FN real splat_coverage(real log2_opacity, real2 d, ellipse shape)
{
    real across = fma_(shape.lean, d.y, d.x);
    real power = fma_(shape.sharp_x * across, across, shape.sharp_y * d.y * d.y);
    return exp2_(log2_opacity - power);
}

// How much it covers.
FN real splat_alpha(real log2_opacity, real2 d, ellipse shape)
{
    real alpha = min_(splat_coverage(log2_opacity, d, shape), R(SPLAT_ALPHA_MAX));
    return sel(alpha < R(SPLAT_ALPHA_MIN), R(0.0), alpha);
}

// Left and right end of the ellipse `exponent <= reach` within the band of rows low .. high (relative to its
// centre); empty when left > right.
FN real2 splat_band(ellipse shape, real reach, real2 half_size, real low, real high)
{
    // the row where the ellipse is widest, as far as the band contains it
    real widest = shape.sharp_x * shape.lean * half_size.x /
                  fma_(shape.sharp_x * shape.lean, shape.lean, shape.sharp_y);
    real row_right = min_(max_(-widest, low), high);
    real row_left = min_(max_(widest, low), high);
    real right = reach - shape.sharp_y * row_right * row_right;
    real left = reach - shape.sharp_y * row_left * row_left;
    mask empty = or_(low > half_size.y, high < -half_size.y);
    real2 ends;
    ends.x = sel(empty, R(1.0), -shape.lean * row_left - sqrt_(max_(left, R(0.0)) / shape.sharp_x));
    ends.y = sel(empty, R(-1.0), -shape.lean * row_right + sqrt_(max_(right, R(0.0)) / shape.sharp_x));
    return ends;
}

#define SPLAT_TILE 16 // [px] per side of the GPUs' tiles

// The picture is cut into square tiles of `size` pixels a side, a power of two; `tiles` is how many there are
// along an axis.

// The tile along one axis that contains a position [px]; a real, because positions may be far outside the
// range of int.
FN real splat_tile(real position, uniform_real size, uniform_real tiles)
{
    return min_(max_(floor_(position * R(1.0f / size)), R(0.0)), R(tiles - 1.0f));
}

// First and last tile along one axis of the box around a splat's ellipse.
FN real2 splat_tile_box(real centre, real half_size, uniform_real size, uniform_real tiles)
{
    return make_real2(splat_tile(centre - half_size - R(0.5), size, tiles),
                      splat_tile(centre + half_size - R(0.5), size, tiles));
}

// Where a splat covers the picture by 1/255 or more.
STRUCT(splat_footprint)
{
    real2 centre;      // [px]
    ellipse shape;     // its exponent is at most splat_reach(log2_opacity) there
    real log2_opacity; // <= 0
    real2 half_size;   // half the ellipse's bounding box [px]
}
END_STRUCT(splat_footprint)

// First and last tile that the ellipse reaches in a row of tiles, exactly; empty when x > y.
FN real2 splat_tile_row(splat_footprint s, real row, uniform_real size, uniform_real tiles)
{
    // pixel centres of the row, and a hundredth of a pixel for the rounding of these lines
    real low = row * R(size) + R(0.49) - s.centre.y;
    real2 ends = splat_band(s.shape, splat_reach(s.log2_opacity), s.half_size, low, low + R(size) - R(0.98));
    real left = s.centre.x + ends.x - R(0.51), right = s.centre.x + ends.y - R(0.49);
    real2 box = splat_tile_box(s.centre.x, s.half_size.x, size, tiles);
    mask empty = or_(ends.x > ends.y, or_(right < R(0.0), left >= R(size * tiles)));
    return make_real2(sel(empty, R(1.0), max_(splat_tile(left, size, tiles), box.x)),
                      sel(empty, R(0.0), min_(splat_tile(right, size, tiles), box.y)));
}

// Real spherical harmonics of a unit direction, with the signs that splat files use. The coefficients
// multiply in the order of the members; degree 0 is the constant SH_0.
#define SH_0 0.28209479177387814

STRUCT(sh_band1)
{
    real a, b, c;
}
END_STRUCT(sh_band1)

STRUCT(sh_band2)
{
    real a, b, c, d, e;
}
END_STRUCT(sh_band2)

STRUCT(sh_band3)
{
    real a, b, c, d, e, f, g;
}
END_STRUCT(sh_band3)

FN sh_band1 sh_degree1(real3 v)
{
    sh_band1 s;
    s.a = R(-0.4886025119029199) * v.y;
    s.b = R(0.4886025119029199) * v.z;
    s.c = R(-0.4886025119029199) * v.x;
    return s;
}

FN sh_band2 sh_degree2(real3 v)
{
    sh_band2 s;
    s.a = R(1.0925484305920792) * v.x * v.y;
    s.b = R(-1.0925484305920792) * v.y * v.z;
    s.c = R(0.31539156525252005) * (R(2.0) * v.z * v.z - v.x * v.x - v.y * v.y);
    s.d = R(-1.0925484305920792) * v.x * v.z;
    s.e = R(0.5462742152960396) * (v.x * v.x - v.y * v.y);
    return s;
}

FN sh_band3 sh_degree3(real3 v)
{
    real xx = v.x * v.x;
    real yy = v.y * v.y;
    real zz = v.z * v.z;
    sh_band3 s;
    s.a = R(-0.5900435899266435) * v.y * (R(3.0) * xx - yy);
    s.b = R(2.890611442640554) * v.x * v.y * v.z;
    s.c = R(-0.4570457994644658) * v.y * (R(4.0) * zz - xx - yy);
    s.d = R(0.3731763325901154) * v.z * (R(2.0) * zz - R(3.0) * xx - R(3.0) * yy);
    s.e = R(-0.4570457994644658) * v.x * (R(4.0) * zz - xx - yy);
    s.f = R(1.445305721320277) * v.z * (xx - yy);
    s.g = R(-0.5900435899266435) * v.x * (xx - R(3.0) * yy);
    return s;
}

// A splat's colour is summed up band by band, in the order of the coefficients: sh_sum0, then as many of the
// others as the splat has degrees, then sh_clamped. c: the band's coefficients, each of red, green and blue.
FN real3 sh_add(real3 sum, real weight, real3 c)
{
    return make_real3(fma_(weight, c.x, sum.x), fma_(weight, c.y, sum.y), fma_(weight, c.z, sum.z));
}

FN real3 sh_sum0(real3 c)
{
    return sh_add(make_real3(R(0.5), R(0.5), R(0.5)), R(SH_0), c);
}

FN real3 sh_sum1(real3 sum, real3 direction, real3 c0, real3 c1, real3 c2)
{
    sh_band1 b = sh_degree1(direction);
    sum = sh_add(sum, b.a, c0);
    sum = sh_add(sum, b.b, c1);
    return sh_add(sum, b.c, c2);
}

FN real3 sh_sum2(real3 sum, real3 direction, real3 c0, real3 c1, real3 c2, real3 c3, real3 c4)
{
    sh_band2 b = sh_degree2(direction);
    sum = sh_add(sum, b.a, c0);
    sum = sh_add(sum, b.b, c1);
    sum = sh_add(sum, b.c, c2);
    sum = sh_add(sum, b.d, c3);
    return sh_add(sum, b.e, c4);
}

FN real3 sh_sum3(real3 sum, real3 direction, real3 c0, real3 c1, real3 c2, real3 c3, real3 c4, real3 c5,
                 real3 c6)
{
    sh_band3 b = sh_degree3(direction);
    sum = sh_add(sum, b.a, c0);
    sum = sh_add(sum, b.b, c1);
    sum = sh_add(sum, b.c, c2);
    sum = sh_add(sum, b.d, c3);
    sum = sh_add(sum, b.e, c4);
    sum = sh_add(sum, b.f, c5);
    return sh_add(sum, b.g, c6);
}

FN real3 sh_clamped(real3 sum)
{
    return make_real3(max_(sum.x, R(0.0)), max_(sum.y, R(0.0)), max_(sum.z, R(0.0)));
}

// Direction from the camera to a splat, unit length.
FN real3 splat_direction(splat_lens lens, real3 mean)
{
    return unit3(sub3(mean, make_real3(R(lens.eye_x), R(lens.eye_y), R(lens.eye_z))));
}

#endif
