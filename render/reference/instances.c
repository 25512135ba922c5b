#include "render/reference/instances.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/vector.h"
#include "render/mesh.h"

#include <math.h>
#include <string.h>

// A box around a tree in the world; false: it has no triangles.
static bool box_of(const orr_triangle_tree *tree, const float model[12], orr_bvh_box *box)
{
    float low[3], high[3], largest = 0.0f;
    orr_bvh_node_bounds(&tree->bvh.nodes[0], low, high);
    for (int a = 0; a < 3; a++) {
        box->low[a] = INFINITY;
        box->high[a] = -INFINITY;
    }
    for (int corner = 0; corner < 8; corner++) {
        float at[3];
        orr_box_corner(low, high, model, corner, at);
        for (int a = 0; a < 3; a++) {
            box->low[a] = fminf(box->low[a], at[a]);
            box->high[a] = fmaxf(box->high[a], at[a]);
            largest = fmaxf(largest, fabsf(at[a]) + fabsf(model[4 * a + 3]));
        }
    }
    // some thirty roundings: a ray that meets the tree in its own space must meet the box in the world's
    for (int a = 0; a < 3; a++) {
        box->low[a] -= 2e-6f * largest;
        box->high[a] += 2e-6f * largest;
    }
    return low[0] <= high[0];
}

// A node for each block, whose children are the block's instances.
static void set_block(const uint32_t *primitives, const orr_bvh_box *boxes, orr_bvh_node *node)
{
    for (int k = 0; k < ORR_BVH_WIDTH; k++) {
        const bool there = primitives[k] != ORR_BVH_NONE;
        for (int a = 0; a < 3; a++) {
            node->low[a][k] = there ? boxes[primitives[k]].low[a] : INFINITY;
            node->high[a][k] = there ? boxes[primitives[k]].high[a] : -INFINITY;
        }
        node->child[k] = ORR_BVH_LEAF | (there ? primitives[k] : 0);
    }
}

static orr_result join(const orr_bvh *bvh, const orr_bvh_box *boxes, orr_instances *instances,
                       orr_error *error)
{
    ORR_ALLOC(instances->nodes, bvh->node_count + bvh->block_count, "instances of meshes", error);
    memcpy(instances->nodes, bvh->nodes, (size_t)bvh->node_count * sizeof *bvh->nodes);
    for (int i = 0; i < bvh->node_count; i++) {
        for (int k = 0; k < ORR_BVH_WIDTH; k++) {
            uint32_t *child = &instances->nodes[i].child[k];
            *child = *child & ORR_BVH_LEAF ? (uint32_t)bvh->node_count + (*child & ~ORR_BVH_LEAF) : *child;
        }
    }
    for (int i = 0; i < bvh->block_count; i++) {
        set_block(bvh->primitives + (size_t)i * ORR_BVH_WIDTH, boxes, &instances->nodes[bvh->node_count + i]);
    }
    return ORR_OK;
}

// boxes: count x 2, the second half of which the hierarchy reorders
static orr_result build(const orr_triangle_tree *const *trees, const float (*models)[12], int count,
                        orr_bvh_box *boxes, orr_instances *instances, orr_error *error)
{
    orr_bvh bvh;
    orr_bvh_box *sorted = boxes + count;
    int64_t there = 0;
    ORR_ALLOC(instances->instances, count, "instances of meshes", error);
    instances->count = count;
    for (int i = 0; i < count; i++) {
        instances->instances[i].tree = trees[i];
        ORR_TRY(orr_affine_invert(models[i], instances->instances[i].to_tree, error));
        boxes[i] = (orr_bvh_box){.primitive = (uint32_t)i};
        if (box_of(trees[i], models[i], &boxes[i])) {
            sorted[there++] = boxes[i];
        }
    }
    ORR_TRY(orr_bvh_build(sorted, there, &bvh, error));
    orr_result result = join(&bvh, boxes, instances, error);
    orr_bvh_free(&bvh);
    return result;
}

orr_result orr_instances_build(const orr_triangle_tree *const *trees, const float (*models)[12], int count,
                               orr_instances *instances, orr_error *error)
{
    *instances = (orr_instances){0};
    orr_bvh_box *boxes;
    ORR_ALLOC(boxes, 2 * (size_t)count, "boxes of meshes", error);
    orr_result result = build(trees, models, count, boxes, instances, error);
    orr_free(boxes);
    if (result != ORR_OK) {
        orr_instances_free(instances);
    }
    return result;
}

void orr_instances_free(orr_instances *instances)
{
    orr_free(instances->nodes);
    orr_free(instances->instances);
    *instances = (orr_instances){0};
}
