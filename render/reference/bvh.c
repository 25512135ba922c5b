#include "render/reference/bvh.h"

#include "engine/core/memory.h"
#include "engine/maths/lanes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    BINS = 16,
    DEPTH_BY_AREA = 24, // deeper nodes halve their boxes, so that the depth is bounded
};

static_assert(ORR_LANES == 4, "a box is two vectors of the baseline's lanes");

typedef struct extent {
    real low, high; // the fourth lane has no meaning
} extent;

typedef struct range {
    int64_t first, count;
    extent bounds;
} range;

typedef struct builder {
    orr_bvh_box *boxes;
    orr_bvh *bvh;
    int node_capacity, primitive_capacity;
    orr_error *error;
} builder;

static inline extent extent_empty(void)
{
    return (extent){R(INFINITY), R(-INFINITY)};
}

static inline extent extent_join(extent a, extent b)
{
    return (extent){min_(a.low, b.low), max_(a.high, b.high)};
}

static inline extent extent_of(const orr_bvh_box *box)
{
    extent e;
    memcpy(&e, box, sizeof e);
    return e;
}

static inline float half_area(extent e)
{
    real d = e.high - e.low;
    return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
}

static extent bounds_of(const orr_bvh_box *boxes, int64_t count)
{
    extent e = extent_empty();
    for (int64_t i = 0; i < count; i++) {
        e = extent_join(e, extent_of(&boxes[i]));
    }
    return e;
}

// ---- where to split ----

typedef struct bins {
    extent bounds[3][BINS];
    int64_t counts[3][BINS];
    real origin, scale; // of sums of low and high, to bins
} bins;

static inline int bin_of(const bins *b, extent e, int axis)
{
    int bin = (int)((e.low[axis] + e.high[axis] - b->origin[axis]) * b->scale[axis]);
    return bin < BINS ? bin : BINS - 1;
}

// False when all centres are the same, or so far apart that their distance is not finite.
static bool fill_bins(const orr_bvh_box *boxes, int64_t count, bins *b)
{
    extent centres = extent_empty();
    for (int64_t i = 0; i < count; i++) {
        extent e = extent_of(&boxes[i]);
        real twice = e.low + e.high;
        centres = extent_join(centres, (extent){twice, twice});
    }
    bool any = false;
    b->origin = centres.low;
    for (int a = 0; a < 3; a++) {
        float width = centres.high[a] - centres.low[a];
        b->scale[a] = width > 0.0f && isfinite(width) ? BINS * (1.0f - 1e-6f) / width : 0.0f;
        b->scale[a] = isfinite(b->scale[a]) ? b->scale[a] : 0.0f;
        any |= b->scale[a] > 0.0f;
        for (int k = 0; k < BINS; k++) {
            b->bounds[a][k] = extent_empty();
            b->counts[a][k] = 0;
        }
    }
    for (int64_t i = 0; i < count && any; i++) {
        extent e = extent_of(&boxes[i]);
        for (int a = 0; a < 3; a++) {
            int k = b->scale[a] > 0.0f ? bin_of(b, e, a) : 0;
            b->bounds[a][k] = extent_join(b->bounds[a][k], e);
            b->counts[a][k]++;
        }
    }
    return any;
}

// The cheapest cut: boxes in bins below *bin of *axis go to one side. False: none.
static bool cheapest_cut(const bins *b, int *axis, int *bin)
{
    float right_cost[BINS], best = INFINITY;
    for (int a = 0; a < 3; a++) {
        extent right = extent_empty();
        int64_t right_count = 0;
        for (int k = BINS - 1; k > 0; k--) {
            right = extent_join(right, b->bounds[a][k]);
            right_count += b->counts[a][k];
            right_cost[k] = right_count ? half_area(right) * (float)right_count : INFINITY;
        }
        extent left = extent_empty();
        int64_t left_count = 0;
        for (int k = 1; k < BINS; k++) {
            left = extent_join(left, b->bounds[a][k - 1]);
            left_count += b->counts[a][k - 1];
            float cost = left_count ? half_area(left) * (float)left_count + right_cost[k] : INFINITY;
            if (cost < best) {
                best = cost;
                *axis = a;
                *bin = k;
            }
        }
    }
    return best < INFINITY;
}

static int64_t partition(orr_bvh_box *boxes, int64_t count, const bins *b, int axis, int bin)
{
    int64_t left = 0, right = count;
    while (left < right) {
        if (bin_of(b, extent_of(&boxes[left]), axis) < bin) {
            left++;
        } else {
            orr_bvh_box swapped = boxes[--right];
            boxes[right] = boxes[left];
            boxes[left] = swapped;
        }
    }
    return left;
}

