// Encodings of one coordinate or direction (see encoding.h), with their derivatives; grids are in
// grid_formula.h. Gradients are sums over an input's features, from 0: each function returns the sum with one
// feature added.
#ifndef ENCODING_FORMULA_H
#define ENCODING_FORMULA_H

#include "engine/maths/formula.h"

FN real identity_feature(real x, uniform_real scale, uniform_real offset)
{
    return fma_(x, R(scale), R(offset));
}

// ---- sines ----

// sin(pi x) for x in -1/2 .. 1/2: its Taylor series up to x^13; the rest is under 7e-10
FN real sin_pi_reduced(real x)
{
    real t = x * x;
    real p = R(4.6630280576761e-4);
    p = fma_(p, t, R(-7.3704309457144e-3));
    p = fma_(p, t, R(8.2145886611128e-2));
    p = fma_(p, t, R(-5.9926452932079e-1));
    p = fma_(p, t, R(2.5501640398773));
    p = fma_(p, t, R(-5.1677127800500));
    p = fma_(p, t, R(3.1415926535898));
    return p * x;
}

// 1 for even n, -1 for odd n
FN real sign_of_parity(real n)
{
    return R(1.0) + R(4.0) * floor_(R(0.5) * n) - R(2.0) * n;
}

FN real sin_pi(real x)
{
    real n = floor_(x + R(0.5));
    return sign_of_parity(n) * sin_pi_reduced(x - n);
}

FN real cos_pi(real x)
{
    real n = floor_(x + R(0.5));
    return sign_of_parity(n) * sin_pi_reduced(R(0.5) - abs_(x - n));
}

// The features of one frequency 2^k: sin(pi x 2^k) and cos(pi x 2^k)
FN real2 frequency_features(real x, uniform_real frequency)
{
    real2 r;
    r.x = sin_pi(x * frequency);
    r.y = cos_pi(x * frequency);
    return r;
}

// by_sine, by_cosine: gradients by the two features
FN real frequency_gradient(real sum, real x, uniform_real frequency, real by_sine, real by_cosine)
{
    real slope = by_sine * cos_pi(x * frequency) - by_cosine * sin_pi(x * frequency);
    return fma_(slope, frequency * R(3.14159265), sum);
}

// ---- triangle waves ----

// Triangle wave number k of frequency 2^k / 2, each a quarter of a period further (Müller 2021)
FN real triangle_phase(real x, uniform_real frequency, uniform_real k)
{
    real value = x * (R(0.5) * frequency) + R(0.25) * k;
    return value - floor_(value);
}

FN real triangle_feature(real x, uniform_real frequency, uniform_real k)
{
    return R(4.0) * abs_(triangle_phase(x, frequency, k) - R(0.5)) - R(1.0);
}

FN real triangle_gradient(real sum, real x, uniform_real frequency, uniform_real k, real by_feature)
{
    mask falls = triangle_phase(x, frequency, k) < R(0.5);
    return fma_(by_feature, sel(falls, R(-2.0) * frequency, R(2.0) * frequency), sum);
}

// ---- one-blob: the integral of a quartic kernel of one bin's radius over each bin, on a circle ----

FN real blob_integral(real distance, uniform_real bins)
{
    real u = min_(max_(distance * bins, R(-1.0)), R(1.0));
    real t = u * u;
    return fma_(u, fma_(t, fma_(t, R(3.0 / 16.0), R(-10.0 / 16.0)), R(15.0 / 16.0)), R(0.5));
}

FN real blob_density(real distance, uniform_real bins)
{
    real u = distance * bins;
    real inside = max_(R(1.0) - u * u, R(0.0));
    return R(15.0 / 16.0) * inside * inside * bins;
}

// The integral up to edge k of the bins, 0 .. bins; a feature is the difference of two.
FN real blob_edge(real x, uniform_real k, uniform_real bins)
{
    real distance = R(k / bins) - x;
    return blob_integral(distance, bins) + blob_integral(distance - R(1.0), bins) +
           blob_integral(distance + R(1.0), bins);
}

