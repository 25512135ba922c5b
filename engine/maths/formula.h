// The language of formulas: what a `*_formula.h` may use, on every machine.
//
// A formula is one element's mathematics over a number called `real`: a vector of lanes for gcc and clang
// (lanes.h), a float for nvcc, for glslc, and for plain C (define ORR_SCALAR; define ORR_SCALAR_DOUBLE too
// for the reference in double). Rules: values in, values out; no pointers, casts or bare literals (write
// R(0.5)); choices with sel(mask, a, b); loops of a length that is the same for all elements; masks combine
// with and_, or_, not_. What sel drops for all of the elements that are computed together may be left out:
// `if (some_(mask))`. A `uniform_real` is the same for all elements of a call: a float everywhere, so that
// it multiplies a real directly; an `if` may compare it with a literal (0.5f). A `suint` is an index: 32 bits
// that wrap around; write U(7).
#ifndef ORR_FORMULA_H
#define ORR_FORMULA_H

#if defined(GL_core_profile) || defined(VULKAN)
#define ORR_FORMULA_GLSL 1
#define FN
#define real float
#define mask bool
#define uniform_real float
#define R(x) float(x)
#define suint uint
#define uniform_uint uint
#define U(x) uint(x)
uint to_uint(float a)
{
    return uint(int(a));
}
uint min_uint(uint a, uint b)
{
    return a < b ? a : b;
}
#define STRUCT(name) struct name
#define END_STRUCT(name) ;
float sel(bool m, float a, float b)
{
    return m ? a : b;
}
float min_(float a, float b) // GLSL's own min and max leave NaN open
{
    return a < b ? a : b;
}
float max_(float a, float b)
{
    return a > b ? a : b;
}
#define abs_ abs
#define sqrt_ sqrt
#define fma_ fma
#define floor_ floor
#define exp2_ exp2
#define log2_ log2
float pow_(float a, float b)
{
    return exp2(b * log2(a));
}
#define DIVIDE(a, constant) ((a)*R(1.0 / (constant)))
float exponent_(float a)
{
    return float((floatBitsToInt(a) >> 23) - 127);
}
float exp2_whole_(float a)
{
    return intBitsToFloat((int(a) + 127) << 23);
}
bool and_(bool a, bool b)
{
    return a && b;
}
bool or_(bool a, bool b)
{
    return a || b;
}
bool not_(bool a)
{
    return !a;
}
bool some_(bool a)
{
    return a;
}
#else
#define STRUCT(name) typedef struct name
#define END_STRUCT(name) name;
#if !defined(__cplusplus)
#include <stdbool.h>
#endif
#if defined(__CUDACC__) || defined(ORR_SCALAR)
#include <math.h>
#if defined(__CUDACC__)
#define FN static __host__ __device__ __forceinline__
#else
#define FN static inline __attribute__((unused))
#endif
#if defined(ORR_SCALAR_DOUBLE)
typedef double real;
typedef double uniform_real;
#define R(x) ((double)(x))
#else
typedef float real;
typedef float uniform_real;
#define R(x) ((float)(x))
#endif
typedef bool mask;
#include <stdint.h>
typedef uint32_t suint;
typedef uint32_t uniform_uint;
#define U(x) ((uint32_t)(x))
FN suint to_uint(real a)
{
    return (suint)(int32_t)a;
}
FN suint min_uint(suint a, suint b)
{
    return a < b ? a : b;
}
FN real sel(mask m, real a, real b)
{
    return m ? a : b;
}
FN real min_(real a, real b)
{
    return a < b ? a : b;
}
FN real max_(real a, real b)
{
    return a > b ? a : b;
}
FN mask and_(mask a, mask b)
{
    return a && b;
}
FN mask or_(mask a, mask b)
{
    return a || b;
}
FN mask not_(mask a)
{
    return !a;
}
FN bool some_(mask a)
{
    return a;
}
FN real abs_(real a)
{
    return (real)fabs((double)a);
}
FN real sqrt_(real a)
{
#if defined(ORR_SCALAR_DOUBLE)
    return sqrt(a);
#else
    return sqrtf(a);
#endif
}
FN real fma_(real a, real b, real c)
{
    return a * b + c; // the compiler fuses where the machine's rules allow
}
FN real floor_(real a)
{
    return (real)floor((double)a);
}
FN real exp2_(real a)
{
#if defined(ORR_SCALAR_DOUBLE)
    return exp2(a);
#else
    return exp2f(a);
#endif
}
FN real log2_(real a)
{
#if defined(ORR_SCALAR_DOUBLE)
    return log2(a);
#else
    return log2f(a);
#endif
}
#if defined(__CUDACC__)
FN real pow_(real a, real b)
{
    return exp2_(b * log2_(a));
}
#define DIVIDE(a, constant) ((a)*R(1.0 / (constant)))
#else
FN real pow_(real a, real b)
{
#if defined(ORR_SCALAR_DOUBLE)
    return pow(a, b);
#else
    return powf(a, b);
#endif
}
#define DIVIDE(a, constant) ((a) / R(constant))
#endif
FN real exponent_(real a)
{
#if defined(ORR_SCALAR_DOUBLE)
    return logb(a);
#else
    return logbf(a);
#endif
}
FN real exp2_whole_(real a)
{
#if defined(ORR_SCALAR_DOUBLE)
    return ldexp(1.0, (int)a);
#else
    return ldexpf(1.0f, (int)a);
#endif
}
#else
#include "engine/maths/lanes.h"
typedef float uniform_real;
typedef uint32_t uniform_uint;
FN real pow_(real a, real b) // a^b for normal a > 0
{
    return exp2_(b * log2_(a));
}
// a / constant: plain C divides; the others multiply by the reciprocal, which costs less
#define DIVIDE(a, constant) ((a)*R(1.0 / (constant)))
FN mask and_(mask a, mask b)
{
    return a & b;
}
FN mask or_(mask a, mask b)
{
    return a | b;
}
FN mask not_(mask a)
{
    return ~a;
}
FN bool some_(mask a)
{
    return any(a);
}
#endif
#endif

