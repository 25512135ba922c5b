#define ORR_SCALAR
#include "neural/training/field_cpu_trainer.h"

#include "engine/core/memory.h"
#include "neural/network/loss_kind.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK_BLOCKS = 16, // blocks that share one weight gradient: 1024 samples, some milliseconds of one thread
    SUM_PARAMETERS = 1024 // parameters whose chunk gradients one job adds
};

// What one thread needs for one block.
typedef struct worker_scratch {
    float *features, *output, *output_gradient, *activations;
} worker_scratch;

struct orr_field_cpu_trainer {
    orr_field *field;
    const orr_field_parts *parts;
    orr_jobs *jobs;
    orr_profile *profile;
    float slope_weight;
    int batch_size, block_count, chunk_count, dims, channels;
    orr_mlp_weights *weights; // of the trained parameters; the field's own are for inference
    orr_optimizer *network_optimizer, *table_optimizer;
    float *feature_gradients;         // per block
    float *chunk_gradients;           // per chunk: network parameters
    double *chunk_losses;             // per chunk
    float *network_gradient;          // added up
    float *table_gradient;            // zero between steps
    uint32_t *touched;                // zero between steps
    worker_scratch *scratch;          // per worker
    float *scratch_memory;            // what they point into
    const float *positions, *targets; // of this step
};

// ---- a step ----

