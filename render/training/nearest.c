// A k-d tree without nodes: a range of the order is halved at its middle, which is the median of the range
// along the axis in which it is widest. Ranges of up to LEAF points are searched one by one.
#include "render/training/nearest.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { LEAF = 8, BLOCK = 1024 };

typedef struct tree {
    const float *position;
    int64_t count;
    uint32_t *order; // of the points
    uint8_t *axis;   // that a range is halved along, by its middle
    float *split;    // and where
    float *squared;
} tree;

static float along(const tree *t, int64_t place, int axis)
{
    return t->position[3 * (size_t)t->order[place] + (size_t)axis];
}

static int widest_axis(const tree *t, int64_t begin, int64_t end)
{
    float low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = along(t, begin, k);
    }
    for (int64_t i = begin + 1; i < end; i++) {
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], along(t, i, k));
            high[k] = fmaxf(high[k], along(t, i, k));
        }
    }
    int widest = 0;
    for (int k = 1; k < 3; k++) {
        widest = high[k] - low[k] > high[widest] - low[widest] ? k : widest;
    }
    return widest;
}

// Hoare's selection: what is in front of `middle` is not beyond it, what is behind it not before. Equal
// values are swapped, so that a range of them is halved too.
static void select_median(const tree *t, int64_t begin, int64_t end, int64_t middle, int axis)
{
    int64_t low = begin, high = end - 1;
    while (low < high) {
        const float pivot = along(t, low + (high - low) / 2, axis);
        int64_t i = low, k = high;
        while (i <= k) {
            for (; along(t, i, axis) < pivot; i++) {
            }
            for (; along(t, k, axis) > pivot; k--) {
            }
            if (i <= k) {
                const uint32_t kept = t->order[i];
                t->order[i++] = t->order[k];
                t->order[k--] = kept;
            }
        }
        high = middle <= k ? k : high;
        low = middle >= i ? i : low;
        if (k < middle && middle < i) {
            return;
        }
    }
}

// As deep as the logarithm of the range.
static void build(const tree *t, int64_t begin, int64_t end)
{
    if (end - begin <= LEAF) {
        return;
    }
    const int64_t middle = begin + (end - begin) / 2;
    const int axis = widest_axis(t, begin, end);
    select_median(t, begin, end, middle, axis);
    t->axis[middle] = (uint8_t)axis;
    t->split[middle] = along(t, middle, axis);
    build(t, begin, middle);
    build(t, middle, end);
}

static void look_at(const tree *t, uint32_t other, uint32_t point, float nearest[ORR_NEAREST_COUNT])
{
    float squared = 0.0f;
    for (int k = 0; k < 3; k++) {
        const float d =
            t->position[3 * (size_t)other + (size_t)k] - t->position[3 * (size_t)point + (size_t)k];
        squared += d * d;
    }
    for (int k = 0; k < ORR_NEAREST_COUNT && other != point; k++) {
        const float smaller = fminf(nearest[k], squared);
        squared = fmaxf(nearest[k], squared);
        nearest[k] = smaller;
    }
}

static void search(const tree *t, int64_t begin, int64_t end, uint32_t point,
                   float nearest[ORR_NEAREST_COUNT])
{
    if (end - begin <= LEAF) {
        for (int64_t i = begin; i < end; i++) {
            look_at(t, t->order[i], point, nearest);
        }
        return;
    }
    const int64_t middle = begin + (end - begin) / 2;
    const int axis = t->axis[middle];
    const float beyond = t->position[3 * (size_t)point + (size_t)axis] - t->split[middle];
    const bool behind = beyond >= 0.0f;
    search(t, behind ? middle : begin, behind ? end : middle, point, nearest);
    if (beyond * beyond < nearest[ORR_NEAREST_COUNT - 1]) {
        search(t, behind ? begin : middle, behind ? middle : end, point, nearest);
    }
}

static void search_block(void *context, int block, int worker)
{
    (void)worker;
    const tree *t = context;
    const int64_t end = (int64_t)(block + 1) * BLOCK < t->count ? (int64_t)(block + 1) * BLOCK : t->count;
    for (int64_t i = (int64_t)block * BLOCK; i < end; i++) {
        float *nearest = t->squared + ORR_NEAREST_COUNT * i;
        for (int k = 0; k < ORR_NEAREST_COUNT; k++) {
            nearest[k] = INFINITY;
        }
        search(t, 0, t->count, (uint32_t)i, nearest);
    }
}

orr_result orr_nearest_find(const float *position, int64_t count, orr_jobs *jobs, float *squared,
                            orr_error *error)
{
    tree t = {.position = position, .count = count, .squared = squared};
    t.order = orr_alloc((size_t)count, sizeof *t.order);
    t.axis = orr_alloc((size_t)count, sizeof *t.axis);
    t.split = orr_alloc((size_t)count, sizeof *t.split);
    orr_result result = ORR_OK;
    if (t.order && t.axis && t.split) {
        for (int64_t i = 0; i < count; i++) {
            t.order[i] = (uint32_t)i;
        }
        build(&t, 0, count);
        orr_jobs_for(jobs, orr_blocks(count, BLOCK), search_block, &t);
    } else {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld points", (long long)count);
    }
    orr_free(t.order);
    orr_free(t.axis);
    orr_free(t.split);
    return result;
}
