// Encodings: samples per second forward, by inputs and scattered, on random points and along rays.
#include "engine/core/memory.h"
#include "engine/maths/limits.h"
#include "engine/maths/rng.h"
#include "neural/network/encoding.h"
#include "samples/orrery/bench/bench_neural.h"

#include <math.h>

enum {
    LOG2_SMALLEST = 14, // floats: 64 KiB
    LOG2_LARGEST = 24,  // 64 MiB
    SIZES = LOG2_LARGEST - LOG2_SMALLEST + 1,
    GATHERS = 1 << 18,
    GATHER_ROUNDS = 10,
    DIMS = 3,
    FEATURES = 32,
    BLOCKS = 1024,
    ROUND_BLOCKS = 64, // timed at once: 4096 samples
    ROUNDS = 4 * BLOCKS / ROUND_BLOCKS
};

// ---- the limit ----

typedef struct gather_job {
    orr_limit_gather_kernel *kernel;
    const float *table;
    int log2_rows, features;
    volatile float sum; // keeps the reads
} gather_job;

static void gather(void *context, int round)
{
    (void)round;
    gather_job *job = context;
    job->sum = job->kernel(job->table, job->log2_rows, job->features, GATHERS);
}

// rows per second by table size
static void measure_gathers(orr_isa isa, const float *table, int features, double rates[SIZES])
{
    for (int s = 0; s < SIZES; s++) {
        gather_job job = {.kernel = orr_limit_gather_of(isa), .table = table, .features = features};
        job.log2_rows = LOG2_SMALLEST + s - (int)log2(features);
        rates[s] = GATHERS / bench_fastest(GATHER_ROUNDS, gather, &job);
    }
}

// Samples per second if nothing but the gathers took time, each level's table alone in the caches.
static double gather_limit(const orr_encoding *e, const double rates[SIZES])
{
    double seconds = 0.0;
    for (int l = 0; l < e->level_count; l++) {
        int size =
            (int)ceil(log2((double)e->levels[l].entries * e->config.features_per_level)) - LOG2_SMALLEST;
        size = size < 0 ? 0 : size >= SIZES ? SIZES - 1 : size;
        seconds += (1 << DIMS) / rates[size];
    }
    return 1.0 / seconds;
}

// ---- encodings ----

typedef struct encoding_job {
    const orr_encoding *e;
    const orr_encoding_kernels *kernels;
    float *table; // also what gradients are added to: their values do not matter here
    float *input; // BLOCKS blocks
    uint32_t *touched;
    float features[FEATURES * ORR_SAMPLES];
    float input_gradient[DIMS * ORR_SAMPLES];
} encoding_job;

static const float *block_of(const encoding_job *job, int round, int b)
{
    return job->input + (size_t)(round * ROUND_BLOCKS % BLOCKS + b) * DIMS * ORR_SAMPLES;
}

static void forward(void *context, int round)
{
    encoding_job *job = context;
    for (int b = 0; b < ROUND_BLOCKS; b++) {
        job->kernels->forward(job->e, job->table, block_of(job, round, b), job->features);
    }
}

static void backward(void *context, int round)
{
    encoding_job *job = context;
    for (int b = 0; b < ROUND_BLOCKS; b++) {
        job->kernels->backward_input(job->e, job->table, block_of(job, round, b), job->features,
                                     job->input_gradient);
    }
}

static void scatter(void *context, int round)
{
    encoding_job *job = context;
    for (int l = 0; l < job->e->level_count; l++) {
        for (int b = 0; b < ROUND_BLOCKS; b++) {
            job->kernels->scatter_level(job->e, l, block_of(job, round, b), job->features, ORR_SAMPLES,
                                        job->table, job->touched);
        }
    }
}

static void random_points(float *input)
{
    orr_rng rng = {.seed = 1};
    for (int i = 0; i < BLOCKS * DIMS * ORR_SAMPLES; i++) {
        input[i] = orr_rng_uniform(&rng);
    }
}

// each block is a ray of 64 samples, sqrt(3) / 1024 apart, as a field is marched
static void ray_points(float *input)
{
    orr_rng rng = {.seed = 2};
    for (int b = 0; b < BLOCKS; b++) {
        float from[DIMS], direction[DIMS], length = 0.0f;
        for (int d = 0; d < DIMS; d++) {
            from[d] = orr_rng_range(&rng, 0.2f, 0.8f);
            direction[d] = orr_rng_range(&rng, -1.0f, 1.0f);
            length += direction[d] * direction[d];
        }
        for (int i = 0; i < DIMS * ORR_SAMPLES; i++) {
            int d = i / ORR_SAMPLES;
            float t = (float)(i % ORR_SAMPLES) * 1.7320508f / 1024.0f;
            input[(size_t)b * DIMS * ORR_SAMPLES + (size_t)i] = from[d] + t * direction[d] / sqrtf(length);
        }
    }
}

