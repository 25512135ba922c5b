// Tests of neural/encoding: level tables, values, gradients and scatter against definitions in double.
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "tests/neural/encoding_reference.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { DIMS = 16, FEATURES = ORR_ENCODING_DIMS_MAX };

static orr_isa isa;
static const orr_encoding_kernels *kernels;

// lanes without fused multiply-add round a grid's position twice
static reference_rounding rounding_of(orr_isa level)
{
    return level == ORR_ISA_BASELINE ? ROUND_TWICE : ROUND_ONCE;
}

static orr_encoding create(const orr_encoding_config *config, int input_dims)
{
    orr_encoding e;
    assert_ok(orr_encoding_create(config, input_dims, &e, &error));
    return e;
}

static orr_encoding_config grid(orr_grid_kind kind, int levels, int features, int log2_size, double scale)
{
    return (orr_encoding_config){.kind = ORR_ENCODING_GRID,
                                 .grid = kind,
                                 .levels = levels,
                                 .features_per_level = features,
                                 .log2_hashmap_size = log2_size,
                                 .base_resolution = 16,
                                 .per_level_scale = scale};
}

static float *random_table(const orr_encoding *e)
{
    float *table = orr_alloc((size_t)e->parameter_count, sizeof *table);
    assert_non_null(table);
    orr_rng rng = {.seed = 5};
    for (int64_t i = 0; i < e->parameter_count; i++) {
        table[i] = orr_rng_range(&rng, -1.0f, 1.0f);
    }
    return table;
}

// ORR_SAMPLES points in 0 .. 1, both ends among them
static void random_points(uint32_t seed, int dims, float *input)
{
    orr_rng rng = {.seed = seed, .stream = 9};
    for (int i = 0; i < dims * ORR_SAMPLES; i++) {
        input[i] = i % 29 == 0 ? 0.0f : i % 31 == 0 ? 1.0f : orr_rng_uniform(&rng);
    }
}

static void sample_of(const float *block, int dims, int i, double *sample)
{
    for (int d = 0; d < dims; d++) {
        sample[d] = (double)block[d * ORR_SAMPLES + i];
    }
}

// every kind of grid, dimension, number of features and interpolation, and the rest
static void for_each_encoding(void (*check)(const orr_encoding *e, const float *table))
{
    for (int kind = 0; kind < 3; kind++) {
        for (int dims = 2; dims <= 4; dims++) {
            for (int features = 1; features <= 8; features *= 2) {
                orr_encoding_config config = grid((orr_grid_kind)kind, 4, features, 10, 1.5);
                config.interpolation = (orr_interpolation)((dims + features) % 3);
                config.base_resolution = dims == 4 ? 5 : 12; // tiles of a number that is no power of two
                orr_encoding e = create(&config, dims);
                float *table = random_table(&e);
                check(&e, table);
                orr_free(table);
                orr_encoding_destroy(&e);
            }
        }
    }
    orr_encoding_config parts[4] = {{.kind = ORR_ENCODING_FREQUENCY, .input_dims = 2, .frequencies = 6},
                                    {.kind = ORR_ENCODING_TRIANGLE_WAVE, .input_dims = 1, .frequencies = 5},
                                    {.kind = ORR_ENCODING_ONE_BLOB, .input_dims = 2, .bins = 8},
                                    {.kind = ORR_ENCODING_IDENTITY, .scale = 2.0f, .offset = -0.5f}};
    orr_encoding_config first = {.kind = ORR_ENCODING_COMPOSITE, .nested = parts, .nested_count = 4};
    orr_encoding_config mixed[3] = {grid(ORR_GRID_HASH, 3, 2, 9, 1.6),
                                    {.kind = ORR_ENCODING_SPHERICAL_HARMONICS, .degree = 8},
                                    grid(ORR_GRID_TILED, 2, 4, 9, 1.6)};
    mixed[0].input_dims = 3;
    mixed[1].input_dims = 3;
    orr_encoding_config second = {.kind = ORR_ENCODING_COMPOSITE, .nested = mixed, .nested_count = 3};
    orr_encoding a = create(&first, 7), b = create(&second, 8);
    float *table = random_table(&b);
    check(&a, NULL);
    check(&b, table);
    orr_free(table);
    orr_encoding_destroy(&a);
    orr_encoding_destroy(&b);
}

