// Optimisers on CUDA: what is remembered, and its bytes.
#include "neural/cuda/optimizer.h"

#include "neural/network/optimizer.h"

#include <math.h>
#include <string.h>

enum { GROUP = 16, STEPS_MAX = 65535, PIECES = 5 };

typedef struct state_header {
    int64_t steps, parameter_count;
} state_header;

typedef struct state_piece {
    void **data; // on the device
    size_t size; // 0: the config has no use for it
} state_piece;

static void pieces_of(const orr_cuda_optimizer *optimizer, state_piece pieces[PIECES])
{
    orr_cuda_optimizer *o = (orr_cuda_optimizer *)optimizer;
    size_t groups = ((size_t)o->parameter_count + GROUP - 1) / GROUP, padded = groups * GROUP;
    size_t moments = o->config.sgd ? 0 : padded, averages = o->config.ema_decay > 0.0 ? padded : 0;
    pieces[0] = (state_piece){(void **)&o->first, moments * sizeof *o->first};
    pieces[1] = (state_piece){(void **)&o->second, moments * sizeof *o->second};
    pieces[2] = (state_piece){(void **)&o->own_steps, moments * sizeof *o->own_steps};
    pieces[3] = (state_piece){(void **)&o->sum, averages * sizeof *o->sum};
    pieces[4] = (state_piece){(void **)&o->average_step, averages / GROUP * sizeof *o->average_step};
}

// as far as the correction still changes in single precision
static orr_result create_correction(orr_cuda_optimizer *o, orr_error *error)
{
    const orr_optimizer_config *c = &o->config;
    double slowest = fmax(c->beta1, c->beta2), last = slowest > 0.0 ? ceil(log(1e-8) / log(slowest)) : 1.0;
    o->correction_last = last < STEPS_MAX ? (int)last : STEPS_MAX;
    size_t bytes = ((size_t)o->correction_last + 1) * sizeof(float);
    void *memory;
    ORR_TRY(orr_cuda_alloc(o->cuda, bytes, 1, &memory, error));
    o->correction = memory;
    float *table;
    ORR_ALLOC(table, o->correction_last + 1, "an optimiser", error);
    table[0] = 0.0f; // nobody has taken 0 steps after a step
    for (int t = 1; t <= o->correction_last; t++) {
        table[t] = (float)(sqrt(1.0 - pow(c->beta2, t)) / (1.0 - pow(c->beta1, t)));
    }
    orr_result result = orr_cuda_upload(o->cuda, o->correction, table, bytes, error);
    orr_free(table);
    return result;
}

static orr_result create(orr_cuda_optimizer *o, orr_error *error)
{
    if (!o->config.sgd) {
        ORR_TRY(create_correction(o, error));
    }
    state_piece pieces[PIECES];
    pieces_of(o, pieces);
    for (int i = 0; i < PIECES; i++) {
        ORR_TRY(orr_cuda_alloc(o->cuda, pieces[i].size, 1, pieces[i].data, error));
        if (pieces[i].size > 0) {
            ORR_CUDA_TRY(cudaMemsetAsync(*pieces[i].data, 0, pieces[i].size, o->cuda->stream));
        }
    }
    return ORR_OK;
}

orr_result orr_cuda_optimizer_create(orr_cuda *cuda, const orr_optimizer_config *config,
                                     int64_t parameter_count, bool lazy, orr_cuda_optimizer *optimizer,
                                     orr_error *error)
{
    *optimizer = (orr_cuda_optimizer){
        .cuda = cuda, .config = *config, .parameter_count = parameter_count, .lazy = lazy};
    orr_result result = create(optimizer, error);
    if (result != ORR_OK) {
        orr_cuda_optimizer_destroy(optimizer);
    }
    return result;
}

void orr_cuda_optimizer_destroy(orr_cuda_optimizer *o)
{
    state_piece pieces[PIECES];
    pieces_of(o, pieces);
    for (int i = 0; i < PIECES; i++) {
        orr_cuda_free(*pieces[i].data);
    }
    orr_cuda_free(o->correction);
    *o = (orr_cuda_optimizer){0};
}

static orr_cuda_optimizer_pass pass_of(const orr_cuda_optimizer *o)
{
    const orr_optimizer_config *c = &o->config;
    return (orr_cuda_optimizer_pass){.count = o->parameter_count,
                                     .first = o->first,
                                     .second = o->second,
                                     .own_steps = o->own_steps,
                                     .sum = o->sum,
                                     .average_step = o->average_step,
                                     .correction = o->correction,
                                     .correction_last = o->correction_last,
                                     .learning_rate = (float)orr_learning_rate(c, o->steps),
                                     .beta1 = (float)c->beta1,
                                     .beta2 = (float)c->beta2,
                                     .epsilon = (float)c->epsilon,
                                     .l2_reg = o->lazy ? 0.0f : (float)c->l2_reg,
                                     .decay = (float)c->ema_decay,
                                     .log2_decay = o->sum ? (float)log2(c->ema_decay) : 0.0f,
                                     .step = (uint32_t)o->steps,
                                     .sgd = c->sgd,
                                     .lazy = o->lazy};
}

