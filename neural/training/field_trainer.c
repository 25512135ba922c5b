#define ORR_SCALAR
#include "neural/training/field_trainer.h"

#include "engine/core/memory.h"
#include "engine/core/morton.h"
#include "engine/core/radix_sort.h"
#include "neural/cuda/field_trainer.h"
#include "neural/network/loss_kind.h"

#include <math.h>
#include <string.h>

enum {
    BATCH_DEFAULT = 1 << 16,
    BATCH_MAX = 1 << 22,
    CHUNK_BLOCKS = 16, // blocks that share one weight gradient: 1024 samples, some milliseconds of one thread
    DRAW_SAMPLES = 4096,   // samples drawn per job
    SUM_PARAMETERS = 1024, // parameters whose chunk gradients one job adds
    BATCHES_MAX = 1024
};

static const char STATE_MAGIC[8] = "orrtrn1";

typedef struct state_header {
    char magic[8];
    int64_t steps;
    int64_t network_parameters, table_parameters;
    int64_t network_state, table_state; // bytes of the optimisers
    int64_t batch_size;
} state_header;

// What one thread needs for one block.
typedef struct worker_scratch {
    float *features, *output, *output_gradient, *activations;
} worker_scratch;

struct orr_field_trainer {
    orr_field_trainer_desc desc;
    const orr_field_parts *parts;
    int64_t steps;
    int batch_size, block_count, chunk_count, dims, channels;
    orr_mlp_weights *weights; // of the trained parameters; the field's own are for inference
    orr_optimizer *network_optimizer, *table_optimizer;
    orr_cuda_field_trainer *device; // takes the steps, in place of all of the CPU's optimisers and gradients
    orr_profile profile;
    orr_arena arena;

    // batches, batches_kept of each: blocks of places and of targets
    float *places, *targets;
    int64_t batches_drawn;
    float *drawn; // places as drawn, one sample after the other
    uint32_t *keys, *order;

    float *feature_gradients;                  // per block
    float *chunk_gradients;                    // per chunk: network parameters
    double *chunk_losses;                      // per chunk
    float *network_gradient;                   // added up
    float *table_gradient;                     // zero between steps
    uint32_t *touched;                         // zero between steps
    float *network_average, *table_average;    // what inference uses; NULL: the parameters themselves
    worker_scratch *scratch;                   // per worker
    float *scratch_memory;                     // what they point into
    const float *block_places, *block_targets; // of this step
};

// ---- a batch ----

static uint32_t spread_by_one(uint32_t v) // 12 bits, each followed by a zero
{
    v = (v | v << 8) & 0x00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
}

// Along the Morton curve, 24 bits: three passes of the sort.
static uint32_t morton_key(const float *place, int dims)
{
    float side = dims == 2 ? 4096.0f : 256.0f;
    uint32_t cell[3] = {0};
    for (int k = 0; k < dims; k++) {
        cell[k] = (uint32_t)fminf(fmaxf(place[k] * side, 0.0f), side - 1.0f);
    }
    return dims == 2 ? spread_by_one(cell[0]) | spread_by_one(cell[1]) << 1
                     : orr_morton30(cell[0], cell[1], cell[2]);
}

static void draw_places(void *context, int i, int worker)
{
    (void)worker;
    orr_field_trainer *t = context;
    int first = i * DRAW_SAMPLES;
    int count = t->batch_size - first < DRAW_SAMPLES ? t->batch_size - first : DRAW_SAMPLES;
    float *places = t->drawn + (size_t)first * (size_t)t->dims;
    t->desc.source.draw(t->desc.source.context, (uint32_t)t->batches_drawn, first, count, t->batch_size,
                        places);
    for (int s = 0; s < count; s++) {
        int named =
            t->desc.source.slope_weight > 0.0f ? s - s % 2 : s; // a pair has one key: the sort is stable
        t->keys[first + s] = morton_key(places + (size_t)named * (size_t)t->dims, t->dims);
        t->order[first + s] = (uint32_t)(first + s);
    }
}

static size_t batch_floats(const orr_field_trainer *t, int members)
{
    return (size_t)t->batch_size * (size_t)members;
}