static void grids_have_the_sizes_of_instant_ngp(void **state)
{
    (void)state;
    // instant-ngp's own logs and tables for aabb_scale 1, 4, 16
    static const struct {
        double aabb_scale, level_scale;
        int features;
        int64_t parameters;
        int dense;
        uint32_t sides[16];
    } golden[] = {
        {1,
         1.38191,
         2,
         12196240,
         5,
         {16, 23, 31, 43, 59, 81, 112, 154, 213, 295, 407, 562, 777, 1073, 1483, 2048}},
        {4,
         1.51572,
         2,
         13074912,
         4,
         {16, 25, 37, 56, 85, 128, 195, 295, 446, 676, 1024, 1553, 2353, 3566, 5405, 8192}},
        {16,
         1.66248,
         2,
         13623184,
         4,
         {16, 27, 45, 74, 123, 204, 338, 562, 934, 1553, 2581, 4290, 7132, 11857, 19711, 32768}},
        {4, 2.43803, 4, 12855296, 2, {0}},
        {16, 2.97199, 4, 13041664, 2, {0}},
    };
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        orr_encoding_config config =
            grid(ORR_GRID_HASH, 32 / golden[i].features, golden[i].features, 19, 0.0);
        config.per_level_scale = orr_grid_level_scale(&config, 2048.0 * golden[i].aabb_scale);
        assert_true(fabs(config.per_level_scale - golden[i].level_scale) < 1e-5);
        orr_encoding e = create(&config, 3);
        assert_int_equal(e.parameter_count, golden[i].parameters);
        assert_int_equal(e.output_dims, 32);
        for (int l = 0; l < e.level_count; l++) {
            if (golden[i].sides[0]) {
                assert_int_equal(e.levels[l].side, golden[i].sides[l]);
            }
            assert_int_equal(e.levels[l].index,
                             l < golden[i].dense ? ORR_GRID_INDEX_DENSE : ORR_GRID_INDEX_HASH);
        }
        orr_encoding_destroy(&e);
    }
}

static void a_vertex_finds_its_entry(void **state)
{
    (void)state;
    // nearest, one feature, and a table of its own indices: the feature is the entry
    for (int kind = 0; kind < 3; kind++) {
        for (int dims = 2; dims <= 4; dims++) {
            orr_encoding_config config = grid((orr_grid_kind)kind, dims == 4 ? 3 : 6, 1, 14, 1.7);
            config.interpolation = ORR_NEAREST;
            orr_encoding e = create(&config, dims);
            float *table = orr_alloc((size_t)e.parameter_count, sizeof *table);
            assert_non_null(table);
            for (int l = 0; l < e.level_count; l++) {
                for (uint32_t i = 0; i < e.levels[l].entries; i++) {
                    table[e.levels[l].first + i] = (float)i; // below 2^24: exact
                }
            }
            float input[4 * ORR_SAMPLES], features[8 * ORR_SAMPLES];
            random_points((uint32_t)dims, dims, input);
            kernels->forward(&e, table, input, features);
            for (int i = 0; i < ORR_SAMPLES; i++) {
                for (int l = 0; l < e.level_count; l++) {
                    uint64_t vertex[4];
                    for (int d = 0; d < dims; d++) {
                        float x = input[d * ORR_SAMPLES + i], s = e.levels[l].scale, product = x * s;
                        vertex[d] = (uint64_t)(isa == ORR_ISA_BASELINE ? product + 0.5f : fmaf(x, s, 0.5f));
                    }
                    assert_int_equal((uint64_t)features[l * ORR_SAMPLES + i], reference_entry(&e, l, vertex));
                }
            }
            orr_free(table);
            orr_encoding_destroy(&e);
        }
    }
}

