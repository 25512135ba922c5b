// Trees of boxes around the triangles of meshes, as MuJoCo 4.0 makes them: half of the triangles on each side
// of a plane across the box's longest axis, by the centres of their circumcircles. The order in which they
// are visited decides which contacts with a function are kept of many.
#include "engine/core/memory.h"
#include "physics/plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What is nearer than this share of the mesh is equally far, as it is in MuJoCo, whose vertices are double.
static const double ALIKE = 2.5e-7;

typedef struct triangle_key {
    int64_t along; // in units of `grain`
    int32_t face;
} triangle_key;

typedef struct tree_work {
    const float *vertex;
    const int32_t *face;
    double grain;      // m
    triangle_key *key; // of the triangles, those of a node together
    double (*centre)[3];
    orr_triangle_node *node;
    int32_t nodes;
} tree_work;

static double corner_of(const tree_work *w, int face, int corner, int axis)
{
    return (double)w->vertex[3 * (ptrdiff_t)w->face[3 * (ptrdiff_t)face + corner] + axis];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = a[i] * b[j] - a[j] * b[i];
    }
}

// Of a triangle without an area its first corner.
static void circumcentre(const tree_work *w, int face, double out[3])
{
    double u[3], v[3], n[3], to_v[3], to_u[3], uu = 0.0, vv = 0.0, nn = 0.0;
    for (int k = 0; k < 3; k++) {
        u[k] = corner_of(w, face, 1, k) - corner_of(w, face, 0, k);
        v[k] = corner_of(w, face, 2, k) - corner_of(w, face, 0, k);
        uu += u[k] * u[k], vv += v[k] * v[k];
    }
    cross(u, v, n);
    cross(n, u, to_v);
    cross(v, n, to_u);
    for (int k = 0; k < 3; k++) {
        nn += n[k] * n[k];
    }
    for (int k = 0; k < 3; k++) {
        double away = nn > 0.0 ? (to_v[k] * vv + to_u[k] * uu) / (2.0 * nn) : 0.0;
        out[k] = corner_of(w, face, 0, k) + away;
    }
}

static int compare(const void *a, const void *b)
{
    const triangle_key *p = a, *q = b;
    if (p->along != q->along) {
        return p->along < q->along ? -1 : 1;
    }
    return (p->face > q->face) - (p->face < q->face);
}

// Half sizes of the box around triangles, and its middle.
static void box_around(const tree_work *w, int first, int count, double middle[3], double half[3])
{
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = first; i < first + count; i++) {
            for (int corner = 0; corner < 3; corner++) {
                low = fmin(low, corner_of(w, w->key[i].face, corner, k));
                high = fmax(high, corner_of(w, w->key[i].face, corner, k));
            }
        }
        middle[k] = 0.5 * (low + high);
        half[k] = 0.5 * (high - low);
    }
}

// Depth is at most 32: a node has half of its parent's triangles.
static void add_node(tree_work *w, int first, int count)
{
    double half[3];
    orr_triangle_node *node = &w->node[w->nodes++];
    box_around(w, first, count, node->middle, half);
    node->radius = sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
    node->face = count == 1 ? w->key[first].face : -1;
    if (count > 1) {
        int axis = 0;
        for (int k = 1; k < 3; k++) {
            axis = half[k] > half[axis] + w->grain ? k : axis;
        }
        for (int i = first; i < first + count; i++) {
            w->key[i].along = (int64_t)llround(w->centre[w->key[i].face][axis] / w->grain);
        }
        qsort(w->key + first, (size_t)count, sizeof *w->key, compare);
        add_node(w, first + count / 2, count - count / 2); // visited first: MuJoCo's list is a stack
        add_node(w, first, count / 2);
    }
    node->end = w->nodes;
}

static orr_result make_nodes(tree_work *w, int count, orr_error *error)
{
    double middle[3], half[3];
    ORR_ALLOC(w->key, count, "triangles of meshes", error);
    ORR_ALLOC(w->centre, count, "triangles of meshes", error);
    for (int i = 0; i < count; i++) {
        w->key[i] = (triangle_key){.face = i};
        circumcentre(w, i, w->centre[i]);
    }
    box_around(w, 0, count, middle, half);
    w->grain = fmax(ALIKE * fmax(half[0], fmax(half[1], half[2])), 1e-300);
    add_node(w, 0, count);
    return ORR_OK;
}

static orr_result make_tree(const orr_model *m, int mesh, orr_triangle_node *node, orr_error *error)
{
    tree_work w = {.vertex = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh],
                   .face = m->mesh_face + 3 * (ptrdiff_t)m->mesh_faceadr[mesh],
                   .node = node};
    orr_result result = make_nodes(&w, m->mesh_facenum[mesh], error);
    orr_free(w.key);
    orr_free(w.centre);
    return result;
}

orr_result orr_plan_triangles(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    bool functions = false;
    for (int i = 0; i < m->ngeom; i++) {
        functions = functions || m->geom_function[i];
    }
    ORR_ALLOC(plan->triangle_first, (int64_t)m->nmesh + 1, "triangles of meshes", error);
    memset(plan->triangle_first, 0, ((size_t)m->nmesh + 1) * sizeof *plan->triangle_first);
    for (int i = 0; i < m->ngeom && functions; i++) {
        int mesh = m->geom_type[i] == ORR_GEOM_MESH ? m->geom_dataid[i] : -1;
        if (mesh >= 0 && m->mesh_facenum[mesh] > 0) {
            plan->triangle_first[mesh + 1] = 2 * m->mesh_facenum[mesh] - 1;
        }
    }
    for (int mesh = 0; mesh < m->nmesh; mesh++) {
        plan->triangle_first[mesh + 1] += plan->triangle_first[mesh];
    }
    ORR_ALLOC(plan->triangle_node, plan->triangle_first[m->nmesh], "triangles of meshes", error);
    for (int mesh = 0; mesh < m->nmesh; mesh++) {
        if (plan->triangle_first[mesh + 1] > plan->triangle_first[mesh]) {
            ORR_TRY(make_tree(m, mesh, plan->triangle_node + plan->triangle_first[mesh], error));
        }
    }
    return ORR_OK;
}
