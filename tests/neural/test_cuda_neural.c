// Encodings and networks on the CUDA device (a GPU, or the emulated one) against the CPU in single precision.
//
// NMSE: mean square of the difference over mean square of the CPU's. Halves have 11 bits: a rounding is off
// by 2^-12 of its size or so, 6e-8 in squares, and a few of them add up through a network; gradients take as
// many more.
#include "engine/device/cuda_gpu.h"
#include "engine/maths/half.h"
#include "engine/maths/rng.h"
#include "neural/cuda/model.h"
#include "neural/cuda/optimizer.h"
#include "neural/network/optimizer.h"
#include "tests/support/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FORWARD_NMSE = 1e-6, GRADIENT_NMSE = 1e-6;

typedef struct subject {
    const char *name;
    orr_encoding_config encoding;
    int input_dims;
    orr_mlp_config network;
    int output_dims;
    float padding;
    float weight_scale;
} subject;

// Everything of both machines. Samples are in blocks.
typedef struct results {
    orr_encoding encoding;
    orr_mlp mlp;
    int64_t count;
    size_t inputs, outputs, table, network; // floats
    float *positions, *output_gradient, *table_values, *network_values;
    orr_cuda_gradients cpu, device;
    float *inferred; // by the device
} results;

static float *make_floats(size_t count, uint32_t seed, float low, float high)
{
    float *values = orr_alloc(count + 1, sizeof *values);
    assert_non_null(values);
    orr_rng rng = {.seed = seed};
    for (size_t i = 0; i < count; i++) {
        values[i] = orr_rng_range(&rng, low, high);
    }
    return values;
}

// Rounded to halves, so that both machines have the same: a ReLU whose sum is nearly 0 would otherwise be
// active on one machine and shut on the other, and its gradient altogether different.
static void round_to_halves(float *values, size_t count, float scale)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = orr_half_to_float(orr_half_from_float(scale * values[i]));
    }
}

static float *make_zeros(size_t count)
{
    float *values = orr_alloc_zero(count + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static double nmse(const float *values, const float *expected, int members, int64_t count)
{
    double difference = 0.0, size = 0.0;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < members; k++) {
            int64_t at = (i / ORR_SAMPLES * members + k) * ORR_SAMPLES + i % ORR_SAMPLES;
            double d = (double)values[at] - (double)expected[at];
            difference += d * d;
            size += (double)expected[at] * (double)expected[at];
        }
    }
    return size > 0.0 ? difference / size : difference;
}

static double flat_nmse(const float *values, const float *expected, size_t count)
{
    double difference = 0.0, size = 0.0;
    for (size_t i = 0; i < count; i++) {
        double d = (double)values[i] - (double)expected[i];
        difference += d * d;
        size += (double)expected[i] * (double)expected[i];
    }
    return size > 0.0 ? difference / size : difference;
}

static void run_cpu(results *r)
{
    const orr_encoding_kernels *kernels = orr_encoding_kernels_of(isa);
    orr_mlp_weights *weights;
    assert_ok(orr_mlp_weights_create(&r->mlp, isa, ORR_MLP_FP32, &weights, &error));
    orr_mlp_weights_set(weights, r->network_values);
    size_t features = (size_t)r->encoding.output_dims * ORR_SAMPLES;
    float *forward = make_zeros(features), *back = make_zeros(features),
          *activations = make_zeros(orr_mlp_activation_floats(&r->mlp));
    uint32_t *touched = orr_alloc_zero((size_t)orr_touched_words((int64_t)r->table) + 1, sizeof *touched);
    for (int64_t block = 0; block < (r->count + ORR_SAMPLES - 1) / ORR_SAMPLES; block++) {
        const float *positions = r->positions + block * r->encoding.input_dims * ORR_SAMPLES;
        float *gradient = r->output_gradient + block * r->mlp.output_dims * ORR_SAMPLES;
        float *output = r->cpu.output + block * r->mlp.output_dims * ORR_SAMPLES;
        for (int64_t i = r->count - block * ORR_SAMPLES; i < ORR_SAMPLES; i++) {
            for (int k = 0; k < r->mlp.output_dims; k++) {
                gradient[k * ORR_SAMPLES + i] = 0.0f;
            }
        }
        kernels->forward(&r->encoding, r->table_values, positions, forward);
        orr_mlp_forward(weights, forward, output, activations);
        orr_mlp_backward(weights, forward, output, activations, gradient, r->cpu.network, back);
        kernels->backward_input(&r->encoding, r->table_values, positions, back,
                                r->cpu.input + block * r->encoding.input_dims * ORR_SAMPLES);
        for (int l = 0; l < r->encoding.level_count; l++) {
            kernels->scatter_level(&r->encoding, l, positions, back, ORR_SAMPLES, r->cpu.table, touched);
        }
    }
    orr_free(forward);
    orr_free(back);
    orr_free(activations);
    orr_free(touched);
    orr_mlp_weights_destroy(weights);
}

