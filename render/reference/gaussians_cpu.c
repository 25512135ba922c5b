// Rays and splats, compiled once per instruction set.
#include "render/reference/bvh_walk_cpu.h"
#include "render/reference/gaussians.h"
#include "render/splat/splat_formula.h"

FN real3 load3(const float rows[3][ORR_BVH_WIDTH], int first)
{
    return make_real3(real_load(rows[0] + first), real_load(rows[1] + first), real_load(rows[2] + first));
}

// v in the space where a Gaussian is the unit one.
FN real3 to_unit(const orr_gaussian_block *block, int first, real3 v)
{
    real3 rows[3];
    for (int k = 0; k < 3; k++) {
        rows[k] = load3(block->unit + 3 * k, first);
    }
    return make_real3(dot3(rows[0], v), dot3(rows[1], v), dot3(rows[2], v));
}

// Which of a block's splats the ray meets: a bit each, where, and how much they cover.
FN uint32_t meet_block(const orr_gaussian_block *block, const bvh_lanes *l, float far_end,
                       float distance[ORR_BVH_WIDTH], float alpha[ORR_BVH_WIDTH])
{
    uint32_t bits = 0;
    for (int i = 0; i < ORR_BVH_WIDTH; i += ORR_LANES) {
        real3 origin = make_real3(l->origin[0], l->origin[1], l->origin[2]);
        real3 from = to_unit(block, i, sub3(origin, load3(block->mean, i)));
        real3 along = to_unit(block, i, make_real3(l->direction[0], l->direction[1], l->direction[2]));
        real at = -dot3(from, along) / dot3(along, along); // NaN where there is none
        real3 nearest = add_scaled3(from, along, at);
        real cover = real_load(block->opacity + i) *
                     exp2_(R(-0.5 * SPLAT_LOG2E) * min_(dot3(nearest, nearest), R(100.0)));
        cover = min_(cover, R(SPLAT_ALPHA_MAX));
        mask met = (cover >= R(SPLAT_ALPHA_MIN)) & (at >= l->near_end) & (at <= R(far_end));
        bits |= mask_bits(met) << i;
        real_store(distance + i, at);
        real_store(alpha + i, cover);
    }
    return bits;
}

FN bool before(const orr_gaussian_met *a, const orr_gaussian_met *b)
{
    return a->distance < b->distance || (a->distance == b->distance && a->splat < b->splat);
}

// Keeps the first ones, sorted. Returns how many there are now.
FN int insert(orr_gaussian_met *met, int count, orr_gaussian_met added)
{
    if (count == ORR_GAUSSIANS_MET) {
        if (!before(&added, &met[count - 1])) {
            return count;
        }
        count--;
    }
    int at = count++;
    for (; at > 0 && before(&added, &met[at - 1]); at--) {
        met[at] = met[at - 1];
    }
    met[at] = added;
    return count;
}

static int first(const orr_gaussians *gaussians, const orr_ray *ray, const orr_gaussian_met *after,
                 orr_gaussian_met met[ORR_GAUSSIANS_MET])
{
    bvh_lanes l = bvh_lanes_of(ray);
    bvh_entry stack[ORR_BVH_STACK];
    float distance[ORR_BVH_WIDTH], alpha[ORR_BVH_WIDTH], far_end = ray->far_end;
    int found = 0;
    if (after) {
        l.near_end = R(after->distance);
    }
    stack[0] = (bvh_entry){ray->near_end, 0};
    for (int count = 1; count > 0;) {
        bvh_entry entry = stack[--count];
        if (entry.distance > far_end) {
            continue;
        }
        if (!(entry.child & ORR_BVH_LEAF)) {
            const orr_bvh_node *node = &gaussians->bvh.nodes[entry.child];
            count = bvh_push(stack, count, node, bvh_children(node, &l, far_end, distance), distance);
            continue;
        }
        const orr_gaussian_block *block = &gaussians->blocks[entry.child & ~ORR_BVH_LEAF];
        uint32_t bits = meet_block(block, &l, far_end, distance, alpha);
        for (; bits; bits &= bits - 1) {
            int i = __builtin_ctz(bits);
            orr_gaussian_met added = {distance[i], alpha[i], block->splat[i]};
            if (!after || before(after, &added)) {
                found = insert(met, found, added);
            }
        }
        far_end = found == ORR_GAUSSIANS_MET ? met[found - 1].distance : far_end;
    }
    return found;
}

static float transmittance(const orr_gaussians *gaussians, const orr_ray *ray)
{
    const bvh_lanes l = bvh_lanes_of(ray);
    uint32_t stack[ORR_BVH_STACK];
    float distance[ORR_BVH_WIDTH], alpha[ORR_BVH_WIDTH], left = 1.0f;
    stack[0] = 0;
    for (int count = 1; count > 0 && left > 1e-6f;) {
        uint32_t child = stack[--count];
        if (!(child & ORR_BVH_LEAF)) {
            const orr_bvh_node *node = &gaussians->bvh.nodes[child];
            uint32_t bits = bvh_children(node, &l, ray->far_end, distance);
            for (; bits; bits &= bits - 1) {
                stack[count++] = node->child[__builtin_ctz(bits)];
            }
            continue;
        }
        uint32_t bits =
            meet_block(&gaussians->blocks[child & ~ORR_BVH_LEAF], &l, ray->far_end, distance, alpha);
        for (; bits; bits &= bits - 1) {
            left *= 1.0f - alpha[__builtin_ctz(bits)];
        }
    }
    return left > 1e-6f ? left : 0.0f;
}

const orr_gaussian_walk ORR_ISA_NAME(orr_gaussian_walk) = {first, transmittance};
