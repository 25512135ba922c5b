// A bounding volume hierarchy over boxes: nodes of eight children, whose boxes are tested side by side in
// lanes. Leaves are blocks of up to eight primitives; what a block holds is the caller's (triangles.h,
// splats.h).
#pragma once

#include "engine/core/result.h"

enum {
    ORR_BVH_WIDTH = 8,
    ORR_BVH_STACK = 256,           // entries that a walk needs at most
    ORR_BVH_BOXES = INT32_MAX / 8, // at most
};
#define ORR_BVH_LEAF 0x80000000u // a child with this bit is a block
#define ORR_BVH_NONE UINT32_MAX  // a primitive that is not there

typedef struct orr_bvh_box {
    float low[3];
    uint32_t primitive;
    float high[3];
    float unused; // a box is two vectors of four
} orr_bvh_box;

typedef struct orr_bvh_node {
    float low[3][ORR_BVH_WIDTH], high[3][ORR_BVH_WIDTH]; // a child that is not there: low > high
    uint32_t child[ORR_BVH_WIDTH];                       // a node, or ORR_BVH_LEAF + a block
} orr_bvh_node;

typedef struct orr_bvh {
    orr_bvh_node *nodes; // node_count; the first is the root
    int node_count;
    uint32_t *primitives; // block_count x 8, ORR_BVH_NONE where a block is not full
    int block_count;
} orr_bvh;

// Splits by the surface area heuristic over 16 bins an axis (Wald 2007). Boxes must be finite; they are
// reordered. Trees are at most 35 nodes deep, so that ORR_BVH_STACK entries are enough for any walk. No
// boxes: one node without children. ORR_ERROR_MEMORY; ORR_ERROR_CAPACITY for more than ORR_BVH_BOXES.
orr_result orr_bvh_build(orr_bvh_box *boxes, int64_t count, orr_bvh *bvh, orr_error *error);
void orr_bvh_free(orr_bvh *bvh);
// The box around a node's children; low > high: it has none.
void orr_bvh_node_bounds(const orr_bvh_node *node, float low[3], float high[3]);

typedef struct orr_ray {
    float origin[3], direction[3]; // direction of any length
    float near_end, far_end;       // in lengths of the direction
} orr_ray;
