// IEEE 754 half precision, as model files hold it.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float orr_half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                      : exponent == 0 ? ldexpf((float)fraction, -24)
                                      : ldexpf((float)(fraction | 1024), exponent - 25);
    return half >> 15 ? -magnitude : magnitude;
}

// rounded to nearest, ties to even; too large becomes infinite
static inline uint16_t orr_half_from_float(float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    float magnitude = fabsf(value);
    if (isnan(value)) {
        return sign | 0x7e00;
    }
    if (magnitude >= 65520.0f) {
        return sign | 0x7c00;
    }
    if (magnitude < 0x1p-14f) { // steps of 2^-24; 1024 of them are the least normal number, bits and all
        return (uint16_t)(sign | (uint16_t)lrintf(magnitude * 0x1p24f));
    }
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bits += 0xfff + (bits >> 13 & 1); // a carry goes to the exponent, as it should
    return (uint16_t)(sign | (uint16_t)((bits >> 13) - (112u << 10)));
}