static void split(orr_bvh_box *boxes, range *whole, range *rest, bool halve)
{
    bins b;
    int axis = 0, bin = 0;
    int64_t left = whole->count / 2;
    if (!halve && fill_bins(boxes + whole->first, whole->count, &b) && cheapest_cut(&b, &axis, &bin)) {
        left = partition(boxes + whole->first, whole->count, &b, axis, bin);
    }
    *rest = (range){.first = whole->first + left, .count = whole->count - left};
    whole->count = left;
    whole->bounds = bounds_of(boxes + whole->first, whole->count);
    rest->bounds = bounds_of(boxes + rest->first, rest->count);
}

// ---- nodes ----

// The range most worth splitting, -1: all fit into blocks.
static int largest(const range *ranges, int count)
{
    int found = -1;
    float most = -1.0f;
    for (int i = 0; i < count; i++) {
        float area = half_area(ranges[i].bounds);
        if (ranges[i].count > ORR_BVH_WIDTH && area * (float)ranges[i].count > most) {
            most = area * (float)ranges[i].count;
            found = i;
        }
    }
    // areas beyond float are as good as any other
    for (int i = 0; i < count && found < 0; i++) {
        found = ranges[i].count > ORR_BVH_WIDTH ? i : -1;
    }
    return found;
}

static void set_child(orr_bvh_node *node, int k, const range *r)
{
    for (int a = 0; a < 3; a++) {
        node->low[a][k] = r ? r->bounds.low[a] : INFINITY;
        node->high[a][k] = r ? r->bounds.high[a] : -INFINITY;
    }
}

static orr_result add_block(builder *b, const range *r, uint32_t *child)
{
    orr_bvh *bvh = b->bvh;
    ORR_GROW(bvh->primitives, b->primitive_capacity, (bvh->block_count + 1) * ORR_BVH_WIDTH,
             "blocks of a bounding volume hierarchy", b->error);
    uint32_t *block = bvh->primitives + (size_t)bvh->block_count * ORR_BVH_WIDTH;
    for (int i = 0; i < ORR_BVH_WIDTH; i++) {
        block[i] = i < r->count ? b->boxes[r->first + i].primitive : ORR_BVH_NONE;
    }
    *child = ORR_BVH_LEAF | (uint32_t)bvh->block_count++;
    return ORR_OK;
}

static orr_result add_node(builder *b, range whole, int depth, uint32_t *child)
{
    orr_bvh *bvh = b->bvh;
    range ranges[ORR_BVH_WIDTH] = {whole};
    int count = whole.count > 0 ? 1 : 0;
    for (int i; count < ORR_BVH_WIDTH && (i = largest(ranges, count)) >= 0; count++) {
        split(b->boxes, &ranges[i], &ranges[count], depth > DEPTH_BY_AREA);
    }
    ORR_GROW(bvh->nodes, b->node_capacity, bvh->node_count + 1, "nodes of a bounding volume hierarchy",
             b->error);
    int index = bvh->node_count++;
    *child = (uint32_t)index;
    for (int k = 0; k < ORR_BVH_WIDTH; k++) {
        uint32_t below = ORR_BVH_LEAF;
        set_child(&bvh->nodes[index], k, k < count ? &ranges[k] : NULL);
        if (k < count && ranges[k].count > ORR_BVH_WIDTH) {
            ORR_TRY(add_node(b, ranges[k], depth + 1, &below));
        } else if (k < count) {
            ORR_TRY(add_block(b, &ranges[k], &below));
        }
        bvh->nodes[index].child[k] = below;
    }
    return ORR_OK;
}

orr_result orr_bvh_build(orr_bvh_box *boxes, int64_t count, orr_bvh *bvh, orr_error *error)
{
    *bvh = (orr_bvh){0};
    if (count > ORR_BVH_BOXES) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%lld primitives in a bounding volume hierarchy: expected at most %d",
                        (long long)count, ORR_BVH_BOXES);
    }
    builder b = {.boxes = boxes, .bvh = bvh, .error = error};
    uint32_t root;
    orr_result result = add_node(&b, (range){0, count, bounds_of(boxes, count)}, 0, &root);
    if (result != ORR_OK) {
        orr_bvh_free(bvh);
    }
    return result;
}

void orr_bvh_node_bounds(const orr_bvh_node *node, float low[3], float high[3])
{
    for (int a = 0; a < 3; a++) {
        low[a] = INFINITY;
        high[a] = -INFINITY;
        for (int k = 0; k < ORR_BVH_WIDTH; k++) {
            low[a] = fminf(low[a], node->low[a][k]);
            high[a] = fmaxf(high[a], node->high[a][k]);
        }
    }
}

void orr_bvh_free(orr_bvh *bvh)
{
    orr_free(bvh->nodes);
    orr_free(bvh->primitives);
    *bvh = (orr_bvh){0};
}