// where the newest batch is kept
static int batch_slot(const orr_field_trainer *t)
{
    return (int)(t->batches_drawn % t->desc.source.batches_kept);
}

static void fill_block(void *context, int block, int worker)
{
    (void)worker;
    orr_field_trainer *t = context;
    int slot = batch_slot(t);
    float *places =
        t->places + (size_t)slot * batch_floats(t, t->dims) + (size_t)block * (size_t)t->dims * ORR_SAMPLES;
    float *targets = t->targets + (size_t)slot * batch_floats(t, t->channels) +
                     (size_t)block * (size_t)t->channels * ORR_SAMPLES;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const float *place = t->drawn + (size_t)t->order[block * ORR_SAMPLES + i] * (size_t)t->dims;
        for (int k = 0; k < t->dims; k++) {
            places[k * ORR_SAMPLES + i] = place[k];
        }
    }
    t->desc.source.truth(t->desc.source.context, places, targets);
}

static orr_result draw_batch(orr_field_trainer *t, orr_error *error)
{
    orr_jobs_for(t->desc.jobs, orr_blocks(t->batch_size, DRAW_SAMPLES), draw_places, t);
    orr_arena_reset(&t->arena);
    ORR_TRY(orr_radix_sort(t->desc.jobs, &t->arena, t->keys, t->order, t->batch_size, error));
    orr_jobs_for(t->desc.jobs, t->block_count, fill_block, t);
    t->batches_drawn++;
    return ORR_OK;
}

// The batch of a step is a pure function of the step's number: those kept take turns, the newest among them.
static orr_result choose_batch(orr_field_trainer *t, orr_error *error)
{
    const orr_sample_source *source = &t->desc.source;
    int64_t wanted = t->steps / source->steps_per_batch + 1;
    int64_t oldest = wanted > source->batches_kept ? wanted - source->batches_kept : 0;
    if (t->batches_drawn < oldest) { // after a resume, those the step may use are drawn again
        t->batches_drawn = oldest;
    }
    while (t->batches_drawn < wanted) {
        ORR_TRY(draw_batch(t, error));
    }
    int64_t number = oldest + t->steps % (wanted - oldest);
    size_t slot = (size_t)(number % source->batches_kept);
    t->block_places = t->places + slot * batch_floats(t, t->dims);
    t->block_targets = t->targets + slot * batch_floats(t, t->channels);
    return ORR_OK;
}

// ---- forward, loss, backward ----

// the loss of one block, and its gradient by the output
static double lose(const orr_field_trainer *t, const float *output, const float *targets, float *gradient)
{
    orr_loss_kind kind = orr_field_describe(t->desc.field)->config.loss;
    float scale = 1.0f / ((float)t->batch_size * (float)t->channels);
    double sum = 0.0;
    for (int i = 0; i < t->channels * ORR_SAMPLES; i++) {
        real2 loss = loss_of_target(kind, output[i], targets[i]);
        sum += (double)loss.x;
        gradient[i] = loss.y * scale;
    }
    return sum;
}

// The loss of slopes within the pairs of one block, added to the gradient by the output.
static double lose_slopes(const orr_field_trainer *t, const float *places, const float *output,
                          const float *targets, float *gradient)
{
    float weight = t->desc.source.slope_weight, scale = weight / ((float)t->batch_size * (float)t->channels);
    double sum = 0.0;
    for (int i = 0; i < ORR_SAMPLES; i += 2) {
        float square = 0.0f;
        for (int k = 0; k < t->dims; k++) {
            float difference = places[k * ORR_SAMPLES + i + 1] - places[k * ORR_SAMPLES + i];
            square += difference * difference;
        }
        for (int k = 0; k < t->channels; k++) {
            int a = k * ORR_SAMPLES + i, b = a + 1;
            float per_distance = 1.0f / sqrtf(square), truth = (targets[b] - targets[a]) * per_distance;
            if (!isfinite(truth)) {
                continue;
            }
            real2 loss = loss_l1((output[b] - output[a]) * per_distance, truth);
            sum += (double)(weight * loss.x);
            gradient[a] -= loss.y * per_distance * scale;
            gradient[b] += loss.y * per_distance * scale;
        }
    }
    return sum;
}

