// Optimisers: which blocks of parameters move, and what is remembered of them.
#include "neural/network/optimizer.h"

#include "engine/core/memory.h"
#include "neural/network/optimizer_cpu.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = ORR_PARAMETER_BLOCK,
    WORD_BLOCKS = 32, // of one word of marks
    JOB_WORDS = 128,  // of one job: 65536 parameters
    STEPS_MAX = 65535 // what a parameter's own count can hold
};

struct orr_optimizer {
    orr_optimizer_config config;
    int64_t parameter_count;
    int64_t block_count;
    int64_t steps;
    bool lazy;
    orr_optimizer_kernel *kernel;
    // tables
    float *correction; // 0 .. correction_last
    int correction_last;
    double *power; // decay of the average to the power 0 .. power_count - 1; beyond it is 0
    int power_count;
    // state, per parameter or block, padded to whole blocks; NULL where the config has no use for it
    float *first, *second;
    uint16_t *own_steps;
    float *sum;             // of the average, not divided by the sum of its weights
    uint32_t *average_step; // per block: steps that `sum` covers
};

// ---- tables ----

static double correction_at(const orr_optimizer_config *config, int step)
{
    return sqrt(1.0 - pow(config->beta2, step)) / (1.0 - pow(config->beta1, step));
}

static orr_result create_correction(orr_optimizer *o, orr_error *error)
{
    // as far as the correction still changes in single precision
    double slowest = fmax(o->config.beta1, o->config.beta2);
    double last = slowest > 0.0 ? ceil(log(1e-8) / log(slowest)) : 1.0;
    o->correction_last = last < STEPS_MAX ? (int)last : STEPS_MAX;
    ORR_ALLOC(o->correction, o->correction_last + 1, "an optimiser", error);
    o->correction[0] = 0.0f; // nobody has taken 0 steps after a step
    for (int t = 1; t <= o->correction_last; t++) {
        o->correction[t] = (float)correction_at(&o->config, t);
    }
    return ORR_OK;
}

static orr_result create_powers(orr_optimizer *o, orr_error *error)
{
    double count = ceil(log(1e-12) / log(o->config.ema_decay)) + 1.0;
    if (!(count < 1e7)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "optimizer: expected an EMA decay of at most 0.999997");
    }
    o->power_count = (int)count;
    ORR_ALLOC(o->power, o->power_count, "an optimiser", error);
    for (int n = 0; n < o->power_count; n++) {
        o->power[n] = pow(o->config.ema_decay, n);
    }
    return ORR_OK;
}

static double power(const orr_optimizer *o, int64_t n)
{
    return n < o->power_count ? o->power[n] : 0.0;
}

double orr_learning_rate(const orr_optimizer_config *config, int64_t step)
{
    int64_t last = step < config->decay_end ? step : config->decay_end;
    if (config->decay_base == 1.0 || config->decay_interval < 1 || last < config->decay_start) {
        return config->learning_rate;
    }
    int64_t decays = (last - config->decay_start) / config->decay_interval + 1;
    return config->learning_rate * pow(config->decay_base, (double)decays);
}

// ---- life ----

static orr_result create_state(orr_optimizer *o, orr_error *error)
{
    size_t padded = (size_t)o->block_count * BLOCK;
    bool good = true;
    if (!o->config.sgd) {
        o->first = orr_alloc_zero(padded, sizeof *o->first);
        o->second = orr_alloc_zero(padded, sizeof *o->second);
        o->own_steps = orr_alloc_zero(padded, sizeof *o->own_steps);
        good = o->first && o->second && o->own_steps;
    }
    if (o->config.ema_decay > 0.0) {
        o->sum = orr_alloc_zero(padded, sizeof *o->sum);
        o->average_step = orr_alloc_zero((size_t)o->block_count, sizeof *o->average_step);
        good = good && o->sum && o->average_step;
    }
    return good ? ORR_OK
                : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an optimiser of %lld parameters",
                           (long long)o->parameter_count);
}

