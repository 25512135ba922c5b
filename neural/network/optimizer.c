// Optimisers: which blocks of parameters move, and what is remembered of them.
#define ORR_SCALAR
#include "neural/network/optimizer.h"

#include "engine/core/memory.h"
#include "neural/network/optimizer_cpu.h"
#include "neural/network/optimizer_formula.h"

#include <string.h>

enum {
    BLOCK = ORR_PARAMETER_BLOCK,
    WORD_BLOCKS = 32, // of one word of marks
    JOB_WORDS = 128   // of one job: 65536 parameters
};

struct orr_optimizer {
    orr_optimizer_config config;
    int64_t parameter_count;
    int64_t block_count;
    int64_t steps;
    bool lazy;
    orr_optimizer_kernel *kernel;
    orr_optimizer_tables tables;
    orr_optimizer_layout layout;
    void *pieces[ORR_OPTIMIZER_PIECES]; // NULL where the layout has none
};

// ---- life ----

static orr_result create_state(orr_optimizer *o, orr_error *error)
{
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        if (o->layout.bytes[i] == 0) {
            continue;
        }
        o->pieces[i] = orr_alloc_zero(o->layout.bytes[i], 1);
        if (!o->pieces[i]) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an optimiser of %lld parameters",
                            (long long)o->parameter_count);
        }
    }
    return ORR_OK;
}

static orr_result create_all(orr_optimizer *o, orr_error *error)
{
#define BLOCK_KERNEL(isa) orr_optimizer_block_##isa
    static orr_optimizer_kernel *const kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(BLOCK_KERNEL);
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    o->kernel = kernels[isa];
    ORR_TRY(orr_optimizer_tables_create(&o->config, &o->tables, error));
    return create_state(o, error);
}

orr_result orr_optimizer_create(const orr_optimizer_config *config, int64_t parameter_count, bool lazy,
                                orr_optimizer **optimizer, orr_error *error)
{
    *optimizer = NULL;
    assert(parameter_count >= 0);
    orr_optimizer *o = orr_alloc_zero(1, sizeof *o);
    if (!o) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an optimiser");
    }
    o->config = *config;
    o->parameter_count = parameter_count;
    o->block_count = (parameter_count + BLOCK - 1) / BLOCK;
    o->lazy = lazy;
    o->layout = orr_optimizer_layout_of(config, parameter_count);
    orr_result result = create_all(o, error);
    if (result != ORR_OK) {
        orr_optimizer_destroy(o);
        return result;
    }
    *optimizer = o;
    return ORR_OK;
}

void orr_optimizer_destroy(orr_optimizer *optimizer)
{
    if (!optimizer) {
        return;
    }
    orr_optimizer_tables_destroy(&optimizer->tables);
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        orr_free(optimizer->pieces[i]);
    }
    orr_free(optimizer);
}

void orr_optimizer_set_learning_rate(orr_optimizer *optimizer, double rate)
{
    optimizer->config.learning_rate = rate;
}

int64_t orr_optimizer_steps(const orr_optimizer *optimizer)
{
    return optimizer->steps;
}

// ---- a step ----

typedef struct step_job {
    orr_optimizer *optimizer;
    orr_optimizer_pass pass;
    float *parameters, *gradients;
    uint32_t *touched;
} step_job;

static void set_average(const orr_optimizer *o, int64_t index, orr_parameter_block *block)
{
    uint32_t *average_step = o->pieces[ORR_OPTIMIZER_AVERAGE_STEP];
    if (!average_step) {
        return;
    }
    block->sum = (float *)o->pieces[ORR_OPTIMIZER_SUMS] + index * BLOCK;
    block->average = orr_average_rested(&o->tables, o->steps - 1 - average_step[index]);
    average_step[index] = (uint32_t)o->steps;
}

static void step_block(const step_job *job, int64_t index)
{
    orr_optimizer *o = job->optimizer;
    orr_parameter_block block = {.weight = job->parameters + index * BLOCK,
                                 .gradient = job->gradients + index * BLOCK};
    if (!o->config.sgd) {
        block.first = (float *)o->pieces[ORR_OPTIMIZER_FIRST] + index * BLOCK;
        block.second = (float *)o->pieces[ORR_OPTIMIZER_SECOND] + index * BLOCK;
        block.steps = (uint16_t *)o->pieces[ORR_OPTIMIZER_COUNTS] + index * BLOCK;
    }
    set_average(o, index, &block);
    int64_t live = o->parameter_count - index * BLOCK;
    if (live >= BLOCK) {
        o->kernel(&job->pass, &block);
        return;
    }
    // the last block, incomplete in the caller's arrays
    _Alignas(64) float weight[BLOCK] = {0}, gradient[BLOCK] = {0};
    size_t size = (size_t)live * sizeof *weight;
    memcpy(weight, block.weight, size);
    memcpy(gradient, block.gradient, size);
    float *to = block.weight, *zero = block.gradient;
    block.weight = weight;
    block.gradient = gradient;
    o->kernel(&job->pass, &block);
    memcpy(to, weight, size);
    memset(zero, 0, size);
}