// the loss of one block, and its gradient by the output
static double block_loss(const orr_field_cpu_trainer *t, const float *output, const float *targets,
                         float *gradient)
{
    orr_loss_kind kind = orr_field_describe(t->field)->config.loss;
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
static double block_slope_loss(const orr_field_cpu_trainer *t, const float *positions, const float *output,
                               const float *targets, float *gradient)
{
    float weight = t->slope_weight, scale = weight / ((float)t->batch_size * (float)t->channels);
    double sum = 0.0;
    for (int i = 0; i < ORR_SAMPLES; i += 2) {
        float square = 0.0f;
        for (int k = 0; k < t->dims; k++) {
            float difference = positions[k * ORR_SAMPLES + i + 1] - positions[k * ORR_SAMPLES + i];
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
    orr_field_cpu_trainer *t = context;
    const orr_field_parts *parts = t->parts;
    const worker_scratch *s = &t->scratch[worker];
    size_t parameters = (size_t)parts->network.parameter_count;
    float *weight_gradient = t->chunk_gradients + (size_t)chunk * parameters;
    memset(weight_gradient, 0, parameters * sizeof *weight_gradient);
    int end = (chunk + 1) * CHUNK_BLOCKS < t->block_count ? (chunk + 1) * CHUNK_BLOCKS : t->block_count;
    double loss = 0.0;
    for (int block = chunk * CHUNK_BLOCKS; block < end; block++) {
        const float *positions = t->positions + (size_t)block * (size_t)t->dims * ORR_SAMPLES;
        const float *targets = t->targets + (size_t)block * (size_t)t->channels * ORR_SAMPLES;
        float *feature_gradient =
            t->feature_gradients
                ? t->feature_gradients + (size_t)block * (size_t)parts->encoding.output_dims * ORR_SAMPLES
                : NULL;
        parts->kernels->forward(&parts->encoding, parts->table, positions, s->features);
        orr_mlp_forward(t->weights, s->features, s->output, s->activations);
        loss += block_loss(t, s->output, targets, s->output_gradient);
        if (t->slope_weight > 0.0f) {
            loss += block_slope_loss(t, positions, s->output, targets, s->output_gradient);
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
    orr_field_cpu_trainer *t = context;
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
    orr_field_cpu_trainer *t = context;
    const orr_encoding *e = &t->parts->encoding;
    int level = e->level_count - 1 - i; // the finest, whose memory is farthest, first
    for (int block = 0; block < t->block_count; block++) {
        const float *positions = t->positions + (size_t)block * (size_t)t->dims * ORR_SAMPLES;
        const float *gradient = t->feature_gradients + (size_t)block * (size_t)e->output_dims * ORR_SAMPLES;
        t->parts->kernels->scatter_level(e, level, positions, gradient, ORR_SAMPLES, t->table_gradient,
                                         t->touched);
    }
}

void orr_field_cpu_trainer_set_weights(orr_field_cpu_trainer *t)
{
    orr_mlp_weights_set(t->weights, t->parts->network_parameters);
}

double orr_field_cpu_trainer_step(orr_field_cpu_trainer *t, const float *positions, const float *targets)
{
    t->positions = positions;
    t->targets = targets;
    orr_jobs_for(t->jobs, t->chunk_count, train_chunk, t);
    orr_profile_end(t->profile, "network", t->batch_size);
    if (t->table_optimizer) {
        orr_jobs_for(t->jobs, t->parts->encoding.level_count, scatter_level, t);
    }
    orr_profile_end(t->profile, "scatter", t->batch_size);
    orr_jobs_for(t->jobs, orr_blocks(t->parts->network.parameter_count, SUM_PARAMETERS), sum_gradients, t);
    orr_optimizer_step(t->network_optimizer, t->jobs, t->parts->network_parameters, t->network_gradient,
                       NULL);
    if (t->table_optimizer) {
        orr_optimizer_step(t->table_optimizer, t->jobs, t->parts->table, t->table_gradient, t->touched);
    }
    orr_field_cpu_trainer_set_weights(t);
    orr_profile_end(t->profile, "optimise", t->batch_size);
    double sum = 0.0;
    for (int chunk = 0; chunk < t->chunk_count; chunk++) {
        sum += t->chunk_losses[chunk];
    }
    return sum;
}

orr_optimizer *orr_field_cpu_trainer_network_optimizer(const orr_field_cpu_trainer *t)
{
    return t->network_optimizer;
}

orr_optimizer *orr_field_cpu_trainer_table_optimizer(const orr_field_cpu_trainer *t)
{
    return t->table_optimizer;
}

// ---- life ----

static orr_result create_scratch(orr_field_cpu_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    int workers = orr_jobs_workers(t->jobs);
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

static orr_result create_table_parts(orr_field_cpu_trainer *t, orr_error *error)
{
    const orr_encoding *e = &t->parts->encoding;
    const orr_optimizer_config *config = &orr_field_describe(t->field)->config.optimizer;
    size_t marks = (size_t)orr_touched_words(e->parameter_count);
    ORR_TRY(orr_optimizer_create(config, e->parameter_count, true, &t->table_optimizer, error));
    ORR_ALLOC(t->feature_gradients, (size_t)t->batch_size * (size_t)e->output_dims, "a trainer's gradients",
              error);
    ORR_ALLOC(t->table_gradient, e->parameter_count, "a trainer's gradients", error);
    ORR_ALLOC(t->touched, marks, "a trainer's gradients", error);
    memset(t->table_gradient, 0, (size_t)e->parameter_count * sizeof *t->table_gradient);
    memset(t->touched, 0, marks * sizeof *t->touched);
    return ORR_OK;
}

static orr_result create_all(orr_field_cpu_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    const orr_field_desc *field = orr_field_describe(t->field);
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

orr_result orr_field_cpu_trainer_create(orr_field *field, orr_jobs *jobs, int batch_size, float slope_weight,
                                        orr_profile *profile, orr_field_cpu_trainer **trainer,
                                        orr_error *error)
{
    *trainer = NULL;
    orr_field_cpu_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a trainer");
    }
    t->field = field;
    t->parts = orr_field_parts_of(field);
    t->jobs = jobs;
    t->profile = profile;
    t->slope_weight = slope_weight;
    t->batch_size = batch_size;
    t->block_count = batch_size / ORR_SAMPLES;
    t->chunk_count = orr_blocks(t->block_count, CHUNK_BLOCKS);
    t->dims = orr_field_input_dims(field);
    t->channels = t->parts->network.output_dims;
    orr_result result = create_all(t, error);
    if (result != ORR_OK) {
        orr_field_cpu_trainer_destroy(t);
        return result;
    }
    *trainer = t;
    return ORR_OK;
}

void orr_field_cpu_trainer_destroy(orr_field_cpu_trainer *t)
{
    if (!t) {
        return;
    }
    orr_mlp_weights_destroy(t->weights);
    orr_optimizer_destroy(t->network_optimizer);
    orr_optimizer_destroy(t->table_optimizer);
    void *const memory[] = {t->feature_gradients, t->chunk_gradients, t->chunk_losses,
                            t->network_gradient,  t->table_gradient,  t->touched,
                            t->scratch,           t->scratch_memory,  t};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        orr_free(memory[i]);
    }
}