// shared_bytes: what the thread blocks may have; 0: all that there is
static void run_device(results *r, int shared_bytes)
{
    orr_cuda_model model;
    assert_ok(orr_cuda_model_create(cuda, &r->encoding, &r->mlp, &model, &error));
    if (shared_bytes) {
        assert_ok(orr_cuda_shape_layout(&model.shape, shared_bytes, &error));
    }
    assert_ok(orr_cuda_model_set(&model, r->network_values, r->table_values, &error));
    assert_ok(orr_cuda_model_values(&model, r->positions, r->count, r->inferred, &error));
    assert_ok(
        orr_cuda_model_gradients(&model, r->positions, r->count, r->output_gradient, &r->device, &error));
    orr_cuda_model_destroy(&model);
}

static results begin(const subject *s, int64_t count)
{
    results r = {.count = count};
    size_t blocks = (size_t)(count + ORR_SAMPLES - 1) / ORR_SAMPLES;
    assert_ok(orr_encoding_create(&s->encoding, s->input_dims, &r.encoding, &error));
    assert_ok(orr_mlp_create(&s->network, r.encoding.output_dims, s->output_dims, &r.mlp, &error));
    r.mlp.input_padding = s->padding;
    r.inputs = blocks * ORR_SAMPLES * (size_t)s->input_dims;
    r.outputs = blocks * ORR_SAMPLES * (size_t)s->output_dims;
    r.table = (size_t)r.encoding.parameter_count;
    r.network = (size_t)r.mlp.parameter_count;
    r.positions = make_floats(r.inputs, 1, 0.0f, 1.0f);
    r.output_gradient = make_floats(r.outputs, 2, -1.0f, 1.0f);
    r.table_values = make_floats(r.table, 3, -1.0f, 1.0f);
    r.network_values = make_zeros(r.network);
    orr_mlp_initialise(&r.mlp, 4, r.network_values);
    round_to_halves(r.network_values, r.network, s->weight_scale);
    round_to_halves(r.table_values, r.table, 1.0f);
    round_to_halves(r.positions, r.inputs, 1.0f);
    orr_cuda_gradients *machines[] = {&r.cpu, &r.device};
    for (int i = 0; i < 2; i++) {
        *machines[i] = (orr_cuda_gradients){.output = make_zeros(r.outputs),
                                            .network = make_zeros(r.network),
                                            .table = make_zeros(r.table),
                                            .input = make_zeros(r.inputs)};
    }
    r.inferred = make_zeros(r.outputs);
    return r;
}

static void end(results *r)
{
    float *memory[] = {r->positions,   r->output_gradient, r->table_values,   r->network_values,
                       r->inferred,    r->cpu.output,      r->cpu.network,    r->cpu.table,
                       r->cpu.input,   r->device.output,   r->device.network, r->device.table,
                       r->device.input};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        orr_free(memory[i]);
    }
    orr_encoding_destroy(&r->encoding);
}

