#include "neural/fields/mesh_distance.h"

#include "engine/maths/vector.h"
#include "neural/fields/mesh_tree.h"

#include <math.h>
#include <string.h>

typedef orr_four four;
typedef int32_t four_bits __attribute__((vector_size(16)));

static const float SLACK = 1.0f + 1e-5f; // of squares, for rounding

// ---- distance ----

static four select(four_bits where, four a, four b)
{
    return (four)((where & (four_bits)a) | (~where & (four_bits)b));
}

static float square_to_box(const orr_tree_node *n, four p)
{
    four low, high; // the last member is not of the box
    memcpy(&low, n->low, sizeof low);
    memcpy(&high, n->high, sizeof high);
    const four before = low - p, behind = p - high;
    four outside = select(before > behind, before, behind);
    outside = (four)((four_bits)outside & (outside > 0.0f));
    outside *= outside;
    return outside[0] + outside[1] + outside[2];
}

static four dot(const four a[3], const four b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Of the nearest points of a leaf's triangles, by the regions around them (Ericson, "Real-time collision
// detection", 5.1.5); the first region that fits counts.
static four squares_to_triangles(const orr_tree_leaf *l, const float p[3])
{
    const four none = {0}, all = {1.0f, 1.0f, 1.0f, 1.0f};
    four ab[3], ac[3], ap[3], bp[3], cp[3];
    for (int k = 0; k < 3; k++) {
        const four a = l->corners[0][k], b = l->corners[1][k], c = l->corners[2][k];
        ab[k] = b - a, ac[k] = c - a, ap[k] = p[k] - a, bp[k] = p[k] - b, cp[k] = p[k] - c;
    }
    const four d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
               d6 = dot(ac, cp);
    const four va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    const four sum = va + vb + vc, along = (d4 - d3) / (d4 - d3 + d5 - d6);
    const struct {
        four_bits here;
        four v, w;
    } regions[] = {{(va <= none) & (d4 - d3 >= none) & (d5 - d6 >= none), all - along, along},
                   {(vb <= none) & (d2 >= none) & (d6 <= none), none, d2 / (d2 - d6)},
                   {(vc <= none) & (d1 >= none) & (d3 <= none), d1 / (d1 - d3), none},
                   {(d6 >= none) & (d5 <= d6), none, all},
                   {(d3 >= none) & (d4 <= d3), all, none},
                   {(d1 <= none) & (d2 <= none), none, none}};
    four v = vb / sum, w = vc / sum; // within; the regions from the last to the first to ask
    for (int i = 0; i < 6; i++) {
        v = select(regions[i].here, regions[i].v, v);
        w = select(regions[i].here, regions[i].w, w);
    }
    four square = none;
    for (int k = 0; k < 3; k++) {
        const four away = ap[k] - v * ab[k] - w * ac[k];
        square += away * away;
    }
    return square;
}

static float least(four a)
{
    return orr_smaller(orr_smaller(a[0], a[1]), orr_smaller(a[2], a[3]));
}

// `bound` as for orr_mesh_distance_to. `leaf`: the leaf with the nearest triangle, or one that may have it,
// or -1.
static float find_nearest(const orr_mesh_distance *m, const float point[3], float bound, int32_t *leaf)
{
    float best = bound * bound * SLACK + 1e-12f; // a bound is rounded too
    const four p = {point[0], point[1], point[2], 0.0f};
    int32_t stack[ORR_TREE_STACK], depth = 0;
    float squares[ORR_TREE_STACK];
    if (*leaf >= 0) {
        best = orr_smaller(least(squares_to_triangles(&m->leaves[*leaf], point)), best);
    }
    stack[depth] = 0;
    squares[depth++] = square_to_box(m->nodes, p);
    while (depth > 0) {
        const orr_tree_node *n = &m->nodes[stack[--depth]];
        // boxes are not left out by rounding, so that the distance does not depend on where the search began
        if (squares[depth] > best * SLACK) {
            continue;
        }
        if (n->count == 0) { // the nearer child comes off the stack first
            const float square[2] = {square_to_box(&m->nodes[n->first], p),
                                     square_to_box(&m->nodes[n->first + 1], p)};
            bool left = square[0] <= square[1];
            stack[depth] = n->first + left;
            squares[depth++] = square[left];
            stack[depth] = n->first + !left;
            squares[depth++] = square[!left];
        }
        if (n->count > 0) {
            float square = least(squares_to_triangles(&m->leaves[n->leaf], point));
            *leaf = square < best ? n->leaf : *leaf;
            best = orr_smaller(square, best);
        }
    }
    return sqrtf(best);
}

float orr_mesh_distance_to(const orr_mesh_distance *m, const float point[3], float bound)
{
    int32_t leaf = -1;
    return find_nearest(m, point, bound, &leaf);
}

void orr_mesh_distance_signed(const orr_mesh_distance *mesh, const float *points, int count, float *distances)
{
    float before[3], bound = INFINITY;
    int32_t leaf = -1;
    for (int i = 0; i < count; i++) {
        const float point[3] = {points[i], points[count + i], points[2 * count + i]};
        bound = distances[i] =
            find_nearest(mesh, point, i > 0 ? bound + orr_tree_step(before, point) : INFINITY, &leaf);
        memcpy(before, point, sizeof before);
    }
    orr_tree_signs(mesh, points, count, distances);
}
