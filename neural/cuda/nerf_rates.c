#include "neural/cuda/nerf_rates.h"

#include "engine/maths/rng.h"
#include "neural/cuda/model.h"
#include "neural/cuda/optimizer.h"
#include "neural/fields/field.h"

#include <math.h>

enum { DENSITY, COLOUR, NETWORKS, SPACE_DIMS = 3, HARMONICS_DEGREE = 4 };
enum { SAMPLES = 1 << 21, REPEATS = 20, TINY_SAMPLES = 192, TINY_LOG2_HASHMAP = 8 };

// One of the two networks, with all that its training needs.
typedef struct learner {
    orr_encoding encoding;
    orr_mlp network;
    orr_cuda_model model;
    orr_cuda_pass pass; // training
    orr_cuda_optimizer network_optimizer, table_optimizer;
    orr_cuda_buffer parameters, gradient, table, table_gradient; // floats
    orr_cuda_buffer positions, output, output_gradient;
} learner;

typedef struct nerf_pair {
    orr_cuda *cuda; // borrowed
    bool tiny;
    int64_t samples;
    learner learners[NETWORKS];
    cudaEvent_t marks[2];
} nerf_pair;

// ---- one network ----

static void fill(float *values, size_t count, uint32_t seed, float low, float high)
{
    orr_rng rng = {.seed = seed};
    for (size_t i = 0; i < count; i++) {
        values[i] = orr_rng_range(&rng, low, high);
    }
}

// Samples as a ray has them, a block of them a short step apart; members beyond the position are anything.
static void fill_rays(float *positions, size_t blocks, int dims)
{
    const float step = 1.7f / 1024.0f;
    orr_rng rng = {.seed = 2};
    for (size_t b = 0; b < blocks; b++) {
        float *block = positions + b * (size_t)dims * ORR_SAMPLES;
        for (int k = 0; k < dims; k++) {
            float origin = orr_rng_range(&rng, 0.1f, 0.9f), slope = orr_rng_range(&rng, -0.58f, 0.58f);
            for (int i = 0; i < ORR_SAMPLES; i++) {
                block[k * ORR_SAMPLES + i] = fminf(fmaxf(origin + slope * step * (float)i, 0.0f), 1.0f);
            }
        }
    }
}

static orr_result upload_floats(orr_cuda *cuda, orr_cuda_buffer *to, const float *from, size_t count,
                                orr_error *error)
{
    ORR_TRY(orr_cuda_reserve(cuda, to, count, sizeof *from, error));
    return count > 0 ? orr_cuda_upload(cuda, to->memory, from, count * sizeof *from, error) : ORR_OK;
}

static orr_result upload_parameters(learner *l, orr_cuda *cuda, float *host, orr_error *error)
{
    size_t network = (size_t)l->network.parameter_count, table = (size_t)l->encoding.parameter_count;
    float *entries = host + network;
    orr_mlp_initialise(&l->network, 1, host);
    fill(entries, table, 1, -0.5f, 0.5f);
    ORR_TRY(orr_cuda_model_set(&l->model, host, entries, error));
    ORR_TRY(upload_floats(cuda, &l->parameters, host, network, error));
    return upload_floats(cuda, &l->table, entries, table, error);
}

