// Vectors for the programs that make assets: those of vector_formula.h with float as `real`, and what it
// leaves out.
#pragma once

#define ORR_SCALAR
#include "engine/maths/vector_formula.h"

static const float tau = 6.28318530718f; // a whole turn [rad]

static inline real3 mix3(real3 a, real3 b, float t)
{
    return add3(scale3(a, 1.0f - t), scale3(b, t));
}

// the mirror image of the direction `out`
static inline real3 reflect3(real3 out, real3 normal)
{
    return sub3(scale3(normal, 2.0f * dot3(out, normal)), out);
}

// two unit vectors that make a right-handed frame with n
static inline void tangents3(real3 n, real3 *a, real3 *b)
{
    *a = unit3(fabsf(n.y) < 0.9f ? cross3(make_real3(0, 1, 0), n) : cross3(make_real3(1, 0, 0), n));
    *b = cross3(n, *a);
}

// 0 below `low`, 1 above `high`, smooth between
static inline float smooth_step(float low, float high, float x)
{
    float t = fminf(fmaxf((x - low) / (high - low), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

// Point i of n spread evenly over the sphere (a Fibonacci lattice).
static inline real3 sphere_point(int i, int n)
{
    float y = 1.0f - (2.0f * (float)i + 1.0f) / (float)n;
    float r = sqrtf(1.0f - y * y), angle = 2.39996323f * (float)i;
    return make_real3(r * cosf(angle), y, r * sinf(angle));
}