static void train_chunk(void *context, int chunk, int worker)
{
    orr_field_trainer *t = context;
    const orr_field_parts *parts = t->parts;
    const worker_scratch *s = &t->scratch[worker];
    size_t parameters = (size_t)parts->network.parameter_count;
    float *weight_gradient = t->chunk_gradients + (size_t)chunk * parameters;
    memset(weight_gradient, 0, parameters * sizeof *weight_gradient);
    int end = (chunk + 1) * CHUNK_BLOCKS < t->block_count ? (chunk + 1) * CHUNK_BLOCKS : t->block_count;
    double loss = 0.0;
    for (int block = chunk * CHUNK_BLOCKS; block < end; block++) {
        const float *places = t->block_places + (size_t)block * (size_t)t->dims * ORR_SAMPLES;
        const float *targets = t->block_targets + (size_t)block * (size_t)t->channels * ORR_SAMPLES;
        float *feature_gradient =
            t->feature_gradients
                ? t->feature_gradients + (size_t)block * (size_t)parts->encoding.output_dims * ORR_SAMPLES
                : NULL;
        parts->kernels->forward(&parts->encoding, parts->table, places, s->features);
        orr_mlp_forward(t->weights, s->features, s->output, s->activations);
        loss += lose(t, s->output, targets, s->output_gradient);
        if (t->desc.source.slope_weight > 0.0f) {
            loss += lose_slopes(t, places, s->output, targets, s->output_gradient);
        }
        orr_mlp_backward(t->weights, s->features, s->output, s->activations, s->output_gradient,
                         weight_gradient, feature_gradient);
    }
    t->chunk_losses[chunk] = loss;
}

// the gradients of some parameters, chunk after chunk
static void sum_gradients(void *context, int i, int worker)
{
    (void)worker;
    orr_field_trainer *t = context;
    int64_t count = t->parts->network.parameter_count, first = (int64_t)i * SUM_PARAMETERS;
    int64_t end = first + SUM_PARAMETERS < count ? first + SUM_PARAMETERS : count;
    float *sum = t->network_gradient;
    memcpy(sum + first, t->chunk_gradients + first, (size_t)(end - first) * sizeof *sum);
    for (int chunk = 1; chunk < t->chunk_count; chunk++) {
        const float *gradient = t->chunk_gradients + chunk * count;
        for (int64_t k = first; k < end; k++) {
            sum[k] += gradient[k];
        }
    }
}

static void scatter_level(void *context, int i, int worker)
{
    (void)worker;
    orr_field_trainer *t = context;
    const orr_encoding *e = &t->parts->encoding;
    int level = e->level_count - 1 - i; // the finest, whose memory is farthest, first
    for (int block = 0; block < t->block_count; block++) {
        const float *places = t->block_places + (size_t)block * (size_t)t->dims * ORR_SAMPLES;
        const float *gradient = t->feature_gradients + (size_t)block * (size_t)e->output_dims * ORR_SAMPLES;
        t->parts->kernels->scatter_level(e, level, places, gradient, ORR_SAMPLES, t->table_gradient,
                                         t->touched);
    }
}

