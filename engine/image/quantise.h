// Bytes of display values.
#pragma once

#include "engine/maths/inline.h"

#include <stdint.h>

// round(255 value), clamped; NaN becomes 0.
ORR_INLINE uint8_t orr_quantise(float value)
{
    float v = value * 255.0f + 0.5f;
    v = v > 0.0f ? v : 0.0f; // NaN too
    return (uint8_t)(int)(v < 255.0f ? v : 255.0f);
}

// The same of many values, in the lanes of each instruction set.
typedef void orr_quantise_kernel(const float *values, int64_t count, uint8_t *bytes);
orr_quantise_kernel orr_quantise_values_baseline, orr_quantise_values_avx2, orr_quantise_values_avx512;
