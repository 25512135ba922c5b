#include "render/reference/triangles.h"

#include "engine/core/memory.h"

#include <math.h>

#define WALK(isa) &orr_triangle_walk_##isa
static const orr_triangle_walk *const walks[ORR_ISA_COUNT] = ORR_ISA_TABLE(WALK);

const orr_triangle_walk *orr_triangle_walk_of(orr_isa isa)
{
    return walks[isa];
}

// The box of a triangle; false: it has no area, or is not finite.
static bool box_of(const float *corners, uint32_t triangle, orr_bvh_box *box)
{
    *box = (orr_bvh_box){.primitive = triangle};
    double ab[3], ac[3];
    bool finite = true;
    for (int k = 0; k < 3; k++) {
        float a = corners[k], b = corners[3 + k], c = corners[6 + k];
        finite &= isfinite(a) && isfinite(b) && isfinite(c);
        box->low[k] = fminf(a, fminf(b, c));
        box->high[k] = fmaxf(a, fmaxf(b, c));
        ab[k] = (double)b - (double)a;
        ac[k] = (double)c - (double)a;
    }
    double x = ab[1] * ac[2] - ab[2] * ac[1], y = ab[2] * ac[0] - ab[0] * ac[2],
           z = ab[0] * ac[1] - ab[1] * ac[0];
    return finite && x * x + y * y + z * z > 0.0;
}

static void fill_block(const float *corners, const uint8_t *flags, const uint32_t *primitives,
                       orr_triangle_block *block)
{
    *block = (orr_triangle_block){0};
    for (int i = 0; i < ORR_BVH_WIDTH; i++) {
        uint32_t triangle = primitives[i];
        block->triangle[i] = triangle;
        if (triangle == ORR_BVH_NONE) {
            continue;
        }
        const float *p = corners + 9 * (size_t)triangle;
        for (int k = 0; k < 3; k++) {
            block->corner[k][i] = p[k];
            block->ab[k][i] = p[3 + k] - p[k];
            block->ac[k][i] = p[6 + k] - p[k];
        }
        block->two_sided |= (uint32_t)((flags[triangle] & ORR_TRIANGLE_TWO_SIDED) != 0) << i;
        block->sieved |= (uint32_t)((flags[triangle] & ORR_TRIANGLE_SIEVED) != 0) << i;
    }
}

static orr_result build(const float *corners, const uint8_t *flags, int64_t count, orr_bvh_box *boxes,
                        orr_triangle_tree *tree, orr_error *error)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        kept += box_of(corners + 9 * i, (uint32_t)i, &boxes[kept]);
    }
    tree->left_out = count - kept;
    ORR_TRY(orr_bvh_build(boxes, kept, &tree->bvh, error));
    ORR_ALLOC(tree->blocks, tree->bvh.block_count, "triangles of a bounding volume hierarchy", error);
    for (int i = 0; i < tree->bvh.block_count; i++) {
        fill_block(corners, flags, tree->bvh.primitives + (size_t)i * ORR_BVH_WIDTH, &tree->blocks[i]);
    }
    return ORR_OK;
}

orr_result orr_triangle_tree_build(const float *corners, const uint8_t *flags, int64_t count,
                                   orr_triangle_tree *tree, orr_error *error)
{
    *tree = (orr_triangle_tree){0};
    orr_bvh_box *boxes;
    ORR_ALLOC(boxes, count, "boxes of triangles", error);
    orr_result result = build(corners, flags, count, boxes, tree, error);
    orr_free(boxes);
    if (result != ORR_OK) {
        orr_triangle_tree_free(tree);
    }
    return result;
}

void orr_triangle_tree_free(orr_triangle_tree *tree)
{
    orr_bvh_free(&tree->bvh);
    orr_free(tree->blocks);
    *tree = (orr_triangle_tree){0};
}
