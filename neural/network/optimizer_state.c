#include "neural/network/optimizer_state.h"

#include "engine/core/memory.h"
#include "neural/network/optimizer.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 65535 }; // what a parameter's own count can hold

typedef struct state_header {
    int64_t steps, parameter_count;
} state_header;

double orr_learning_rate(const orr_optimizer_config *config, int64_t step)
{
    int64_t last = step < config->decay_end ? step : config->decay_end;
    if (config->decay_base == 1.0 || config->decay_interval < 1 || last < config->decay_start) {
        return config->learning_rate;
    }
    int64_t decays = (last - config->decay_start) / config->decay_interval + 1;
    return config->learning_rate * pow(config->decay_base, (double)decays);
}

orr_optimizer_rule orr_optimizer_rule_of(const orr_optimizer_config *config, bool lazy, int64_t step)
{
    return (orr_optimizer_rule){
        .learning_rate = (float)orr_learning_rate(config, step),
        .beta1 = (float)config->beta1,
        .beta2 = (float)config->beta2,
        .epsilon = (float)config->epsilon,
        .l2_reg = lazy ? 0.0f : (float)config->l2_reg,
        .average_fresh = config->ema_decay > 0.0 ? (float)(1.0 - config->ema_decay) : 0.0f,
        .sgd = config->sgd,
        .lazy = lazy,
    };
}

// ---- tables ----

static orr_result create_correction(const orr_optimizer_config *config, orr_optimizer_tables *t,
                                    orr_error *error)
{
    double slowest = fmax(config->beta1, config->beta2);
    double last = slowest > 0.0 ? ceil(log(1e-8) / log(slowest)) : 1.0;
    t->correction_last = last < STEPS_MAX ? (int)last : STEPS_MAX;
    ORR_ALLOC(t->correction, t->correction_last + 1, "an optimiser", error);
    t->correction[0] = 0.0f; // no parameter has taken 0 steps after a step
    for (int step = 1; step <= t->correction_last; step++) {
        t->correction[step] =
            (float)(sqrt(1.0 - pow(config->beta2, step)) / (1.0 - pow(config->beta1, step)));
    }
    return ORR_OK;
}

static orr_result create_powers(orr_optimizer_tables *t, orr_error *error)
{
    double count = ceil(log(1e-12) / log(t->decay)) + 1.0;
    if (!(count < 1e7)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "optimizer: expected an EMA decay of at most 0.999997");
    }
    t->power_count = (int)count;
    ORR_ALLOC(t->power, t->power_count, "an optimiser", error);
    for (int n = 0; n < t->power_count; n++) {
        t->power[n] = pow(t->decay, n);
    }
    return ORR_OK;
}

static orr_result create_tables(const orr_optimizer_config *config, orr_optimizer_tables *tables,
                                orr_error *error)
{
    if (!(config->beta1 >= 0.0 && config->beta1 < 1.0) || !(config->beta2 >= 0.0 && config->beta2 < 1.0) ||
        !(config->ema_decay >= 0.0 && config->ema_decay < 1.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "optimizer: expected betas and an EMA decay in 0 .. 1");
    }
    if (!config->sgd) {
        ORR_TRY(create_correction(config, tables, error));
    }
    return config->ema_decay > 0.0 ? create_powers(tables, error) : ORR_OK;
}

orr_result orr_optimizer_tables_create(const orr_optimizer_config *config, orr_optimizer_tables *tables,
                                       orr_error *error)
{
    *tables = (orr_optimizer_tables){.decay = config->ema_decay};
    orr_result result = create_tables(config, tables, error);
    if (result != ORR_OK) {
        orr_optimizer_tables_destroy(tables);
    }
    return result;
}

void orr_optimizer_tables_destroy(orr_optimizer_tables *tables)
{
    orr_free(tables->correction);
    orr_free(tables->power);
    *tables = (orr_optimizer_tables){0};
}

static double power(const orr_optimizer_tables *t, int64_t n)
{
    return n < t->power_count ? t->power[n] : 0.0;
}

orr_average_factors orr_average_rested(const orr_optimizer_tables *tables, int64_t rested)
{
    double left = power(tables, rested);
    return (orr_average_factors){(float)(tables->decay * left), (float)(tables->decay * (1.0 - left))};
}

orr_average_factors orr_average_now(const orr_optimizer_tables *tables, int64_t rested, int64_t steps)
{
    double left = power(tables, rested), total = 1.0 - power(tables, steps); // sum of all weights
    return (orr_average_factors){(float)(left / total), (float)((1.0 - left) / total)};
}

// ---- state ----

orr_optimizer_layout orr_optimizer_layout_of(const orr_optimizer_config *config, int64_t parameter_count)
{
    size_t blocks = ((size_t)parameter_count + ORR_PARAMETER_BLOCK - 1) / ORR_PARAMETER_BLOCK;
    size_t padded = blocks * ORR_PARAMETER_BLOCK;
    bool moments = !config->sgd, averages = config->ema_decay > 0.0;
    orr_optimizer_layout layout = {
        .parameter_count = parameter_count,
        .bytes = {[ORR_OPTIMIZER_FIRST] = moments ? padded * sizeof(float) : 0,
                  [ORR_OPTIMIZER_SECOND] = moments ? padded * sizeof(float) : 0,
                  [ORR_OPTIMIZER_COUNTS] = moments ? padded * sizeof(uint16_t) : 0,
                  [ORR_OPTIMIZER_SUMS] = averages ? padded * sizeof(float) : 0,
                  [ORR_OPTIMIZER_AVERAGE_STEP] = averages ? blocks * sizeof(uint32_t) : 0},
        .header = sizeof(state_header),
        .size = sizeof(state_header),
    };
    for (int i = 0; i < ORR_OPTIMIZER_PIECES; i++) {
        layout.size += layout.bytes[i];
    }
    return layout;
}

void orr_optimizer_state_write_header(const orr_optimizer_layout *layout, int64_t steps, void *state)
{
    const state_header header = {steps, layout->parameter_count};
    memcpy(state, &header, sizeof header);
}

orr_result orr_optimizer_state_read_header(const orr_optimizer_layout *layout, const void *state, size_t size,
                                           int64_t *steps, orr_error *error)
{
    state_header header = {0};
    if (size >= sizeof header) {
        memcpy(&header, state, sizeof header);
    }
    if (size != layout->size || header.parameter_count != layout->parameter_count || header.steps < 0 ||
        header.steps > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "optimiser state: expected %zu bytes of %lld parameters, not %zu bytes of %lld",
                        layout->size, (long long)layout->parameter_count, size,
                        (long long)header.parameter_count);
    }
    *steps = header.steps;
    return ORR_OK;
}

void orr_optimizer_clamp_counts(const orr_optimizer_layout *layout, const orr_optimizer_tables *tables,
                                int64_t steps, uint16_t *own_steps, uint32_t *average_step)
{
    for (size_t i = 0; i < layout->bytes[ORR_OPTIMIZER_COUNTS] / sizeof *own_steps; i++) {
        own_steps[i] =
            own_steps[i] < tables->correction_last ? own_steps[i] : (uint16_t)tables->correction_last;
    }
    for (size_t i = 0; i < layout->bytes[ORR_OPTIMIZER_AVERAGE_STEP] / sizeof *average_step; i++) {
        average_step[i] = average_step[i] < steps ? average_step[i] : (uint32_t)steps;
    }
}
