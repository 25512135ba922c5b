#include "neural/training/sample_batches.h"

#include "engine/core/memory.h"
#include "engine/maths/morton.h"
#include "engine/maths/radix_sort.h"

#include <assert.h>
#include <math.h>

enum {
    DRAW_SAMPLES = 4096, // samples drawn per job
    BATCHES_MAX = 1024
};

struct orr_sample_batches {
    orr_sample_source source;
    orr_jobs *jobs;
    orr_arena arena;
    int dims, channels, batch_size;
    float *positions, *targets; // batches_kept of each, in blocks
    int64_t batches_drawn;
    float *drawn; // positions as drawn, one sample after the other
    uint32_t *keys, *order;
};

static uint32_t spread_by_one(uint32_t v) // 12 bits, each followed by a zero
{
    v = (v | v << 8) & 0x00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
}

// Along the Morton curve, 24 bits: three passes of the sort.
static uint32_t morton_key(const float *position, int dims)
{
    float side = dims == 2 ? 4096.0f : 256.0f;
    uint32_t cell[3] = {0};
    for (int k = 0; k < dims; k++) {
        cell[k] = (uint32_t)fminf(fmaxf(position[k] * side, 0.0f), side - 1.0f);
    }
    return dims == 2 ? spread_by_one(cell[0]) | spread_by_one(cell[1]) << 1
                     : orr_morton30(cell[0], cell[1], cell[2]);
}

static void draw_positions(void *context, int i, int worker)
{
    (void)worker;
    orr_sample_batches *b = context;
    int first = i * DRAW_SAMPLES;
    int count = b->batch_size - first < DRAW_SAMPLES ? b->batch_size - first : DRAW_SAMPLES;
    float *positions = b->drawn + (size_t)first * (size_t)b->dims;
    b->source.draw(b->source.context, (uint32_t)b->batches_drawn, first, count, b->batch_size, positions);
    for (int s = 0; s < count; s++) {
        int first_of_pair =
            b->source.slope_weight > 0.0f ? s - s % 2 : s; // a pair has one key: the sort is stable
        b->keys[first + s] = morton_key(positions + (size_t)first_of_pair * (size_t)b->dims, b->dims);
        b->order[first + s] = (uint32_t)(first + s);
    }
}

static size_t batch_floats(const orr_sample_batches *b, int members)
{
    return (size_t)b->batch_size * (size_t)members;
}

// where the newest batch is kept
static int batch_slot(const orr_sample_batches *b)
{
    return (int)(b->batches_drawn % b->source.batches_kept);
}

static void fill_block(void *context, int block, int worker)
{
    (void)worker;
    orr_sample_batches *b = context;
    int slot = batch_slot(b);
    float *positions = b->positions + (size_t)slot * batch_floats(b, b->dims) +
                       (size_t)block * (size_t)b->dims * ORR_SAMPLES;
    float *targets = b->targets + (size_t)slot * batch_floats(b, b->channels) +
                     (size_t)block * (size_t)b->channels * ORR_SAMPLES;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const float *position = b->drawn + (size_t)b->order[block * ORR_SAMPLES + i] * (size_t)b->dims;
        for (int k = 0; k < b->dims; k++) {
            positions[k * ORR_SAMPLES + i] = position[k];
        }
    }
    b->source.truth(b->source.context, positions, targets);
}

static orr_result draw_batch(orr_sample_batches *b, orr_error *error)
{
    orr_jobs_for(b->jobs, orr_blocks(b->batch_size, DRAW_SAMPLES), draw_positions, b);
    orr_arena_reset(&b->arena);
    ORR_TRY(orr_radix_sort(b->jobs, &b->arena, b->keys, b->order, b->batch_size, error));
    orr_jobs_for(b->jobs, b->batch_size / ORR_SAMPLES, fill_block, b);
    b->batches_drawn++;
    return ORR_OK;
}

// The batches kept take turns, the newest among them.
orr_result orr_sample_batches_choose(orr_sample_batches *b, int64_t step, const float **positions,
                                     const float **targets, orr_error *error)
{
    const orr_sample_source *source = &b->source;
    int64_t needed = step / source->steps_per_batch + 1;
    int64_t oldest = needed > source->batches_kept ? needed - source->batches_kept : 0;
    if (b->batches_drawn < oldest) { // after a restart
        b->batches_drawn = oldest;
    }
    while (b->batches_drawn < needed) {
        ORR_TRY(draw_batch(b, error));
    }
    int64_t number = oldest + step % (needed - oldest);
    size_t slot = (size_t)(number % source->batches_kept);
    *positions = b->positions + slot * batch_floats(b, b->dims);
    *targets = b->targets + slot * batch_floats(b, b->channels);
    return ORR_OK;
}

void orr_sample_batches_restart(orr_sample_batches *b)
{
    b->batches_drawn = 0;
}

// ---- life ----

static orr_result allocate(orr_sample_batches *b, orr_error *error)
{
    size_t kept = (size_t)b->source.batches_kept;
    ORR_ALLOC(b->positions, kept * batch_floats(b, b->dims), "batches", error);
    ORR_ALLOC(b->targets, kept * batch_floats(b, b->channels), "batches", error);
    ORR_ALLOC(b->drawn, batch_floats(b, b->dims), "batches", error);
    ORR_ALLOC(b->keys, b->batch_size, "batches", error);
    ORR_ALLOC(b->order, b->batch_size, "batches", error);
    return ORR_OK;
}

orr_result orr_sample_batches_create(const orr_sample_source *source, orr_jobs *jobs, int dims, int channels,
                                     int batch_size, orr_sample_batches **batches, orr_error *error)
{
    assert(source->batches_kept >= 1 && source->batches_kept <= BATCHES_MAX && source->steps_per_batch >= 1);
    assert(batch_size % ORR_SAMPLES == 0);
    *batches = NULL;
    orr_sample_batches *b = orr_alloc_zero(1, sizeof *b);
    if (!b) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: batches");
    }
    b->source = *source;
    b->jobs = jobs;
    b->dims = dims;
    b->channels = channels;
    b->batch_size = batch_size;
    orr_result result = allocate(b, error);
    if (result != ORR_OK) {
        orr_sample_batches_destroy(b);
        return result;
    }
    *batches = b;
    return ORR_OK;
}

void orr_sample_batches_destroy(orr_sample_batches *b)
{
    if (!b) {
        return;
    }
    orr_arena_destroy(&b->arena);
    void *const memory[] = {b->positions, b->targets, b->drawn, b->keys, b->order, b};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        orr_free(memory[i]);
    }
}
