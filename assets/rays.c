#include "assets/rays.h"

#include "engine/core/memory.h"
#include "engine/maths/triangle_formula.h"

enum { LEAF = 4, BINS = 16, DEPTH = 128 };

static real3 lower(real3 a, real3 b)
{
    return make_real3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}

static real3 upper(real3 a, real3 b)
{
    return make_real3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}

static float along(real3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static real3 middle(const shape_mesh *s, int triangle)
{
    const real3 *p = s->triangles[triangle].position;
    return scale3(add3(p[0], add3(p[1], p[2])), 1.0f / 3.0f);
}

typedef struct box {
    real3 low, high;
} box;

static const box empty_box = {{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};

static void box_grow(box *b, real3 low, real3 high)
{
    b->low = lower(b->low, low);
    b->high = upper(b->high, high);
}

static float box_area(const box *b)
{
    real3 d = sub3(b->high, b->low);
    return d.x < 0.0f ? 0.0f : d.x * d.y + d.y * d.z + d.z * d.x;
}

static box triangle_box(const shape_triangle *t)
{
    return (box){lower(t->position[0], lower(t->position[1], t->position[2])),
                 upper(t->position[0], upper(t->position[1], t->position[2]))};
}

static int bin_of(float x, float low, float high)
{
    int bin = (int)((x - low) / (high - low) * BINS);
    return bin < 0 ? 0 : bin < BINS ? bin : BINS - 1;
}

// The cut of order[first .. last) along `axis` after which rays cost least (Wald, "On fast construction of
// SAH-based bounding volume hierarchies", 2007): the last bin of the first side.
static int cheapest_cut(const ray_tree *tree, int first, int last, int axis, float low, float high)
{
    box bins[BINS], right[BINS];
    int counts[BINS] = {0};
    for (int i = 0; i < BINS; i++) {
        bins[i] = empty_box;
    }
    for (int i = first; i < last; i++) {
        int bin = bin_of(along(middle(tree->shape, tree->order[i]), axis), low, high);
        box b = triangle_box(&tree->shape->triangles[tree->order[i]]);
        box_grow(&bins[bin], b.low, b.high);
        counts[bin]++;
    }
    right[BINS - 1] = bins[BINS - 1];
    for (int i = BINS - 2; i >= 0; i--) {
        right[i] = right[i + 1];
        box_grow(&right[i], bins[i].low, bins[i].high);
    }
    box left = empty_box;
    int best = 0, count = 0;
    float least = 1e30f;
    for (int i = 0; i + 1 < BINS; i++) {
        box_grow(&left, bins[i].low, bins[i].high);
        count += counts[i];
        float cost = box_area(&left) * (float)count + box_area(&right[i + 1]) * (float)(last - first - count);
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

// Puts the triangles of the first side in front and returns where the second begins.
static int split(const ray_tree *tree, int first, int last)
{
    box centres = empty_box;
    for (int i = first; i < last; i++) {
        real3 m = middle(tree->shape, tree->order[i]);
        box_grow(&centres, m, m);
    }
    real3 size = sub3(centres.high, centres.low);
    int axis = size.x > size.y && size.x > size.z ? 0 : size.y > size.z ? 1 : 2;
    float low = along(centres.low, axis), high = along(centres.high, axis);
    int cut = high > low ? cheapest_cut(tree, first, last, axis, low, high) : 0, half = first;
    for (int i = first; high > low && i < last; i++) {
        int triangle = tree->order[i];
        if (bin_of(along(middle(tree->shape, triangle), axis), low, high) <= cut) {
            tree->order[i] = tree->order[half];
            tree->order[half++] = triangle;
        }
    }
    return half > first && half < last ? half : (first + last) / 2;
}

static int build_node(ray_tree *tree, int first, int last)
{
    const shape_mesh *s = tree->shape;
    int self = tree->node_count++;
    box around = empty_box;
    for (int i = first; i < last; i++) {
        box b = triangle_box(&s->triangles[tree->order[i]]);
        box_grow(&around, b.low, b.high);
    }
    tree->nodes[self] = (ray_node){around.low, around.high, first, last - first};
    if (last - first > LEAF) {
        int half = split(tree, first, last);
        build_node(tree, first, half);
        tree->nodes[self].first = build_node(tree, half, last);
        tree->nodes[self].count = 0;
    }
    return self;
}

orr_result rays_build(const shape_mesh *s, int skip, ray_tree *tree, orr_error *error)
{
    *tree = (ray_tree){.shape = s};
    ORR_ALLOC(tree->order, s->count, "the ray tree", error);
    ORR_ALLOC(tree->nodes, s->count + 1, "the ray tree", error);
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->triangles[i].material != skip) {
            tree->order[count++] = i;
        }
    }
    build_node(tree, 0, count);
    return ORR_OK;
}

void rays_destroy(ray_tree *tree)
{
    orr_free(tree->nodes);
    orr_free(tree->order);
    *tree = (ray_tree){0};
}

// distance at which the ray enters the box, or 1e30 when it misses it before `reach`
static inline float enter_box(const ray_node *node, real3 origin, real3 inverse, float reach)
{
    real3 a = times3(sub3(node->low, origin), inverse), b = times3(sub3(node->high, origin), inverse);
    float near = max_(max_(min_(a.x, b.x), min_(a.y, b.y)), max_(min_(a.z, b.z), 0.0f));
    float far = min_(min_(max_(a.x, b.x), max_(a.y, b.y)), min_(max_(a.z, b.z), reach));
    return near <= far ? near : 1e30f;
}

static bool hit_triangle(const shape_triangle *t, real3 origin, real3 direction, ray_hit *hit)
{
    const real3 *p = t->position;
    triangle_hit met =
        intersect_triangle(sub3(origin, p[0]), direction, sub3(p[1], p[0]), sub3(p[2], p[0]), 0.0f);
    if (!met.inside || met.distance <= 0.0f || met.distance >= hit->distance) {
        return false;
    }
    hit->distance = met.distance;
    hit->u = met.u;
    hit->v = met.v;
    return true;
}

typedef struct visit {
    float distance; // at which the ray enters the box
    int node;
} visit;

ray_hit rays_trace(const ray_tree *tree, real3 origin, real3 direction, float reach, bool any)
{
    ray_hit hit = {.distance = reach, .triangle = -1};
    real3 inverse = make_real3(1.0f / direction.x, 1.0f / direction.y, 1.0f / direction.z);
    visit stack[DEPTH];
    int top = 0;
    stack[top++] = (visit){enter_box(&tree->nodes[0], origin, inverse, reach), 0};
    while (top > 0) {
        visit now = stack[--top];
        if (now.distance > hit.distance) {
            continue;
        }
        const ray_node *node = &tree->nodes[now.node];
        if (node->count == 0) {
            visit near = {enter_box(node + 1, origin, inverse, hit.distance), now.node + 1};
            visit far = {enter_box(&tree->nodes[node->first], origin, inverse, hit.distance), node->first};
            if (near.distance > far.distance) {
                visit swap = near;
                near = far;
                far = swap;
            }
            stack[top] = far;
            top += far.distance < 1e30f;
            stack[top] = near;
            top += near.distance < 1e30f;
            continue;
        }
        for (int i = 0; i < node->count; i++) {
            int triangle = tree->order[node->first + i];
            if (hit_triangle(&tree->shape->triangles[triangle], origin, direction, &hit)) {
                hit.triangle = triangle;
                if (any) {
                    return hit;
                }
            }
        }
    }
    return hit;
}
