// Lookups in shadow maps, for kernels.
#pragma once

#include "render/formula_inputs.h"

// The texel at a whole column and row.
static __device__ float shadow_texel(const float *maps, shadow_view v, float slot, float column, float row)
{
    const int32_t size = (int32_t)v.size;
    return maps[((int32_t)slot * size + (int32_t)row) * size + (int32_t)column];
}

// The mean over the disc of what `s` has found: each tap of the tests of 2 x 2 texels.
static __device__ float shadow_soft_mean(const float *maps, shadow_view v, shadow_soft s, float radius)
{
    shadow_tap t = shadow_first_tap(radius);
    float sum = 0.0f;
    for (int i = 0; i < SHADOW_TAPS; i++) {
        t = shadow_next_tap(t, radius, ((float)i + 0.5f) / (float)SHADOW_TAPS);
        float x = s.place.x + t.x, y = s.place.y + t.y, left = floor_(x), top = floor_(y), lit[4];
        for (int k = 0; k < 4; k++) {
            float column = shadow_clamp(v, left + (float)(k % 2));
            float row = shadow_clamp(v, top + (float)(k / 2));
            lit[k] = shadow_test_soft(v, s, column, row, t.distance,
                                      shadow_texel(maps, v, s.place.slot, column, row));
        }
        sum += shadow_mix(x - left, y - top, lit[0], lit[1], lit[2], lit[3]);
    }
    return sum * (1.0f / (float)SHADOW_TAPS);
}

// As shadow_lookup, of a light with a size.
static __device__ float shadow_lookup_soft(const float *maps, shadow_view v, real3 position, real3 normal)
{
    shadow_soft s = shadow_find_soft(v, position, normal);
    shadow_tap t = shadow_first_tap(s.radius);
    float sum = 0.0f;
    int count = 0;
    for (int i = 0; i < SHADOW_SEARCHES; i++) {
        t = shadow_next_tap(t, s.radius, ((float)i + 0.5f) / (float)SHADOW_SEARCHES);
        float column = shadow_clamp(v, floor_(s.place.x + t.x + 0.5f));
        float row = shadow_clamp(v, floor_(s.place.y + t.y + 0.5f));
        float depth = shadow_texel(maps, v, s.place.slot, column, row);
        if (shadow_test_soft(v, s, column, row, t.distance, depth) < 0.5f) {
            count++;
            sum += depth;
        }
    }
    if (count == 0 || s.place.inside < 0.5f) {
        return 1.0f;
    }
    return count == SHADOW_SEARCHES ? 0.0f
                                    : shadow_soft_mean(maps, v, s, shadow_radius(v, s, sum / (float)count));
}

// The part of a light that reaches a point past what one of its maps shows, whose texels begin at `maps`.
static __device__ float shadow_lookup_in(const float *maps, shadow_view view, real3 position, real3 normal)
{
    const int32_t size = (int32_t)view.size;
    if (view.spread > 0.0f) {
        return shadow_lookup_soft(maps, view, position, normal);
    }
    shadow_square s = shadow_find(view, position, normal);
    const float *first = maps + ((int32_t)s.slot * size + (int32_t)s.top) * size + (int32_t)s.left;
    float rows[4];
    for (int k = 0; k < 4; k++) {
        float lit[4];
        for (int i = 0; i < 4; i++) {
            lit[i] = shadow_test(s, first[k * size + i]);
        }
        rows[k] = shadow_sum(s.part_x, lit[0], lit[1], lit[2], lit[3]);
    }
    return shadow_visible(s, shadow_sum(s.part_y, rows[0], rows[1], rows[2], rows[3]));
}

// The part of light `light` of the plan that reaches a point in the camera's space past what its maps show.
// normal: unit, on the lit side, or 0 of a point that is not in the maps.
static __device__ float shadow_lookup(const orr_shadow_plan *plan, const float *maps, int32_t light,
                                      real3 position, real3 normal)
{
    const float *texels = maps + plan->firsts[light];
    const int32_t count = plan->cascade_counts[light];
    cascade_sum sum = cascade_begin();
    for (int32_t i = 0; i <= count; i++) { // one call of the lookup in the text, which is large
        const orr_cascade_values *values = &plan->cascades[plan->cascade_firsts[light] + i];
        const float weight = i < count ? cascade_weight(shadow_cascade_of(values), position) : 1.0f;
        if (sum.rest * weight > 0.0f) {
            const shadow_view view = shadow_view_of(i < count ? &values->map : &plan->values[light]);
            const float visible = shadow_lookup_in(texels, view, position, normal);
            if (count == 0) {
                return visible;
            }
            sum = cascade_add(sum, weight, visible);
        }
    }
    return cascade_visible(sum);
}
