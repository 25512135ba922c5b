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
