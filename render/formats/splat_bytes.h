// What the splat formats share: numbers in bytes, quantised values, rotations as their smallest three.
#pragma once

#include "render/formats/splat_formats.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Display colour = 0.5 + ORR_SH_C0 * coefficient of degree 0.
#define ORR_SH_C0 0.28209479177387814f

// ---- little-endian numbers at any address ----

static inline uint32_t orr_get_u16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t orr_get_u32(const uint8_t *p)
{
    return orr_get_u16(p) | orr_get_u16(p + 2) << 16;
}

static inline uint64_t orr_get_u64(const uint8_t *p)
{
    return (uint64_t)orr_get_u32(p) | (uint64_t)orr_get_u32(p + 4) << 32;
}

static inline float orr_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float orr_get_f32(const uint8_t *p)
{
    return orr_float_of_bits(orr_get_u32(p));
}

static inline float orr_get_f16(const uint8_t *p)
{
    uint32_t half = orr_get_u16(p);
    uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest >= 0x7c00u) { // infinite or not a number
        return orr_float_of_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    }
    // the exponent's bias goes from 15 to 127 by a product, which also makes small halves normal
    return orr_float_of_bits(sign | rest << 13) * 0x1p112f;
}

static inline void orr_put_u32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
    p[2] = (uint8_t)(value >> 16);
    p[3] = (uint8_t)(value >> 24);
}

static inline void orr_put_u64(uint8_t *p, uint64_t value)
{
    orr_put_u32(p, (uint32_t)value);
    orr_put_u32(p + 4, (uint32_t)(value >> 32));
}

static inline void orr_put_f32(uint8_t *p, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    orr_put_u32(p, bits);
}

// ---- values ----

// What is not a number becomes `low`.
static inline float orr_clamp(float value, float low, float high)
{
    return value > low ? (value < high ? value : high) : low;
}

// The nearest of the whole numbers 0 .. limit.
static inline uint32_t orr_quantise(float value, uint32_t limit)
{
    return (uint32_t)(orr_clamp(value, 0.0f, (float)limit) + 0.5f);
}

// The nearest of `limit` + 1 evenly spaced values from low to high, by its number.
static inline uint32_t orr_quantise_between(float value, float low, float high, uint32_t limit)
{
    // in double, because high - low may exceed the range of float
    double width = (double)high - (double)low;
    return width > 0.0 ? orr_quantise((float)(((double)value - (double)low) / width) * (float)limit, limit)
                       : 0;
}

static inline float orr_sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

// logit[b]: the opacity b / 255 as a logit, both ends finite.
static inline void orr_logit_table(float logit[256])
{
    for (int b = 0; b < 256; b++) {
        float opacity = orr_clamp((float)b / 255.0f, 1e-6f, 1.0f - 1e-6f);
        logit[b] = logf(opacity / (1.0f - opacity));
    }
}

static inline uint32_t orr_opacity_byte(float logit)
{
    return orr_quantise(255.0f * orr_sigmoid(logit), 255);
}

// The logarithm of a scale that a file stores as a length; a length of zero becomes the smallest there is.
static inline float orr_log_scale(float scale)
{
    return scale <= FLT_MIN ? logf(FLT_MIN) : logf(scale);
}

// ---- rotations ----

// Components `a`, `b`, `c` of a unit quaternion in order, without the one at `largest`, which is >= 0.
static inline void orr_smallest_three(float q[4], int largest, float a, float b, float c)
{
    const float rest[3] = {a, b, c};
    float sum = a * a + b * b + c * c;
    for (int k = 0, r = 0; k < 4; k++) {
        q[k] = k == largest ? sqrtf(sum < 1.0f ? 1.0f - sum : 0.0f) : rest[r++];
    }
}

// The inverse: which component is the largest, and the other three for the sign that makes it >= 0.
static inline int orr_largest_and_rest(const float q[4], float rest[3])
{
    int largest = 0;
    for (int k = 1; k < 4; k++) {
        largest = fabsf(q[k]) > fabsf(q[largest]) ? k : largest;
    }
    float sign = q[largest] < 0.0f ? -1.0f : 1.0f;
    for (int k = 0, r = 0; k < 4; k++) {
        if (k != largest) {
            rest[r++] = sign * q[k];
        }
    }
    return largest;
}

// ---- sizes ----

// Can `packed` compressed bytes expand to `unpacked` ones? Up to 64 MiB always, beyond that 1024 times as
// much, so that a small hostile file cannot cause a large allocation.
static inline bool orr_plausible_expansion(uint64_t packed, uint64_t unpacked)
{
    return unpacked <= UINT64_C(64) << 20 || unpacked / 1024 <= packed;
}

// The splats' numbers along the Morton curve through their bounds; free with orr_free.
orr_result orr_splats_morton_order(const orr_splats_view *splats, int64_t **order, orr_error *error);

// Makes splats of points, which have positions, opacities and colours: spheres, in size about the distance to
// their neighbours.
orr_result orr_splats_of_points(const orr_splats_view *points, orr_error *error);

// Ends a reader: returns the cloud without broken splats, or destroys it and returns the failure.
orr_result orr_splats_finish(orr_splats *cloud, orr_result result, const char *name, orr_splats **splats,
                             orr_error *error);
