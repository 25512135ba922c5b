// Lookups in shadow maps, for lanes.
#pragma once

#include "render/cpu/shadow_maps.h"
#include "render/formula_inputs.h"

// Four texels of a row from texel at[i] of the map on, for lane i.
FN void texel_row(const float *map, const uint32_t *at, real row[4])
{
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    real_gather_quads(map, at, 1, row);
#else
    for (int i = 0; i < 4; i++) {
        row[i] = real_gather(map, sint_load((const int32_t *)at) + I(i));
    }
#endif
}

// A texel for each lane, at whole columns and rows.
FN real texel_at(const float *texels, shadow_view v, real slot, real column, real row)
{
    const int size = (int)v.size;
    return real_gather(texels, (to_int(slot) * I(size) + to_int(row)) * I(size) + to_int(column));
}

// The mean over the disc of what `s` has found: each tap of the tests of 2 x 2 texels.
FN real shadow_soft_mean(const float *texels, shadow_view v, shadow_soft s, real radius)
{
    shadow_tap t = shadow_first_tap(radius);
    real sum = R(0.0);
    for (int i = 0; i < SHADOW_TAPS; i++) {
        t = shadow_next_tap(t, radius, ((float)i + 0.5f) / (float)SHADOW_TAPS);
        real x = s.place.x + t.x, y = s.place.y + t.y, left = floor_(x), top = floor_(y), lit[4];
        for (int k = 0; k < 4; k++) {
            real column = shadow_clamp(v, left + R((float)(k % 2))),
                 row = shadow_clamp(v, top + R((float)(k / 2)));
            lit[k] = shadow_test_soft(v, s, column, row, t.distance,
                                      texel_at(texels, v, s.place.slot, column, row));
        }
        sum = sum + shadow_mix(x - left, y - top, lit[0], lit[1], lit[2], lit[3]);
    }
    return sum * R(1.0f / (float)SHADOW_TAPS);
}

// As shadow_lookup, of a light with a size.
FN real shadow_lookup_soft(const float *texels, shadow_view v, real3 position, real3 normal)
{
    shadow_soft s = shadow_find_soft(v, position, normal);
    shadow_tap t = shadow_first_tap(s.radius);
    real count = R(0.0), sum = R(0.0);
    for (int i = 0; i < SHADOW_SEARCHES; i++) {
        t = shadow_next_tap(t, s.radius, ((float)i + 0.5f) / (float)SHADOW_SEARCHES);
        real column = shadow_clamp(v, floor_(s.place.x + t.x + R(0.5)));
        real row = shadow_clamp(v, floor_(s.place.y + t.y + R(0.5)));
        real depth = texel_at(texels, v, s.place.slot, column, row);
        mask above = shadow_test_soft(v, s, column, row, t.distance, depth) < R(0.5);
        count = count + sel(above, R(1.0), R(0.0));
        sum = sum + sel(above, depth, R(0.0));
    }
    mask some = and_(count > R(0.5), s.place.inside > R(0.5));
    real visible = sel(count > R(SHADOW_SEARCHES - 0.5f), R(0.0), R(1.0));
    mask edge = and_(some, visible > R(0.5));
    if (any(edge)) {
        real mean = shadow_soft_mean(texels, v, s, shadow_radius(v, s, sum / max_(count, R(1.0))));
        visible = sel(edge, mean, visible);
    }
    return sel(some, visible, R(1.0));
}

// The part of a light that reaches points past what one of its maps shows, whose texels begin at `texels`.
FN real shadow_lookup_in(const float *texels, shadow_view view, real3 position, real3 normal)
{
    const int size = (int)view.size;
    if (!any(shadow_near(view, position))) { // a floor reaches far beyond the map of what stands on it
        return R(1.0);
    }
    if (view.spread > 0.0f) {
        return shadow_lookup_soft(texels, view, position, normal);
    }
    shadow_square s = shadow_find(view, position, normal);
    if (!any(s.inside > R(0.5))) {
        return R(1.0);
    }
    int32_t first[ORR_LANES];
    sint_store(first, (to_int(s.slot) * I(size) + to_int(s.top)) * I(size) + to_int(s.left));
    real rows[4];
    for (int k = 0; k < 4; k++) {
        real near[4];
        texel_row(texels + k * size, (const uint32_t *)first, near);
        rows[k] = shadow_sum(s.part_x, shadow_test(s, near[0]), shadow_test(s, near[1]),
                             shadow_test(s, near[2]), shadow_test(s, near[3]));
    }
    return shadow_visible(s, shadow_sum(s.part_y, rows[0], rows[1], rows[2], rows[3]));
}

// The part of light `light` of the plan that reaches points in the camera's space past what its maps show.
// normal: unit, on the lit side, or 0 of a point that is not in the maps.
FN real shadow_lookup(const orr_shadow_maps *maps, int light, real3 position, real3 normal)
{
    const orr_shadow_plan *plan = &maps->plan;
    const float *texels = maps->texels + plan->firsts[light];
    const int count = plan->cascade_counts[light];
    cascade_sum sum = cascade_begin();
    // one call of the lookup in the text, which is large
    for (int i = 0; i <= count && any(sum.rest > R(0.0)); i++) {
        const orr_cascade_values *values = &plan->cascades[plan->cascade_firsts[light] + i];
        const real weight = i < count ? cascade_weight(shadow_cascade_of(values), position) : R(1.0);
        if (any(sum.rest * weight > R(0.0))) {
            const shadow_view view = shadow_view_of(i < count ? &values->map : &plan->values[light]);
            const real visible = shadow_lookup_in(texels, view, position, normal);
            if (count == 0) {
                return visible;
            }
            sum = cascade_add(sum, weight, visible);
        }
    }
    return cascade_visible(sum);
}

// What of it passes what is captured, on its way to meshes.
FN real shadow_lookup_captured(const orr_shadow_maps *maps, int light, real3 position, real3 normal)
{
    const orr_shadow_values *values = &maps->plan.captured[light];
    return values->size > 0.0f ? shadow_lookup_in(maps->captured + maps->plan.captured_firsts[light],
                                                  shadow_view_of(values), position, normal)
                               : R(1.0);
}
