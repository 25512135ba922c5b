// Stands in for CUDA's header of that name: numbers of 16 bits, each operation rounded once to the nearest,
// ties to even.
#pragma once

#include "cuda_runtime.h"

// 2^n of a normal double, to scale by in place of ldexp, which takes several times as long.
inline double emu_power(int n)
{
    return emu_bits<double>((unsigned long long)(1023 + n) << 52);
}

// Floor of the logarithm of a normal double.
inline int emu_exponent(double a)
{
    return (int)(emu_bits<unsigned long long>(a) >> 52 & 0x7ff) - 1023;
}

// The nearest number with `bits` of mantissa (the leading one included) and exponents of at least `least`.
inline double emu_round(double a, int bits, int least)
{
    if (a == 0.0 || !std::isfinite(a)) {
        return a;
    }
    int exponent = emu_exponent(a);
    int unit = (exponent < least ? least : exponent) - (bits - 1);
    return std::nearbyint(a * emu_power(-unit)) * emu_power(unit);
}

struct __half {
    unsigned short bits;
    __half() = default;
    __half(float a)
    {
        *this = from(a);
    }
    operator float() const
    {
        return (float)value();
    }

    static __half from(double a)
    {
        __half h;
        double r = emu_round(a, 11, -14), size = std::fabs(r);
        unsigned short sign = std::signbit(a) ? 0x8000 : 0;
        if (std::isnan(a)) {
            h.bits = 0x7fff;
        } else if (size > 65504.0) {
            h.bits = (unsigned short)(sign | 0x7c00);
        } else if (size < 0x1p-14) {
            h.bits = (unsigned short)(sign | (unsigned short)(size * 0x1p24));
        } else {
            int exponent = emu_exponent(size);
            h.bits = (unsigned short)(sign | (exponent + 15) << 10 |
                                      ((int)(size * emu_power(10 - exponent)) & 0x3ff));
        }
        return h;
    }
    double value() const
    {
        // the same fields in a float, whose exponents start 112 lower
        const int magnitude = bits & 0x7fff;
        double size = magnitude > 0x7c00    ? NAN
                      : magnitude == 0x7c00 ? INFINITY
                                            : (double)(emu_bits<float>(magnitude << 13) * 0x1p112f);
        return bits & 0x8000 ? -size : size;
    }
};
struct alignas(4) __half2 {
    __half x, y;
};
typedef __half half;
typedef __half2 half2;

#define EMU_SHORT(type, type2)                                                                               \
    inline type __hadd(type a, type b)                                                                       \
    {                                                                                                        \
        return type::from(a.value() + b.value());                                                            \
    }                                                                                                        \
    inline type __hsub(type a, type b)                                                                       \
    {                                                                                                        \
        return type::from(a.value() - b.value());                                                            \
    }                                                                                                        \
    inline type __hmul(type a, type b)                                                                       \
    {                                                                                                        \
        return type::from(a.value() * b.value());                                                            \
    }                                                                                                        \
    inline type __hfma(type a, type b, type c)                                                               \
    {                                                                                                        \
        return type::from(a.value() * b.value() + c.value());                                                \
    }                                                                                                        \
    inline type __hmax(type a, type b)                                                                       \
    {                                                                                                        \
        return a.value() < b.value() ? b : a;                                                                \
    }                                                                                                        \
    inline type __hmin(type a, type b)                                                                       \
    {                                                                                                        \
        return b.value() < a.value() ? b : a;                                                                \
    }                                                                                                        \
    inline type2 __hadd2(type2 a, type2 b)                                                                   \
    {                                                                                                        \
        return {__hadd(a.x, b.x), __hadd(a.y, b.y)};                                                         \
    }                                                                                                        \
    inline type2 __hsub2(type2 a, type2 b)                                                                   \
    {                                                                                                        \
        return {__hsub(a.x, b.x), __hsub(a.y, b.y)};                                                         \
    }                                                                                                        \
    inline type2 __hmul2(type2 a, type2 b)                                                                   \
    {                                                                                                        \
        return {__hmul(a.x, b.x), __hmul(a.y, b.y)};                                                         \
    }                                                                                                        \
    inline type2 __hmax2(type2 a, type2 b)                                                                   \
    {                                                                                                        \
        return {__hmax(a.x, b.x), __hmax(a.y, b.y)};                                                         \
    }                                                                                                        \
    inline type2 __hmin2(type2 a, type2 b)                                                                   \
    {                                                                                                        \
        return {__hmin(a.x, b.x), __hmin(a.y, b.y)};                                                         \
    }                                                                                                        \
    inline type2 __hfma2(type2 a, type2 b, type2 c)                                                          \
    {                                                                                                        \
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                               \
    }                                                                                                        \
    inline type2 atomicAdd(type2 *at, type2 b)                                                               \
    {                                                                                                        \
        type2 a = *at;                                                                                       \
        emu::note_atomic(at, sizeof a);                                                                      \
        *at = __hadd2(a, b);                                                                                 \
        return a;                                                                                            \
    }

EMU_SHORT(__half, __half2)
inline __half __float2half(float a)
{
    return __half(a);
}
inline __half __float2half_rn(float a)
{
    return __half(a);
}
inline float __half2float(__half a)
{
    return (float)a;
}
inline __half2 __floats2half2_rn(float a, float b)
{
    return {__half(a), __half(b)};
}
inline __half2 __float2half2_rn(float a)
{
    return {__half(a), __half(a)};
}
inline __half2 __halves2half2(__half a, __half b)
{
    return {a, b};
}
inline __half2 __half2half2(__half a)
{
    return {a, a};
}
inline __half __low2half(__half2 a)
{
    return a.x;
}
inline __half __high2half(__half2 a)
{
    return a.y;
}
inline float __low2float(__half2 a)
{
    return (float)a.x;
}
inline float __high2float(__half2 a)
{
    return (float)a.y;
}
inline float2 __half22float2(__half2 a)
{
    return {(float)a.x, (float)a.y};
}
inline unsigned short __half_as_ushort(__half a)
{
    return a.bits;
}
inline __half __ushort_as_half(unsigned short a)
{
    __half h;
    h.bits = a;
    return h;
}
