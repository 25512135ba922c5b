// The language of lane programs: formula.h's `real`, and what a program of one world needs beyond formulas:
// arrays, loops that run while any lane needs them, trigonometry.
//
// A lane program is C that reads as the program of ONE world. gcc and clang compile it for lanes (a real is
// 16, 8 or 4 worlds), for plain float or double (ORR_SCALAR, ORR_SCALAR_DOUBLE: one world), and nvcc for a
// thread per world. The model is the same for all worlds: its numbers are `uniform_real`, its loops uniform.
#pragma once

#include "engine/maths/formula.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// Functions that take vectors by value must be FN, that is inlined: clang 14 with sanitizers passes such
// arguments on a stack that it has not aligned for them.
#if defined(__CUDACC__)
#define LANE_FN static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define LANE_FN static __attribute__((unused))
#endif

// Calls `function`, an FN whose last argument is how many numbers it treats at once, with this number as a
// constant: its loops are unrolled, and its sums stay in registers. width: from 1 to the number in the name
#define LANE_UNROLLED_3(width, function, ...)                                                                \
    ((width) == 3   ? function(__VA_ARGS__, 3)                                                               \
     : (width) == 2 ? function(__VA_ARGS__, 2)                                                               \
                    : function(__VA_ARGS__, 1))
#define LANE_UNROLLED_4(width, function, ...)                                                                \
    ((width) == 4 ? function(__VA_ARGS__, 4) : LANE_UNROLLED_3(width, function, __VA_ARGS__))
#define LANE_UNROLLED_8(width, function, ...)                                                                \
    ((width) == 8   ? function(__VA_ARGS__, 8)                                                               \
     : (width) == 7 ? function(__VA_ARGS__, 7)                                                               \
     : (width) == 6 ? function(__VA_ARGS__, 6)                                                               \
     : (width) == 5 ? function(__VA_ARGS__, 5)                                                               \
                    : LANE_UNROLLED_4(width, function, __VA_ARGS__))

enum { LANE_IN_REGISTERS = 8 }; // most entries of a matrix row that are summed up at once

#if defined(__CUDACC__) || defined(ORR_SCALAR)
#define ORR_LANES 1
#if defined(__CUDACC__)
#define any any_lane // CUDA has functions named any
#endif
FN int any(mask m)
{
    return m;
}
#endif

#if defined(__CUDACC__)
#define LANE_STRIDE 32 // numbers of the worlds of a warp are adjacent in memory
template <typename T> struct strided {
    T *first;
    __host__ __device__ T &operator[](int i) const
    {
        return first[(long)i * LANE_STRIDE];
    }
    __host__ __device__ strided operator+(int n) const
    {
        strided r = {first + (long)n * LANE_STRIDE};
        return r;
    }
};
typedef strided<real> reals;
typedef strided<int32_t> ints;
#else
#define LANE_STRIDE ORR_LANES
typedef real *reals;   // an array of one world: element i of all lanes is reals[i]
typedef int32_t *ints; // the same for all lanes
#endif
#define LANE_THREADS (LANE_STRIDE / ORR_LANES) // threads that work on a block

// Lengths and masses below it count as zero (mjMINVAL); in float its reciprocal is finite.
#if defined(ORR_SCALAR_DOUBLE)
#define LANE_TINY 1e-15
#define LANE_HUGE 1e300
#define LANE_EPSILON 2.220446049250313e-16 // from 1 to the next number
#else
#define LANE_TINY 1e-15
#define LANE_HUGE 1e30
#define LANE_EPSILON 1.1920928955078125e-7
#endif

// A mask that a loop collects: an integer where there is one lane, so that compilers vectorise such loops.
// any |= condition; then mask_of(any)
#if defined(__CUDACC__) || defined(ORR_SCALAR)
typedef int collected_mask;
#else
typedef mask collected_mask;
#endif

FN mask everywhere(void)
{
    return R(1.0) > R(0.0);
}

FN mask nowhere(void)
{
    return R(0.0) > R(1.0);
}

