// Rays and triangles, compiled once per instruction set.
#include "render/reference/bvh_walk_cpu.h"

#include "engine/maths/vector.h"
#include "render/reference/instances.h"
#include "render/reference/triangles.h"

typedef struct lanes3 {
    real x, y, z;
} lanes3;

FN lanes3 load3(const float rows[3][ORR_BVH_WIDTH], int first)
{
    return (lanes3){real_load(rows[0] + first), real_load(rows[1] + first), real_load(rows[2] + first)};
}

FN lanes3 cross(lanes3 a, lanes3 b)
{
    return (lanes3){fma_(a.y, b.z, -(a.z * b.y)), fma_(a.z, b.x, -(a.x * b.z)), fma_(a.x, b.y, -(a.y * b.x))};
}

FN real dot(lanes3 a, lanes3 b)
{
    return fma_(a.x, b.x, fma_(a.y, b.y, a.z * b.z));
}

// Where the ray meets the triangles of a block (Moeller and Trumbore 1997): a bit each.
typedef struct block_hits {
    float distance[ORR_BVH_WIDTH], b[ORR_BVH_WIDTH], c[ORR_BVH_WIDTH];
} block_hits;

FN uint32_t meet_block(const orr_triangle_block *block, const bvh_lanes *l, float far_end, bool heed_sides,
                       block_hits *hits)
{
    const lanes3 direction = {l->direction[0], l->direction[1], l->direction[2]};
    uint32_t bits = 0;
    for (int i = 0; i < ORR_BVH_WIDTH; i += ORR_LANES) {
        lanes3 ab = load3(block->ab, i), ac = load3(block->ac, i), corner = load3(block->corner, i);
        lanes3 p = cross(direction, ac);
        real determinant = dot(ab, p);
        lanes3 s = {l->origin[0] - corner.x, l->origin[1] - corner.y, l->origin[2] - corner.z};
        lanes3 q = cross(s, ab);
        real inverse = R(1.0) / determinant; // infinite for a triangle that is not there: all below are NaN
        real b = dot(s, p) * inverse, c = dot(direction, q) * inverse, distance = dot(ac, q) * inverse;
        mask hit = (b >= R(0.0)) & (c >= R(0.0)) & (b + c <= R(1.0)) & (distance > l->near_end) &
                   (distance <= R(far_end));
        uint32_t met = mask_bits(hit);
        if (heed_sides) {
            met &= mask_bits(determinant > R(0.0)) | block->two_sided >> i;
        }
        bits |= met << i;
        real_store(hits->distance + i, distance);
        real_store(hits->b + i, b);
        real_store(hits->c + i, c);
    }
    return bits;
}

FN orr_ray_hit hit_of(const orr_triangle_block *block, const block_hits *hits, int lane, uint32_t instance)
{
    return (orr_ray_hit){hits->distance[lane], hits->b[lane], hits->c[lane], block->triangle[lane], instance};
}

FN bool stops(const orr_triangle_block *block, int lane, const orr_ray_sieve *sieve, const orr_ray_hit *hit)
{
    return !sieve || !(block->sieved >> lane & 1u) || sieve->stops(sieve->context, hit);
}

// By number where distances are the same, so that the order in which trees are walked has no effect.
FN bool is_before(const orr_ray_hit *a, const orr_ray_hit *b)
{
    if (a->distance != b->distance) {
        return a->distance < b->distance;
    }
    return a->instance != b->instance ? a->instance < b->instance : a->triangle < b->triangle;
}

FN void begin(const orr_ray *ray, orr_ray_hit *hit)
{
    *hit = (orr_ray_hit){.distance = ray->far_end, .triangle = ORR_BVH_NONE, .instance = ORR_BVH_NONE};
}

