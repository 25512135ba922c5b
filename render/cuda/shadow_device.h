// Lookups in shadow maps, for kernels.
#pragma once

#include "render/formula_inputs.h"

// The part of light `light` of the plan that reaches a point in the camera's space past what its maps show.
// normal: unit, on the lit side, or 0 of a point that is not in the maps.
static __device__ float shadow_lookup(const orr_shadow_plan *plan, const float *maps, int32_t light,
                                      real3 position, real3 normal)
{
    const int32_t size = (int32_t)plan->values[light].size;
    shadow_square s = shadow_find(shadow_view_of(&plan->values[light]), position, normal);
    const float *first =
        maps + plan->firsts[light] + ((int32_t)s.slot * size + (int32_t)s.top) * size + (int32_t)s.left;
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
