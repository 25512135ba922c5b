// A tree of triangles for each mesh of a draw list, in the mesh's own space, kept from one list to the next.
#pragma once

#include "engine/core/isa.h"
#include "render/draw.h"
#include "render/reference/instances.h"

// That of one mesh of the list.
typedef struct orr_mesh_tree {
    const orr_mesh *mesh;
    uint64_t key;
    float model[12];
    int32_t first_surface; // of its parts, counted from the list's first mesh
    orr_triangle_tree tree;
    int32_t *part_of, *triangle_of; // count: of each triangle of the tree, of the mesh
    int64_t count;
} orr_mesh_tree;

typedef struct orr_mesh_trees {
    orr_mesh_tree *trees; // count, in the order of the list
    int count;
    bool held;               // whether `instances` are of them
    orr_instances instances; // of the trees, in the same order
} orr_mesh_trees;

// Holds the opaque triangles of the list's meshes, and their glass. A mesh of the same key keeps its tree
// wherever it moves; one that is bent (its key is new, its triangles are those of the mesh before it at the
// same place of the list) keeps the tree's shape; for others a tree is built. ORR_ERROR_MEMORY;
// ORR_ERROR_CAPACITY for a mesh of more than ORR_BVH_BOXES triangles; then nothing is held.
orr_result orr_mesh_trees_hold(orr_mesh_trees *trees, const orr_draw_list *list, orr_error *error);
void orr_mesh_trees_free(orr_mesh_trees *trees);

// Has the texture of a sieved triangle of the trees no hole there? linear: of picture_decode_table
bool orr_mesh_trees_stop(const orr_mesh_trees *trees, const float linear[256], const orr_ray_hit *hit);
