// How a ray walks through a bounding volume hierarchy, in lanes: for files compiled once per instruction set.
#pragma once

// With 16 lanes half would idle, and vectors of 64 bytes lie across two lines of the cache: walks took three
// to four times as long.
#define ORR_EIGHT_LANES_AT_MOST
#include "engine/maths/lanes.h"
#include "render/reference/bvh.h"

#include <math.h>

#if ORR_LANES > 8
#error "bvh_walk_cpu.h comes before other headers with lanes"
#endif

typedef struct bvh_lanes {
    real origin[3], direction[3], inverse[3];
    real near_end;
    int near_side[3]; // row of a node's bounds that the ray reaches first: 0 .. 2 are low, 3 .. 5 high
} bvh_lanes;

typedef struct bvh_entry {
    float distance;
    uint32_t child;
} bvh_entry;

FN bvh_lanes bvh_lanes_of(const orr_ray *ray)
{
    bvh_lanes l;
    for (int k = 0; k < 3; k++) {
        float d = ray->direction[k];
        // finite, so that no box gives NaN
        float inverse = fabsf(d) > 1e-18f ? 1.0f / d : copysignf(1e18f, d);
        l.origin[k] = R(ray->origin[k]);
        l.direction[k] = R(d);
        l.inverse[k] = R(inverse);
        l.near_side[k] = inverse < 0.0f ? 3 + k : k;
    }
    l.near_end = R(ray->near_end);
    return l;
}

FN real bvh_slab(const orr_bvh_node *node, const bvh_lanes *l, int side, int k, int first)
{
    return (real_load(&node->low[0][0] + side * ORR_BVH_WIDTH + first) - l->origin[k]) * l->inverse[k];
}

// Which children's boxes the ray meets before far_end: a bit each, and where it enters them.
FN uint32_t bvh_children(const orr_bvh_node *node, const bvh_lanes *l, float far_end,
                         float distance[ORR_BVH_WIDTH])
{
    uint32_t bits = 0;
    for (int i = 0; i < ORR_BVH_WIDTH; i += ORR_LANES) {
        real enter = l->near_end, leave = R(far_end);
        for (int k = 0; k < 3; k++) {
            int side = l->near_side[k];
            enter = max_(bvh_slab(node, l, side, k, i), enter);
            leave = min_(bvh_slab(node, l, side < 3 ? side + 3 : side - 3, k, i), leave);
        }
        // the rounding of three operations each
        bits |= mask_bits(enter <= leave * R(1.0f + 8e-7f)) << i;
        real_store(distance + i, enter);
    }
    return bits;
}

// Puts the children on the stack, the nearest on top. Returns the new number of entries.
FN int bvh_push(bvh_entry *stack, int count, const orr_bvh_node *node, uint32_t bits, const float *distance)
{
    for (int from = count; bits; bits &= bits - 1) {
        int k = __builtin_ctz(bits), at = count++;
        for (; at > from && stack[at - 1].distance < distance[k]; at--) {
            stack[at] = stack[at - 1];
        }
        stack[at] = (bvh_entry){distance[k], node->child[k]};
    }
    return count;
}