static void step_words(void *context, int i, int worker)
{
    (void)worker;
    const step_job *job = context;
    const int64_t blocks = job->optimizer->block_count;
    int64_t end = ((int64_t)i + 1) * JOB_WORDS * WORD_BLOCKS;
    end = end < blocks ? end : blocks;
    for (int64_t first = (int64_t)i * JOB_WORDS * WORD_BLOCKS; first < end; first += WORD_BLOCKS) {
        uint32_t marks = UINT32_MAX;
        if (job->pass.rule.lazy) {
            marks = job->touched[first / WORD_BLOCKS];
            job->touched[first / WORD_BLOCKS] = 0;
        }
        for (; marks; marks &= marks - 1) {
            int64_t index = first + __builtin_ctz(marks);
            if (index < end) {
                step_block(job, index);
            }
        }
    }
}

void orr_optimizer_step(orr_optimizer *o, orr_jobs *jobs, float *parameters, float *gradients,
                        uint32_t *touched)
{
    step_job job = {.optimizer = o,
                    .pass = {.rule = orr_optimizer_rule_of(&o->config, o->lazy, o->steps),
                             .correction = o->tables.correction,
                             .correction_last = o->tables.correction_last},
                    .parameters = parameters,
                    .gradients = gradients,
                    .touched = touched};
    o->steps++;
    orr_jobs_for(jobs, orr_blocks(o->block_count, JOB_WORDS * WORD_BLOCKS), step_words, &job);
}

// ---- the average ----

typedef struct average_job {
    const orr_optimizer *optimizer;
    const float *parameters;
    float *average;
} average_job;

static void average_blocks(void *context, int i, int worker)
{
    (void)worker;
    const average_job *job = context;
    const orr_optimizer *o = job->optimizer;
    int64_t first = (int64_t)i * JOB_WORDS * WORD_BLOCKS, last = first + JOB_WORDS * WORD_BLOCKS;
    last = last < o->block_count ? last : o->block_count;
    const float *sums = o->pieces[ORR_OPTIMIZER_SUMS];
    const uint32_t *average_step = o->pieces[ORR_OPTIMIZER_AVERAGE_STEP];
    for (int64_t index = first; index < last; index++) {
        orr_average_factors now = orr_average_now(&o->tables, o->steps - average_step[index], o->steps);
        int64_t end = (index + 1) * BLOCK < o->parameter_count ? (index + 1) * BLOCK : o->parameter_count;
        for (int64_t p = index * BLOCK; p < end; p++) {
            job->average[p] = average_value(sums[p], job->parameters[p], now.keep, now.rest);
        }
    }
}

void orr_optimizer_average(const orr_optimizer *o, orr_jobs *jobs, const float *parameters, float *average)
{
    if (!o->pieces[ORR_OPTIMIZER_SUMS] || o->steps == 0) {
        memcpy(average, parameters, (size_t)o->parameter_count * sizeof *average);
        return;
    }
    average_job job = {o, parameters, average};
    orr_jobs_for(jobs, orr_blocks(o->block_count, JOB_WORDS * WORD_BLOCKS), average_blocks, &job);
}

// ---- state ----

size_t orr_optimizer_state_size(const orr_optimizer *o)
{
    return o->layout.size;
}

void orr_optimizer_state_save(const orr_optimizer *o, void *state)
{
    char *at = (char *)state + o->layout.header;
    orr_optimizer_state_write_header(&o->layout, o->steps, state);
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        if (o->pieces[i]) {
            memcpy(at, o->pieces[i], o->layout.bytes[i]);
        }
        at += o->layout.bytes[i];
    }
}

orr_result orr_optimizer_state_load(orr_optimizer *o, const void *state, size_t size, orr_error *error)
{
    ORR_TRY(orr_optimizer_state_read_header(&o->layout, state, size, &o->steps, error));
    const char *at = (const char *)state + o->layout.header;
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        if (o->pieces[i]) {
            memcpy(o->pieces[i], at, o->layout.bytes[i]);
        }
        at += o->layout.bytes[i];
    }
    orr_optimizer_clamp_counts(&o->layout, &o->tables, o->steps, o->pieces[ORR_OPTIMIZER_COUNTS],
                               o->pieces[ORR_OPTIMIZER_AVERAGE_STEP]);
    return ORR_OK;
}
