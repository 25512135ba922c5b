// Lookups in opacity maps, for lanes.
#pragma once

#include "render/cloud_shadow/cloud_shadow_formula.h"
#include "render/cloud_shadow/cloud_shadow_maps.h"
#include "render/cpu/shadow_cpu.h"

// A light's maps of one cloud.
typedef struct cloud_map {
    shadow_view view;
    const float *texels;
} cloud_map;

// The texels at whole columns and rows.
FN cloud_texel cloud_texel_at(const cloud_map *m, real slot, real column, real row)
{
    const int size = (int)m->view.size;
    uint32_t at[ORR_LANES];
    real members[ORR_CLOUD_TEXEL];
    sint_store((int32_t *)at, (to_int(slot) * I(size) + to_int(row)) * I(size) + to_int(column));
    real_gather_row(m->texels, at, ORR_CLOUD_TEXEL, members);
    cloud_texel t;
    t.first = members[0];
    t.last = members[1];
    t.a = members[2];
    t.b = members[3];
    t.c = members[4];
    t.d = members[5];
    return t;
}

// The mean over the four texels around a place.
FN real cloud_left_around(const cloud_map *m, shadow_place p, real x, real y)
{
    const real left = floor_(x), top = floor_(y);
    real near[4];
    for (int k = 0; k < 4; k++) {
        const real column = shadow_clamp(m->view, left + R((float)(k % 2)));
        const real row = shadow_clamp(m->view, top + R((float)(k / 2)));
        near[k] = cloud_texel_left(cloud_texel_at(m, p.slot, column, row), p.z);
    }
    return shadow_mix(x - left, y - top, near[0], near[1], near[2], near[3]);
}

// Of a light with a size: the mean over the penumbra of what is found above the point.
FN real cloud_left_soft(const cloud_map *m, real3 position)
{
    const shadow_soft s = shadow_find_soft(m->view, position, make_real3(R(0.0), R(0.0), R(0.0)));
    shadow_tap t = shadow_first_tap(s.radius);
    real weight = R(0.0), depths = R(0.0), sum = R(0.0);
    for (int i = 0; i < SHADOW_SEARCHES; i++) {
        t = shadow_next_tap(t, s.radius, ((float)i + 0.5f) / (float)SHADOW_SEARCHES);
        const real column = shadow_clamp(m->view, floor_(s.place.x + t.x + R(0.5)));
        const real row = shadow_clamp(m->view, floor_(s.place.y + t.y + R(0.5)));
        const cloud_texel above = cloud_texel_at(m, s.place.slot, column, row);
        const real held = R(1.0) - cloud_texel_left(above, s.place.z);
        weight = weight + held;
        depths = depths + sel(held > R(0.0), held * above.first, R(0.0));
    }
    const mask some = and_(weight > R(0.0), s.place.inside > R(0.5));
    if (!any(some)) {
        return R(1.0);
    }
    const real radius = shadow_radius(m->view, s, depths / max_(weight, R(1e-20)));
    t = shadow_first_tap(radius);
    for (int i = 0; i < SHADOW_TAPS; i++) {
        t = shadow_next_tap(t, radius, ((float)i + 0.5f) / (float)SHADOW_TAPS);
        sum = sum + cloud_left_around(m, s.place, s.place.x + t.x, s.place.y + t.y);
    }
    return sel(some, sum * R(1.0f / (float)SHADOW_TAPS), R(1.0));
}

FN real cloud_left(const cloud_map *m, real3 position)
{
    if (!any(shadow_near(m->view, position))) {
        return R(1.0);
    }
    if (m->view.spread > 0.0f) {
        return cloud_left_soft(m, position);
    }
    const shadow_place p = shadow_locate(m->view, position, make_real3(R(0.0), R(0.0), R(0.0)));
    return any(p.inside > R(0.5)) ? sel(p.inside > R(0.5), cloud_left_around(m, p, p.x, p.y), R(1.0))
                                  : R(1.0);
}

// The part of light `light` of orr_draw_light_up that reaches points in the camera's space past the clouds.
// layer: of the list's splats, that the point is on and that does not shadow itself; -1: none.
FN real cloud_shadow_lookup(const orr_cloud_shadows *shadows, int light, real3 position, real layer)
{
    real left = R(1.0);
    for (int i = 0; i < shadows->count; i++) {
        const orr_cloud_caster *caster = &shadows->casters[i];
        const int k = caster->plan.light_of[light];
        const mask others = or_(layer<R((float)caster->layer), layer> R((float)caster->layer));
        if (k < 0 || !any(others)) {
            continue;
        }
        const cloud_map map = {shadow_view_of(&caster->plan.values[k]),
                               shadows->texels[i] + (size_t)ORR_CLOUD_TEXEL * (size_t)caster->plan.firsts[k]};
        left = sel(others, left * cloud_left(&map, position), left);
    }
    return left;
}
