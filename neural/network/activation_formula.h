// Activations of small networks and their derivatives, as tiny-cuda-nn defines them. A derivative takes the
// activation's value y where that is enough, otherwise the sum x that went in.
#ifndef ORR_ACTIVATION_FORMULA_H
#define ORR_ACTIVATION_FORMULA_H

#include "engine/maths/formula.h"

FN real relu(real x)
{
    return max_(x, R(0.0));
}

FN real relu_slope(real y)
{
    return sel(y > R(0.0), R(1.0), R(0.0));
}

FN real leaky_relu(real x)
{
    return sel(x > R(0.0), x, R(0.01) * x);
}

FN real leaky_relu_slope(real y)
{
    return sel(y > R(0.0), R(1.0), R(0.01));
}

// e^x, which is its own derivative; the exponent stops short of 2^128 so that no infinity is made
FN real exponential(real x)
{
    return exp2_(min_(x * R(1.4426950408889634), R(127.99)));
}

// 1 / (1 + e^-x)
FN real sigmoid(real x)
{
    return R(1.0) / (R(1.0) + exponential(-x));
}

FN real sigmoid_slope(real y)
{
    return y * (R(1.0) - y);
}

FN real silu(real x)
{
    return x * sigmoid(x);
}

FN real silu_slope(real x)
{
    real s = sigmoid(x);
    return s * (R(1.0) + x * (R(1.0) - s));
}

// tanh |x| = (1 - e) / (1 + e), e = exp(-2 |x|); error under 2e-7 absolute
FN real hyperbolic_tangent(real x)
{
    real e = exponential(R(-2.0) * abs_(x));
    real t = (R(1.0) - e) / (R(1.0) + e);
    return sel(x < R(0.0), -t, t);
}

FN real hyperbolic_tangent_slope(real y)
{
    return R(1.0) - y * y;
}

// (x + sqrt(x^2 + 4 / K^2)) / 2 with K = 10, written for negative x so that nothing cancels
FN real squareplus(real x)
{
    real root = sqrt_(fma_(x, x, R(0.04)));
    return sel(x > R(0.0), R(0.5) * (root + x), R(0.02) / (root - x));
}

FN real squareplus_slope(real y)
{
    real square = R(100.0) * y * y;
    return square / (square + R(1.0));
}

// log(1 + exp(K x)) / K with K = 10
FN real softplus(real x)
{
    real e = exponential(R(-10.0) * abs_(x));
    return fma_(log2_(R(1.0) + e), R(0.069314718055994531), max_(x, R(0.0)));
}

FN real softplus_slope(real y)
{
    return R(1.0) - exponential(R(-10.0) * y);
}

// sin x = (-1)^n sin r, with x = n pi + r and |r| at most pi / 2: pi in two parts so that little is lost for
// |x| up to some hundreds, and the Taylor series to r^11, which is off by 6e-8 at the ends
FN real sine(real x)
{
    real n = floor_(fma_(x, R(0.31830988618379067), R(0.5)));
    real r = fma_(n, R(-3.140625), x);
    r = fma_(n, R(-9.67653589793e-4), r);
    real s = r * r;
    real p = fma_(s, R(-2.5052108e-8), R(2.7557319e-6));
    p = fma_(p, s, R(-1.9841270e-4));
    p = fma_(p, s, R(8.3333333e-3));
    p = fma_(p, s, R(-1.6666667e-1));
    real value = fma_(p * s, r, r);
    real odd = n - R(2.0) * floor_(R(0.5) * n);
    return sel(odd > R(0.5), -value, value);
}

FN real sine_slope(real x)
{
    return sine(x + R(1.5707963267948966));
}

#endif
