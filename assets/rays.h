// Rays against a shape: a bounding volume hierarchy, built once and read by all threads.
#pragma once

#include "assets/shape.h"

typedef struct ray_node {
    real3 low, high;
    int first; // leaf: first of `count` triangles; otherwise the second child (the first follows the node)
    int count; // 0: not a leaf
} ray_node;

typedef struct ray_tree {
    const shape_mesh *shape; // borrowed
    ray_node *nodes;
    int *order; // triangle numbers, leaf by leaf
    int node_count;
} ray_tree;

// `skip`: a material rays pass through, or -1
orr_result rays_build(const shape_mesh *s, int skip, ray_tree *tree, orr_error *error);
void rays_destroy(ray_tree *tree);

typedef struct ray_hit {
    float distance;
    int triangle; // -1: nothing
    float u, v;   // weights of corners 1 and 2
} ray_hit;

// The nearest triangle before `reach`, or with `any` the first one found.
ray_hit rays_trace(const ray_tree *tree, real3 origin, real3 direction, float reach, bool any);