static void compare(const subject *s, int64_t count, int shared_bytes)
{
    results r = begin(s, count);
    run_cpu(&r);
    run_device(&r, shared_bytes);
    double values = nmse(r.inferred, r.cpu.output, s->output_dims, count);
    double training = nmse(r.device.output, r.cpu.output, s->output_dims, count);
    double network = flat_nmse(r.device.network, r.cpu.network, r.network);
    double table = flat_nmse(r.device.table, r.cpu.table, r.table);
    double input = nmse(r.device.input, r.cpu.input, s->input_dims, count);
    print_message("%-34s %4lld samples: NMSE values %.1e, gradients: network %.1e, table %.1e, input %.1e\n",
                  s->name, (long long)count, values, network, table, input);
    assert_true(values <= FORWARD_NMSE);
    assert_true(training <= FORWARD_NMSE);
    assert_true(network <= GRADIENT_NMSE);
    assert_true(table <= GRADIENT_NMSE);
    assert_true(input <= GRADIENT_NMSE);
    end(&r);
}

static orr_encoding_config grid(orr_grid_kind kind, orr_interpolation interpolation, int levels, int features)
{
    return (orr_encoding_config){.kind = ORR_ENCODING_GRID,
                                 .grid = kind,
                                 .interpolation = interpolation,
                                 .levels = levels,
                                 .features_per_level = features,
                                 .log2_hashmap_size = 7,
                                 .base_resolution = 3,
                                 .per_level_scale = 1.6};
}

// ---- encodings ----

// A network of one matrix: the features reach the outputs, and gradients the features, with nothing in
// between.
static const orr_mlp_config one_matrix = {.width = 16, .hidden_layers = 0};

static void grids_equal_those_of_the_cpu(void **state)
{
    (void)state;
    static const orr_grid_kind kinds[] = {ORR_GRID_HASH, ORR_GRID_DENSE, ORR_GRID_TILED};
    static const char *const names[] = {"hash", "dense", "tiled"};
    static const orr_interpolation interpolations[] = {ORR_LINEAR, ORR_SMOOTHSTEP, ORR_NEAREST};
    int number = 0;
    for (int dims = 2; dims <= 4; dims++) {
        for (int features = 1; features <= 8; features *= 2, number++) {
            char name[64];
            snprintf(name, sizeof name, "%s grid, %d x %d", names[number % 3], dims, features);
            subject s = {.name = name,
                         .encoding = grid(kinds[number % 3], interpolations[number / 3 % 3], 3, features),
                         .input_dims = dims,
                         .network = one_matrix,
                         .output_dims = 5,
                         .weight_scale = 1.0f};
            compare(&s, 70, 0);
        }
    }
}

static void other_encodings_equal_those_of_the_cpu(void **state)
{
    (void)state;
    orr_encoding_config nested[] = {
        {.kind = ORR_ENCODING_SPHERICAL_HARMONICS, .input_dims = 3, .degree = 4},
        grid(ORR_GRID_HASH, ORR_LINEAR, 3, 2),
        {.kind = ORR_ENCODING_IDENTITY, .scale = 2.0f, .offset = -1.0f},
    };
    nested[1].input_dims = 3;
    const subject subjects[] = {
        {"frequency", {.kind = ORR_ENCODING_FREQUENCY, .frequencies = 4}, 3, one_matrix, 3, 1.0f, 1.0f},
        {"triangle wave",
         {.kind = ORR_ENCODING_TRIANGLE_WAVE, .frequencies = 5},
         3,
         one_matrix,
         3,
         1.0f,
         1.0f},
        {"one-blob", {.kind = ORR_ENCODING_ONE_BLOB, .bins = 8}, 2, one_matrix, 3, 0.0f, 1.0f},
        {"harmonics", {.kind = ORR_ENCODING_SPHERICAL_HARMONICS, .degree = 8}, 3, one_matrix, 3, 0.0f, 1.0f},
        {"identity",
         {.kind = ORR_ENCODING_IDENTITY, .scale = 0.5f, .offset = 0.25f},
         7,
         one_matrix,
         3,
         1.0f,
         1.0f},
        {"composite",
         {.kind = ORR_ENCODING_COMPOSITE, .nested = nested, .nested_count = 3},
         8,
         one_matrix,
         3,
         0.0f,
         1.0f},
    };
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        compare(&subjects[i], 70, 0);
    }
}