static orr_result create_all(orr_optimizer *o, orr_error *error)
{
    static orr_optimizer_kernel *const kernels[ORR_ISA_COUNT] = {
        [ORR_ISA_BASELINE] = orr_optimizer_block_baseline,
#if !defined(ORR_BASELINE_ONLY) && defined(__x86_64__)
        [ORR_ISA_AVX2] = orr_optimizer_block_avx2,
        [ORR_ISA_AVX512] = orr_optimizer_block_avx512,
#endif
    };
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    o->kernel = kernels[isa];
    if (!o->config.sgd) {
        ORR_TRY(create_correction(o, error));
    }
    if (o->config.ema_decay > 0.0) {
        ORR_TRY(create_powers(o, error));
    }
    return create_state(o, error);
}

orr_result orr_optimizer_create(const orr_optimizer_config *config, int64_t parameter_count, bool lazy,
                                orr_optimizer **optimizer, orr_error *error)
{
    *optimizer = NULL;
    if (parameter_count < 0 || !(config->beta1 >= 0.0 && config->beta1 < 1.0) ||
        !(config->beta2 >= 0.0 && config->beta2 < 1.0) ||
        !(config->ema_decay >= 0.0 && config->ema_decay < 1.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "optimizer: expected betas and an EMA decay in 0 .. 1");
    }
    orr_optimizer *o = orr_alloc_zero(1, sizeof *o);
    if (!o) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an optimiser");
    }
    o->config = *config;
    o->parameter_count = parameter_count;
    o->block_count = (parameter_count + BLOCK - 1) / BLOCK;
    o->lazy = lazy;
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
    orr_free(optimizer->correction);
    orr_free(optimizer->power);
    orr_free(optimizer->first);
    orr_free(optimizer->second);
    orr_free(optimizer->own_steps);
    orr_free(optimizer->sum);
    orr_free(optimizer->average_step);
    orr_free(optimizer);
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

// The average after this step, from `sum` as it was n steps before the last one, while the weight rested:
// keep sum + rest weight + (1 - decay) new weight.
static void set_average(const orr_optimizer *o, int64_t index, orr_parameter_block *block)
{
    if (!o->sum) {
        return;
    }
    double rested = power(o, o->steps - 1 - o->average_step[index]);
    block->sum = o->sum + index * BLOCK;
    block->average_keep = (float)(o->config.ema_decay * rested);
    block->average_rest = (float)(o->config.ema_decay * (1.0 - rested));
    o->average_step[index] = (uint32_t)o->steps;
}

