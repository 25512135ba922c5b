// Lookups in the opacity maps of clouds, for kernels. The lanes' counterpart is
// ../cloud_shadow/cloud_shadow_cpu.h.
#pragma once

#include "render/cloud_shadow/cloud_shadow_formula.h"
extern "C" {
#include "render/cuda/cloud_light.h"
}
#include "render/formula_inputs.h"

// A light's maps of one cloud.
typedef struct cloud_map {
    shadow_view view;
    const float *texels;
} cloud_map;

// The texel at a whole column and row.
static __device__ const float *cloud_texel_at(const cloud_map *m, float slot, float column, float row)
{
    const int32_t size = (int32_t)m->view.size;
    return m->texels + (((int32_t)slot * size + (int32_t)row) * size + (int32_t)column) * ORR_CLOUD_TEXEL;
}

// What is left of the light at a depth.
static __device__ float cloud_left_at(const float *texel, float depth)
{
    cloud_texel t;
    t.first = texel[0];
    t.last = texel[1];
    t.a = texel[2];
    t.b = texel[3];
    t.c = texel[4];
    t.d = texel[5];
    return cloud_texel_left(t, depth);
}

// The mean over the four texels around a place.
static __device__ float cloud_left_around(const cloud_map *m, shadow_place p, float x, float y)
{
    const float left = floor_(x), top = floor_(y);
    float near[4];
    for (int32_t k = 0; k < 4; k++) {
        const float column = shadow_clamp(m->view, left + (float)(k % 2));
        const float row = shadow_clamp(m->view, top + (float)(k / 2));
        near[k] = cloud_left_at(cloud_texel_at(m, p.slot, column, row), p.z);
    }
    return shadow_mix(x - left, y - top, near[0], near[1], near[2], near[3]);
}

// Of a light with a size: the mean over the penumbra of what is found above the point.
static __device__ float cloud_left_soft(const cloud_map *m, real3 position)
{
    const shadow_soft s = shadow_find_soft(m->view, position, make_real3(0.0f, 0.0f, 0.0f));
    shadow_tap t = shadow_first_tap(s.radius);
    float weight = 0.0f, depths = 0.0f, sum = 0.0f;
    for (int32_t i = 0; i < SHADOW_SEARCHES; i++) {
        t = shadow_next_tap(t, s.radius, ((float)i + 0.5f) / (float)SHADOW_SEARCHES);
        const float column = shadow_clamp(m->view, floor_(s.place.x + t.x + 0.5f));
        const float row = shadow_clamp(m->view, floor_(s.place.y + t.y + 0.5f));
        const float *texel = cloud_texel_at(m, s.place.slot, column, row);
        const float held = 1.0f - cloud_left_at(texel, s.place.z);
        weight += held;
        depths += held > 0.0f ? held * texel[0] : 0.0f;
    }
    if (!(weight > 0.0f) || s.place.inside < 0.5f) {
        return 1.0f;
    }
    const float radius = shadow_radius(m->view, s, depths / max_(weight, 1e-20f));
    t = shadow_first_tap(radius);
    for (int32_t i = 0; i < SHADOW_TAPS; i++) {
        t = shadow_next_tap(t, radius, ((float)i + 0.5f) / (float)SHADOW_TAPS);
        sum += cloud_left_around(m, s.place, s.place.x + t.x, s.place.y + t.y);
    }
    return sum * (1.0f / (float)SHADOW_TAPS);
}

static __device__ float cloud_left(const cloud_map *m, real3 position)
{
    if (m->view.spread > 0.0f) {
        return cloud_left_soft(m, position);
    }
    const shadow_place p = shadow_locate(m->view, position, make_real3(0.0f, 0.0f, 0.0f));
    return p.inside > 0.5f ? cloud_left_around(m, p, p.x, p.y) : 1.0f;
}

// The number of the caster that a splat of the frame is of; -1: of none.
static __device__ __forceinline__ int32_t cloud_owner(const orr_cloud_table *table, uint32_t splat)
{
    int32_t owner = -1;
    for (int32_t i = 0; i < table->count; i++) {
        owner = splat >= table->casters[i].first && splat < table->casters[i].end ? i : owner;
    }
    return owner;
}

// The part of light `light` of orr_draw_light_up that reaches a point in the camera's space past the clouds.
// owner: of cloud_owner, that the point is on and that does not shadow itself. Not inlined: lists without
// such clouds are drawn with as few registers as before.
static __device__ __noinline__ float cloud_shadow_lookup(const orr_cuda_cloud_light *clouds, int32_t light,
                                                         real3 position, int32_t owner)
{
    float left = 1.0f;
    for (int32_t i = 0; i < clouds->table->count; i++) {
        const orr_cloud_row *caster = &clouds->table->casters[i];
        const int32_t k = caster->light_of[light];
        if (k < 0 || i == owner) {
            continue;
        }
        const cloud_map map = {shadow_view_of(&caster->values[k]),
                               clouds->texels + (int64_t)ORR_CLOUD_TEXEL * caster->firsts[k]};
        left = left * cloud_left(&map, position);
    }
    return left;
}
