// Vectors of three reals, by value; make_real3 and dot3 are in formula.h. Arrays of double: vector.h.
#ifndef ORR_VECTOR_FORMULA_H
#define ORR_VECTOR_FORMULA_H

#include "engine/maths/formula.h"

FN real3 add3(real3 a, real3 b)
{
    return make_real3(a.x + b.x, a.y + b.y, a.z + b.z);
}

FN real3 sub3(real3 a, real3 b)
{
    return make_real3(a.x - b.x, a.y - b.y, a.z - b.z);
}

FN real3 scale3(real3 a, real s)
{
    return make_real3(a.x * s, a.y * s, a.z * s);
}

// Component by component.
FN real3 times3(real3 a, real3 b)
{
    return make_real3(a.x * b.x, a.y * b.y, a.z * b.z);
}

// a + b s
FN real3 add_scaled3(real3 a, real3 b, real s)
{
    return make_real3(fma_(b.x, s, a.x), fma_(b.y, s, a.y), fma_(b.z, s, a.z));
}

FN real3 cross3(real3 a, real3 b)
{
    return make_real3(fma_(a.y, b.z, -(a.z * b.y)), fma_(a.z, b.x, -(a.x * b.z)),
                      fma_(a.x, b.y, -(a.y * b.x)));
}

FN real length3(real3 a)
{
    return sqrt_(dot3(a, a));
}

FN real3 select3(mask m, real3 a, real3 b)
{
    return make_real3(sel(m, a.x, b.x), sel(m, a.y, b.y), sel(m, a.z, b.z));
}

// a / |a|, or the x axis where |a| is below 1e-15
FN real3 normalise3(real3 a)
{
    real squared = dot3(a, a);
    mask short_ = squared < R(1e-30);
    real scale = R(1.0) / sqrt_(sel(short_, R(1.0), squared));
    return select3(short_, make_real3(R(1.0), R(0.0), R(0.0)), scale3(a, scale));
}

// What is left of a without its part along a unit vector n. Twice: where little is left, the first rest is
// mostly what rounding has made of n's length.
FN real3 reject3(real3 a, real3 n)
{
    real3 rest = add_scaled3(a, n, -dot3(n, a));
    return add_scaled3(rest, n, -dot3(n, rest));
}

// A unit vector at right angles to a unit vector (Duff et al. 2017).
FN real3 across3(real3 n)
{
    real sign = sel(n.z < R(0.0), R(-1.0), R(1.0));
    real a = R(-1.0) / (sign + n.z);
    return make_real3(fma_(sign * n.x * n.x, a, R(1.0)), sign * n.x * n.y * a, -sign * n.x);
}

#endif