orr_result orr_field_trainer_step(orr_field_trainer *t, double *loss, orr_error *error)
{
    orr_jobs *jobs = t->desc.jobs;
    t->profile.stage_start = orr_clock_nanoseconds(); // time between steps is not the trainer's
    ORR_TRY(choose_batch(t, error));
    orr_profile_end(&t->profile, "sample", t->batch_size);
    if (t->device) {
        ORR_TRY(orr_cuda_field_trainer_step(t->device, t->block_places, t->block_targets, loss, error));
        orr_profile_end(&t->profile, "step", t->batch_size);
        *loss /= (double)t->batch_size * t->channels;
        t->steps++;
        return ORR_OK;
    }
    orr_jobs_for(jobs, t->chunk_count, train_chunk, t);
    orr_profile_end(&t->profile, "network", t->batch_size);
    if (t->table_optimizer) {
        orr_jobs_for(jobs, t->parts->encoding.level_count, scatter_level, t);
    }
    orr_profile_end(&t->profile, "scatter", t->batch_size);
    orr_jobs_for(jobs, orr_blocks(t->parts->network.parameter_count, SUM_PARAMETERS), sum_gradients, t);
    orr_optimizer_step(t->network_optimizer, jobs, t->parts->network_parameters, t->network_gradient, NULL);
    if (t->table_optimizer) {
        orr_optimizer_step(t->table_optimizer, jobs, t->parts->table, t->table_gradient, t->touched);
    }
    orr_mlp_weights_set(t->weights, t->parts->network_parameters);
    orr_profile_end(&t->profile, "optimise", t->batch_size);
    t->steps++;
    double sum = 0.0;
    for (int chunk = 0; chunk < t->chunk_count; chunk++) {
        sum += t->chunk_losses[chunk];
    }
    *loss = sum / ((double)t->batch_size * t->channels);
    return ORR_OK;
}

