// The octree of a mesh, as MuJoCo 4.0 makes it: the box around the mesh, a tenth larger; cells that a
// triangle meets are divided down to depth 6, then those beside cells that are divided more than once more.
// A corner has the distance from the mesh; one in a side of a leaf that is not divided has what that leaf
// has there, so that distances are continuous.
#include "physics/model/compile.h"
#include "physics/model/mesh/mesh_distance.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { DEPTH = 6, SIDE = 1 << DEPTH, POINTS = SIDE + 1 }; // cells and points along a side of the root

typedef struct cell {
    int32_t child;    // the first of eight; 0: a leaf
    int depth, at[3]; // in cells of its depth
    int first, count; // triangles that meet it; of a leaf at DEPTH
} cell;

typedef struct tree {
    const mesh_data *mesh;
    triangle_normals normals;
    double low[3], size[3]; // m, of the root
    cell *cells;
    int32_t *lists; // triangles of all cells
    int count, room, list_count, list_room;
    double *value; // of POINTS^3 points; a NaN: not yet
} tree;

static bool room_for_cells(tree *t, int count)
{
    cell *cells = orr_grown(t->cells, &t->room, t->count + count, sizeof *cells);
    t->cells = cells ? cells : t->cells;
    return cells != NULL;
}

static bool room_for_triangles(tree *t, int count)
{
    int32_t *lists = orr_grown(t->lists, &t->list_room, t->list_count + count, sizeof *lists);
    t->lists = lists ? lists : t->lists;
    return lists != NULL;
}

// ---- triangles and cells

// Do the projections of a triangle and of a box around 0 on an axis overlap?
static bool overlap_along(const double axis[3], double (*corner)[3], const double half[3])
{
    double low = INFINITY, high = -INFINITY, reach = 0.0;
    for (int k = 0; k < 3; k++) {
        double at = corner[k][0] * axis[0] + corner[k][1] * axis[1] + corner[k][2] * axis[2];
        low = fmin(low, at), high = fmax(high, at);
        reach += half[k] * fabs(axis[k]);
    }
    return low <= reach && high >= -reach;
}

// By the separating axes of a box and a triangle (Akenine-Moeller 2001).
static bool meets(const tree *t, const cell *c, int face)
{
    double half[3], corner[3][3], edge[3][3], axis[3];
    for (int k = 0; k < 3; k++) {
        half[k] = 0.5 * t->size[k] / (1 << c->depth);
        double centre = t->low[k] + (2 * c->at[k] + 1) * half[k];
        for (int i = 0; i < 3; i++) {
            const ptrdiff_t vertex = t->mesh->faces[3 * (ptrdiff_t)face + i];
            corner[i][k] = t->mesh->exact[3 * vertex + k] - centre;
        }
    }
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            axis[i] = i == k;
            edge[k][i] = corner[(k + 1) % 3][i] - corner[k][i];
        }
        if (!overlap_along(axis, corner, half)) {
            return false;
        }
    }
    for (int k = 0; k < 3; k++) {
        axis[k] = edge[0][(k + 1) % 3] * edge[1][(k + 2) % 3] - edge[0][(k + 2) % 3] * edge[1][(k + 1) % 3];
    }
    bool all = overlap_along(axis, corner, half);
    for (int i = 0; i < 9 && all; i++) {
        const double *e = edge[i / 3];
        const int k = i % 3;
        axis[k] = 0.0, axis[(k + 1) % 3] = -e[(k + 2) % 3], axis[(k + 2) % 3] = e[(k + 1) % 3];
        all = overlap_along(axis, corner, half);
    }
    return all;
}

