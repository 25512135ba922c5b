// Generalised winding numbers by the tree: clusters of far triangles, and near triangles by themselves. What
// the moments of a cluster leave out has a bound, and so has the sum: where it does not tell on which side of
// a half the number is, smaller clusters are summed, and at last all triangles in double precision.
#include "engine/maths/vector.h"
#include "neural/fields/mesh_tree.h"

#include <math.h>
#include <string.h>

// Terms times points of a list that points share, at most: those farther apart have lists of their own.
enum { SHARED = 1 << 21 };

static const float PI = 3.14159265f;
// What a cluster may leave out, level by level, and for numbers that are not only compared with a half.
static const double TOLERANCE[] = {1e-4, 3e-6, 1e-7, 1e-9}, OF_NUMBERS = 1e-6;
static const double ROUNDING = 2e-5; // of sums in single precision

// Points that share a list of terms.
typedef struct gathering {
    const orr_mesh_distance *mesh;
    const float (*points)[3];
    int count;
    double tolerance;
    double *sums, *bounds;  // of the points: winding numbers, and how far they may be off
    float centre[3], reach; // of a ball around the points
    double left_out;
    orr_winding_terms *terms;
} gathering;

// ---- terms ----

static void flush(gathering *g)
{
    if (g->terms->cluster_count + g->terms->triangle_count > 0) {
        g->mesh->add_winding(g->terms, g->points, g->count, g->sums);
    }
    g->terms->cluster_count = g->terms->triangle_count = 0;
}

static void take_cluster(gathering *g, int32_t index)
{
    if (g->terms->cluster_count == ORR_WINDING_TERMS) {
        flush(g);
    }
    int at = g->terms->cluster_count++;
    for (int k = 0; k < 3; k++) {
        g->terms->cluster[k][at] = g->mesh->nodes[index].centre[k];
    }
    for (int k = 0; k < ORR_WINDING_MOMENTS; k++) {
        g->terms->cluster[3 + k][at] = g->mesh->moments[index][k];
    }
}

static void take_triangle(gathering *g, int64_t index)
{
    if (g->terms->triangle_count == ORR_WINDING_TERMS) {
        flush(g);
    }
    int at = g->terms->triangle_count++;
    for (int k = 0; k < 9; k++) {
        g->terms->triangle[k][at] = g->mesh->corners[index][k];
    }
}

// ---- the tree ----

// At most what the cluster's moments leave out at any of the points: the rest of the Taylor series, whose
// fourth derivatives of 1 / r are at most 24 / r^5. Infinite where the points and the cluster touch.
static float left_out_by(const gathering *g, const orr_tree_node *n)
{
    float gap = orr_tree_step(n->centre, g->centre) - g->reach - n->radius, square = gap * gap;
    return gap > 0.0f ? n->cubes / (PI * square * square * gap) : INFINITY;
}

// Walks over clusters that are far enough, and the triangles that are not; `take`: adds them to the points.
// Returns how many there are, or more than `most`.
static int walk(gathering *g, bool take, int most)
{
    int32_t stack[ORR_TREE_STACK], depth = 0;
    int found = 0;
    stack[depth++] = 0;
    while (depth > 0 && found <= most) {
        int32_t index = stack[--depth];
        const orr_tree_node *n = &g->mesh->nodes[index];
        float left_out = left_out_by(g, n);
        if ((double)left_out <= g->tolerance) {
            found++;
            g->left_out += (double)left_out;
            if (take) {
                take_cluster(g, index);
            }
            continue;
        }
        if (n->count == 0) {
            stack[depth++] = n->first;
            stack[depth++] = n->first + 1;
        }
        found += n->count;
        for (int32_t i = n->first; take && i < n->first + n->count; i++) {
            take_triangle(g, i);
        }
    }
    return found;
}

