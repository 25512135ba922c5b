// Stands in for CUDA's header of that name: a float's upper 16 bits, rounded to the nearest, ties to even.
#pragma once

#include "cuda_fp16.h"

struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    __nv_bfloat16(float a)
    {
        *this = from(a);
    }
    operator float() const
    {
        return (float)value();
    }

    static __nv_bfloat16 from(double a)
    {
        __nv_bfloat16 h;
        h.bits = (unsigned short)(emu_bits<unsigned int>((float)emu_round(a, 8, -126)) >> 16);
        if (std::isnan(a)) {
            h.bits = 0x7fff;
        }
        return h;
    }
    double value() const
    {
        return emu_bits<float>((unsigned int)bits << 16);
    }
};
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

EMU_SHORT(__nv_bfloat16, __nv_bfloat162)
inline __nv_bfloat16 __float2bfloat16(float a)
{
    return __nv_bfloat16(a);
}
inline __nv_bfloat16 __float2bfloat16_rn(float a)
{
    return __nv_bfloat16(a);
}
inline float __bfloat162float(__nv_bfloat16 a)
{
    return (float)a;
}
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
    return {__nv_bfloat16(a), __nv_bfloat16(b)};
}
inline float2 __bfloat1622float2(__nv_bfloat162 a)
{
    return {(float)a.x, (float)a.y};
}
