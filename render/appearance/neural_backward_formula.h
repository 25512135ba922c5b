// The derivatives of neural_formula.h, for learning.
#ifndef ORR_NEURAL_BACKWARD_FORMULA_H
#define ORR_NEURAL_BACKWARD_FORMULA_H

#include "render/appearance/neural_formula.h"

// Derivatives by what the latents have been multiplied to.
STRUCT(neural_frame_slope)
{
    real3 right, normal;
}
END_STRUCT(neural_frame_slope)

// Of what a direction becomes in a frame, `by_turned`, by the frame's vectors: added to `sum`. up . v is
// (normal x right) . v.
FN neural_frame_slope neural_turn_backward(neural_frame_slope sum, neural_frame f, real3 direction,
                                           real3 by_turned)
{
    sum.right = add_scaled3(sum.right, direction, by_turned.x);
    sum.right = add_scaled3(sum.right, cross3(direction, f.normal), by_turned.y);
    sum.normal = add_scaled3(sum.normal, cross3(f.right, direction), by_turned.y);
    sum.normal = add_scaled3(sum.normal, direction, by_turned.z);
    return sum;
}

// Of neural_ridge, by the half vector in the frame.
FN real3 neural_ridge_backward(real3 half_way, real by_ridge)
{
    real squared = fma_(half_way.x, half_way.x, half_way.y * half_way.y);
    real slope = by_ridge * R(0.5 * 2.0 * 1.4426950408889634) / (squared + R(1e-5));
    return make_real3(slope * half_way.x, slope * half_way.y, R(0.0));
}

// Through a / |a|, where that is `unit`.
FN real3 neural_unit_backward(real3 a, real3 unit, real3 by_unit)
{
    return scale3(add_scaled3(by_unit, unit, -dot3(unit, by_unit)), R(1.0) / length3(a));
}

// by_frame: by the frame's unit vectors; right, normal: what neural_frame_of was given.
FN neural_frame_slope neural_frame_backward(neural_frame_slope by_frame, neural_frame f, real3 right,
                                            real3 normal)
{
    neural_frame_slope s;
    s.right = neural_unit_backward(make_real3(right.x + R(1.0), right.y, right.z), f.right, by_frame.right);
    s.normal =
        neural_unit_backward(make_real3(normal.x, normal.y, normal.z + R(1.0)), f.normal, by_frame.normal);
    return s;
}

// How reflected light is compared: by its cube root, as eyes tell brightnesses apart.
#define NEURAL_DARK 1e-3f

FN real neural_brightness(real light)
{
    return exp2_(R(1.0f / 3.0f) * log2_(light + R(NEURAL_DARK)));
}

// Its derivative.
FN real neural_brightness_slope(real light)
{
    return R(1.0f / 3.0f) * neural_brightness(light) / (light + R(NEURAL_DARK));
}

// Derivative of part = neural_reflectance(value), by value.
FN real neural_reflectance_slope(real value, real part)
{
    return sel(value < R(12.0), part, R(0.0));
}

#endif
