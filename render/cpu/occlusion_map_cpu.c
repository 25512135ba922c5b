// Lanes over the pixels of a row: what is open above each of them.
#include "render/cpu/occlusion_cpu.h"

// The depth of neighbours; beyond the picture and where there is none, far away, but finite.
FN real depth_beside(const orr_occlusion_map *map, occlusion_view view, real column, real row)
{
    const mask inside =
        and_(and_(column >= R(0.0), column < R(view.width)), and_(row >= R(0.0), row < R(view.height)));
    const real depth = occlusion_depth(map, view, sel(inside, column, R(0.0)), sel(inside, row, R(0.0)));
    return sel(inside, min_(depth, R(1e18)), R(1e18));
}

static void extend(float *bounds, mask some, real value)
{
    float values[ORR_LANES];
    real_store(values, value);
    for (int i = 0; i < ORR_LANES; i++) {
        if (mask_bits(some) >> i & 1) {
            bounds[0] = values[i] < bounds[0] ? values[i] : bounds[0];
            bounds[3] = values[i] > bounds[3] ? values[i] : bounds[3];
        }
    }
}

void ORR_ISA_NAME(orr_occlusion_row)(const orr_occlusion_map *map, int row)
{
    const occlusion_view view = occlusion_view_of(&map->values);
    const int width = (int)view.width;
    const real y = R((float)row);
    float *bounds = map->bounds + 6 * row;
    for (int i = 0; i < 3; i++) {
        bounds[i] = __builtin_inff();
        bounds[3 + i] = -__builtin_inff();
    }
    for (int left = 0; left < width; left += ORR_LANES) {
        const real x = to_real(lane_index() + I(left));
        const real centre = depth_beside(map, view, x, y);
        const mask some = centre < R(1e18);
        occlusion_sums sums = {R(0.0), R(0.0)};
        if (any(some)) {
            const real depth = sel(some, centre, R(1.0));
            const real3 normal = occlusion_normal(view, x, y, depth, depth_beside(map, view, x - R(1.0), y),
                                                  depth_beside(map, view, x + R(1.0), y),
                                                  depth_beside(map, view, x, y - R(1.0)),
                                                  depth_beside(map, view, x, y + R(1.0)));
            const real3 seen = occlusion_seen(view, x, y, depth);
            sums = occlusion_search(map, seen, normal, OCCLUSION_DIRECTIONS);
            extend(bounds, some, seen.x);
            extend(bounds + 1, some, seen.y);
            extend(bounds + 2, some, seen.z);
        }
        float above[ORR_LANES], all_around[ORR_LANES];
        real_store(above, sel(some, sums.above, R(0.0)));
        real_store(all_around, sel(some, sums.all_around, R(0.0)));
        const int count = width - left < ORR_LANES ? width - left : ORR_LANES;
        memcpy(map->above + (size_t)row * (size_t)width + left, above, (size_t)count * sizeof *above);
        memcpy(map->all_around + (size_t)row * (size_t)width + left, all_around,
               (size_t)count * sizeof *all_around);
    }
}
