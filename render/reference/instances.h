// Trees of triangles at their places in the world, below a hierarchy of their boxes: what moves as a whole
// keeps its tree, into whose space rays are taken. The walk through them is in triangles.h.
#pragma once

#include "render/reference/triangles.h"

typedef struct orr_instance {
    const orr_triangle_tree *tree;
    float to_tree[12]; // from the world
} orr_instance;

typedef struct orr_instances {
    orr_bvh_node *nodes;     // the first is the root; a child is a node, or ORR_BVH_LEAF + an instance
    orr_instance *instances; // count
    int count;
} orr_instances;

// models: count x 12, of each tree into the world, similarities. The trees must outlive it; those without
// triangles are never met. ORR_ERROR_MEMORY; ORR_ERROR_ARGUMENT for a model that cannot be inverted.
orr_result orr_instances_build(const orr_triangle_tree *const *trees, const float (*models)[12], int count,
                               orr_instances *instances, orr_error *error);
void orr_instances_free(orr_instances *instances);