// small vectors of reals
STRUCT(real2)
{
    real x, y;
}
END_STRUCT(real2)

STRUCT(real3)
{
    real x, y, z;
}
END_STRUCT(real3)

STRUCT(real4)
{
    real x, y, z, w;
}
END_STRUCT(real4)

// an affine map that is the same for all elements, row-major
STRUCT(affine)
{
    uniform_real xx, xy, xz, xw;
    uniform_real yx, yy, yz, yw;
    uniform_real zx, zy, zz, zw;
}
END_STRUCT(affine)

FN real2 make_real2(real x, real y)
{
    real2 r;
    r.x = x;
    r.y = y;
    return r;
}

FN real3 make_real3(real x, real y, real z)
{
    real3 r;
    r.x = x;
    r.y = y;
    r.z = z;
    return r;
}

FN real4 make_real4(real x, real y, real z, real w)
{
    real4 r;
    r.x = x;
    r.y = y;
    r.z = z;
    r.w = w;
    return r;
}

FN real dot3(real3 a, real3 b)
{
    return fma_(a.x, b.x, fma_(a.y, b.y, a.z * b.z));
}

// a / |a|; a vector shorter than 1e-15 stays shorter than 1
FN real3 unit3(real3 a)
{
    real inverse = R(1.0) / sqrt_(max_(dot3(a, a), R(1e-30)));
    return make_real3(a.x * inverse, a.y * inverse, a.z * inverse);
}

FN real3 affine_point(affine m, real3 p)
{
    return make_real3(m.xx * p.x + m.xy * p.y + m.xz * p.z + m.xw,
                      m.yx * p.x + m.yy * p.y + m.yz * p.z + m.yw,
                      m.zx * p.x + m.zy * p.y + m.zz * p.z + m.zw);
}

// a direction: without the translation
FN real3 affine_direction(affine m, real3 d)
{
    return make_real3(m.xx * d.x + m.xy * d.y + m.xz * d.z, m.yx * d.x + m.yy * d.y + m.yz * d.z,
                      m.zx * d.x + m.zy * d.y + m.zz * d.z);
}

#endif
