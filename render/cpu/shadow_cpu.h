// Lookups in shadow maps, for lanes.
#pragma once

#include "render/cpu/shadow_maps.h"
#include "render/formula_inputs.h"

// The part of its light that reaches points in the camera's space past what map `map` shows. normal: unit, on
// the lit side, or 0 of a point that is not in the map.
FN real shadow_lookup(const orr_shadow_maps *maps, int map, real3 position, real3 normal)
{
    const int size = maps->plan.size;
    shadow_square s = shadow_find(shadow_view_of(&maps->plan.values[map]), position, normal);
    sint first = to_int(s.top) * I(size) + to_int(s.left);
    real rows[4];
    for (int k = 0; k < 4; k++) {
        real test[4];
        for (int i = 0; i < 4; i++) {
            test[i] = shadow_test(s, real_gather(maps->depth[map], first + I(k * size + i)));
        }
        rows[k] = shadow_sum(s.part_x, test[0], test[1], test[2], test[3]);
    }
    return shadow_visible(s, shadow_sum(s.part_y, rows[0], rows[1], rows[2], rows[3]));
}