static void check_values(const orr_encoding *e, const float *table)
{
    static float input[DIMS * ORR_SAMPLES], features[FEATURES * ORR_SAMPLES];
    random_points(1, e->input_dims, input);
    kernels->forward(e, table, input, features);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        double sample[DIMS], expected[FEATURES];
        sample_of(input, e->input_dims, i, sample);
        reference_encode(e, table, rounding_of(isa), sample, expected);
        for (int f = 0; f < e->output_dims; f++) {
            // a sum of 16 products below 1 in single precision; harmonics of degree 8 reach 30 in the corners
            // of the cube
            double size = fmax(1.0, fabs(expected[f]));
            double difference = fabs((double)features[f * ORR_SAMPLES + i] - expected[f]);
            if (!(difference < 4e-6 * size)) {
                fail_msg("kind %d, %d inputs, feature %d: %g, not %g", e->config.kind, e->input_dims, f,
                         (double)features[f * ORR_SAMPLES + i], expected[f]);
            }
        }
    }
}

static void features_equal_their_definitions(void **state)
{
    (void)state;
    for_each_encoding(check_values);
}

static void check_input_gradient(const orr_encoding *e, const float *table)
{
    static float input[DIMS * ORR_SAMPLES], gradient[FEATURES * ORR_SAMPLES], result[DIMS * ORR_SAMPLES];
    random_points(2, e->input_dims, input);
    orr_rng rng = {.seed = 3};
    for (int i = 0; i < e->output_dims * ORR_SAMPLES; i++) {
        gradient[i] = orr_rng_range(&rng, -1.0f, 1.0f);
    }
    kernels->backward_input(e, table, input, gradient, result);
    const double h = 1e-7;
    int checked = 0;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        for (int d = 0; d < e->input_dims; d++) {
            // loss at x - 2h .. x + 2h; where the slopes on both sides differ, a border of a cell or a wave
            // is between
            double loss[5], sample[DIMS], features[FEATURES];
            sample_of(input, e->input_dims, i, sample);
            double x = sample[d];
            if (x <= 2.0 * h || x >= 1.0 - 2.0 * h) {
                continue;
            }
            for (int k = 0; k < 5; k++) {
                sample[d] = x + (k - 2) * h;
                reference_encode(e, table, ROUND_NEVER, sample, features);
                loss[k] = 0.0;
                for (int f = 0; f < e->output_dims; f++) {
                    loss[k] += features[f] * (double)gradient[f * ORR_SAMPLES + i];
                }
            }
            double left = (loss[1] - loss[0]) / h, right = (loss[4] - loss[3]) / h;
            double expected = (loss[3] - loss[1]) / (2.0 * h);
            double size = fmax(10.0, fabs(expected));
            if (fabs(left - right) > 1e-3 * size) {
                continue;
            }
            checked++;
            // the kernel knows the position in a cell to 2^-18 only, and slopes of several cells are summed
            double difference = fabs((double)result[d * ORR_SAMPLES + i] - expected);
            if (!(difference < 2e-4 * size)) {
                fail_msg("kind %d, %d inputs, input %d: %g, not %g", e->config.kind, e->input_dims, d,
                         (double)result[d * ORR_SAMPLES + i], expected);
            }
        }
    }
    assert_true(checked > e->input_dims * ORR_SAMPLES * 8 / 10);
}

static void input_gradients_equal_central_differences(void **state)
{
    (void)state;
    for_each_encoding(check_input_gradient);
}