// Puts the first triangle in place of `hit`, if it is before that.
static void search(const orr_triangle_tree *tree, uint32_t instance, const orr_ray *ray, bool heed_sides,
                   const orr_ray_sieve *sieve, orr_ray_hit *hit)
{
    const bvh_lanes l = bvh_lanes_of(ray);
    bvh_entry stack[ORR_BVH_STACK];
    float distance[ORR_BVH_WIDTH];
    block_hits hits;
    stack[0] = (bvh_entry){ray->near_end, 0};
    for (int count = 1; count > 0;) {
        bvh_entry entry = stack[--count];
        if (entry.distance > hit->distance) {
            continue;
        }
        if (!(entry.child & ORR_BVH_LEAF)) {
            const orr_bvh_node *node = &tree->bvh.nodes[entry.child];
            uint32_t bits = bvh_children(node, &l, hit->distance, distance);
            count = bvh_push(stack, count, node, bits, distance);
            continue;
        }
        const orr_triangle_block *block = &tree->blocks[entry.child & ~ORR_BVH_LEAF];
        uint32_t bits = meet_block(block, &l, hit->distance, heed_sides, &hits);
        for (; bits; bits &= bits - 1) {
            int lane = __builtin_ctz(bits);
            orr_ray_hit found = hit_of(block, &hits, lane, instance);
            if (found.distance < ray->far_end && is_before(&found, hit) &&
                stops(block, lane, sieve, &found)) {
                *hit = found;
            }
        }
    }
}

static bool nearest(const orr_triangle_tree *tree, const orr_ray *ray, bool heed_sides,
                    const orr_ray_sieve *sieve, orr_ray_hit *hit)
{
    begin(ray, hit);
    search(tree, 0, ray, heed_sides, sieve, hit);
    return hit->triangle != ORR_BVH_NONE;
}

static bool nearest_instance(const orr_instances *instances, const orr_ray *ray, bool heed_sides,
                             const orr_ray_sieve *sieve, orr_ray_hit *hit)
{
    const bvh_lanes l = bvh_lanes_of(ray);
    bvh_entry stack[ORR_BVH_STACK];
    float distance[ORR_BVH_WIDTH];
    begin(ray, hit);
    stack[0] = (bvh_entry){ray->near_end, 0};
    for (int count = 1; count > 0;) {
        bvh_entry entry = stack[--count];
        if (entry.distance > hit->distance) {
            continue;
        }
        if (!(entry.child & ORR_BVH_LEAF)) {
            const orr_bvh_node *node = &instances->nodes[entry.child];
            uint32_t bits = bvh_children(node, &l, hit->distance, distance);
            count = bvh_push(stack, count, node, bits, distance);
            continue;
        }
        const uint32_t number = entry.child & ~ORR_BVH_LEAF;
        const orr_instance *instance = &instances->instances[number];
        orr_ray within = {.near_end = ray->near_end, .far_end = ray->far_end};
        affine_apply_to_point(instance->to_tree, ray->origin, within.origin);
        affine_apply_to_direction(instance->to_tree, ray->direction, within.direction);
        search(instance->tree, number, &within, heed_sides, sieve, hit);
    }
    return hit->triangle != ORR_BVH_NONE;
}

static bool any_of(const orr_triangle_tree *tree, const orr_ray *ray, const orr_ray_sieve *sieve)
{
    const bvh_lanes l = bvh_lanes_of(ray);
    uint32_t stack[ORR_BVH_STACK];
    float distance[ORR_BVH_WIDTH];
    block_hits hits;
    stack[0] = 0;
    for (int count = 1; count > 0;) {
        uint32_t child = stack[--count];
        if (!(child & ORR_BVH_LEAF)) {
            const orr_bvh_node *node = &tree->bvh.nodes[child];
            uint32_t bits = bvh_children(node, &l, ray->far_end, distance);
            for (; bits; bits &= bits - 1) {
                stack[count++] = node->child[__builtin_ctz(bits)];
            }
            continue;
        }
        const orr_triangle_block *block = &tree->blocks[child & ~ORR_BVH_LEAF];
        uint32_t bits = meet_block(block, &l, ray->far_end, false, &hits);
        for (; bits; bits &= bits - 1) {
            int lane = __builtin_ctz(bits);
            orr_ray_hit found = hit_of(block, &hits, lane, 0);
            if (found.distance < ray->far_end && stops(block, lane, sieve, &found)) {
                return true;
            }
        }
    }
    return false;
}

const orr_triangle_walk ORR_ISA_NAME(orr_triangle_walk) = {nearest, nearest_instance, any_of};
