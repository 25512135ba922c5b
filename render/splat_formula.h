// The mathematics of one splat: covariance, projection, footprint, colour, coverage. One text for CPU lanes,
// CUDA and GLSL (see engine/core/formula.h).
//
// Semantics of Kerbl et al. 2023 ("3D Gaussian splatting for real-time radiance field rendering") with
// gsplat's constants; the projection is EWA splatting (Zwicker et al. 2001), the compensation that of
// Mip-Splatting (Yu et al. 2024). Coefficients of the conic and the opacity are kept in base-2 logarithms so
// that coverage costs one exp2.
#ifndef ORR_SPLAT_FORMULA_H
#define ORR_SPLAT_FORMULA_H

#include "engine/core/formula.h"

#define SPLAT_ALPHA_MIN (1.0 / 255.0) // contributions under this are skipped
#define SPLAT_ALPHA_MAX 0.99          // no splat covers more
#define SPLAT_T_MIN 1e-4              // a pixel stops before its transmittance reaches this
#define SPLAT_BLUR 0.3                // variance added to the 2D covariance [px^2]
#define SPLAT_COMPENSATION_MIN 0.005  // least opacity factor of the anti-aliasing compensation
#define SPLAT_LOG2E 1.4426950408889634

// What a projection needs to know about the camera and the layer; all lengths of the camera's space are view
// units.
STRUCT(splat_lens)
{
    affine view;                      // layer to camera: x right, y down, z forward
    uniform_real eye_x, eye_y, eye_z; // the camera's place in the layer's own space
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

// A splat on the screen.
STRUCT(splat_screen)
{
    real2 centre; // [px]
    sym2 conic;   // inverse 2D covariance times log2(e)/2 [1/px^2], so that coverage is 2^(log2_opacity - d'
                  // conic d)
    real log2_opacity; // <= 0
    real depth;        // along the camera's axis
    real reach;        // coverage >= 1/255 exactly where d' conic d <= reach
    real2 half_size;   // half the bounding box of that ellipse [px]
    mask visible;      // false: draws nothing; the other values are then meaningless
}
END_STRUCT(splat_screen)

// Sigma = R diag(scale^2) R^T. q: unit quaternion with w in .w; scale: standard deviations.
FN sym3 splat_covariance(real4 q, real3 scale)
{
    // columns of R diag(scale)
    real3 a =
        make_real3((R(1.0) - R(2.0) * (q.y * q.y + q.z * q.z)) * scale.x,
                   R(2.0) * (q.x * q.y + q.w * q.z) * scale.x, R(2.0) * (q.x * q.z - q.w * q.y) * scale.x);
    real3 b = make_real3(R(2.0) * (q.x * q.y - q.w * q.z) * scale.y,
                         (R(1.0) - R(2.0) * (q.x * q.x + q.z * q.z)) * scale.y,
                         R(2.0) * (q.y * q.z + q.w * q.x) * scale.y);
    real3 c =
        make_real3(R(2.0) * (q.x * q.z + q.w * q.y) * scale.z, R(2.0) * (q.y * q.z - q.w * q.x) * scale.z,
                   (R(1.0) - R(2.0) * (q.x * q.x + q.y * q.y)) * scale.z);
    sym3 s;
    s.xx = a.x * a.x + b.x * b.x + c.x * c.x;
    s.xy = a.x * a.y + b.x * b.y + c.x * c.y;
    s.xz = a.x * a.z + b.x * b.z + c.x * c.z;
    s.yy = a.y * a.y + b.y * b.y + c.y * c.y;
    s.yz = a.y * a.z + b.y * b.z + c.y * c.z;
    s.zz = a.z * a.z + b.z * b.z + c.z * c.z;
    return s;
}

// r' Sigma s
FN real sym3_between(sym3 m, real3 r, real3 s)
{
    return r.x * (m.xx * s.x + m.xy * s.y + m.xz * s.z) + r.y * (m.xy * s.x + m.yy * s.y + m.yz * s.z) +
           r.z * (m.xz * s.x + m.yz * s.y + m.zz * s.z);
}

// mean, covariance: in the layer's space. opacity in 0 .. 1.
FN splat_screen splat_project(splat_lens lens, real3 mean, sym3 covariance, real opacity)
{
    splat_screen s;
    real3 p = affine_point(lens.view, mean);
    mask perspective = R(lens.orthographic) < R(0.5);
    // a depth of 1 makes the perspective formulas the orthographic ones
    real z = sel(perspective, p.z, R(1.0));
    mask inside = and_(p.z >= R(lens.near_plane), p.z <= R(lens.far_plane));
    real inverse_z = R(1.0) / sel(inside, z, R(1.0));

    s.depth = p.z;
    s.centre.x = lens.focal_x * p.x * inverse_z + lens.centre_x;
    s.centre.y = lens.focal_y * p.y * inverse_z + lens.centre_y;

    // rows of J W, the layer-to-screen derivative; the slope is bounded so that splats far outside stay tame
    real slope_x = min_(max_(p.x * inverse_z, R(lens.slope_x_low)), R(lens.slope_x_high));
    real slope_y = min_(max_(p.y * inverse_z, R(lens.slope_y_low)), R(lens.slope_y_high));
    slope_x = sel(perspective, slope_x, R(0.0));
    slope_y = sel(perspective, slope_y, R(0.0));
    real jx = lens.focal_x * inverse_z;
    real jy = lens.focal_y * inverse_z;
    real3 row_x =
        make_real3(jx * (lens.view.xx - slope_x * lens.view.zx), jx * (lens.view.xy - slope_x * lens.view.zy),
                   jx * (lens.view.xz - slope_x * lens.view.zz));
    real3 row_y =
        make_real3(jy * (lens.view.yx - slope_y * lens.view.zx), jy * (lens.view.yy - slope_y * lens.view.zy),
                   jy * (lens.view.yz - slope_y * lens.view.zz));
    real xx = sym3_between(covariance, row_x, row_x);
    real xy = sym3_between(covariance, row_x, row_y);
    real yy = sym3_between(covariance, row_y, row_y);

    real sharp = max_(xx * yy - xy * xy, R(0.0));
    xx = xx + R(SPLAT_BLUR);
    yy = yy + R(SPLAT_BLUR);
    real determinant = xx * yy - xy * xy;
    real compensation = sqrt_(max_(sharp / determinant, R(SPLAT_COMPENSATION_MIN * SPLAT_COMPENSATION_MIN)));
    opacity = sel(R(lens.antialias) > R(0.5), opacity * compensation, opacity);

    real half_log2e = R(0.5 * SPLAT_LOG2E) / determinant;
    s.conic.xx = yy * half_log2e;
    s.conic.xy = -xy * half_log2e;
    s.conic.yy = xx * half_log2e;

    mask opaque_enough = opacity >= R(SPLAT_ALPHA_MIN);
    s.log2_opacity = log2_(sel(opaque_enough, opacity, R(1.0)));
    s.reach = s.log2_opacity + R(7.994353436858858); // log2(255)
    // the ellipse's box: half width = sqrt(reach xx / (log2(e)/2))
    real stretch = s.reach * R(2.0 / SPLAT_LOG2E);
    s.half_size.x = sqrt_(stretch * xx);
    s.half_size.y = sqrt_(stretch * yy);
    // a pixel's centre is half a pixel inside the picture
    mask on_screen = and_(
        and_(s.centre.x + s.half_size.x >= R(0.5), s.centre.x - s.half_size.x <= R(lens.width) - R(0.5)),
        and_(s.centre.y + s.half_size.y >= R(0.5), s.centre.y - s.half_size.y <= R(lens.height) - R(0.5)));
    // a comparison that NaN fails keeps broken splats out
    s.visible =
        and_(and_(inside, opaque_enough), and_(on_screen, and_(determinant > R(0.0), determinant < R(1e30))));
    return s;
}

// How much a splat covers a pixel. d: pixel centre - splat centre [px].
FN real splat_alpha(real log2_opacity, real2 d, sym2 conic)
{
    real power = d.x * (conic.xx * d.x + R(2.0) * conic.xy * d.y) + conic.yy * d.y * d.y;
    real alpha = min_(exp2_(log2_opacity - power), R(SPLAT_ALPHA_MAX));
    return sel(alpha < R(SPLAT_ALPHA_MIN), R(0.0), alpha);
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

// Direction from the camera to a splat, unit length.
FN real3 splat_direction(splat_lens lens, real3 mean)
{
    real3 v = make_real3(mean.x - lens.eye_x, mean.y - lens.eye_y, mean.z - lens.eye_z);
    real inverse = R(1.0) / sqrt_(max_(dot3(v, v), R(1e-30)));
    return make_real3(v.x * inverse, v.y * inverse, v.z * inverse);
}

#endif
