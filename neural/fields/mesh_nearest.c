// The tree that distances are searched in: the binary tree of a mesh with four levels in one, so that a
// vector compares the boxes of a node's children, and the triangles of a leaf, at once.
#include "engine/core/memory.h"
#include "neural/fields/mesh_tree.h"

#include <string.h>

enum { LEVELS = 4 }; // 16 children

_Static_assert(1 << LEVELS == ORR_NEAREST_WIDE, "a node has as many children as its levels have");

// The triangles of a node of the binary tree, which follow each other.
typedef struct range {
    int32_t first, count;
} range;

static range find_range(const orr_mesh_distance *m, int32_t node)
{
    const orr_tree_node *first = &m->nodes[node], *last = first;
    while (first->count == 0) {
        first = &m->nodes[first->first];
    }
    while (last->count == 0) {
        last = &m->nodes[last->first + 1];
    }
    return (range){first->first, last->first + last->count - first->first};
}

static bool is_leaf(const orr_mesh_distance *m, int32_t node)
{
    return find_range(m, node).count <= ORR_NEAREST_WIDE;
}

static int32_t add_leaf(orr_mesh_distance *m, int32_t node)
{
    const range r = find_range(m, node);
    orr_nearest_leaf *l = &m->nearest.leaves[m->nearest.leaf_count];
    for (int k = 0; k < 9; k++) {
        for (int i = 0; i < ORR_NEAREST_WIDE; i++) {
            l->corner[k][i] = m->corners[r.first + (i < r.count ? i : 0)][k];
        }
    }
    return -1 - m->nearest.leaf_count++;
}

static void list_children(const orr_mesh_distance *m, int32_t node, int levels, int32_t *children,
                          int32_t *count)
{
    if (levels == 0 || is_leaf(m, node)) {
        children[(*count)++] = node;
        return;
    }
    list_children(m, m->nodes[node].first, levels - 1, children, count);
    list_children(m, m->nodes[node].first + 1, levels - 1, children, count);
}

static int32_t add_node(orr_mesh_distance *m, int32_t node)
{
    const int32_t index = m->nearest.node_count++;
    orr_nearest_node *n = &m->nearest.nodes[index];
    int32_t children[ORR_NEAREST_WIDE];
    *n = (orr_nearest_node){0};
    list_children(m, node, LEVELS, children, &n->count);
    for (int i = 0; i < n->count; i++) {
        const orr_tree_node *child = &m->nodes[children[i]];
        for (int k = 0; k < 3; k++) {
            n->low[k][i] = child->low[k];
            n->high[k][i] = child->high[k];
        }
        n->child[i] = is_leaf(m, children[i]) ? add_leaf(m, children[i]) : add_node(m, children[i]);
    }
    return index;
}

orr_result orr_tree_find_nearest(orr_mesh_distance *mesh, const char *name, orr_error *error)
{
    // halves of more than 16 triangles have 8 or more; all nodes but a lone root have two children or more
    const int64_t most = mesh->triangle_count / 8 + 1;
    ORR_ALLOC(mesh->nearest.leaves, most, name, error);
    ORR_ALLOC(mesh->nearest.nodes, most, name, error);
    add_node(mesh, 0);
    return ORR_OK;
}
