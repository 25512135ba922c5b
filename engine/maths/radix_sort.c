#include "engine/maths/radix_sort.h"

#include <string.h>

enum {
    BLOCK = 1 << 14,     // keys one job moves: 128 KiB of keys and values, half an L2
    DIGIT_BITS_MAX = 11, // 2048 write streams still fit the L2's lines
    BLOCKS_MAX = 256     // above it blocks grow, so that the histograms stay small
};

typedef struct sort_pass {
    uint32_t *keys, *values; // in
    uint32_t *keys_out, *values_out;
    uint32_t *histograms; // blocks x buckets: counts, then where the block's next key of a digit goes
    uint32_t least;       // subtracted from every key
    int64_t count, block;
    int blocks;
    int shift;
    uint32_t buckets;
} sort_pass;

typedef struct key_range {
    const uint32_t *keys;
    uint32_t (*bounds)[2]; // per block: least, greatest
    int64_t count, block;
} key_range;

static void find_range(void *context, int i, int worker)
{
    (void)worker;
    const key_range *range = context;
    int64_t first = i * range->block;
    int64_t end = first + range->block < range->count ? first + range->block : range->count;
    uint32_t least = UINT32_MAX, greatest = 0;
    for (int64_t k = first; k < end; k++) {
        uint32_t key = range->keys[k];
        least = key < least ? key : least;
        greatest = key > greatest ? key : greatest;
    }
    range->bounds[i][0] = least;
    range->bounds[i][1] = greatest;
}

static void count_digits(void *context, int i, int worker)
{
    (void)worker;
    const sort_pass *pass = context;
    uint32_t *histogram = pass->histograms + (size_t)i * pass->buckets;
    memset(histogram, 0, pass->buckets * sizeof *histogram);
    int64_t first = i * pass->block;
    int64_t end = first + pass->block < pass->count ? first + pass->block : pass->count;
    uint32_t mask = pass->buckets - 1;
    for (int64_t k = first; k < end; k++) {
        histogram[((pass->keys[k] - pass->least) >> pass->shift) & mask]++;
    }
}

// counts to positions: digit by digit, and within a digit block by block, which is what makes the sort stable
static void sum_histograms(const sort_pass *pass)
{
    uint32_t position = 0;
    for (uint32_t digit = 0; digit < pass->buckets; digit++) {
        for (int i = 0; i < pass->blocks; i++) {
            uint32_t *entry = &pass->histograms[(size_t)i * pass->buckets + digit];
            uint32_t count = *entry;
            *entry = position;
            position += count;
        }
    }
}

static void scatter(void *context, int i, int worker)
{
    (void)worker;
    const sort_pass *pass = context;
    uint32_t *positions = pass->histograms + (size_t)i * pass->buckets;
    int64_t first = i * pass->block;
    int64_t end = first + pass->block < pass->count ? first + pass->block : pass->count;
    uint32_t mask = pass->buckets - 1;
    for (int64_t k = first; k < end; k++) {
        uint32_t key = pass->keys[k];
        uint32_t position = positions[((key - pass->least) >> pass->shift) & mask]++;
        pass->keys_out[position] = key;
        pass->values_out[position] = pass->values[k];
    }
}

orr_result orr_radix_sort(orr_jobs *jobs, orr_arena *arena, uint32_t *keys, uint32_t *values, int64_t count,
                          orr_error *error)
{
    assert(count <= UINT32_MAX);
    if (count < 2) {
        return ORR_OK;
    }
    int64_t block = BLOCK;
    while (orr_blocks(count, block) > BLOCKS_MAX) {
        block *= 2;
    }
    int blocks = orr_blocks(count, block);
    uint32_t(*bounds)[2] = orr_arena_take(arena, (size_t)blocks, sizeof *bounds);
    uint32_t *histograms = orr_arena_take(arena, (size_t)blocks << DIGIT_BITS_MAX, sizeof *histograms);
    uint32_t *other_keys = orr_arena_take(arena, (size_t)count, sizeof *other_keys);
    uint32_t *other_values = orr_arena_take(arena, (size_t)count, sizeof *other_values);
    if (!bounds || !histograms || !other_keys || !other_values) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: sorting %lld keys", (long long)count);
    }

    key_range range = {keys, bounds, count, block};
    orr_jobs_for(jobs, blocks, find_range, &range);
    uint32_t least = UINT32_MAX, greatest = 0;
    for (int i = 0; i < blocks; i++) {
        least = bounds[i][0] < least ? bounds[i][0] : least;
        greatest = bounds[i][1] > greatest ? bounds[i][1] : greatest;
    }
    int bits = greatest == least ? 0 : 32 - __builtin_clz(greatest - least);
    int passes = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    int digit_bits = passes ? (bits + passes - 1) / passes : 0;

    sort_pass pass = {keys,  values, other_keys, other_values,    histograms, least, count,
                      block, blocks, 0,          1u << digit_bits};
    for (int p = 0; p < passes; p++) {
        pass.shift = p * digit_bits;
        orr_jobs_for(jobs, blocks, count_digits, &pass);
        sum_histograms(&pass);
        orr_jobs_for(jobs, blocks, scatter, &pass);
        uint32_t *read_keys = pass.keys, *read_values = pass.values;
        pass.keys = pass.keys_out;
        pass.values = pass.values_out;
        pass.keys_out = read_keys;
        pass.values_out = read_values;
    }
    if (pass.keys != keys) {
        memcpy(keys, pass.keys, (size_t)count * sizeof *keys);
        memcpy(values, pass.values, (size_t)count * sizeof *values);
    }
    return ORR_OK;
}