// Divides a leaf; its triangles go to the children that they meet.
static bool divide(tree *t, int parent)
{
    if (t->list_count > INT32_MAX - 8 * t->cells[parent].count || !room_for_cells(t, 8) ||
        !room_for_triangles(t, 8 * t->cells[parent].count)) {
        return false;
    }
    t->cells[parent].child = t->count;
    for (int i = 0; i < 8; i++) {
        const cell from = t->cells[parent];
        cell *c = &t->cells[t->count++];
        *c = (cell){.depth = from.depth + 1, .first = t->list_count};
        for (int k = 0; k < 3; k++) {
            c->at[k] = 2 * from.at[k] + (i >> k & 1);
        }
        for (int f = 0; f < from.count; f++) {
            const int32_t face = t->lists[from.first + f];
            t->lists[t->list_count] = face;
            t->list_count += meets(t, c, face);
        }
        c->count = t->list_count - c->first;
    }
    return true;
}

static bool grow(tree *t)
{
    for (int i = 0; i < t->count; i++) {
        if (t->cells[i].count > 0 && t->cells[i].depth < DEPTH && !divide(t, i)) {
            return false;
        }
    }
    return true;
}

// Where a cell is divided, those across its six sides must exist: others are divided until they do.
static bool balance(tree *t)
{
    for (int depth = DEPTH - 1; depth > 0; depth--) {
        for (int i = 0; i < t->count; i++) {
            for (int side = 0; side < 6 && t->cells[i].child && t->cells[i].depth == depth; side++) {
                int at[3], node = 0;
                memcpy(at, t->cells[i].at, sizeof at);
                at[side / 2] += side % 2 ? 1 : -1;
                if (at[side / 2] < 0 || at[side / 2] >= 1 << depth) {
                    continue;
                }
                for (int d = depth - 1; d >= 0; d--) {
                    if (!t->cells[node].child && !divide(t, node)) {
                        return false;
                    }
                    node =
                        t->cells[node].child + (at[0] >> d & 1) + 2 * (at[1] >> d & 1) + 4 * (at[2] >> d & 1);
                }
            }
        }
    }
    return true;
}

// ---- distances

static void seek(const tree *t, int node, const double p[3], nearest_triangle *nearest)
{
    const cell *c = &t->cells[node];
    double square = 0.0;
    int near = 0; // the child of p
    for (int k = 0; k < 3; k++) {
        const double half = 0.5 * t->size[k] / (1 << c->depth);
        const double from = p[k] - t->low[k] - (2 * c->at[k] + 1) * half, over = fmax(fabs(from) - half, 0.0);
        square += over * over;
        near |= (from >= 0.0) << k;
    }
    if (c->count == 0 || (nearest->face >= 0 && square >= nearest->square)) {
        return;
    }
    if (!c->child) {
        for (int f = 0; f < c->count; f++) {
            nearest_of_face(&t->normals, t->lists[c->first + f], p, nearest);
        }
        return;
    }
    for (int i = 0; i < 8; i++) { // those that have most sides in common with p first
        static const int order[8] = {0, 1, 2, 4, 3, 5, 6, 7};
        seek(t, c->child + (near ^ order[i]), p, nearest);
    }
}

static double *value_at(const tree *t, const int at[3])
{
    return t->value + ((ptrdiff_t)at[2] * POINTS + at[1]) * POINTS + at[0];
}

static const double *corner_value(const tree *t, const cell *c, int corner)
{
    int at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = (c->at[k] + (corner >> k & 1)) << (DEPTH - c->depth);
    }
    return value_at(t, at);
}