orr_result orr_field_trainer_refresh(orr_field_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    if (t->device) {
        ORR_TRY(orr_cuda_field_trainer_read(t->device, parts->network_parameters, parts->table,
                                            t->network_average, t->table_average, error));
    } else if (t->network_average) {
        orr_optimizer_average(t->network_optimizer, t->desc.jobs, parts->network_parameters,
                              t->network_average);
    }
    if (t->table_average && !t->device) {
        orr_optimizer_average(t->table_optimizer, t->desc.jobs, parts->table, t->table_average);
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

// ---- creation ----

static orr_result create_scratch(orr_field_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    int workers = orr_jobs_workers(t->desc.jobs);
    size_t features = (size_t)parts->encoding.output_dims * ORR_SAMPLES;
    size_t outputs = (size_t)t->channels * ORR_SAMPLES;
    size_t activations = (orr_mlp_activation_floats(&parts->network) + 15) / 16 * 16; // whole cache lines
    size_t floats = features + 2 * outputs + activations;
    ORR_ALLOC(t->scratch, workers, "a trainer's blocks", error);
    ORR_ALLOC(t->scratch_memory, (size_t)workers * floats, "a trainer's blocks", error);
    for (int i = 0; i < workers; i++) {
        float *memory = t->scratch_memory + (size_t)i * floats;
        t->scratch[i] = (worker_scratch){.features = memory,
                                         .output = memory + features,
                                         .output_gradient = memory + features + outputs,
                                         .activations = memory + features + 2 * outputs};
    }
    return ORR_OK;
}

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

static orr_result create_table_parts(orr_field_trainer *t, orr_error *error)
{
    const orr_encoding *e = &t->parts->encoding;
    const orr_optimizer_config *config = &orr_field_describe(t->desc.field)->config.optimizer;
    size_t marks = (size_t)orr_touched_words(e->parameter_count);
    ORR_TRY(orr_optimizer_create(config, e->parameter_count, true, &t->table_optimizer, error));
    ORR_ALLOC(t->feature_gradients, batch_floats(t, e->output_dims), "a trainer's gradients", error);
    ORR_ALLOC(t->table_gradient, e->parameter_count, "a trainer's gradients", error);
    ORR_ALLOC(t->touched, marks, "a trainer's gradients", error);
    memset(t->table_gradient, 0, (size_t)e->parameter_count * sizeof *t->table_gradient);
    memset(t->touched, 0, marks * sizeof *t->touched);
    return ORR_OK;
}

// what the CPU takes steps with
static orr_result create_machine(orr_field_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    const orr_field_desc *field = orr_field_describe(t->desc.field);
    size_t parameters = (size_t)parts->network.parameter_count;
    ORR_TRY(orr_mlp_weights_create(&parts->network, field->isa, field->machine, &t->weights, error));
    orr_mlp_weights_set(t->weights, parts->network_parameters);
    ORR_TRY(orr_optimizer_create(&field->config.optimizer, parts->network.parameter_count, false,
                                 &t->network_optimizer, error));
    ORR_ALLOC(t->chunk_gradients, (size_t)t->chunk_count * parameters, "a trainer's gradients", error);
    ORR_ALLOC(t->chunk_losses, t->chunk_count, "a trainer's losses", error);
    ORR_ALLOC(t->network_gradient, parameters, "a trainer's gradients", error);
    ORR_TRY(create_scratch(t, error));
    return parts->encoding.parameter_count > 0 ? create_table_parts(t, error) : ORR_OK;
}

static orr_result create_parts(orr_field_trainer *t, orr_error *error)
{
    size_t kept = (size_t)t->desc.source.batches_kept;
    ORR_ALLOC(t->places, kept * batch_floats(t, t->dims), "batches", error);
    ORR_ALLOC(t->targets, kept * batch_floats(t, t->channels), "batches", error);
    ORR_ALLOC(t->drawn, batch_floats(t, t->dims), "batches", error);
    ORR_ALLOC(t->keys, t->batch_size, "batches", error);
    ORR_ALLOC(t->order, t->batch_size, "batches", error);
    ORR_TRY(create_averages(t, error));
    return t->desc.cuda
               ? orr_cuda_field_trainer_create(t->desc.cuda, t->desc.field, t->batch_size, &t->device, error)
               : create_machine(t, error);
}

orr_result orr_field_trainer_create(const orr_field_trainer_desc *desc, orr_field_trainer **trainer,
                                    orr_error *error)
{
    assert(orr_field_kind_of(desc->field) != ORR_FIELD_NERF);
    assert(desc->source.batches_kept >= 1 && desc->source.batches_kept <= BATCHES_MAX &&
           desc->source.steps_per_batch >= 1);
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
    t->block_count = orr_blocks(desc->batch_size ? desc->batch_size : BATCH_DEFAULT, ORR_SAMPLES);
    t->batch_size = t->block_count * ORR_SAMPLES;
    t->chunk_count = orr_blocks(t->block_count, CHUNK_BLOCKS);
    t->dims = orr_field_input_dims(desc->field);
    t->channels = t->parts->network.output_dims;
    orr_result result = create_parts(t, error);
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
    orr_mlp_weights_destroy(t->weights);
    orr_optimizer_destroy(t->network_optimizer);
    orr_optimizer_destroy(t->table_optimizer);
    orr_arena_destroy(&t->arena);
    void *const memory[] = {t->places,
                            t->targets,
                            t->drawn,
                            t->keys,
                            t->order,
                            t->feature_gradients,
                            t->chunk_gradients,
                            t->chunk_losses,
                            t->network_gradient,
                            t->table_gradient,
                            t->touched,
                            t->scratch,
                            t->scratch_memory,
                            t->network_average,
                            t->table_average};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        orr_free(memory[i]);
    }
    orr_free(t);
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
        header.network_state = (int64_t)orr_optimizer_state_size(t->network_optimizer);
        header.table_state = t->table_optimizer ? (int64_t)orr_optimizer_state_size(t->table_optimizer) : 0;
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
        orr_optimizer_state_save(t->network_optimizer, bytes);
    }
    if (t->table_optimizer) {
        orr_optimizer_state_save(t->table_optimizer, bytes + header.network_state);
    }
    return ORR_OK;
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
        ORR_TRY(
            orr_optimizer_state_load(t->network_optimizer, optimizers, (size_t)found.network_state, error));
    }
    if (t->table_optimizer) {
        ORR_TRY(orr_optimizer_state_load(t->table_optimizer, optimizers + found.network_state,
                                         (size_t)found.table_state, error));
    }
    memcpy(t->parts->network_parameters, bytes, network);
    memcpy(t->parts->table, bytes + network, table);
    if (t->device) {
        ORR_TRY(orr_cuda_field_trainer_load(t->device, t->desc.field, optimizers,
                                            optimizers + found.network_state, error));
    } else {
        orr_mlp_weights_set(t->weights, t->parts->network_parameters);
    }
    t->steps = found.steps;
    t->batches_drawn = 0;
    return orr_field_trainer_refresh(t, error);
}