FN mask mask_of(collected_mask collected)
{
#if defined(__CUDACC__) || defined(ORR_SCALAR)
    return collected != 0;
#else
    return collected;
#endif
}

FN int lowest_bit(uint32_t bits)
{
#if defined(__CUDA_ARCH__)
    return __ffs((int)bits) - 1;
#else
    return __builtin_ctz(bits);
#endif
}

FN int lowest_bit64(uint64_t bits)
{
#if defined(__CUDA_ARCH__)
    return __ffsll((long long)bits) - 1;
#else
    return __builtin_ctzll(bits);
#endif
}

FN int bits_set(uint32_t bits)
{
#if defined(__CUDA_ARCH__)
    return __popc(bits);
#else
    return __builtin_popcount(bits);
#endif
}

// Of plain doubles: compilers call fmin and fmax for what they do with numbers that are none. Here the second
// counts where the first is none.
FN double lesser(double a, double b)
{
    return a < b ? a : b;
}

FN double greater(double a, double b)
{
    return a > b ? a : b;
}

FN real clamp_(real x, real low, real high)
{
    return min_(max_(x, low), high);
}

#if defined(__CUDACC__) || defined(ORR_SCALAR)
FN void sincos_(real x, real *sine, real *cosine)
{
#if defined(ORR_SCALAR_DOUBLE)
    *sine = sin(x);
    *cosine = cos(x);
#else
    *sine = sinf(x);
    *cosine = cosf(x);
#endif
}

FN real atan2_(real y, real x) // y >= 0
{
    return (real)atan2((double)y, (double)x);
}

FN real power_(real x, uniform_real exponent)
{
    return (real)pow((double)x, (double)exponent);
}
#else
// For |x| < 1e5: subtracts a multiple of pi/2, in three parts, then minimax polynomials on +-pi/4.
FN void sincos_(real x, real *sine, real *cosine)
{
    real turns = floor_(fma_(x, R(0.636619772367581), R(0.5)));
    real y = fma_(turns, R(-1.5703125), x);
    y = fma_(turns, R(-4.837512969970703e-4), y);
    y = fma_(turns, R(-7.549789948768648e-8), y);
    real z = y * y;
    real s = fma_(R(-1.9515295891e-4), z, R(8.3321608736e-3));
    s = fma_(fma_(s, z, R(-1.6666654611e-1)), z * y, y);
    real c = fma_(R(2.443315711809948e-5), z, R(-1.388731625493765e-3));
    c = fma_(c, z, R(4.166664568298827e-2));
    c = fma_(c * z, z, fma_(R(-0.5), z, R(1.0)));
    sint quadrant = to_int(turns);
    mask odd = (quadrant & I(1)) != I(0);
    sint flip_sine = (quadrant & I(2)) << 30, flip_cosine = ((quadrant + I(1)) & I(2)) << 30;
    *sine = (real)((sint)sel(odd, c, s) ^ flip_sine);
    *cosine = (real)((sint)sel(odd, s, c) ^ flip_cosine);
}

FN real atan2_(real y, real x) // y >= 0
{
    real ax = abs_(x);
    real low = min_(y, ax), high = max_(max_(y, ax), R(1e-37));
    mask wide = low > R(0.4142135623730950) * high; // above tan(pi/8)
    real t = sel(wide, low - high, low) / sel(wide, low + high, high);
    real z = t * t;
    real p = fma_(R(8.05374449538e-2), z, R(-1.38776856032e-1));
    p = fma_(p, z, R(1.99777106478e-1));
    p = fma_(p, z, R(-3.33329491539e-1));
    real a = fma_(p * z, t, t) + sel(wide, R(0.785398163397448), R(0.0));
    a = sel(y > ax, R(1.570796326794897) - a, a);
    return sel(x < R(0.0), R(3.141592653589793) - a, a);
}

FN real power_(real x, uniform_real exponent) // x >= 0
{
    return sel(x > R(0.0), exp2_(log2_(max_(x, R(1e-37))) * exponent), R(0.0));
}
#endif