static void check_scatter(const orr_encoding *e, const float *table)
{
    (void)table;
    if (e->config.kind != ORR_ENCODING_GRID) {
        return; // composites: below
    }
    static float input[DIMS * ORR_SAMPLES], gradient[FEATURES * ORR_SAMPLES];
    random_points(4, e->input_dims, input);
    orr_rng rng = {.seed = 6};
    for (int i = 0; i < e->output_dims * ORR_SAMPLES; i++) {
        gradient[i] = i % ORR_SAMPLES == 7 ? 0.0f : orr_rng_range(&rng, 0.1f, 1.0f); // sample 7 has none
    }
    size_t size = (size_t)e->parameter_count, words = (size_t)(e->parameter_count + 511) / 512;
    float *sums = orr_alloc_zero(size, sizeof *sums);
    double *expected = orr_alloc_zero(size, sizeof *expected);
    uint32_t *touched = orr_alloc_zero(words, sizeof *touched);
    assert_true(sums && expected && touched);
    const int counts[] = {0, 1, 37};
    for (int k = 0; k < 3; k++) {
        memset(sums, 0, size * sizeof *sums);
        memset(expected, 0, size * sizeof *expected);
        memset(touched, 0, words * sizeof *touched);
        for (int l = 0; l < e->level_count; l++) {
            kernels->scatter_level(e, l, input, gradient, counts[k], sums, touched);
        }
        for (int i = 0; i < counts[k]; i++) {
            double sample[DIMS], g[FEATURES];
            sample_of(input, e->input_dims, i, sample);
            sample_of(gradient, e->output_dims, i, g);
            reference_scatter(e, rounding_of(isa), sample, g, expected);
        }
        for (size_t p = 0; p < size; p++) {
            // up to 37 gradients below 1 in single precision
            assert_true(fabs((double)sums[p] - expected[p]) < 4e-6 * fmax(1.0, fabs(expected[p])));
            if (sums[p] != 0.0f) {
                assert_true(touched[p / 512] >> (p / 16 % 32) & 1u);
            }
        }
        for (size_t b = 0; b < size / 16 && counts[k] == 0; b++) {
            assert_int_equal(touched[b / 32], 0);
        }
    }
    // a sample without gradient leaves no mark
    memset(touched, 0, words * sizeof *touched);
    memset(gradient, 0, sizeof gradient);
    kernels->scatter_level(e, 0, input, gradient, ORR_SAMPLES, sums, touched);
    for (size_t w = 0; w < words; w++) {
        assert_int_equal(touched[w], 0);
    }
    orr_free(sums);
    orr_free(expected);
    orr_free(touched);
}

static void scatter_equals_the_dense_gradient(void **state)
{
    (void)state;
    for_each_encoding(check_scatter);
}

typedef struct scatter_job {
    const orr_encoding *e;
    const float *input, *gradient; // blocks, one after the other
    int blocks;
    float *sums;
    uint32_t *touched;
} scatter_job;

static void scatter_one_level(void *context, int level, int worker)
{
    (void)worker;
    const scatter_job *job = context;
    for (int b = 0; b < job->blocks; b++) {
        kernels->scatter_level(job->e, level, job->input + b * job->e->input_dims * ORR_SAMPLES,
                               job->gradient + b * job->e->output_dims * ORR_SAMPLES, ORR_SAMPLES, job->sums,
                               job->touched);
    }
}

