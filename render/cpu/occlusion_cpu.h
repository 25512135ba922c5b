// The search for what occludes points, and lookups of what was found, for lanes.
#pragma once

#include "render/cpu/occlusion_map.h"
#include "render/formula_inputs.h"

FN real occlusion_depth(const orr_occlusion_map *map, occlusion_view view, real column, real row)
{
    return real_gather(map->depth, to_int(row) * I((int)view.width) + to_int(column));
}

// Searches in `count` directions, OCCLUSION_DIRECTIONS or OCCLUSION_ALONE.
FN occlusion_sums occlusion_search(const orr_occlusion_map *map, real3 position, real3 normal, int count)
{
    const occlusion_view view = occlusion_view_of(&map->values);
    occlusion_point p = occlusion_begin(view, position, normal);
    const bool alone = count == OCCLUSION_ALONE;
    // of a 32nd of a turn and of a quarter
    const float cosine = alone ? 0.98078528f : 0.0f, sine = alone ? 0.19509032f : 1.0f;
    if (alone) {
        p = occlusion_without_pattern(p);
    }
    occlusion_angle angle = occlusion_first_angle(p, 6.28318531f / (float)count);
    occlusion_sums sums = {R(0.0), R(0.0)};
    for (int i = 0; i < count; i++) {
        const occlusion_ray ray = occlusion_ray_of(view, p, angle);
        real horizon = ray.low;
        for (int k = 1; k <= OCCLUSION_STEPS; k++) {
            const occlusion_step s = occlusion_step_to(view, p, ray, (float)k);
            horizon = occlusion_raise(view, p, ray, s, occlusion_depth(map, view, s.column, s.row), horizon);
        }
        sums = occlusion_add(sums, ray, horizon);
        angle = occlusion_next_angle(angle, cosine, sine);
    }
    return sums;
}

// The part of the light from all around that reaches points of meshes, in the camera's space: the mean of the
// map's pixels around them.
FN real occlusion_lookup(const orr_occlusion_map *map, real3 position, real3 normal)
{
    const occlusion_view view = occlusion_view_of(&map->values);
    const occlusion_point p = occlusion_begin(view, position, normal);
    const real left = occlusion_first_tap(p.x), top = occlusion_first_tap(p.y);
    occlusion_sums sums = {R(0.0), R(0.0)};
    for (int i = 0; i < OCCLUSION_TAPS * OCCLUSION_TAPS; i++) {
        const real column = left + R((float)(i % OCCLUSION_TAPS)), row = top + R((float)(i / OCCLUSION_TAPS));
        const mask inside =
            and_(and_(column >= R(0.0), column < R(view.width)), and_(row >= R(0.0), row < R(view.height)));
        const sint at = to_int(sel(inside, fma_(row, R(view.width), column), R(0.0)));
        const real depth = real_gather(map->depth, at);
        const mask some = and_(inside, depth < R(1e37));
        const real weight = occlusion_weight(view, position, normal,
                                             occlusion_seen(view, column, row, sel(some, depth, R(1e18))));
        const real part = sel(some, weight, R(0.0));
        sums.above = fma_(part, real_gather(map->above, at), sums.above);
        sums.all_around = fma_(part, real_gather(map->all_around, at), sums.all_around);
    }
    return occlusion_open(view, sums);
}

// The same of captured surfaces, which are not in the map.
FN real occlusion_on_capture(const orr_occlusion_map *map, real3 position)
{
    const occlusion_view view = occlusion_view_of(&map->values);
    const real3 normal = occlusion_level(view, position);
    mask near = I(-1);
    const real at[3] = {position.x, position.y, position.z};
    for (int i = 0; i < 3; i++) {
        near = and_(near, and_(at[i] >= R(map->low[i]), at[i] <= R(map->high[i])));
    }
    if (!any(near)) {
        return R(1.0);
    }
    return occlusion_open(view, occlusion_search(map, position, normal, OCCLUSION_ALONE));
}
