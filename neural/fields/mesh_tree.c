#include "neural/fields/mesh_tree.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979;

enum { MANY = 10000 }; // triangles: threads build their tree

static double area_of(const float t[9])
{
    float area[3];
    orr_area_vector(t, area);
    return sqrt((double)vec3f_dot(area, area));
}

static void swap_triangles(float (*t)[9], int64_t a, int64_t b)
{
    float kept[9];
    memcpy(kept, t[a], sizeof kept);
    memcpy(t[a], t[b], sizeof kept);
    memcpy(t[b], kept, sizeof kept);
}

static float centroid(const float t[9], int axis)
{
    return t[axis] + t[3 + axis] + t[6 + axis]; // three times it, which orders the same
}

// Partial order around number `middle`, by centroids along an axis (Hoare's selection).
static void select_middle(float (*t)[9], int64_t low, int64_t high, int64_t middle, int axis)
{
    while (low < high) {
        float pivot = centroid(t[(low + high) / 2], axis);
        int64_t i = low, j = high;
        while (i <= j) {
            for (; centroid(t[i], axis) < pivot; i++) {
            }
            for (; centroid(t[j], axis) > pivot; j--) {
            }
            if (i <= j) {
                swap_triangles(t, i++, j--);
            }
        }
        if (middle <= j) {
            high = j;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

static void measure(orr_tree_node *n, float (*t)[9], int64_t first, int64_t end)
{
    *n = (orr_tree_node){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    double total[3] = {0}, weight = 0.0;
    for (int64_t i = first; i < end; i++) {
        double size = area_of(t[i]);
        for (int k = 0; k < 3; k++) {
            total[k] += size * (double)centroid(t[i], k) / 3.0;
            for (int corner = 0; corner < 3; corner++) {
                n->low[k] = orr_smaller(n->low[k], t[i][3 * corner + k]);
                n->high[k] = orr_larger(n->high[k], t[i][3 * corner + k]);
            }
        }
        weight += size;
    }
    for (int k = 0; k < 3; k++) {
        n->centre[k] = (float)(total[k] / weight);
    }
}

// Radius and sum of cubes; the cube of a distance is convex, so the corners' mean is not less than the
// triangle's.
static void measure_distances(orr_tree_node *n, float (*t)[9], int64_t first, int64_t end)
{
    double cubes = 0.0;
    for (int64_t i = first; i < end; i++) {
        double sum = 0.0;
        for (int corner = 0; corner < 3; corner++) {
            float away[3];
            vec3f_subtract(t[i] + 3 * corner, n->centre, away);
            float square = vec3f_dot(away, away);
            n->radius = orr_larger(n->radius, square);
            sum += (double)(square * sqrtf(square));
        }
        cubes += area_of(t[i]) * sum / 3.0;
    }
    n->radius = sqrtf(n->radius);
    n->cubes = (float)cubes;
}

// ---- moments ----

// Symmetric; about a node's centre.
typedef struct moments {
    double area[3], second[3][3], third[3][3][3];
} moments;

// Those of area vector a at offset s: second += (a s) , third += (a s s), both made symmetric; `share` of it.
static void add_point(moments *m, const double a[3], const double s[3], double share)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                m->third[i][j][k] +=
                    share * (a[i] * s[j] * s[k] + a[j] * s[i] * s[k] + a[k] * s[i] * s[j]) / 3.0;
            }
        }
    }
}

static void add_offset(moments *m, const double a[3], const double s[3])
{
    for (int i = 0; i < 3; i++) {
        m->area[i] += a[i];
        for (int j = 0; j < 3; j++) {
            m->second[i][j] += 0.5 * (a[i] * s[j] + a[j] * s[i]);
        }
    }
}

// The integral of offset x offset over a triangle is its area / 12 times the sum of the squares of the
// corners and of their sum.
static void add_triangle(moments *m, const float t[9], const float centre[3])
{
    float area[3];
    orr_area_vector(t, area);
    const double a[3] = {(double)area[0], (double)area[1], (double)area[2]};
    double sum[3] = {0}, middle[3];
    for (int corner = 0; corner < 3; corner++) {
        double s[3];
        for (int k = 0; k < 3; k++) {
            s[k] = (double)t[3 * corner + k] - (double)centre[k];
            sum[k] += s[k];
        }
        add_point(m, a, s, 1.0 / 12.0);
    }
    add_point(m, a, sum, 1.0 / 12.0);
    for (int k = 0; k < 3; k++) {
        middle[k] = sum[k] / 3.0;
    }
    add_offset(m, a, middle);
}

// The moments of a child, about another centre.
static void add_child(moments *m, const moments *child, const float from[3], const float centre[3])
{
    double s[3];
    for (int k = 0; k < 3; k++) {
        s[k] = (double)from[k] - (double)centre[k];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m->second[i][j] += child->second[i][j];
            for (int k = 0; k < 3; k++) {
                m->third[i][j][k] +=
                    child->third[i][j][k] + 2.0 / 3.0 *
                                                (child->second[i][j] * s[k] + child->second[j][k] * s[i] +
                                                 child->second[i][k] * s[j]);
            }
        }
    }
    add_offset(m, child->area, s);
    add_point(m, child->area, s, 1.0);
}

