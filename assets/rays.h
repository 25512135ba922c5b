// Rays against a shape: the engine's tree of triangles (render/reference/triangles.h), built once and read by
// all threads.
#pragma once

#include "assets/shape.h"
#include "render/reference/triangles.h"

typedef struct ray_tree {
    const shape_mesh *shape; // borrowed
    orr_triangle_tree triangles;
    int *order; // numbers in the shape of the tree's triangles
} ray_tree;

// `skip`: a material rays pass through, or -1
orr_result rays_build(const shape_mesh *s, int skip, ray_tree *tree, orr_error *error);
void rays_destroy(ray_tree *tree);

typedef struct ray_hit {
    float distance;
    int triangle; // -1: nothing, and the distance is `reach`
    float u, v;   // weights of corners 1 and 2
} ray_hit;

// The nearest triangle before `reach`. The direction is a unit vector.
ray_hit rays_trace(const ray_tree *tree, real3 origin, real3 direction, float reach);
// Is there none before `reach`?
bool rays_clear(const ray_tree *tree, real3 origin, real3 direction, float reach);