// ---- networks ----

static subject network_of(const char *name, int inputs, int width, int hidden, orr_activation activation,
                          orr_activation output_activation, int outputs)
{
    return (subject){.name = name,
                     .encoding = {.kind = ORR_ENCODING_IDENTITY, .scale = 2.0f, .offset = -1.0f},
                     .input_dims = inputs,
                     .network = {.width = width,
                                 .hidden_layers = hidden,
                                 .activation = activation,
                                 .output_activation = output_activation},
                     .output_dims = outputs,
                     .weight_scale = 1.0f};
}

// Smooth activations: in a deep network of ReLUs, as many gradients are altogether different as sums are off
// by.
static void networks_of_all_widths_equal_those_of_the_cpu(void **state)
{
    (void)state;
    const subject subjects[] = {
        network_of("16 wide, 1 hidden", 5, 16, 1, ORR_ACTIVATION_SOFTPLUS, ORR_ACTIVATION_NONE, 3),
        network_of("32 wide, 3 hidden", 40, 32, 3, ORR_ACTIVATION_SOFTPLUS, ORR_ACTIVATION_NONE, 17),
        network_of("64 wide, 2 hidden", 32, 64, 2, ORR_ACTIVATION_SOFTPLUS, ORR_ACTIVATION_SIGMOID, 16),
        network_of("128 wide, 2 hidden", 33, 128, 2, ORR_ACTIVATION_SOFTPLUS, ORR_ACTIVATION_NONE, 4),
        network_of("no hidden layers", 50, 16, 0, ORR_ACTIVATION_SOFTPLUS, ORR_ACTIVATION_NONE, 35),
    };
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        compare(&subjects[i], 150, 0);
    }
}

static void all_activations_equal_those_of_the_cpu(void **state)
{
    (void)state;
    static const char *const names[] = {"none", "ReLU",    "leaky ReLU", "SiLU",     "exponential",
                                        "sine", "sigmoid", "squareplus", "softplus", "tanh"};
    for (int a = ORR_ACTIVATION_NONE; a <= ORR_ACTIVATION_TANH; a++) {
        subject s = network_of(names[a], 9, 16, 2, (orr_activation)a, (orr_activation)a, 3);
        s.weight_scale = a == ORR_ACTIVATION_EXPONENTIAL ? 0.3f : 1.0f; // e to the e is beyond halves
        compare(&s, 40, 0);
    }
}

static void any_number_of_samples_is_right(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 63, 64, 65, 127, 129, 400};
    subject s = network_of("sizes", 6, 16, 1, ORR_ACTIVATION_RELU, ORR_ACTIVATION_NONE, 2);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        compare(&s, counts[i], 0);
    }
}

