// Splats in the order of the Morton curve, where neighbours in space are mostly near each other.
#include "engine/core/memory.h"
#include "engine/maths/morton.h"
#include "render/formats/splat_bytes.h"

#include <stdlib.h>

typedef struct morton_entry {
    uint64_t code;
    int64_t index;
} morton_entry;

static int by_code(const void *a, const void *b)
{
    const morton_entry *l = a, *r = b;
    if (l->code != r->code) {
        return l->code < r->code ? -1 : 1;
    }
    return (l->index > r->index) - (l->index < r->index);
}

orr_result orr_splats_morton_order(const orr_splats_view *d, int64_t **order, orr_error *error)
{
    morton_entry *entries;
    ORR_ALLOC(*order, d->count, "the order of splats", error);
    entries = orr_alloc((size_t)d->count, sizeof *entries);
    if (!entries) {
        orr_free(*order);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the order of %lld splats",
                        (long long)d->count);
    }
    float low[3] = {0}, high[3] = {0};
    for (int64_t i = 0; i < 3 * d->count; i++) {
        float x = d->position[i];
        low[i % 3] = i < 3 || x < low[i % 3] ? x : low[i % 3];
        high[i % 3] = i < 3 || x > high[i % 3] ? x : high[i % 3];
    }
    for (int64_t i = 0; i < d->count; i++) {
        uint32_t steps[3];
        for (int k = 0; k < 3; k++) {
            steps[k] = orr_quantise_between(d->position[3 * i + k], low[k], high[k], (1u << 21) - 1);
        }
        entries[i] = (morton_entry){orr_morton63(steps[0], steps[1], steps[2]), i};
    }
    qsort(entries, (size_t)d->count, sizeof *entries, by_code);
    for (int64_t i = 0; i < d->count; i++) {
        (*order)[i] = entries[i].index;
    }
    orr_free(entries);
    return ORR_OK;
}
