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

// ---- boxes ----

static const double AREA_MOST = 2.0; // by that when it was built

static double half_area(const orr_bvh_node *node, int k)
{
    const double x = (double)node->high[0][k] - (double)node->low[0][k],
                 y = (double)node->high[1][k] - (double)node->low[1][k],
                 z = (double)node->high[2][k] - (double)node->low[2][k];
    return x * y + y * z + z * x;
}

static bool is_there(const orr_bvh_node *node, int k)
{
    return node->low[0][k] <= node->high[0][k];
}

static double area_of(const orr_bvh *bvh)
{
    double sum = 0.0;
    for (int i = 0; i < bvh->node_count; i++) {
        for (int k = 0; k < ORR_BVH_WIDTH; k++) {
            sum += is_there(&bvh->nodes[i], k) ? half_area(&bvh->nodes[i], k) : 0.0;
        }
    }
    return sum;
}

// False: a triangle of the block is not finite.
static bool bounds_of_block(const float *corners, const uint32_t *primitives, float low[3], float high[3])
{
    for (int a = 0; a < 3; a++) {
        low[a] = INFINITY;
        high[a] = -INFINITY;
    }
    for (int i = 0; i < ORR_BVH_WIDTH && primitives[i] != ORR_BVH_NONE; i++) {
        const float *p = corners + 9 * (size_t)primitives[i];
        for (int k = 0; k < 9; k++) {
            if (!isfinite(p[k])) {
                return false;
            }
            low[k % 3] = p[k] < low[k % 3] ? p[k] : low[k % 3]; // faster than fminf, which minds NaN
            high[k % 3] = p[k] > high[k % 3] ? p[k] : high[k % 3];
        }
    }
    return true;
}

bool orr_triangle_tree_refit(orr_triangle_tree *tree, const float *corners, const uint8_t *flags)
{
    orr_bvh *bvh = &tree->bvh;
    if (tree->left_out > 0) {
        return false;
    }
    for (int i = bvh->node_count - 1; i >= 0; i--) { // children stand behind their parents
        orr_bvh_node *node = &bvh->nodes[i];
        for (int k = 0; k < ORR_BVH_WIDTH; k++) {
            float low[3], high[3];
            if (!is_there(node, k)) {
                continue;
            }
            if (node->child[k] & ORR_BVH_LEAF) {
                const uint32_t block = node->child[k] & ~ORR_BVH_LEAF;
                const uint32_t *primitives = bvh->primitives + (size_t)block * ORR_BVH_WIDTH;
                if (!bounds_of_block(corners, primitives, low, high)) {
                    return false;
                }
                fill_block(corners, flags, primitives, &tree->blocks[block]);
            } else {
                orr_bvh_node_bounds(&bvh->nodes[node->child[k]], low, high);
            }
            for (int a = 0; a < 3; a++) {
                node->low[a][k] = low[a];
                node->high[a][k] = high[a];
            }
        }
    }
    return area_of(bvh) <= AREA_MOST * tree->area;
}

// ---- building ----

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
    tree->area = area_of(&tree->bvh);
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