// In the order of a winding_moments, over 4 pi, with the factors of the series and of equal members; without
// traces.
static void keep_moments(const moments *m, float *to)
{
    const double second = -3.0 / (4.0 * PI), third = 7.5 / (4.0 * PI);
    double trace = (m->second[0][0] + m->second[1][1] + m->second[2][2]) / 3.0, traces[3];
    for (int i = 0; i < 3; i++) {
        *to++ = (float)(m->area[i] / (4.0 * PI));
        traces[i] = (m->third[i][0][0] + m->third[i][1][1] + m->third[i][2][2]) / 5.0;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            *to++ = (float)(second * (i == j ? m->second[i][j] - trace : 2.0 * m->second[i][j]));
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            for (int k = j; k < 3; k++) {
                double without = m->third[i][j][k] - (i == j ? traces[k] : 0.0) - (i == k ? traces[j] : 0.0) -
                                 (j == k ? traces[i] : 0.0);
                *to++ = (float)(third * (i == k ? 1.0 : i == j || j == k ? 3.0 : 6.0) * without);
            }
        }
    }
}

// ---- building ----

// A node whose triangles are first .. end - 1: itself, and where what is below it is put.
typedef struct subtree {
    int64_t first, end;
    int32_t node, next_node;
} subtree;

// How many leaves so many triangles have. Halves of halves are a count q or q + 1; where q is that of a leaf,
// those of one more have two.
static int32_t count_leaves(int64_t triangles)
{
    int64_t parts = 1;
    while (triangles / parts > ORR_TREE_LEAF) {
        parts *= 2;
    }
    return (int32_t)(parts + (triangles / parts == ORR_TREE_LEAF ? triangles % parts : 0));
}

static bool is_leaf(const subtree *s)
{
    return s->end - s->first <= ORR_TREE_LEAF;
}

static void measure_node(orr_mesh_distance *m, const subtree *s)
{
    orr_tree_node *n = &m->nodes[s->node];
    measure(n, m->corners, s->first, s->end);
    measure_distances(n, m->corners, s->first, s->end);
}

// Halves, so that the depth is the logarithm of the count.
static void divide(orr_mesh_distance *m, const subtree *s, subtree half[2])
{
    orr_tree_node *n = &m->nodes[s->node];
    int axis = 0;
    for (int k = 1; k < 3; k++) {
        axis = n->high[k] - n->low[k] > n->high[axis] - n->low[axis] ? k : axis;
    }
    const int64_t middle = (s->first + s->end) / 2;
    const int32_t leaves = count_leaves(middle - s->first);
    select_middle(m->corners, s->first, s->end - 1, middle, axis);
    n->first = s->next_node;
    half[0] = (subtree){s->first, middle, n->first, n->first + 2};
    // the first half has a node for each leaf and one less, itself among them
    half[1] = (subtree){middle, s->end, n->first + 1, n->first + 2 * leaves};
}

static moments take_leaf(orr_mesh_distance *m, const subtree *s)
{
    orr_tree_node *n = &m->nodes[s->node];
    moments sums = {0};
    n->first = (int32_t)s->first;
    n->count = (int32_t)(s->end - s->first);
    for (int64_t i = s->first; i < s->end; i++) {
        add_triangle(&sums, m->corners[i], n->centre);
    }
    keep_moments(&sums, m->moments[s->node]);
    return sums;
}

static moments sum_halves(orr_mesh_distance *m, int32_t node, const moments *first, const moments *second)
{
    const orr_tree_node *n = &m->nodes[node], *child = &m->nodes[n->first];
    moments sums = {0};
    add_child(&sums, first, child[0].centre, n->centre);
    add_child(&sums, second, child[1].centre, n->centre);
    keep_moments(&sums, m->moments[node]);
    return sums;
}

static moments build(orr_mesh_distance *m, const subtree *s)
{
    subtree half[2];
    measure_node(m, s);
    if (is_leaf(s)) {
        return take_leaf(m, s);
    }
    divide(m, s, half);
    const moments first = build(m, &half[0]), second = build(m, &half[1]);
    return sum_halves(m, s->node, &first, &second);
}

// The nodes down to a depth, whose halves threads divide level by level, and what is below them, which each
// builds alone. Those below number i are 2 i + 1 and 2 i + 2.
enum { TOP_DEPTH = 6, TOP_NODES = (2 << TOP_DEPTH) - 1 };

typedef struct tree_top {
    orr_mesh_distance *mesh;
    subtree part[TOP_NODES];
    moments sums[TOP_NODES];
    int first; // of a level
} tree_top;

