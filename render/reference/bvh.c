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
    extent centres; // twice that of their middles
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

// Twice the middle of a box. The primitive's number, which is in the fourth lane, would be a denormal number,
// and sums of these take a hundred times as long.
static inline real twice_middle(extent e)
{
    const sint kept = {-1, -1, -1, 0};
    return (real)((sint)e.low & kept) + e.high;
}

static inline extent with_middle(extent centres, extent e)
{
    const real twice = twice_middle(e);
    return extent_join(centres, (extent){twice, twice});
}

static range range_of(const orr_bvh_box *boxes, int64_t first, int64_t count)
{
    range r = {first, count, extent_empty(), extent_empty()};
    for (int64_t i = first; i < first + count; i++) {
        const extent e = extent_of(&boxes[i]);
        r.bounds = extent_join(r.bounds, e);
        r.centres = with_middle(r.centres, e);
    }
    return r;
}

// ---- where to split ----

typedef struct bins {
    extent bounds[3][BINS];
    int32_t counts[3][BINS];
    real origin, scale; // of sums of low and high, to bins
} bins;

// Of all axes at once; the fourth has no meaning.
static inline sint bins_of(const bins *b, extent e)
{
    const real place = (twice_middle(e) - b->origin) * b->scale;
    return to_int(min_(place, R(BINS - 1))); // not a number, of infinities: the last
}

// False when all centres are the same, or so far apart that their distance is not finite.
static bool fill_bins(const orr_bvh_box *boxes, const range *whole, bins *b)
{
    bool any = false;
    b->origin = whole->centres.low;
    b->scale = R(0.0);
    for (int a = 0; a < 3; a++) {
        const float width = whole->centres.high[a] - whole->centres.low[a];
        const float scale = BINS * (1.0f - 1e-6f) / width;
        b->scale[a] = width > 0.0f && isfinite(width) && isfinite(scale) ? scale : 0.0f;
        any |= b->scale[a] > 0.0f;
        for (int k = 0; k < BINS; k++) {
            b->bounds[a][k] = extent_empty();
            b->counts[a][k] = 0;
        }
    }
    for (int64_t i = whole->first; i < whole->first + whole->count && any; i++) {
        const extent e = extent_of(&boxes[i]);
        const sint bin = bins_of(b, e);
        for (int a = 0; a < 3; a++) {
            const int k = bin[a];
            b->bounds[a][k] = extent_join(b->bounds[a][k], e);
            b->counts[a][k]++;
        }
    }
    return any;
}

// Boxes in bins below `bin` of `axis` go to one side.
typedef struct cut {
    int axis, bin;
    float cost;
} cut;

static cut cheapest_cut_of(const bins *b, int axis, cut best)
{
    float right_cost[BINS];
    extent right = extent_empty(), left = right;
    int32_t right_count = 0, left_count = 0;
    for (int k = BINS - 1; k > 0; k--) {
        right = extent_join(right, b->bounds[axis][k]);
        right_count += b->counts[axis][k];
        right_cost[k] = right_count ? half_area(right) * (float)right_count : INFINITY;
    }
    for (int k = 1; k < BINS; k++) {
        left = extent_join(left, b->bounds[axis][k - 1]);
        left_count += b->counts[axis][k - 1];
        const float cost = left_count ? half_area(left) * (float)left_count + right_cost[k] : INFINITY;
        if (cost < best.cost) {
            best = (cut){axis, k, cost};
        }
    }
    return best;
}

// The cheapest of all; its cost INFINITY: there is none.
static cut cheapest_cut(const bins *b)
{
    cut best = {0, 0, INFINITY};
    for (int a = 0; a < 3; a++) {
        best = b->scale[a] > 0.0f ? cheapest_cut_of(b, a, best) : best;
    }
    return best;
}

// The extent of middles with one more where `which` is set in all lanes.
static inline extent with_middle_where(extent centres, real twice, sint which)
{
    const sint low = ((sint)twice & which) | ((sint)R(INFINITY) & ~which),
               high = ((sint)twice & which) | ((sint)R(-INFINITY) & ~which);
    return extent_join(centres, (extent){(real)low, (real)high});
}

// Puts the boxes on the sides of a cut, and says what is there. Without branches on the side, which is as
// good as random.
static void partition(orr_bvh_box *boxes, const bins *b, cut at, range *whole, range *rest)
{
    const int64_t first = whole->first, end = first + whole->count;
    int64_t left = first;
    extent below = extent_empty(), above = below;
    for (int64_t i = first; i < end; i++) {
        const orr_bvh_box box = boxes[i];
        const extent e = extent_of(&box);
        const int32_t is_left = -(bins_of(b, e)[at.axis] < at.bin);
        const sint which = {is_left, is_left, is_left, is_left};
        const real twice = twice_middle(e);
        below = with_middle_where(below, twice, which);
        above = with_middle_where(above, twice, ~which);
        boxes[i] = boxes[left];
        boxes[left] = box;
        left -= is_left;
    }
    *whole = (range){first, left - first, extent_empty(), below};
    *rest = (range){left, end - left, extent_empty(), above};
    for (int k = 0; k < BINS; k++) {
        range *side = k < at.bin ? whole : rest;
        side->bounds = extent_join(side->bounds, b->bounds[at.axis][k]);
    }
}

static void split(orr_bvh_box *boxes, range *whole, range *rest, bool halve)
{
    bins b;
    if (!halve && fill_bins(boxes, whole, &b)) {
        const cut at = cheapest_cut(&b);
        if (at.cost < INFINITY) {
            partition(boxes, &b, at, whole, rest);
            return;
        }
    }
    const int64_t left = whole->count / 2;
    *rest = range_of(boxes, whole->first + left, whole->count - left);
    *whole = range_of(boxes, whole->first, left);
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
    orr_result result = add_node(&b, range_of(boxes, 0, count), 0, &root);
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