static void levels_scattered_by_any_threads_give_the_same_bits(void **state)
{
    (void)state;
    enum { BLOCKS = 40 };
    orr_encoding_config parts[2] = {grid(ORR_GRID_HASH, 5, 2, 8, 1.6), grid(ORR_GRID_TILED, 4, 1, 8, 1.6)};
    parts[0].input_dims = 3;
    parts[1].base_resolution = 3; // levels that share a word of marks
    orr_encoding_config config = {.kind = ORR_ENCODING_COMPOSITE, .nested = parts, .nested_count = 2};
    orr_encoding e = create(&config, 5);
    assert_int_equal(e.level_count, 9);
    static float input[BLOCKS * 5 * ORR_SAMPLES], gradient[BLOCKS * 14 * ORR_SAMPLES];
    orr_rng rng = {.seed = 8};
    for (size_t i = 0; i < sizeof input / sizeof *input; i++) {
        input[i] = orr_rng_uniform(&rng);
    }
    for (size_t i = 0; i < sizeof gradient / sizeof *gradient; i++) {
        gradient[i] = orr_rng_range(&rng, -1.0f, 1.0f);
    }
    float *sums[2];
    uint32_t touched[2][64] = {0};
    assert_true(e.parameter_count <= 64 * 512);
    for (int run = 0; run < 2; run++) {
        sums[run] = orr_alloc_zero((size_t)e.parameter_count, sizeof(float));
        assert_non_null(sums[run]);
        orr_jobs *jobs;
        assert_ok(orr_jobs_create(run ? 3 : 1, NULL, NULL, &jobs, &error));
        scatter_job job = {&e, input, gradient, BLOCKS, sums[run], touched[run]};
        orr_jobs_for(jobs, e.level_count, scatter_one_level, &job);
        orr_jobs_destroy(jobs);
    }
    assert_memory_equal(sums[0], sums[1], (size_t)e.parameter_count * sizeof(float));
    assert_memory_equal(touched[0], touched[1], sizeof touched[0]);
    // the second part's gradient is in the second part's table
    double total[2] = {0};
    for (int64_t p = 0; p < e.parameter_count; p++) {
        total[p >= e.parts[0].parameter_count] += fabs((double)sums[0][p]);
    }
    assert_true(total[0] > 100.0 && total[1] > 100.0);
    orr_free(sums[0]);
    orr_free(sums[1]);
    orr_encoding_destroy(&e);
}

// sum of squared differences over sum of squares
static double nmse(const float *a, const float *b, int count)
{
    double error = 0.0, size = 0.0;
    for (int i = 0; i < count; i++) {
        error += pow((double)a[i] - (double)b[i], 2.0);
        size += pow((double)b[i], 2.0);
    }
    return size > 0.0 ? error / size : error;
}

static void check_parity(const orr_encoding *e, const float *table)
{
    static float input[DIMS * ORR_SAMPLES], gradient[FEATURES * ORR_SAMPLES];
    static float a[FEATURES * ORR_SAMPLES], b[FEATURES * ORR_SAMPLES];
    random_points(7, e->input_dims, input);
    // inside: a position on the border of two cells may fall to either side where rounding differs
    for (int i = 0; i < e->input_dims * ORR_SAMPLES; i++) {
        input[i] = 0.001f + 0.99f * input[i];
        gradient[i] = 1.0f;
    }
    for (int i = 0; i < e->output_dims * ORR_SAMPLES; i++) {
        gradient[i] = i % 2 ? 1.0f : -0.5f;
    }
    const orr_encoding_kernels *baseline = orr_encoding_kernels_of(ORR_ISA_BASELINE);
    baseline->forward(e, table, input, a);
    kernels->forward(e, table, input, b);
    // a position rounded twice instead of once: 2^-19 of a cell on the finest level here, squared
    assert_true(nmse(a, b, e->output_dims * ORR_SAMPLES) < 1e-10);
    baseline->backward_input(e, table, input, gradient, a);
    kernels->backward_input(e, table, input, gradient, b);
    assert_true(nmse(a, b, e->input_dims * ORR_SAMPLES) < 1e-10);
}

static void every_instruction_set_agrees_with_the_baseline(void **state)
{
    (void)state;
    if (!orr_isa_is_available(ORR_ISA_BASELINE)) {
        skip(); // in builds for this CPU alone
    }
    for_each_encoding(check_parity);
}

static void points_outside_read_inside_the_table(void **state)
{
    (void)state;
    static const float bad[] = {-1.0f, 2.0f, 1e30f, -1e30f, NAN, INFINITY};
    for (int kind = 0; kind < 3; kind++) {
        for (int k = 0; k < 6; k++) {
            orr_encoding_config config = grid((orr_grid_kind)kind, 3, 2, 8, 1.5);
            orr_encoding e = create(&config, 3);
            float *table =
                orr_alloc_zero((size_t)e.parameter_count, sizeof *table); // AddressSanitizer watches
            uint32_t *touched = orr_alloc_zero((size_t)e.parameter_count / 512 + 1, sizeof *touched);
            static float input[3 * ORR_SAMPLES], features[6 * ORR_SAMPLES];
            assert_true(table && touched);
            for (int i = 0; i < 3 * ORR_SAMPLES; i++) {
                input[i] = bad[(i + k) % 6];
            }
            kernels->forward(&e, table, input, features);
            for (int i = 0; i < 6 * ORR_SAMPLES; i++) {
                features[i] = 1.0f;
            }
            for (int l = 0; l < 3; l++) {
                kernels->scatter_level(&e, l, input, features, ORR_SAMPLES, table, touched);
            }
            orr_free(table);
            orr_free(touched);
            orr_encoding_destroy(&e);
        }
    }
}