static orr_result upload_samples(learner *l, orr_cuda *cuda, size_t blocks, float *host, orr_error *error)
{
    size_t inputs = blocks * ORR_SAMPLES * (size_t)l->encoding.input_dims;
    size_t outputs = blocks * ORR_SAMPLES * (size_t)l->network.output_dims;
    fill_rays(host, blocks, l->encoding.input_dims);
    ORR_TRY(upload_floats(cuda, &l->positions, host, inputs, error));
    fill(host, outputs, 3, -1.0f, 1.0f);
    ORR_TRY(upload_floats(cuda, &l->output_gradient, host, outputs, error));
    return orr_cuda_reserve(cuda, &l->output, outputs, sizeof(float), error);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static orr_result upload(learner *l, orr_cuda *cuda, int64_t samples, orr_error *error)
{
    size_t blocks = (size_t)orr_blocks(samples, ORR_SAMPLES);
    size_t members = larger((size_t)l->encoding.input_dims, (size_t)l->network.output_dims);
    size_t parameters = (size_t)(l->network.parameter_count + l->encoding.parameter_count);
    float *host;
    ORR_ALLOC(host, larger(blocks * ORR_SAMPLES * members, parameters), "samples", error);
    orr_result result = upload_parameters(l, cuda, host, error);
    result = result == ORR_OK ? upload_samples(l, cuda, blocks, host, error) : result;
    orr_free(host);
    return result;
}

static orr_result create_learner(learner *l, orr_cuda *cuda, const orr_encoding_config *encoding, int dims,
                                 const orr_mlp_config *network, int outputs,
                                 const orr_optimizer_config *optimizer, int64_t samples, orr_error *error)
{
    ORR_TRY(orr_encoding_create(encoding, dims, &l->encoding, error));
    ORR_TRY(orr_mlp_create(network, l->encoding.output_dims, outputs, &l->network, error));
    ORR_TRY(orr_cuda_model_create(cuda, &l->encoding, &l->network, &l->model, error));
    ORR_TRY(upload(l, cuda, samples, error));
    size_t weights = (size_t)l->network.parameter_count, table = (size_t)l->encoding.parameter_count;
    ORR_TRY(orr_cuda_reserve(cuda, &l->gradient, weights, sizeof(float), error));
    ORR_TRY(
        orr_cuda_optimizer_create(cuda, optimizer, (int64_t)weights, false, &l->network_optimizer, error));
    if (table > 0) {
        ORR_TRY(orr_cuda_reserve(cuda, &l->table_gradient, table, sizeof(float), error));
        ORR_CUDA_TRY(cudaMemsetAsync(l->table_gradient.memory, 0, table * sizeof(float), cuda->stream));
        ORR_TRY(orr_cuda_optimizer_create(cuda, optimizer, (int64_t)table, true, &l->table_optimizer, error));
    }
    ORR_TRY(orr_cuda_model_pass(&l->model, samples, &l->pass, error));
    l->pass.positions = l->positions.memory;
    l->pass.output_gradient = l->output_gradient.memory;
    l->pass.table_gradient = table > 0 ? l->table_gradient.memory : NULL;
    return ORR_OK;
}

static void destroy_learner(learner *l)
{
    orr_cuda_buffer *buffers[] = {&l->parameters, &l->gradient, &l->table,          &l->table_gradient,
                                  &l->positions,  &l->output,   &l->output_gradient};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        orr_cuda_release(buffers[i]);
    }
    orr_cuda_optimizer_destroy(&l->network_optimizer);
    orr_cuda_optimizer_destroy(&l->table_optimizer);
    orr_cuda_model_destroy(&l->model);
    orr_encoding_destroy(&l->encoding);
}

// ---- both ----

static orr_result infer(nerf_pair *p, orr_error *error)
{
    for (int k = DENSITY; k < NETWORKS; k++) {
        learner *l = &p->learners[k];
        const orr_cuda_pass pass = {.shape = l->model.shape,
                                    .weights = l->model.weights,
                                    .table = l->model.table,
                                    .count = p->samples,
                                    .positions = l->positions.memory,
                                    .output = l->output.memory};
        int most = p->cuda->info.processors * ORR_CUDA_INFERENCE_BLOCKS;
        ORR_CUDA_TRY(orr_cuda_model_infer(p->cuda->stream, &pass, orr_cuda_pass_blocks(p->samples, most)));
    }
    return ORR_OK;
}

static orr_result train(nerf_pair *p, orr_error *error)
{
    const float unscale = 1.0f / (float)ORR_CUDA_LOSS_SCALE;
    for (int k = COLOUR; k >= DENSITY; k--) {
        learner *l = &p->learners[k];
        int blocks = orr_cuda_model_blocks(&l->model, p->samples);
        ORR_CUDA_TRY(orr_cuda_model_train(p->cuda->stream, &l->pass, blocks));
        orr_cuda_sum_rows_launch(p->cuda->stream, l->pass.weight_sums, blocks, l->network.parameter_count,
                                 l->gradient.memory);
        ORR_CUDA_LAUNCHED();
        ORR_TRY(orr_cuda_optimizer_step(&l->network_optimizer, l->parameters.memory, l->model.weights,
                                        l->gradient.memory, unscale, error));
        if (l->encoding.parameter_count > 0) {
            ORR_TRY(orr_cuda_optimizer_step(&l->table_optimizer, l->table.memory, l->model.table,
                                            l->table_gradient.memory, unscale, error));
        }
    }
    return ORR_OK;
}

