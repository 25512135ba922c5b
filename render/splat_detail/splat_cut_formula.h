// The choice between merged splats and those that they stand for, and how merged ones are drawn. One text for
// all machines (see engine/maths/formula.h).
#ifndef ORR_SPLAT_CUT_FORMULA_H
#define ORR_SPLAT_CUT_FORMULA_H

#include "render/splat/splat_formula.h"

// What of the camera decides; lengths in the camera's space are in view units.
STRUCT(splat_cut_lens)
{
    affine view;        // layer to camera
    uniform_real scale; // view units per unit of the layer
    uniform_real focal; // [px], the larger one; [px per unit] when orthographic
    uniform_real near_plane, far_plane;
    uniform_real low_x, high_x;  // x/z at the sides of the picture and of what a splat's blur adds; x when
    uniform_real low_y, high_y;  // orthographic
    uniform_real bend_x, bend_y; // how much farther than a ball its projection reaches along that axis
    uniform_real orthographic;   // 1 or 0
}
END_STRUCT(splat_cut_lens)

STRUCT(splat_cut_choice)
{
    mask outside; // of the picture, with all that the node stands for
    mask small;   // the node is drawn, where it is not outside
}
END_STRUCT(splat_cut_choice)

// mean, size (standard deviation), reach (radius of the ball around all it stands for): of a node, in the
// layer's space. largest: [px]. The size on the screen is that at the nearest point of the ball, so that no
// node is smaller than those that it stands for.
FN splat_cut_choice splat_cut(splat_cut_lens lens, real3 mean, real size, real reach, uniform_real largest)
{
    real3 p = affine_point(lens.view, mean);
    reach = reach * R(lens.scale);
    mask orthographic = R(lens.orthographic) > R(0.5);
    real z = sel(orthographic, R(1.0), p.z);
    splat_cut_choice c;
    mask beside = or_(or_(p.x - R(lens.low_x) * z < -reach * R(lens.bend_x),
                          R(lens.high_x) * z - p.x < -reach * R(lens.bend_x)),
                      or_(p.y - R(lens.low_y) * z < -reach * R(lens.bend_y),
                          R(lens.high_y) * z - p.y < -reach * R(lens.bend_y)));
    c.outside = or_(beside, or_(p.z + reach<R(lens.near_plane), p.z - reach> R(lens.far_plane)));
    real nearest = sel(orthographic, R(1.0), max_(p.z - reach, R(lens.near_plane)));
    c.small = size * R(lens.scale * lens.focal) <= R(largest) * nearest;
    return c;
}

// The opacity in the middle of a Gaussian that covers as much of the screen as one of the optical depth
// `depth` there; more than 1 where it covers more than its area. That one covers its area times the integral
// from 0 to `depth` of (1 - exp(-t)) / t; a Gaussian of the opacity o, cut at 1, o up to 1 and 1 + log(o)
// from there on. This is within 1.2 % of the solution.
FN real merged_opacity(real depth)
{
    return depth * fma_(fma_(R(0.4733), depth, R(-0.00823)), depth, R(1.0)) /
           fma_(fma_(R(0.7179), depth, R(0.1408)), depth, R(1.0));
}

// What a merged splat covers: see splat_merge.h.
STRUCT(merged_splat)
{
    real density, crowd, breadth, opacity;
}
END_STRUCT(merged_splat)

// As splat_project, of a merged splat. Its splats are taken for as many of one mean size and opacity, of
// whose Gaussians only that part is drawn which covers 1/255 of a pixel or more: where they cover 1/t of that
// in their middle, a share of 1 - t, whose variance is 1 + t log(t) / (1 - t) times theirs.
FN splat_screen merged_project(splat_lens lens, real3 mean, splat_axes axes, merged_splat node)
{
    splat_flat f = splat_flatten(lens, mean, axes);
    real xx = dot3(f.u, f.u), xy = dot3(f.u, f.v), yy = dot3(f.v, f.v);
    splat_covariance whole = splat_spread(f.u, f.v);
    mask antialias = R(lens.antialias) > R(0.5);
    // (areas)^2 of the mean splat, before the blur and after it
    real sharp = square(node.density / max_(node.crowd, R(1e-30))) * whole.sharp;
    real blurred = sharp + R(SPLAT_BLUR) * fma_(node.breadth, xx + yy, R(SPLAT_BLUR));
    real drawn = sel(antialias, sharp, blurred);
    real peak = node.opacity * sel(antialias, sqrt_(sharp / blurred), R(1.0));
    real t = min_(R(SPLAT_ALPHA_MIN) / max_(peak, R(SPLAT_ALPHA_MIN)), R(0.999));
    real kept = R(1.0) + t * R(0.6931471805599453) * log2_(t) / (R(1.0) - t);
    real own = R(1.0) - (R(1.0) - kept) * min_(node.breadth, R(1.0));
    // the determinant of own x covariance + kept x blur
    real blur = kept * R(SPLAT_BLUR);
    splat_covariance c;
    c.sharp = own * own * whole.sharp;
    c.determinant = c.sharp + blur * own * (xx + yy) + blur * blur;
    c.xx = fma_(own, xx, blur);
    c.xy = own * xy;
    c.yy = fma_(own, yy, blur);
    real opacity = merged_opacity(node.crowd * (R(1.0) - t) * sqrt_(drawn / c.determinant));
    real2 centre = make_real2(lens.focal_x * f.p.x * f.inverse_z + lens.centre_x,
                              lens.focal_y * f.p.y * f.inverse_z + lens.centre_y);
    lens.antialias = 0.0f; // what is covered has it
    return splat_screen_of(lens, centre, f.p.z, f.inside, c, opacity);
}

#endif