// What does not fit into shared memory waits in L2: activations first, then weights too.
static void a_device_with_little_shared_memory_gets_the_same(void **state)
{
    (void)state;
    subject s = network_of("little shared memory", 20, 32, 4, ORR_ACTIVATION_SILU, ORR_ACTIVATION_NONE, 3);
    results r = begin(&s, 0);
    orr_cuda_shape shape;
    assert_ok(orr_cuda_shape_create(cuda, &r.encoding, &r.mlp, &shape, &error));
    orr_cuda_free((void *)shape.parts);
    int all = shape.training_bytes;
    assert_true(shape.tiles_resident && shape.weights_resident);
    assert_ok(orr_cuda_shape_layout(&shape, all, &error));
    assert_true(!shape.tiles_resident && shape.weights_resident);
    int some = shape.training_bytes;
    assert_ok(orr_cuda_shape_layout(&shape, some, &error));
    assert_false(shape.weights_resident);
    int least = shape.training_bytes;
    orr_error why;
    assert_int_equal(orr_cuda_shape_layout(&shape, least, &why), ORR_ERROR_DEVICE);
    assert_non_null(strstr(why.message, "shared memory"));
    end(&r);
    compare(&s, 300, all);
    compare(&s, 300, some);
    subject wide =
        network_of("little shared memory, 128 wide", 20, 128, 1, ORR_ACTIVATION_TANH, ORR_ACTIVATION_NONE, 3);
    compare(&wide, 130, 80 * 1024);
}

// ---- optimisers ----

static void optimisers_equal_those_of_the_cpu(void **state)
{
    (void)state;
    enum { COUNT = 333, STEPS = 12 };
    for (int kind = 0; kind < 4; kind++) {
        const bool lazy = kind % 2 == 1;
        const orr_optimizer_config config = {.sgd = kind >= 2,
                                             .learning_rate = 1e-2,
                                             .beta1 = 0.9,
                                             .beta2 = 0.99,
                                             .epsilon = 1e-15,
                                             .l2_reg = 1e-3,
                                             .decay_base = 0.5,
                                             .decay_start = 4,
                                             .decay_interval = 3,
                                             .decay_end = 100,
                                             .ema_decay = 0.9};
        orr_optimizer *own;
        orr_cuda_optimizer optimizer;
        assert_ok(orr_optimizer_create(&config, COUNT, lazy, &own, &error));
        assert_ok(orr_cuda_optimizer_create(cuda, &config, COUNT, lazy, &optimizer, &error));
        float *parameters = make_floats(COUNT, 7, -1.0f, 1.0f), *gradients = make_zeros(COUNT),
              *expected = make_zeros(COUNT), *found = make_zeros(COUNT);
        void *on_device, *gradients_on_device, *halves, *average;
        assert_ok(orr_cuda_alloc(cuda, COUNT, sizeof(float), &on_device, &error));
        assert_ok(orr_cuda_alloc(cuda, COUNT, sizeof(float), &gradients_on_device, &error));
        assert_ok(orr_cuda_alloc(cuda, COUNT, sizeof(float), &average, &error));
        assert_ok(orr_cuda_alloc(cuda, COUNT, sizeof(uint16_t), &halves, &error));
        assert_ok(orr_cuda_upload(cuda, on_device, parameters, COUNT * sizeof(float), &error));
        for (int step = 0; step < STEPS; step++) {
            uint32_t touched[8] = {0};
            for (int i = 0; i < COUNT; i++) { // some blocks rest, some parameters of others
                bool moves = (i / 16 + step) % 3 == 0 && i % 5 != 0;
                gradients[i] =
                    moves
                        ? 8.0f * ((float)(orr_random_bits(9, (uint32_t)step, (uint32_t)i) % 2001) / 1000.0f -
                                  1.0f)
                        : 0.0f;
                touched[i / 512] |= moves ? 1u << (i / 16 % 32) : 0u;
            }
            assert_ok(orr_cuda_upload(cuda, gradients_on_device, gradients, COUNT * sizeof(float), &error));
            for (int i = 0; i < COUNT; i++) {
                gradients[i] *= 0.125f;
            }
            orr_optimizer_step(own, jobs, parameters, gradients, touched);
            assert_ok(
                orr_cuda_optimizer_step(&optimizer, on_device, halves, gradients_on_device, 0.125f, &error));
        }
        // roots and powers to a few bits of floats: 1e-6 of numbers around 1
        assert_ok(orr_cuda_download(cuda, found, on_device, COUNT * sizeof(float), &error));
        for (int i = 0; i < COUNT; i++) {
            assert_float_equal(found[i], parameters[i], 2e-6);
        }
        orr_optimizer_average(own, jobs, parameters, expected);
        assert_ok(orr_cuda_optimizer_average(&optimizer, on_device, average, &error));
        assert_ok(orr_cuda_download(cuda, found, average, COUNT * sizeof(float), &error));
        for (int i = 0; i < COUNT; i++) {
            assert_float_equal(found[i], expected[i], 2e-6);
        }
        // states are of the same form: the CPU goes on from the device's, and back to the same bytes
        size_t size = orr_optimizer_state_size(own);
        assert_int_equal(orr_cuda_optimizer_state_size(&optimizer), size);
        char *saved = malloc(size), *again = malloc(size);
        assert_ok(orr_cuda_optimizer_state_save(&optimizer, saved, &error));
        assert_ok(orr_optimizer_state_load(own, saved, size, &error));
        assert_int_equal(orr_optimizer_steps(own), STEPS);
        orr_optimizer_state_save(own, again);
        assert_memory_equal(again, saved, size);
        memset(again, 0, size);
        assert_ok(orr_cuda_optimizer_state_load(&optimizer, saved, size, &error));
        assert_ok(orr_cuda_optimizer_state_save(&optimizer, again, &error));
        assert_memory_equal(again, saved, size);
        orr_error why;
        assert_int_equal(orr_cuda_optimizer_state_load(&optimizer, saved, size - 1, &why), ORR_ERROR_FORMAT);
        free(saved);
        free(again);
        float *memory[] = {parameters, gradients, expected, found};
        for (int i = 0; i < 4; i++) {
            orr_free(memory[i]);
        }
        orr_cuda_free(on_device);
        orr_cuda_free(gradients_on_device);
        orr_cuda_free(average);
        orr_cuda_free(halves);
        orr_cuda_optimizer_destroy(&optimizer);
        orr_optimizer_destroy(own);
    }
}

