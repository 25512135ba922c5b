// Splats that follow a deformation. Where it is x -> A x + t, a Gaussian's mean becomes A mean + t and its
// covariance A Sigma A^T, so that its axes, scaled by their standard deviations, become A times themselves.
// Colours depend on the direction turned back by the rotation R of A = R S.
#ifndef ORR_DEFORM_FORMULA_H
#define ORR_DEFORM_FORMULA_H

#include "engine/core/rotation_formula.h"

STRUCT(splat_deformation)
{
    real3 x, y, z; // rows of A
    real3 offset;
}
END_STRUCT(splat_deformation)

FN real3 deform_axis(splat_deformation d, real3 axis)
{
    return make_real3(dot3(d.x, axis), dot3(d.y, axis), dot3(d.z, axis));
}

FN real3 deform_mean(splat_deformation d, real3 mean)
{
    return make_real3(dot3(d.x, mean) + d.offset.x, dot3(d.y, mean) + d.offset.y,
                      dot3(d.z, mean) + d.offset.z);
}

FN real3 turn_back(quaternion turn, real3 direction)
{
    return rotate_inverse(unit_quaternion_matrix(turn), direction);
}

#endif
