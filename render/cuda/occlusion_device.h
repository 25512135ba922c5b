// The search for what occludes a point, and lookups of what was found, for kernels.
#pragma once

#include "render/cuda/occlusion.h"
#include "render/formula_inputs.h"

// Searches in `count` directions, OCCLUSION_DIRECTIONS or OCCLUSION_ALONE.
static inline __device__ occlusion_sums occlusion_search(const orr_cuda_occlusion *map, real3 position,
                                                         real3 normal, int count)
{
    const occlusion_view view = occlusion_view_of(&map->values);
    const int width = (int)view.width;
    const bool alone = count == OCCLUSION_ALONE;
    // of a 32nd of a turn and of a quarter
    const float cosine = alone ? 0.98078528f : 0.0f, sine = alone ? 0.19509032f : 1.0f;
    occlusion_point p = occlusion_begin(view, position, normal);
    if (alone) {
        p = occlusion_without_pattern(p);
    }
    occlusion_angle angle = occlusion_first_angle(p, 6.28318531f / (float)count);
    occlusion_sums sums = {0.0f, 0.0f};
    for (int i = 0; i < count; i++) {
        const occlusion_ray ray = occlusion_ray_of(view, p, angle);
        float horizon = ray.low;
        for (int k = 1; k <= OCCLUSION_STEPS; k++) {
            const occlusion_step s = occlusion_step_to(view, p, ray, (float)k);
            horizon =
                occlusion_raise(view, p, ray, s, map->depth[(int)s.row * width + (int)s.column], horizon);
        }
        sums = occlusion_add(sums, ray, horizon);
        angle = occlusion_next_angle(angle, cosine, sine);
    }
    return sums;
}

// The depth of a neighbour; beyond the picture and where there is none, far away, but finite.
static inline __device__ float occlusion_beside(const orr_cuda_occlusion *map, int column, int row)
{
    const int width = (int)map->values.width, height = (int)map->values.height;
    return column >= 0 && column < width && row >= 0 && row < height
               ? min_(map->depth[row * width + column], 1e18f)
               : 1e18f;
}

// The sums of a pixel.
static inline __device__ void occlusion_find(const orr_cuda_occlusion *map, int column, int row)
{
    const occlusion_view view = occlusion_view_of(&map->values);
    const int at = row * (int)view.width + column;
    const float depth = occlusion_beside(map, column, row), x = (float)column, y = (float)row;
    occlusion_sums sums = {0.0f, 0.0f};
    if (depth < 1e18f) {
        const real3 normal = occlusion_normal(
            view, x, y, depth, occlusion_beside(map, column - 1, row), occlusion_beside(map, column + 1, row),
            occlusion_beside(map, column, row - 1), occlusion_beside(map, column, row + 1));
        sums = occlusion_search(map, occlusion_seen(view, x, y, depth), normal, OCCLUSION_DIRECTIONS);
    }
    map->above[at] = sums.above;
    map->all_around[at] = sums.all_around;
}

// The part of the light from all around that reaches a point of a mesh, in the camera's space: the mean of
// the map's pixels around it.
static inline __device__ float occlusion_lookup(const orr_cuda_occlusion *map, real3 position, real3 normal)
{
    const occlusion_view view = occlusion_view_of(&map->values);
    const int width = (int)view.width, height = (int)view.height;
    const occlusion_point p = occlusion_begin(view, position, normal);
    const int left = (int)occlusion_first_tap(p.x), top = (int)occlusion_first_tap(p.y);
    occlusion_sums sums = {0.0f, 0.0f};
    for (int i = 0; i < OCCLUSION_TAPS * OCCLUSION_TAPS; i++) {
        const int column = left + i % OCCLUSION_TAPS, row = top + i / OCCLUSION_TAPS;
        if (column < 0 || column >= width || row < 0 || row >= height) {
            continue;
        }
        const int at = row * width + column;
        const float depth = map->depth[at];
        if (depth < 1e37f) {
            const float weight = occlusion_weight(view, position, normal,
                                                  occlusion_seen(view, (float)column, (float)row, depth));
            sums.above = fma_(weight, map->above[at], sums.above);
            sums.all_around = fma_(weight, map->all_around[at], sums.all_around);
        }
    }
    return occlusion_open(view, sums);
}

// The same of a captured surface, which is not in the map.
static inline __device__ float occlusion_on_capture(const orr_cuda_occlusion *map, real3 position)
{
    const occlusion_view view = occlusion_view_of(&map->values);
    const real3 normal = occlusion_level(view, position);
    return occlusion_open(view, occlusion_search(map, position, normal, OCCLUSION_ALONE));
}