// Passes per second.
static orr_result time_passes(nerf_pair *p, const char *name, orr_result (*pass)(nerf_pair *, orr_error *),
                              double *rate, orr_error *error)
{
    ORR_TRY(pass(p, error)); // warms up
    orr_cuda_range_begin(name);
    const int repeats = p->tiny ? 1 : REPEATS;
    cudaError_t code = cudaEventRecord(p->marks[0], p->cuda->stream);
    orr_result result = ORR_OK;
    for (int i = 0; i < repeats && result == ORR_OK; i++) {
        result = pass(p, error);
    }
    orr_cuda_range_end();
    ORR_TRY(result);
    ORR_CUDA_TRY(code);
    ORR_CUDA_TRY(cudaEventRecord(p->marks[1], p->cuda->stream));
    ORR_TRY(orr_cuda_wait(p->cuda, error));
    float milliseconds;
    ORR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, p->marks[0], p->marks[1]));
    *rate = repeats / ((double)milliseconds * 1e-3);
    return ORR_OK;
}

static orr_result create_learners(nerf_pair *p, const orr_field_config *config, orr_error *error)
{
    // features pass as they are, and directions by their harmonics
    orr_encoding_config nested[2] = {
        {.kind = ORR_ENCODING_IDENTITY, .input_dims = ORR_NERF_FEATURES, .scale = 1.0f},
        {.kind = ORR_ENCODING_SPHERICAL_HARMONICS, .input_dims = SPACE_DIMS, .degree = HARMONICS_DEGREE}};
    const orr_encoding_config joined = {.kind = ORR_ENCODING_COMPOSITE, .nested = nested, .nested_count = 2};
    orr_encoding_config grid = config->encoding;
    grid.per_level_scale = orr_grid_level_scale(&grid, 2048.0);
    grid.log2_hashmap_size = p->tiny ? TINY_LOG2_HASHMAP : grid.log2_hashmap_size;
    ORR_TRY(create_learner(&p->learners[DENSITY], p->cuda, &grid, SPACE_DIMS, &config->network,
                           ORR_NERF_FEATURES, &config->optimizer, p->samples, error));
    return create_learner(&p->learners[COLOUR], p->cuda, &joined, ORR_NERF_FEATURES + SPACE_DIMS,
                          &config->rgb_network, 3, &config->optimizer, p->samples, error);
}

static orr_result measure(nerf_pair *p, const orr_field_config *config, orr_cuda_nerf_rates *rates,
                          orr_error *error)
{
    ORR_TRY(orr_cuda_use(p->cuda, error));
    for (int i = 0; i < 2; i++) {
        ORR_CUDA_TRY(cudaEventCreateWithFlags(&p->marks[i], cudaEventDefault));
    }
    ORR_TRY(create_learners(p, config, error));
    double weights = 0.0;
    for (int k = 0; k < NETWORKS; k++) {
        weights += (double)p->learners[k].network.parameter_count;
    }
    const orr_encoding *grid = &p->learners[DENSITY].encoding;
    double rows = 8.0 * grid->level_count * grid->config.features_per_level; // features of eight corners
    *rates = (orr_cuda_nerf_rates){.inference_operations = 2.0 * weights,
                                   .training_operations = 6.0 * weights,
                                   .inference_bytes = rows * 2.0,
                                   .training_bytes = rows * (2.0 + 2.0 * sizeof(float))};
    ORR_TRY(time_passes(p, "inference", infer, &rates->inference, error));
    ORR_TRY(time_passes(p, "training", train, &rates->training, error));
    rates->inference *= (double)p->samples;
    rates->training *= (double)p->samples;
    return ORR_OK;
}

orr_result orr_cuda_measure_nerf(orr_cuda *cuda, bool tiny, orr_cuda_nerf_rates *rates, orr_error *error)
{
    orr_field_config config;
    nerf_pair pair = {.cuda = cuda, .tiny = tiny, .samples = tiny ? TINY_SAMPLES : SAMPLES};
    ORR_TRY(orr_field_config_base(ORR_FIELD_NERF, &config, error));
    orr_result result = measure(&pair, &config, rates, error);
    orr_cuda_wait(cuda, NULL);
    for (int i = 0; i < NETWORKS; i++) {
        destroy_learner(&pair.learners[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (pair.marks[i]) {
            cudaEventDestroy(pair.marks[i]);
        }
    }
    orr_field_config_free(&config);
    return result;
}
