// The angle of a vector. One text for CPU lanes, CUDA and GLSL (see formula.h).
#ifndef ORR_ANGLE_FORMULA_H
#define ORR_ANGLE_FORMULA_H

#include "engine/maths/formula.h"

#define ANGLE_PI 3.14159265f

// The angle of a vector (cosine, sine) of any length with sine >= 0: 0 .. pi. Abramowitz and Stegun 4.4.49,
// 2e-8 off before rounding.
FN real angle_of(real sine, real cosine)
{
    real across = abs_(cosine), most = max_(max_(sine, across), R(1e-30));
    real x = min_(sine, across) / most, xx = x * x;
    real a = fma_(xx, R(0.0028662257), R(-0.0161657367));
    a = fma_(xx, a, R(0.0429096138));
    a = fma_(xx, a, R(-0.0752896400));
    a = fma_(xx, a, R(0.1065626393));
    a = fma_(xx, a, R(-0.1420889944));
    a = fma_(xx, a, R(0.1999355085));
    a = fma_(xx, a, R(-0.3333314528));
    a = x * fma_(xx, a, R(1.0));
    a = sel(sine > across, R(0.5 * ANGLE_PI) - a, a);
    return sel(cosine < R(0.0), R(ANGLE_PI) - a, a);
}

// The sine of an angle in turns, by the odd polynomial of degree 7 that is closest over a quarter of a turn:
// 6e-7 off before rounding.
FN real angle_sine(real turns)
{
    real t = turns - floor_(turns + R(0.5)), a = abs_(t), x = min_(a, R(0.5) - a), xx = x * x;
    real s = fma_(xx, R(-70.9934276), R(81.3407685));
    s = fma_(xx, s, R(-41.3371424));
    s = x * fma_(xx, s, R(6.283164));
    return sel(t < R(0.0), -s, s);
}

// The point of the unit circle at an angle in turns: its cosine and sine.
FN real2 angle_point(real turns)
{
    return make_real2(angle_sine(turns + R(0.25)), angle_sine(turns));
}

#endif
