// The transfer function of sRGB (IEC 61966-2-1) in both directions, for one channel, for the host, CPU lanes,
// CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_COLOUR_FORMULA_H
#define ORR_COLOUR_FORMULA_H

#include "engine/maths/formula.h"

// A display value to linear light, 0 .. 1 to 0 .. 1; values above 1 follow the curve, negative ones the line.
FN real srgb_to_linear(real encoded)
{
    real curve = pow_(DIVIDE(max_(encoded, R(0.04045)) + R(0.055), 1.055), R(2.4));
    return sel(encoded <= R(0.04045), DIVIDE(encoded, 12.92), curve);
}

// Linear light to an encoded value, likewise.
FN real linear_to_srgb(real linear)
{
    real curve = R(1.055) * pow_(max_(linear, R(0.0031308)), R(1.0 / 2.4)) - R(0.055);
    return sel(linear <= R(0.0031308), R(12.92) * linear, curve);
}

#endif
