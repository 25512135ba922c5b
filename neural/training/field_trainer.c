#include "neural/training/field_trainer.h"

#include "engine/core/memory.h"
#include "neural/cuda/field_trainer.h"
#include "neural/training/field_cpu_trainer.h"
#include "neural/training/sample_batches.h"

#include <assert.h>
#include <string.h>

enum { BATCH_DEFAULT = 1 << 16, BATCH_MAX = 1 << 22 };

static const char STATE_MAGIC[8] = "orrtrn1";

typedef struct state_header {
    char magic[8];
    int64_t steps;
    int64_t network_parameters, table_parameters;
    int64_t network_state, table_state; // bytes of the optimisers
    int64_t batch_size;
} state_header;

struct orr_field_trainer {
    orr_field_trainer_desc desc;
    const orr_field_parts *parts;
    int64_t steps;
    int batch_size;
    orr_profile profile;
    orr_sample_batches *batches;
    // where steps are taken: one of the two
    orr_field_cpu_trainer *cpu;
    orr_cuda_field_trainer *device;
    float *network_average, *table_average; // what inference uses; NULL: the parameters themselves
};

// ---- creation ----

static orr_result create_averages(orr_field_trainer *t, orr_error *error)
{
    if (orr_field_describe(t->desc.field)->config.optimizer.ema_decay > 0.0) {
        ORR_ALLOC(t->network_average, t->parts->network.parameter_count, "averages", error);
        if (t->parts->encoding.parameter_count > 0) {
            ORR_ALLOC(t->table_average, t->parts->encoding.parameter_count, "averages", error);
        }
    }
    return ORR_OK;
}

static orr_result create_all(orr_field_trainer *t, orr_error *error)
{
    const orr_field_trainer_desc *d = &t->desc;
    ORR_TRY(orr_sample_batches_create(&d->source, d->jobs, orr_field_input_dims(d->field),
                                      t->parts->network.output_dims, t->batch_size, &t->batches, error));
    ORR_TRY(create_averages(t, error));
    return d->cuda ? orr_cuda_field_trainer_create(d->cuda, d->field, t->batch_size, &t->device, error)
                   : orr_field_cpu_trainer_create(d->field, d->jobs, t->batch_size, d->source.slope_weight,
                                                  &t->profile, &t->cpu, error);
}

orr_result orr_field_trainer_create(const orr_field_trainer_desc *desc, orr_field_trainer **trainer,
                                    orr_error *error)
{
    assert(orr_field_kind_of(desc->field) != ORR_FIELD_NERF);
    *trainer = NULL;
    if (desc->batch_size < 0 || desc->batch_size > BATCH_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "batch of %d samples: expected 0 (%d) to %d",
                        desc->batch_size, BATCH_DEFAULT, BATCH_MAX);
    }
    orr_field_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a trainer");
    }
    t->desc = *desc;
    t->parts = orr_field_parts_of(desc->field);
    t->batch_size =
        orr_blocks(desc->batch_size ? desc->batch_size : BATCH_DEFAULT, ORR_SAMPLES) * ORR_SAMPLES;
    orr_result result = create_all(t, error);
    if (result != ORR_OK) {
        orr_field_trainer_destroy(t);
        return result;
    }
    *trainer = t;
    return ORR_OK;
}

void orr_field_trainer_destroy(orr_field_trainer *t)
{
    if (!t) {
        return;
    }
    if (t->network_average) {
        orr_field_refresh(t->desc.field, NULL, NULL, NULL); // it must not keep what goes away here
    }
    orr_cuda_field_trainer_destroy(t->device);
    orr_field_cpu_trainer_destroy(t->cpu);
    orr_sample_batches_destroy(t->batches);
    orr_free(t->network_average);
    orr_free(t->table_average);
    orr_free(t);
}

// ---- steps ----

orr_result orr_field_trainer_step(orr_field_trainer *t, double *loss, orr_error *error)
{
    const float *positions, *targets;
    t->profile.stage_start = orr_clock_nanoseconds(); // time between steps is not the trainer's
    ORR_TRY(orr_sample_batches_choose(t->batches, t->steps, &positions, &targets, error));
    orr_profile_end(&t->profile, "sample", t->batch_size);
    if (t->device) {
        ORR_TRY(orr_cuda_field_trainer_step(t->device, positions, targets, loss, error));
        orr_profile_end(&t->profile, "step", t->batch_size);
    } else {
        *loss = orr_field_cpu_trainer_step(t->cpu, positions, targets);
    }
    *loss /= (double)t->batch_size * t->parts->network.output_dims;
    t->steps++;
    return ORR_OK;
}

orr_result orr_field_trainer_refresh(orr_field_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    if (t->device) {
        ORR_TRY(orr_cuda_field_trainer_read(t->device, parts->network_parameters, parts->table,
                                            t->network_average, t->table_average, error));
    } else if (t->network_average) {
        orr_optimizer_average(orr_field_cpu_trainer_network_optimizer(t->cpu), t->desc.jobs,
                              parts->network_parameters, t->network_average);
        if (t->table_average) {
            orr_optimizer_average(orr_field_cpu_trainer_table_optimizer(t->cpu), t->desc.jobs, parts->table,
                                  t->table_average);
        }
    }
    orr_field_refresh(t->desc.field, t->network_average, NULL, t->table_average);
    return ORR_OK;
}