// A leaf's corners get the distance from the mesh, unless a larger leaf has them in its sides; then all
// points in the leaf's own sides get what it has there.
static void fill_leaf(const tree *t, const cell *c, nearest_triangle *last)
{
    const int side = SIDE >> c->depth;
    double corner[8];
    for (int i = 0; i < 8; i++) {
        int at[3];
        double p[3];
        for (int k = 0; k < 3; k++) {
            at[k] = (c->at[k] + (i >> k & 1)) * side;
            p[k] = t->low[k] + t->size[k] * at[k] / SIDE;
        }
        double *value = value_at(t, at);
        if (isnan(*value)) {
            nearest_triangle nearest = {.face = -1};
            if (last->face >= 0) { // a bound to begin with
                nearest_of_face(&t->normals, last->face, p, &nearest);
            }
            seek(t, 0, p, &nearest);
            *value = nearest_signed(&t->normals, p, &nearest);
            *last = nearest;
        }
        corner[i] = *value;
    }
    for (int z = 0; z <= side; z++) {
        for (int y = 0; y <= side; y++) {
            const bool within = z > 0 && z < side && y > 0 && y < side;
            for (int x = 0; x <= side; x += within ? side : 1) {
                const int at[3] = {c->at[0] * side + x, c->at[1] * side + y, c->at[2] * side + z};
                const double u = (double)x / side, v = (double)y / side, w = (double)z / side;
                double *value = value_at(t, at), sum = 0.0;
                for (int i = 0; i < 8; i++) {
                    sum += (i & 1 ? u : 1.0 - u) * (i & 2 ? v : 1.0 - v) * (i & 4 ? w : 1.0 - w) * corner[i];
                }
                *value = isnan(*value) ? sum : *value;
            }
        }
    }
}

static bool fill(tree *t)
{
    const size_t points = (size_t)POINTS * POINTS * POINTS;
    nearest_triangle last = {.face = -1};
    t->value = orr_alloc(points, sizeof *t->value);
    for (size_t i = 0; i < points && t->value; i++) {
        t->value[i] = NAN;
    }
    for (int depth = 0; depth <= DEPTH && t->value; depth++) { // the largest leaves first
        for (int i = 0; i < t->count; i++) {
            if (t->cells[i].depth == depth && !t->cells[i].child) {
                fill_leaf(t, &t->cells[i], &last);
            }
        }
    }
    return t->value != NULL;
}

// ----

static bool take(const tree *t, mesh_data *d)
{
    d->octree_child = orr_alloc((size_t)t->count, sizeof *d->octree_child);
    d->octree_coeff = orr_alloc((size_t)t->count, 8 * sizeof *d->octree_coeff);
    for (int i = 0; i < t->count && d->octree_child && d->octree_coeff; i++) {
        const cell *c = &t->cells[i];
        d->octree_child[i] = c->child ? c->child : -1;
        for (int k = 0; k < 8; k++) {
            d->octree_coeff[8 * (ptrdiff_t)i + k] = *corner_value(t, c, k);
        }
    }
    d->octree_count = t->count;
    return d->octree_child && d->octree_coeff;
}

static bool begin(tree *t)
{
    const mesh_data *d = t->mesh;
    if (!room_for_cells(t, 1 << 12) || !room_for_triangles(t, d->face_count)) {
        return false;
    }
    t->cells[t->count++] = (cell){.count = d->face_count};
    for (int i = 0; i < d->face_count; i++) {
        t->lists[t->list_count++] = i;
    }
    return true;
}

orr_result mesh_octree(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    tree t = {.mesh = d};
    for (int k = 0; k < 3; k++) {
        d->octree_box[k] = 0.5 * (d->high[k] + d->low[k]);
        d->octree_box[3 + k] = 0.5 * 1.1 * (d->high[k] - d->low[k]);
        t.low[k] = d->octree_box[k] - d->octree_box[3 + k];
        t.size[k] = 2.0 * d->octree_box[3 + k];
        if (!(t.size[k] > 0.0)) {
            return spec_fail(&mesh->head, error,
                             "of a geom of the type sdf: expected a mesh that is not flat");
        }
    }
    orr_result result = normals_build(d, &t.normals, error);
    if (result == ORR_OK && !(begin(&t) && grow(&t) && balance(&t) && fill(&t) && take(&t, d))) {
        result = spec_memory_fail(error);
    }
    normals_free(&t.normals);
    orr_free(t.cells);
    orr_free(t.lists);
    orr_free(t.value);
    return result;
}