orr_result orr_cuda_optimizer_step(orr_cuda_optimizer *o, float *parameters, void *halves, float *gradients,
                                   float unscale, orr_error *error)
{
    orr_cuda_optimizer_pass pass = pass_of(o);
    pass.parameters = parameters;
    pass.halves = halves;
    pass.gradients = gradients;
    pass.unscale = unscale;
    pass.now = o->now;
    orr_cuda_optimizer_launch(o->cuda->stream, &pass);
    ORR_CUDA_TRY(cudaGetLastError());
    o->steps += !o->now;
    return ORR_OK;
}

orr_result orr_cuda_optimizer_average(const orr_cuda_optimizer *o, const float *parameters, float *average,
                                      orr_error *error)
{
    if (!o->sum || o->steps == 0) {
        ORR_CUDA_TRY(cudaMemcpyAsync(average, parameters, (size_t)o->parameter_count * sizeof *average,
                                     cudaMemcpyDeviceToDevice, o->cuda->stream));
        return ORR_OK;
    }
    orr_cuda_optimizer_pass pass = pass_of(o);
    pass.parameters = (float *)parameters;
    orr_cuda_average_launch(o->cuda->stream, &pass, average);
    ORR_CUDA_TRY(cudaGetLastError());
    return ORR_OK;
}

// ---- state ----

size_t orr_cuda_optimizer_state_size(const orr_cuda_optimizer *o)
{
    state_piece pieces[PIECES];
    pieces_of(o, pieces);
    size_t size = sizeof(state_header);
    for (int i = 0; i < PIECES; i++) {
        size += pieces[i].size;
    }
    return size;
}

orr_result orr_cuda_optimizer_state_save(const orr_cuda_optimizer *o, void *state, orr_error *error)
{
    state_header header = {o->steps, o->parameter_count};
    state_piece pieces[PIECES];
    pieces_of(o, pieces);
    char *at = state;
    memcpy(at, &header, sizeof header);
    at += sizeof header;
    for (int i = 0; i < PIECES; i++) {
        if (pieces[i].size > 0) {
            ORR_TRY(orr_cuda_download(o->cuda, at, *pieces[i].data, pieces[i].size, error));
        }
        at += pieces[i].size;
    }
    return ORR_OK;
}

// Counts from outside must stay inside the tables they index. `bytes` is the state behind its header.
static void hold_counts(const orr_cuda_optimizer *o, const state_piece pieces[PIECES], int64_t steps,
                        char *bytes)
{
    char *at = bytes + pieces[0].size + pieces[1].size;
    for (size_t i = 0; i < pieces[2].size; i += sizeof(uint16_t)) {
        uint16_t own;
        memcpy(&own, at + i, sizeof own);
        own = own < o->correction_last ? own : (uint16_t)o->correction_last;
        memcpy(at + i, &own, sizeof own);
    }
    at += pieces[2].size + pieces[3].size;
    for (size_t i = 0; i < pieces[4].size; i += sizeof(uint32_t)) {
        uint32_t covered;
        memcpy(&covered, at + i, sizeof covered);
        covered = covered < steps ? covered : (uint32_t)steps;
        memcpy(at + i, &covered, sizeof covered);
    }
}

orr_result orr_cuda_optimizer_state_load(orr_cuda_optimizer *o, const void *state, size_t size,
                                         orr_error *error)
{
    state_header header = {0};
    if (size >= sizeof header) {
        memcpy(&header, state, sizeof header);
    }
    if (size != orr_cuda_optimizer_state_size(o) || header.parameter_count != o->parameter_count ||
        header.steps < 0 || header.steps > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "optimiser state: expected %zu bytes of %lld parameters, not %zu bytes of %lld",
                        orr_cuda_optimizer_state_size(o), (long long)o->parameter_count, size,
                        (long long)header.parameter_count);
    }
    char *bytes;
    ORR_ALLOC(bytes, size - sizeof header, "a state", error);
    memcpy(bytes, (const char *)state + sizeof header, size - sizeof header);
    state_piece pieces[PIECES];
    pieces_of(o, pieces);
    hold_counts(o, pieces, header.steps, bytes);
    orr_result result = ORR_OK;
    const char *at = bytes;
    for (int i = 0; i < PIECES && result == ORR_OK; i++) {
        if (pieces[i].size > 0) {
            result = orr_cuda_upload(o->cuda, *pieces[i].data, at, pieces[i].size, error);
        }
        at += pieces[i].size;
    }
    orr_free(bytes);
    o->steps = header.steps;
    return result;
}