static void step_block(const step_job *job, int64_t index)
{
    orr_optimizer *o = job->optimizer;
    orr_parameter_block block = {.weight = job->parameters + index * BLOCK,
                                 .gradient = job->gradients + index * BLOCK};
    if (!o->config.sgd) {
        block.first = o->first + index * BLOCK;
        block.second = o->second + index * BLOCK;
        block.steps = o->own_steps + index * BLOCK;
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
        if (job->pass.lazy) {
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
    const orr_optimizer_config *c = &o->config;
    step_job job = {.optimizer = o,
                    .pass = {.beta1 = (float)c->beta1,
                             .beta2 = (float)c->beta2,
                             .epsilon = (float)c->epsilon,
                             .l2_reg = o->lazy ? 0.0f : (float)c->l2_reg,
                             .learning_rate = (float)orr_learning_rate(c, o->steps),
                             .sgd = c->sgd,
                             .lazy = o->lazy,
                             .correction = o->correction,
                             .correction_last = o->correction_last,
                             .average_new = o->sum ? (float)(1.0 - c->ema_decay) : 0.0f},
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
    double total = 1.0 - power(o, o->steps); // sum of all weights of the average
    for (int64_t index = first; index < last; index++) {
        double rested = power(o, o->steps - o->average_step[index]);
        float keep = (float)(rested / total), rest = (float)((1.0 - rested) / total);
        int64_t end = (index + 1) * BLOCK < o->parameter_count ? (index + 1) * BLOCK : o->parameter_count;
        for (int64_t p = index * BLOCK; p < end; p++) {
            job->average[p] = keep * o->sum[p] + rest * job->parameters[p];
        }
    }
}

void orr_optimizer_average(const orr_optimizer *o, orr_jobs *jobs, const float *parameters, float *average)
{
    if (!o->sum || o->steps == 0) {
        memcpy(average, parameters, (size_t)o->parameter_count * sizeof *average);
        return;
    }
    average_job job = {o, parameters, average};
    orr_jobs_for(jobs, orr_blocks(o->block_count, JOB_WORDS * WORD_BLOCKS), average_blocks, &job);
}

// ---- state ----

typedef struct state_header {
    int64_t steps, parameter_count;
} state_header;

enum { STATE_PIECES = 5 };

typedef struct state_piece {
    void *data; // NULL: the config has no use for it
    size_t size;
} state_piece;

static void state_pieces(const orr_optimizer *o, state_piece pieces[STATE_PIECES])
{
    size_t padded = (size_t)o->block_count * BLOCK;
    pieces[0] = (state_piece){o->first, padded * sizeof *o->first};
    pieces[1] = (state_piece){o->second, padded * sizeof *o->second};
    pieces[2] = (state_piece){o->own_steps, padded * sizeof *o->own_steps};
    pieces[3] = (state_piece){o->sum, padded * sizeof *o->sum};
    pieces[4] = (state_piece){o->average_step, (size_t)o->block_count * sizeof *o->average_step};
}

size_t orr_optimizer_state_size(const orr_optimizer *o)
{
    state_piece pieces[STATE_PIECES];
    state_pieces(o, pieces);
    size_t size = sizeof(state_header);
    for (int i = 0; i < STATE_PIECES; i++) {
        size += pieces[i].data ? pieces[i].size : 0;
    }
    return size;
}

void orr_optimizer_state_save(const orr_optimizer *o, void *state)
{
    state_header header = {o->steps, o->parameter_count};
    state_piece pieces[STATE_PIECES];
    state_pieces(o, pieces);
    char *at = state;
    memcpy(at, &header, sizeof header);
    at += sizeof header;
    for (int i = 0; i < STATE_PIECES; i++) {
        if (pieces[i].data) {
            memcpy(at, pieces[i].data, pieces[i].size);
            at += pieces[i].size;
        }
    }
}

orr_result orr_optimizer_state_load(orr_optimizer *o, const void *state, size_t size, orr_error *error)
{
    state_header header = {0};
    if (size >= sizeof header) {
        memcpy(&header, state, sizeof header);
    }
    if (size != orr_optimizer_state_size(o) || header.parameter_count != o->parameter_count ||
        header.steps < 0 || header.steps > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "optimiser state: expected %zu bytes of %lld parameters, not %zu bytes of %lld",
                        orr_optimizer_state_size(o), (long long)o->parameter_count, size,
                        (long long)header.parameter_count);
    }
    state_piece pieces[STATE_PIECES];
    state_pieces(o, pieces);
    const char *at = (const char *)state + sizeof header;
    for (int i = 0; i < STATE_PIECES; i++) {
        if (pieces[i].data) {
            memcpy(pieces[i].data, at, pieces[i].size);
            at += pieces[i].size;
        }
    }
    o->steps = header.steps;
    // counts from outside must stay inside the tables they index
    for (int64_t p = 0; o->own_steps && p < o->block_count * BLOCK; p++) {
        o->own_steps[p] =
            o->own_steps[p] < o->correction_last ? o->own_steps[p] : (uint16_t)o->correction_last;
    }
    for (int64_t b = 0; o->average_step && b < o->block_count; b++) {
        o->average_step[b] = o->average_step[b] < o->steps ? o->average_step[b] : (uint32_t)o->steps;
    }
    return ORR_OK;
}
