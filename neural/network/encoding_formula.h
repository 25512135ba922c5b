// The encodings of one coordinate or direction (see encoding.h), with their derivatives.
#ifndef ENCODING_FORMULA_H
#define ENCODING_FORMULA_H

#include "engine/core/formula.h"

// ---- grids ----

// Where a coordinate stands among a level's vertices: between `cell` and the next, `part` of the way.
STRUCT(grid_place)
{
    suint cell;
    real part;
}
END_STRUCT(grid_place)

FN grid_place grid_locate(uniform_real scale, real x)
{
    grid_place place;
    real position = fma_(x, R(scale), R(0.5));
    real whole = floor_(position);
    place.cell = to_uint(whole);
    place.part = position - whole;
    return place;
}

FN real smoothstep(real t)
{
    return t * t * (R(3.0) - R(2.0) * t);
}

FN real smoothstep_slope(real t)
{
    return R(6.0) * t * (R(1.0) - t);
}

// index modulo entries for an index below twice the entries, and some entry for any other
FN suint grid_wrap(suint index, uniform_uint entries)
{
    return min_uint(min_uint(index, index - U(entries)), U(entries - 1u));
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

// Triangle wave number k of frequency 2^k / 2, each a quarter of a period further (Müller 2021)
FN real triangle_phase(real x, uniform_real frequency, uniform_real k)
{
    real value = x * (R(0.5) * frequency) + R(0.25) * k;
    return value - floor_(value);
}

FN real triangle_wave(real phase)
{
    return R(4.0) * abs_(phase - R(0.5)) - R(1.0);
}

FN real triangle_wave_slope(real phase, uniform_real frequency)
{
    return sel(phase < R(0.5), R(-2.0) * frequency, R(2.0) * frequency);
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

FN real blob_edge(real distance, uniform_real bins)
{
    return blob_integral(distance, bins) + blob_integral(distance - R(1.0), bins) +
           blob_integral(distance + R(1.0), bins);
}

FN real blob_edge_slope(real distance, uniform_real bins)
{
    return blob_density(distance, bins) + blob_density(distance - R(1.0), bins) +
           blob_density(distance + R(1.0), bins);
}

// ---- spherical harmonics: Y(l, +-m) = K(l, m) Q(l, m)(z) (Re, Im) (x + iy)^m, with Q(l, m) the m-th derivative of the
// Legendre polynomial l ----

// (x + iy)^m from the power before
FN real2 sh_power(real2 before, real x, real y)
{
    real2 r;
    r.x = x * before.x - y * before.y;
    r.y = x * before.y + y * before.x;
    return r;
}

// Q(l, m) from Q(l - 1, m) and Q(l - 2, m); l > m
FN real sh_legendre(real z, uniform_real l, uniform_real m, real one_before, real two_before)
{
    return (z * one_before * (R(2.0) * l - R(1.0)) - two_before * (l + m - R(1.0))) * (R(1.0) / (l - m));
}

#endif
