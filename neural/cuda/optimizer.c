// Optimisers on CUDA: their memory, steps, and saved states.
#include "neural/cuda/optimizer.h"

#include "neural/network/optimizer.h"

#include <string.h>

// `factors`: tables.power_count + 1 of them; steps < 0: those of a step, otherwise of the average after so
// many steps
static void fill_factors(const orr_optimizer_tables *tables, int64_t steps, orr_average_factors *factors)
{
    for (int n = 0; n <= tables->power_count; n++) {
        factors[n] = steps < 0 ? orr_average_rested(tables, n) : orr_average_now(tables, n, steps);
    }
}

static orr_result upload_factors(const orr_cuda_optimizer *o, int64_t steps, orr_average_factors *to,
                                 orr_error *error)
{
    size_t count = (size_t)o->tables.power_count + 1;
    orr_average_factors *factors;
    ORR_ALLOC(factors, count, "an average", error);
    fill_factors(&o->tables, steps, factors);
    orr_result result = orr_cuda_upload(o->cuda, to, factors, count * sizeof *factors, error);
    orr_free(factors);
    return result;
}

static orr_result create_correction(orr_cuda_optimizer *o, orr_error *error)
{
    size_t count = (size_t)o->tables.correction_last + 1;
    void *memory;
    ORR_TRY(orr_cuda_alloc(o->cuda, count, sizeof *o->correction, &memory, error));
    o->correction = memory;
    return orr_cuda_upload(o->cuda, memory, o->tables.correction, count * sizeof *o->correction, error);
}

static orr_result create_factors(orr_cuda_optimizer *o, orr_error *error)
{
    size_t count = (size_t)o->tables.power_count + 1;
    void *memory;
    ORR_TRY(orr_cuda_alloc(o->cuda, count, sizeof(orr_average_factors), &memory, error));
    o->rested_factors = memory;
    ORR_TRY(orr_cuda_alloc(o->cuda, count, sizeof(orr_average_factors), &memory, error));
    o->average_factors = memory;
    return upload_factors(o, -1, o->rested_factors, error);
}

static orr_result create_tables(orr_cuda_optimizer *o, orr_error *error)
{
    ORR_TRY(orr_optimizer_tables_create(&o->config, &o->tables, error));
    if (o->tables.correction) {
        ORR_TRY(create_correction(o, error));
    }
    return o->tables.power ? create_factors(o, error) : ORR_OK;
}

static orr_result create(orr_cuda_optimizer *o, orr_error *error)
{
    ORR_TRY(create_tables(o, error));
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        size_t bytes = o->layout.bytes[i];
        ORR_TRY(orr_cuda_alloc(o->cuda, bytes, 1, &o->pieces[i], error));
        if (bytes > 0) {
            ORR_CUDA_TRY(cudaMemsetAsync(o->pieces[i], 0, bytes, o->cuda->stream));
        }
    }
    return ORR_OK;
}

orr_result orr_cuda_optimizer_create(orr_cuda *cuda, const orr_optimizer_config *config,
                                     int64_t parameter_count, bool lazy, orr_cuda_optimizer *optimizer,
                                     orr_error *error)
{
    *optimizer = (orr_cuda_optimizer){.cuda = cuda,
                                      .config = *config,
                                      .parameter_count = parameter_count,
                                      .lazy = lazy,
                                      .layout = orr_optimizer_layout_of(config, parameter_count)};
    orr_result result = create(optimizer, error);
    if (result != ORR_OK) {
        orr_cuda_optimizer_destroy(optimizer);
    }
    return result;
}

void orr_cuda_optimizer_destroy(orr_cuda_optimizer *o)
{
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        orr_cuda_free(o->pieces[i]);
    }
    orr_cuda_free(o->correction);
    orr_cuda_free(o->rested_factors);
    orr_cuda_free(o->average_factors);
    orr_optimizer_tables_destroy(&o->tables);
    *o = (orr_cuda_optimizer){0};
}

static orr_cuda_optimizer_pass pass_of(const orr_cuda_optimizer *o)
{
    return (orr_cuda_optimizer_pass){.rule = orr_optimizer_rule_of(&o->config, o->lazy, o->steps),
                                     .count = o->parameter_count,
                                     .first = o->pieces[ORR_OPTIMIZER_FIRST],
                                     .second = o->pieces[ORR_OPTIMIZER_SECOND],
                                     .own_steps = o->pieces[ORR_OPTIMIZER_COUNTS],
                                     .sum = o->pieces[ORR_OPTIMIZER_SUMS],
                                     .average_step = o->pieces[ORR_OPTIMIZER_AVERAGE_STEP],
                                     .correction = o->correction,
                                     .correction_last = o->tables.correction_last,
                                     .factors = o->rested_factors,
                                     .factor_last = (uint32_t)o->tables.power_count,
                                     .step = (uint32_t)o->steps};
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
    if (!o->average_factors || o->steps == 0) {
        ORR_CUDA_TRY(cudaMemcpyAsync(average, parameters, (size_t)o->parameter_count * sizeof *average,
                                     cudaMemcpyDeviceToDevice, o->cuda->stream));
        return ORR_OK;
    }
    ORR_TRY(upload_factors(o, o->steps, o->average_factors, error));
    orr_cuda_optimizer_pass pass = pass_of(o);
    pass.parameters = (float *)parameters;
    pass.factors = o->average_factors;
    orr_cuda_average_launch(o->cuda->stream, &pass, average);
    ORR_CUDA_TRY(cudaGetLastError());
    return ORR_OK;
}

// ---- state ----

size_t orr_cuda_optimizer_state_size(const orr_cuda_optimizer *o)
{
    return o->layout.size;
}

orr_result orr_cuda_optimizer_state_save(const orr_cuda_optimizer *o, void *state, orr_error *error)
{
    char *at = (char *)state + o->layout.header;
    orr_optimizer_state_write_header(&o->layout, o->steps, state);
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        size_t bytes = o->layout.bytes[i];
        if (bytes > 0) {
            ORR_TRY(orr_cuda_download(o->cuda, at, o->pieces[i], bytes, error));
        }
        at += bytes;
    }
    return ORR_OK;
}

// A copy of what is in `state` behind the header, pieces from `pieces`.
static void split(const orr_optimizer_layout *layout, char *bytes, char *pieces[ORR_OPTIMIZER_PIECES])
{
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        pieces[i] = bytes;
        bytes += layout->bytes[i];
    }
}

orr_result orr_cuda_optimizer_state_load(orr_cuda_optimizer *o, const void *state, size_t size,
                                         orr_error *error)
{
    int64_t steps;
    ORR_TRY(orr_optimizer_state_read_header(&o->layout, state, size, &steps, error));
    char *bytes, *pieces[ORR_OPTIMIZER_PIECES];
    ORR_ALLOC(bytes, size - o->layout.header, "a state", error);
    memcpy(bytes, (const char *)state + o->layout.header, size - o->layout.header);
    split(&o->layout, bytes, pieces);
    orr_optimizer_clamp_counts(&o->layout, &o->tables, steps, (void *)pieces[ORR_OPTIMIZER_COUNTS],
                               (void *)pieces[ORR_OPTIMIZER_AVERAGE_STEP]);
    orr_result result = ORR_OK;
    for (int i = 0; i < ORR_OPTIMIZER_PIECES && result == ORR_OK; i++) {
        if (o->layout.bytes[i] > 0) {
            result = orr_cuda_upload(o->cuda, o->pieces[i], pieces[i], o->layout.bytes[i], error);
        }
    }
    orr_free(bytes);
    o->steps = steps;
    return result;
}