static void divide_part(void *context, int i, int worker)
{
    (void)worker;
    tree_top *top = context;
    const int at = top->first + i;
    measure_node(top->mesh, &top->part[at]);
    divide(top->mesh, &top->part[at], &top->part[2 * at + 1]);
}

static void build_part(void *context, int i, int worker)
{
    (void)worker;
    tree_top *top = context;
    const int at = top->first + i;
    top->sums[at] = build(top->mesh, &top->part[at]);
}

static void build_top(tree_top *top, orr_jobs *jobs)
{
    for (int depth = 0; depth <= TOP_DEPTH; depth++) {
        top->first = (1 << depth) - 1;
        orr_jobs_for(jobs, 1 << depth, depth < TOP_DEPTH ? divide_part : build_part, top);
    }
    for (int i = top->first - 1; i >= 0; i--) {
        top->sums[i] = sum_halves(top->mesh, top->part[i].node, &top->sums[2 * i + 1], &top->sums[2 * i + 2]);
    }
}

// The same tree with and without threads.
static orr_result build_tree(orr_mesh_distance *m, orr_jobs *jobs, const char *name, orr_error *error)
{
    const subtree root = {.end = m->triangle_count, .next_node = 1};
    m->node_count = 2 * count_leaves(m->triangle_count) - 1;
    if (!jobs || m->triangle_count < MANY) {
        (void)build(m, &root);
        return ORR_OK;
    }
    tree_top *top;
    ORR_ALLOC(top, 1, name, error);
    top->mesh = m;
    top->part[0] = root;
    build_top(top, jobs);
    orr_free(top);
    return ORR_OK;
}

static orr_result choose_kernels(orr_mesh_distance *m, orr_error *error)
{
#define WINDING(isa) orr_winding_add_##isa
#define NEAREST(isa) orr_nearest_square_##isa
    static const orr_winding_fn winding[ORR_ISA_COUNT] = ORR_ISA_TABLE(WINDING);
    static const orr_nearest_fn nearest[ORR_ISA_COUNT] = ORR_ISA_TABLE(NEAREST);
#undef WINDING
#undef NEAREST
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    m->add_winding = winding[isa];
    m->find_nearest = nearest[isa];
    return ORR_OK;
}

static orr_result fill(orr_mesh_distance *m, const float *positions, int64_t vertex_count,
                       const uint32_t *indices, int64_t triangle_count, orr_jobs *jobs, const char *name,
                       orr_error *error)
{
    ORR_ALLOC(m->corners, triangle_count, name, error);
    ORR_TRY(choose_kernels(m, error));
    uint64_t sides = 0;
    for (int64_t i = 0; i < triangle_count; i++) {
        float *t = m->corners[m->triangle_count], area[3];
        for (int corner = 0; corner < 3; corner++) {
            assert(indices[3 * i + corner] < (uint64_t)vertex_count);
            memcpy(t + 3 * corner, positions + 3 * (size_t)indices[3 * i + corner], 3 * sizeof *t);
        }
        orr_area_vector(t, area);
        sides += orr_tree_sum_sides(t);
        m->triangle_count += vec3f_dot(area, area) > 0.0f && isfinite(vec3f_dot(area, area));
    }
    (void)vertex_count;
    m->closed = sides == 0;
    if (m->triangle_count == 0) {
        return orr_fail(error, ORR_CODE_MESH_FILE, "%s: expected triangles with an area", name);
    }
    // leaves have two triangles or more, unless there is one
    ORR_ALLOC(m->nodes, m->triangle_count + 1, name, error);
    ORR_ALLOC(m->moments, m->triangle_count + 1, name, error);
    ORR_TRY(build_tree(m, jobs, name, error));
    ORR_TRY(orr_tree_find_nearest(m, name, error));
    return m->closed ? ORR_OK : orr_tree_find_rim(m, name, error);
}

orr_result orr_mesh_distance_create(const float *positions, int64_t vertex_count, const uint32_t *indices,
                                    int64_t triangle_count, orr_jobs *jobs, const char *name,
                                    orr_mesh_distance **mesh, orr_error *error)
{
    *mesh = NULL;
    if (triangle_count > INT32_MAX / 2) {
        return orr_fail(error, ORR_CODE_MESH_FILE, "%s: %lld triangles: expected at most 2^30", name,
                        (long long)triangle_count);
    }
    orr_mesh_distance *made = orr_alloc_zero(1, sizeof *made);
    if (!made) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", name);
    }
    orr_result result = fill(made, positions, vertex_count, indices, triangle_count, jobs, name, error);
    if (result != ORR_OK) {
        orr_mesh_distance_destroy(made);
        return result;
    }
    *mesh = made;
    return ORR_OK;
}

void orr_mesh_distance_destroy(orr_mesh_distance *mesh)
{
    if (mesh) {
        orr_free(mesh->corners);
        orr_free(mesh->nodes);
        orr_free(mesh->moments);
        orr_free(mesh->nearest.nodes);
        orr_free(mesh->nearest.leaves);
        orr_free(mesh);
    }
}