FN real blob_edge_slope(real x, uniform_real k, uniform_real bins) // by the edge: by x it is the negative
{
    real distance = R(k / bins) - x;
    return blob_density(distance, bins) + blob_density(distance - R(1.0), bins) +
           blob_density(distance + R(1.0), bins);
}

FN real blob_feature(real left_edge, real right_edge)
{
    return right_edge - left_edge;
}

FN real blob_gradient(real sum, real left_slope, real right_slope, real by_feature)
{
    return fma_(by_feature, left_slope - right_slope, sum);
}

// ---- spherical harmonics: Y(l, +-m) = K(l, m) Q(l, m)(z) (Re, Im) (x + iy)^m, with Q(l, m) the m-th
// derivative of the Legendre polynomial l ----

// (x + iy)^m from the power before
FN real2 sh_power(real2 before, real x, real y)
{
    real2 r;
    r.x = x * before.x - y * before.y;
    r.y = x * before.y + y * before.x;
    return r;
}

// (2m - 1)!! = Q(m, m)
FN uniform_real sh_double_factorial(uniform_real m)
{
    uniform_real product = 1.0f;
    for (uniform_real i = 3.0f; i < 2.0f * m; i += 2.0f) {
        product *= i;
    }
    return product;
}

// Q(l, m) and Q(l - 1, m)
STRUCT(sh_legendre)
{
    real value, before;
}
END_STRUCT(sh_legendre)

// of l = m
FN sh_legendre sh_legendre_first(uniform_real m)
{
    sh_legendre q;
    q.value = R(sh_double_factorial(m));
    q.before = R(0.0);
    return q;
}

// from l - 1 to l, l > m
FN sh_legendre sh_legendre_next(sh_legendre q, real z, uniform_real l, uniform_real m)
{
    sh_legendre next;
    next.value = (z * q.value * (R(2.0) * l - R(1.0)) - q.before * (l + m - R(1.0))) * (R(1.0) / (l - m));
    next.before = q.value;
    return next;
}

// The derivative of Q(l, m) by z, which is Q(l, m + 1), from l - 1 to l; 0 for l = m.
FN sh_legendre sh_slope_next(sh_legendre slope, real z, uniform_real l, uniform_real m)
{
    if (l == m + 1.0f) {
        return sh_legendre_first(m + 1.0f);
    }
    return sh_legendre_next(slope, z, l, m + 1.0f);
}

// Y(l, m), or Y(l, -m), from k = K(l, m), q = Q(l, m) and the real, or imaginary, part of (x + iy)^m
FN real sh_feature(real q, uniform_real k, real power)
{
    return q * k * power;
}

// The gradient by the direction. by_even, by_odd: gradients by Y(l, m) and Y(l, -m), by_odd is 0 for m = 0;
// slope: Q(l, m + 1); power: (x + iy)^m, and the one before.
FN real3 sh_gradient(real3 sum, real by_even, real by_odd, uniform_real k, real q, real slope, uniform_real m,
                     real2 power, real2 power_before)
{
    real even = by_even * k;
    real odd = by_odd * k;
    real scaled = q * m;
    return make_real3(fma_(scaled, even * power_before.x + odd * power_before.y, sum.x),
                      fma_(scaled, odd * power_before.x - even * power_before.y, sum.y),
                      fma_(slope, even * power.x + odd * power.y, sum.z));
}

// Directions are given to the encoding in 0 .. 1 per axis.
FN real direction_input(real d)
{
    return R(0.5) * d + R(0.5);
}

FN real3 direction_of_input(real x, real y, real z)
{
    return make_real3(fma_(x, R(2.0), R(-1.0)), fma_(y, R(2.0), R(-1.0)), fma_(z, R(2.0), R(-1.0)));
}

// by the input, from that by the direction
FN real3 direction_input_gradient(real3 by_direction)
{
    return make_real3(by_direction.x * R(2.0), by_direction.y * R(2.0), by_direction.z * R(2.0));
}

#endif
