// Splats that follow a deformation. Where it is x -> A x + t, a Gaussian's mean becomes A mean + t and its
// covariance A Sigma A^T, so that its axes, scaled by their standard deviations, become A times themselves.
// Colours depend on the direction turned back by the rotation R of A = R S.
#ifndef ORR_DEFORM_FORMULA_H
#define ORR_DEFORM_FORMULA_H

#include "render/splat/splat_formula.h"

// A piece of the deformation: orr_affine_piece, number by number.
STRUCT(splat_deformation)
{
    real3 x, y, z; // rows of A
    real3 offset;
    quaternion turn; // R
}
END_STRUCT(splat_deformation)

FN real3 deform_axis(splat_deformation d, real3 axis)
{
    return make_real3(dot3(d.x, axis), dot3(d.y, axis), dot3(d.z, axis));
}

FN real3 deform_mean(splat_deformation d, real3 mean)
{
    return add3(deform_axis(d, mean), d.offset);
}

FN splat_axes deform_axes(splat_deformation d, splat_axes axes)
{
    splat_axes moved;
    moved.a = deform_axis(d, axes.a);
    moved.b = deform_axis(d, axes.b);
    moved.c = deform_axis(d, axes.c);
    return moved;
}

// From the camera to a splat that was moved to `mean`, as its harmonics take it.
FN real3 deform_direction(splat_deformation d, splat_lens lens, real3 mean)
{
    return rotate_inverse(unit_quaternion_matrix(d.turn), splat_direction(lens, mean));
}

#endif
