// Triangles in a bounding volume hierarchy, and where rays meet them. The walks are compiled once per
// instruction set.
#pragma once

#include "engine/core/isa.h"
#include "render/reference/bvh.h"

typedef struct orr_triangle_block {
    float corner[3][ORR_BVH_WIDTH], ab[3][ORR_BVH_WIDTH], ac[3][ORR_BVH_WIDTH]; // zeros where there is none
    uint32_t triangle[ORR_BVH_WIDTH];
    uint32_t two_sided, sieved; // a bit per lane
} orr_triangle_block;

typedef struct orr_triangle_tree {
    orr_bvh bvh;
    orr_triangle_block *blocks; // bvh.block_count
    int64_t left_out;           // triangles without area, or with a coordinate that is not finite
    double area;                // half of that of all boxes, when it was built
} orr_triangle_tree;

enum {
    ORR_TRIANGLE_TWO_SIDED = 1, // met from behind by rays that heed sides
    ORR_TRIANGLE_SIEVED = 2     // asks orr_ray_sieve
};

// corners: count x 9, xyz of a, b, c; counter-clockwise seen from the front. flags: count.
orr_result orr_triangle_tree_build(const float *corners, const uint8_t *flags, int64_t count,
                                   orr_triangle_tree *tree, orr_error *error);
// Moves the triangles of a tree, and gives them other flags: blocks keep theirs, and boxes are fitted to
// them. False: it must be built anew, because triangles were left out, one is not finite, or the area of its
// boxes is over twice that with which it was built.
bool orr_triangle_tree_refit(orr_triangle_tree *tree, const float *corners, const uint8_t *flags);
void orr_triangle_tree_free(orr_triangle_tree *tree);

typedef struct orr_ray_hit {
    float distance; // in lengths of the direction
    float b, c;     // weights of the corners b and c
    uint32_t triangle;
    uint32_t instance; // of orr_instances (instances.h), 0: of a tree alone
} orr_ray_hit;

// Does a sieved triangle stop the ray at this place? Each is asked at most once per ray and triangle.
typedef struct orr_ray_sieve {
    bool (*stops)(void *context, const orr_ray_hit *hit);
    void *context;
} orr_ray_sieve;

struct orr_instances;

typedef struct orr_triangle_walk {
    // The first triangle between the ray's ends, of several at the same distance the one with the least
    // number; false: none. heed_sides: backs of one-sided triangles do not count. sieve NULL: all stop.
    bool (*nearest)(const orr_triangle_tree *tree, const orr_ray *ray, bool heed_sides,
                    const orr_ray_sieve *sieve, orr_ray_hit *hit);
    // The same of all instances, of which the least number comes first. Weights and distances are as in the
    // world.
    bool (*nearest_instance)(const struct orr_instances *instances, const orr_ray *ray, bool heed_sides,
                             const orr_ray_sieve *sieve, orr_ray_hit *hit);
    // Is there any?
    bool (*any)(const orr_triangle_tree *tree, const orr_ray *ray, const orr_ray_sieve *sieve);
} orr_triangle_walk;

const orr_triangle_walk *orr_triangle_walk_of(orr_isa isa);

#define ORR_TRIANGLE_WALK(isa) extern const orr_triangle_walk orr_triangle_walk_##isa;
ORR_TRIANGLE_WALK(baseline)
ORR_TRIANGLE_WALK(avx2)
ORR_TRIANGLE_WALK(avx512)