float orr_tree_ball(const float (*points)[3], int count, float middle[3])
{
    float low[3], high[3], square = 0.0f;
    memcpy(low, points[0], sizeof low);
    memcpy(high, low, sizeof high);
    for (int i = 1; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            low[k] = orr_smaller(low[k], points[i][k]);
            high[k] = orr_larger(high[k], points[i][k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5f * (low[k] + high[k]);
        square += 0.25f * (high[k] - low[k]) * (high[k] - low[k]);
    }
    return sqrtf(square) * (1.0f + 1e-6f);
}

// Winding numbers and bounds of `count` points: in two halves where one list for all would be long.
static void add_windings(const gathering *of, int first, int count)
{
    gathering g = *of;
    g.points += first;
    g.sums += first;
    g.bounds += first;
    g.count = count;
    g.reach = orr_tree_ball(g.points, count, g.centre);
    if (count > 1 && walk(&g, false, SHARED / count) > SHARED / count) {
        add_windings(of, first, count / 2);
        add_windings(of, first + count / 2, count - count / 2);
        return;
    }
    memset(g.sums, 0, (size_t)count * sizeof *g.sums);
    g.left_out = 0.0;
    walk(&g, true, INT32_MAX);
    flush(&g);
    for (int i = 0; i < count; i++) {
        g.bounds[i] = g.left_out + ROUNDING;
    }
}

static double exact_winding(const orr_mesh_distance *m, const float point[3])
{
    double sum = 0.0;
    for (int64_t i = 0; i < m->triangle_count; i++) {
        double corner[3][3], normal[3], length[3];
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                corner[c][k] = (double)m->corners[i][3 * c + k] - (double)point[k];
            }
            length[c] = vec3_length(corner[c]);
        }
        vec3_cross(corner[1], corner[2], normal);
        double below = length[0] * length[1] * length[2];
        for (int c = 0; c < 3; c++) {
            below += vec3_dot(corner[c], corner[(c + 1) % 3]) * length[(c + 2) % 3];
        }
        sum += atan2(vec3_dot(corner[0], normal), below);
    }
    return sum / (2.0 * (double)PI);
}

// Decides points; those that are too near to a half for it move to the front. Returns their number.
static int keep_open(const gathering *g, int count, float (*points)[3], int32_t *place, bool *inside)
{
    int left = 0;
    for (int i = 0; i < count; i++) {
        double depth = orr_tree_depth(g->mesh, g->sums[i]);
        inside[place[i]] = depth > 0.0;
        if (fabs(depth) <= g->bounds[i] && !g->mesh->sheet) {
            place[left] = place[i];
            memmove(points[left++], points[i], sizeof points[i]);
        }
    }
    return left;
}

// ---- the interface ----

double orr_tree_winding(const orr_mesh_distance *mesh, const float point[3], double tolerance, double *bound)
{
    double sum;
    orr_winding_terms terms = {0};
    float points[1][3];
    memcpy(points, point, sizeof points);
    const gathering g = {.mesh = mesh,
                         .points = (const float(*)[3])points,
                         .tolerance = tolerance,
                         .sums = &sum,
                         .bounds = bound,
                         .terms = &terms};
    add_windings(&g, 0, 1);
    return sum;
}

float orr_mesh_winding(const orr_mesh_distance *mesh, const float point[3])
{
    double bound;
    return (float)orr_tree_winding(mesh, point, OF_NUMBERS, &bound);
}

void orr_tree_inside(const orr_mesh_distance *mesh, float (*points)[3], int count, bool *inside)
{
    int32_t place[ORR_WINDING_GROUP];
    double sums[ORR_WINDING_GROUP], bounds[ORR_WINDING_GROUP];
    orr_winding_terms terms = {0};
    assert(count <= ORR_WINDING_GROUP);
    for (int i = 0; i < count; i++) {
        place[i] = i;
    }
    gathering g = {
        .mesh = mesh, .points = (const float(*)[3])points, .sums = sums, .bounds = bounds, .terms = &terms};
    for (int level = 0; level < (int)(sizeof TOLERANCE / sizeof TOLERANCE[0]) && count > 0; level++) {
        g.tolerance = TOLERANCE[level];
        add_windings(&g, 0, count);
        count = keep_open(&g, count, points, place, inside);
    }
    for (int i = 0; i < count; i++) {
        inside[place[i]] = orr_tree_depth(mesh, exact_winding(mesh, points[i])) > 0.0;
    }
}