int64_t orr_field_trainer_steps(const orr_field_trainer *t)
{
    return t->steps;
}

int orr_field_trainer_batch_size(const orr_field_trainer *t)
{
    return t->batch_size;
}

const orr_profile *orr_field_trainer_profile(const orr_field_trainer *t)
{
    return &t->profile;
}

// ---- state ----

static state_header describe_state(const orr_field_trainer *t)
{
    state_header header = {.steps = t->steps,
                           .network_parameters = t->parts->network.parameter_count,
                           .table_parameters = t->parts->encoding.parameter_count,
                           .batch_size = t->batch_size};
    if (t->device) {
        header.network_state = (int64_t)orr_cuda_field_trainer_network_state(t->device);
        header.table_state = (int64_t)orr_cuda_field_trainer_table_state(t->device);
    } else {
        header.network_state =
            (int64_t)orr_optimizer_state_size(orr_field_cpu_trainer_network_optimizer(t->cpu));
        const orr_optimizer *table = orr_field_cpu_trainer_table_optimizer(t->cpu);
        header.table_state = table ? (int64_t)orr_optimizer_state_size(table) : 0;
    }
    memcpy(header.magic, STATE_MAGIC, sizeof header.magic);
    return header;
}

size_t orr_field_trainer_state_size(const orr_field_trainer *t)
{
    state_header header = describe_state(t);
    return sizeof header + (size_t)(header.network_parameters + header.table_parameters) * sizeof(float) +
           (size_t)(header.network_state + header.table_state);
}

orr_result orr_field_trainer_state_save(const orr_field_trainer *t, void *state, orr_error *error)
{
    state_header header = describe_state(t);
    size_t network = (size_t)header.network_parameters * sizeof(float);
    size_t table = (size_t)header.table_parameters * sizeof(float);
    char *bytes = state;
    memcpy(bytes, &header, sizeof header);
    bytes += sizeof header;
    if (t->device) {
        char *optimizers = bytes + network + table;
        ORR_TRY(orr_cuda_field_trainer_read(t->device, t->parts->network_parameters, t->parts->table, NULL,
                                            NULL, error));
        ORR_TRY(orr_cuda_field_trainer_save(t->device, optimizers, optimizers + header.network_state, error));
    }
    memcpy(bytes, t->parts->network_parameters, network);
    memcpy(bytes + network, t->parts->table, table);
    bytes += network + table;
    if (!t->device) {
        orr_optimizer_state_save(orr_field_cpu_trainer_network_optimizer(t->cpu), bytes);
    }
    if (!t->device && header.table_state > 0) {
        orr_optimizer_state_save(orr_field_cpu_trainer_table_optimizer(t->cpu), bytes + header.network_state);
    }
    return ORR_OK;
}

static orr_result load_optimizers(orr_field_trainer *t, const state_header *header, const char *states,
                                  orr_error *error)
{
    ORR_TRY(orr_optimizer_state_load(orr_field_cpu_trainer_network_optimizer(t->cpu), states,
                                     (size_t)header->network_state, error));
    return header->table_state > 0
               ? orr_optimizer_state_load(orr_field_cpu_trainer_table_optimizer(t->cpu),
                                          states + header->network_state, (size_t)header->table_state, error)
               : ORR_OK;
}

orr_result orr_field_trainer_state_load(orr_field_trainer *t, const void *state, size_t size,
                                        orr_error *error)
{
    state_header expected = describe_state(t), found;
    if (size != orr_field_trainer_state_size(t)) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "state of a training: %zu bytes: expected %zu", size,
                        orr_field_trainer_state_size(t));
    }
    memcpy(&found, state, sizeof found);
    expected.steps = found.steps;
    if (memcmp(&found, &expected, sizeof found) != 0 || found.steps < 0 || found.steps > INT32_MAX) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "state of a training: expected one of the same field and batch size");
    }
    size_t network = (size_t)found.network_parameters * sizeof(float);
    size_t table = (size_t)found.table_parameters * sizeof(float);
    const char *bytes = (const char *)state + sizeof found, *optimizers = bytes + network + table;
    if (!t->device) {
        ORR_TRY(load_optimizers(t, &found, optimizers, error));
    }
    memcpy(t->parts->network_parameters, bytes, network);
    memcpy(t->parts->table, bytes + network, table);
    if (t->device) {
        ORR_TRY(orr_cuda_field_trainer_load(t->device, t->desc.field, optimizers,
                                            optimizers + found.network_state, error));
    } else {
        orr_field_cpu_trainer_set_weights(t->cpu);
    }
    t->steps = found.steps;
    orr_sample_batches_restart(t->batches);
    return orr_field_trainer_refresh(t, error);
}
