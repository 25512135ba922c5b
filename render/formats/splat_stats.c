#include "render/formats/splat_stats.h"

#include "render/formats/splat_bytes.h"

// A number whose order as an integer is the float's order.
static uint32_t ordered_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float value_of_ordered(uint32_t bits)
{
    return orr_float_of_bits(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

// The value of rank `rank` (0: the smallest) among those at positions 0, 3, 6, ...: a byte of it at a time,
// by counting the values that agree with the bytes already known.
static float ranked_value(const float *values, int64_t count, int64_t rank)
{
    uint32_t known = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        int64_t counts[256] = {0};
        for (int64_t i = 0; i < count; i++) {
            uint32_t bits = ordered_bits(values[3 * i]);
            if (shift == 24 || bits >> (shift + 8) == known) {
                counts[bits >> shift & 255]++;
            }
        }
        uint32_t byte = 0;
        while (rank >= counts[byte]) {
            rank -= counts[byte++];
        }
        known = known << 8 | byte;
    }
    return value_of_ordered(known);
}

static int bin_of(float position, int bins)
{
    return (int)orr_clamp(floorf(position), 0.0f, (float)(bins - 1));
}

orr_splat_stats orr_splat_stats_of(const orr_splats_view *d)
{
    const int values = 14 + 3 * orr_sh_rest(d->sh_degree);
    orr_splat_stats stats = {
        .count = d->count,
        .sh_degree = d->sh_degree,
        .antialiased = d->antialiased,
        .bytes = (size_t)d->count * (size_t)values * sizeof(float),
    };
    const int64_t trimmed = d->count / 200;
    for (int k = 0; k < 3 && d->count > 0; k++) {
        const float *axis = d->position + k;
        stats.low[k] = ranked_value(axis, d->count, 0);
        stats.high[k] = ranked_value(axis, d->count, d->count - 1);
        stats.robust_low[k] = ranked_value(axis, d->count, trimmed);
        stats.robust_high[k] = ranked_value(axis, d->count, d->count - 1 - trimmed);
    }
    for (int64_t i = 0; i < d->count; i++) {
        const float *s = d->log_scale + 3 * i;
        float decades = fmaxf(fmaxf(s[0], s[1]), s[2]) / logf(10.0f);
        stats.scale[bin_of((decades - ORR_STATS_SCALE_LOW) / ORR_STATS_SCALE_STEP, ORR_STATS_SCALE_BINS)]++;
        stats.opacity[bin_of(orr_sigmoid(d->opacity[i]) * ORR_STATS_OPACITY_BINS, ORR_STATS_OPACITY_BINS)]++;
    }
    return stats;
}