static void tables_start_small_and_repeatable(void **state)
{
    (void)state;
    orr_encoding_config config = grid(ORR_GRID_HASH, 2, 2, 12, 2.0);
    orr_encoding e = create(&config, 3);
    static float a[40000], b[40000];
    assert_true(e.parameter_count < 40000);
    orr_encoding_initialise(&e, 1, a);
    orr_encoding_initialise(&e, 1, b);
    assert_memory_equal(a, b, (size_t)e.parameter_count * sizeof *a);
    orr_encoding_initialise(&e, 2, b);
    double squares = 0.0;
    int64_t same = 0;
    for (int64_t i = 0; i < e.parameter_count; i++) {
        assert_true(a[i] >= -1e-4f && a[i] <= 1e-4f);
        squares += (double)a[i] * (double)a[i];
        same += a[i] == b[i];
    }
    assert_true(same < 10);
    // variance of the uniform distribution: 1e-8 / 3, to a few standard errors of 16000 draws
    assert_true(fabs(squares / (double)e.parameter_count / (1e-8 / 3.0) - 1.0) < 0.05);
    orr_encoding_destroy(&e);
}

static void what_does_not_fit_is_named(void **state)
{
    (void)state;
    orr_encoding e;
    orr_error why;
    orr_encoding_config config = grid(ORR_GRID_HASH, 4, 3, 10, 1.5);
    assert_int_equal(orr_encoding_create(&config, 3, &e, &why), ORR_ERROR_ARGUMENT);
    config = grid(ORR_GRID_HASH, 4, 2, 10, 1.5);
    assert_int_equal(orr_encoding_create(&config, 5, &e, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "2, 3 or 4 inputs"));
    config = grid(ORR_GRID_DENSE, 16, 2, 10, 2.0); // 2^57 vertices
    assert_int_equal(orr_encoding_create(&config, 3, &e, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "2^30"));
    orr_encoding_config parts[2] = {{.kind = ORR_ENCODING_FREQUENCY, .input_dims = 3, .frequencies = 2},
                                    {.kind = ORR_ENCODING_IDENTITY}};
    config = (orr_encoding_config){.kind = ORR_ENCODING_COMPOSITE, .nested = parts, .nested_count = 2};
    assert_int_equal(orr_encoding_create(&config, 2, &e, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "nested[0]"));
    // nothing is left for the rest: it is empty
    assert_ok(orr_encoding_create(&config, 3, &e, &error));
    assert_int_equal(e.output_dims, 12);
    orr_encoding_destroy(&e);
}

int main(void)
{
    orr_error error;
    if (orr_isa_choose(&isa, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        return 77;
    }
    kernels = orr_encoding_kernels_of(isa);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_have_the_sizes_of_instant_ngp),
        cmocka_unit_test(a_vertex_finds_its_entry),
        cmocka_unit_test(features_equal_their_definitions),
        cmocka_unit_test(input_gradients_equal_central_differences),
        cmocka_unit_test(scatter_equals_the_dense_gradient),
        cmocka_unit_test(levels_scattered_by_any_threads_give_the_same_bits),
        cmocka_unit_test(every_instruction_set_agrees_with_the_baseline),
        cmocka_unit_test(points_outside_read_inside_the_table),
        cmocka_unit_test(tables_start_small_and_repeatable),
        cmocka_unit_test(what_does_not_fit_is_named),
    };
    return cmocka_run_group_tests_name("encodings", tests, NULL, NULL);
}