// Whatever the number of rows, which eight warps divide, and of columns.
static void rows_are_summed_to_the_last(void **state)
{
    (void)state;
    enum { ROWS_MAX = 70, COLUMNS_MAX = 40 };
    static float rows[ROWS_MAX * COLUMNS_MAX], found[COLUMNS_MAX];
    void *on_device, *sums;
    assert_ok(orr_cuda_alloc(cuda, ROWS_MAX * COLUMNS_MAX, sizeof(float), &on_device, &error));
    assert_ok(orr_cuda_alloc(cuda, COLUMNS_MAX, sizeof(float), &sums, &error));
    for (int count = 1; count <= ROWS_MAX; count += count < 10 ? 1 : 6) {
        int columns = count % 2 ? COLUMNS_MAX : 31;
        for (int i = 0; i < count * columns; i++) {
            rows[i] = (float)(i % 11 + 1); // sums are exact
        }
        assert_ok(orr_cuda_upload(cuda, on_device, rows, sizeof rows, &error));
        orr_cuda_sum_rows_launch(cuda->stream, on_device, count, columns, sums);
        assert_ok(orr_cuda_download(cuda, found, sums, sizeof found, &error));
        for (int c = 0; c < columns; c++) {
            float expected = 0.0f;
            for (int r = 0; r < count; r++) {
                expected += rows[r * columns + c];
            }
            assert_float_equal(found[c], expected, 0.0);
        }
    }
    orr_cuda_free(on_device);
    orr_cuda_free(sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_equal_those_of_the_cpu),
        cmocka_unit_test(other_encodings_equal_those_of_the_cpu),
        cmocka_unit_test(networks_of_all_widths_equal_those_of_the_cpu),
        cmocka_unit_test(all_activations_equal_those_of_the_cpu),
        cmocka_unit_test(any_number_of_samples_is_right),
        cmocka_unit_test(a_device_with_little_shared_memory_gets_the_same),
        cmocka_unit_test(optimisers_equal_those_of_the_cpu),
        cmocka_unit_test(rows_are_summed_to_the_last),
    };
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