static void report(const bench_run *run, cJSON *results, const char *name, const char *points,
                   encoding_job *job, double limit)
{
    const double samples = ROUND_BLOCKS * ORR_SAMPLES;
    double forward_rate = samples / bench_fastest(ROUNDS, forward, job);
    double backward_rate = samples / bench_fastest(ROUNDS, backward, job);
    for (int i = 0; i < FEATURES * ORR_SAMPLES; i++) {
        job->features[i] = 1e-6f;
    }
    double scatter_rate = samples / bench_fastest(ROUNDS, scatter, job);
    fprintf(run->out, "  %-22s %-7s %8.2f %10.2f %8.2f %12.1f %6.0f %%\n", name, points, forward_rate * 1e-6,
            backward_rate * 1e-6, scatter_rate * 1e-6, limit * 1e-6, 100.0 * forward_rate / limit);
    cJSON *one = results ? cJSON_AddObjectToObject(results, points) : NULL;
    if (one) {
        cJSON_AddNumberToObject(one, "forward_samples_per_second", forward_rate);
        cJSON_AddNumberToObject(one, "backward_input_samples_per_second", backward_rate);
        cJSON_AddNumberToObject(one, "scatter_samples_per_second", scatter_rate);
        cJSON_AddNumberToObject(one, "gather_limit_samples_per_second", limit);
    }
}

static orr_result bench_grid(const bench_run *run, const char *name, int levels, const double rates[SIZES],
                             encoding_job *job, cJSON *results, orr_error *error)
{
    orr_encoding_config config = {.kind = ORR_ENCODING_GRID,
                                  .levels = levels,
                                  .features_per_level = FEATURES / levels,
                                  .log2_hashmap_size = 19,
                                  .base_resolution = 16};
    config.per_level_scale = orr_grid_level_scale(&config, 2048.0);
    orr_encoding e;
    ORR_TRY(orr_encoding_create(&config, DIMS, &e, error));
    assert(e.parameter_count <= 1 << LOG2_LARGEST);
    job->e = &e;
    double limit = gather_limit(&e, rates);
    cJSON *grid = results ? cJSON_AddObjectToObject(results, name) : NULL;
    random_points(job->input);
    report(run, grid, name, "random", job, limit);
    ray_points(job->input);
    report(run, grid, name, "rays", job, limit);
    orr_encoding_destroy(&e);
    return ORR_OK;
}

static void print_gathers(const bench_run *run, int features, const double rates[SIZES])
{
    fprintf(run->out, "  rows of %d floats [G/s]:", features);
    for (int s = 0; s < SIZES; s += 2) {
        fprintf(run->out, "  %d KiB %.2f", (4 << (LOG2_SMALLEST + s)) >> 10, rates[s] * 1e-9);
    }
    fprintf(run->out, "\n");
}

static orr_result run_grids(const bench_run *run, orr_isa isa, encoding_job *job, cJSON *results,
                            orr_error *error)
{
    double pairs[SIZES], quads[SIZES];
    measure_gathers(isa, job->table, 2, pairs);
    measure_gathers(isa, job->table, 4, quads);
    print_gathers(run, 2, pairs);
    print_gathers(run, 4, quads);
    fprintf(run->out, "  %-22s %-7s %8s %10s %8s %12s   forward is\n", "M samples/s", "points", "forward",
            "by inputs", "scatter", "gather limit");
    ORR_TRY(bench_grid(run, "hash L8 F4 T19", 8, quads, job, results, error));
    return bench_grid(run, "hash L16 F2 T19", 16, pairs, job, results, error);
}

orr_result bench_neural_encoding(const bench_run *run, orr_isa isa, cJSON *results, orr_error *error)
{
    encoding_job job = {.kernels = orr_encoding_kernels_of(isa)};
    job.table = orr_alloc_zero((size_t)1 << LOG2_LARGEST, sizeof *job.table);
    job.touched = orr_alloc_zero((size_t)1 << (LOG2_LARGEST - 9), sizeof *job.touched);
    job.input = orr_alloc((size_t)BLOCKS * DIMS * ORR_SAMPLES, sizeof *job.input);
    orr_result result =
        job.table && job.touched && job.input
            ? run_grids(run, isa, &job, results ? cJSON_AddObjectToObject(results, "encodings") : NULL, error)
            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: measuring encodings");
    orr_free(job.table);
    orr_free(job.touched);
    orr_free(job.input);
    return result;
}
