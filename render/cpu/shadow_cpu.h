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

// The part of light `light` of the plan that reaches points in the camera's space past what its maps show.
// normal: unit, on the lit side, or 0 of a point that is not in the maps.
FN real shadow_lookup(const orr_shadow_maps *maps, int light, real3 position, real3 normal)
{
    const int size = (int)maps->plan.values[light].size;
    const float *texels = maps->texels + maps->plan.firsts[light];
    shadow_square s = shadow_find(shadow_view_of(&maps->plan.values[light]), position, normal);
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
