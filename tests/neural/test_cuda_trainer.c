// Training on the CUDA device (a GPU, or the emulated one) against training on the CPU.
#include "engine/core/memory.h"
#include "engine/device/cuda_gpu.h"
#include "engine/maths/rng.h"
#include "neural/cuda/model.h"
#include "neural/training/field_trainer.h"
#include "orr_features.h"
#include "tests/support/machine.h"

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 2, CHANNELS = 3 };

static void draw_positions(void *context, uint32_t batch, int first, int count, int total, float *positions)
{
    (void)context, (void)total;
    for (int i = 0; i < DIMS * count; i++) {
        positions[i] = (float)(orr_random_bits(5, batch, (uint32_t)(DIMS * first + i)) >> 40) * 0x1p-24f;
    }
}

// a picture that is a formula, in 0 .. 1; unknown here and there
static void stripes(void *context, const float *positions, float *targets)
{
    (void)context;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        float x = positions[i], y = positions[ORR_SAMPLES + i];
        targets[i] = i % 7 == 0 ? NAN : 0.5f + 0.4f * sinf(12.0f * x);
        targets[ORR_SAMPLES + i] = 0.5f + 0.4f * cosf(9.0f * y);
        targets[2 * ORR_SAMPLES + i] = x * y;
    }
}

static const orr_sample_source source = {
    .draw = draw_positions, .truth = stripes, .batches_kept = 2, .steps_per_batch = 2};

// everything that has state: hashed and dense levels, an average, and a decaying rate
static const char *const adam =
    "{\"encoding\": {\"n_levels\": 4, \"log2_hashmap_size\": 8, \"base_resolution\": 4},"
    " \"network\": {\"n_neurons\": 16, \"n_hidden_layers\": 1},"
    " \"optimizer\": {\"otype\": \"Ema\", \"decay\": 0.9, \"nested\": {\"otype\": \"ExponentialDecay\","
    " \"decay_start\": 20, \"decay_interval\": 10, \"decay_base\": 0.9, \"nested\": {\"otype\": \"Adam\","
    " \"learning_rate\": 1e-2, \"beta1\": 0.9, \"beta2\": 0.99, \"epsilon\": 1e-15, \"l2_reg\": 1e-6}}}}";

typedef struct training {
    orr_field *field;
    orr_field_trainer *trainer;
} training;

static training begin(const char *changes, bool on_device, int batch_size)
{
    training t;
    orr_field_desc desc = {.kind = ORR_FIELD_IMAGE, .desired_resolution = 32.0, .seed = 3};
    assert_ok(orr_isa_choose(&desc.isa, &error));
    assert_ok(orr_field_config_base(ORR_FIELD_IMAGE, &desc.config, &error));
    assert_ok(orr_field_config_parse(adam, "test", &desc.config, &error));
    assert_ok(orr_field_config_parse(changes, "test", &desc.config, &error));
    assert_ok(orr_field_create(&desc, &t.field, &error));
    orr_field_config_free(&desc.config);
    const orr_field_trainer_desc trainer = {.field = t.field,
                                            .jobs = jobs,
                                            .source = source,
                                            .batch_size = batch_size,
                                            .cuda = on_device ? cuda : NULL};
    assert_ok(orr_field_trainer_create(&trainer, &t.trainer, &error));
    return t;
}

static void end(training *t)
{
    orr_field_trainer_destroy(t->trainer);
    orr_field_destroy(t->field);
}

static double step(training *t, int count)
{
    double loss = 0.0;
    for (int i = 0; i < count; i++) {
        assert_ok(orr_field_trainer_step(t->trainer, &loss, &error));
    }
    return loss;
}

static size_t parameters_of(const training *t, float **copy)
{
    const orr_field_parts *parts = orr_field_parts_of(t->field);
    assert_ok(orr_field_trainer_refresh(t->trainer, &error));
    size_t network = (size_t)parts->network.parameter_count, table = (size_t)parts->encoding.parameter_count;
    *copy = orr_alloc(network + table, sizeof **copy);
    assert_non_null(*copy);
    memcpy(*copy, parts->network_parameters, network * sizeof **copy);
    memcpy(*copy + network, parts->table, table * sizeof **copy);
    return network + table;
}

// Plain descent by one step, so that what changes is the gradient. Halves round to 2^-12 of a size, and a
// ReLU here and there is active on one machine and not on the other: 1e-4 in squares is the bar of gradients.
static void every_loss_has_the_gradient_of_the_cpu(void **state)
{
    (void)state;
    static const char *const losses[] = {
        "L2", "RelativeL2", "L1", "Mape", "Smape", "Huber", "LogL1", "CrossEntropy", "BinaryCrossEntropy"};
    for (size_t l = 0; l < sizeof losses / sizeof losses[0]; l++) {
        char changes[400];
        snprintf(changes, sizeof changes,
                 "{\"loss\": {\"otype\": \"%s\"}, \"network\": {\"activation\": \"Softplus\","
                 " \"output_activation\": \"Sigmoid\"},"
                 " \"optimizer\": {\"otype\": \"SGD\", \"learning_rate\": 0.01}}",
                 losses[l]);
        training own = begin(changes, false, 192), device = begin(changes, true, 192);
        float *start, *expected, *found;
        size_t count = parameters_of(&own, &start);
        double loss = step(&own, 1), device_loss = step(&device, 1), difference = 0.0, size = 0.0;
        parameters_of(&own, &expected);
        parameters_of(&device, &found);
        for (size_t i = 0; i < count; i++) {
            double change = (double)expected[i] - (double)start[i],
                   off = (double)found[i] - (double)expected[i];
            difference += off * off;
            size += change * change;
        }
        print_message("%-20s loss %.5f, on the device %.5f; NMSE of the gradient %.1e\n", losses[l], loss,
                      device_loss, difference / size);
        assert_true(fabs(device_loss - loss) <= 1e-3 * loss);
        assert_true(difference <= 1e-4 * size);
        orr_free(start);
        orr_free(expected);
        orr_free(found);
        end(&own);
        end(&device);
    }
}

// Batches of more tiles than the emulated device has thread blocks, so that each adds up several.
static void it_learns_as_well_as_the_cpu(void **state)
{
    (void)state;
    training own = begin("{}", false, 1280), device = begin("{}", true, 1280);
    double first = step(&device, 1), last = step(&device, 79), expected = step(&own, 80);
    print_message("loss %.2e at first, %.2e after 80 steps; the CPU's %.2e\n", first, last, expected);
    assert_true(last <= first / 20.0);
    assert_true(last <= 1.25 * expected); // the same path but for roundings
    end(&own);
    end(&device);
}

// What was learnt on the device is read by the CPU, and by a model on the device: the averages.
static void a_model_moves_between_machines(void **state)
{
    (void)state;
    enum { COUNT = 100, BLOCKS = 2 };
    training t = begin("{}", true, 256);
    step(&t, 20);
    assert_ok(orr_field_trainer_refresh(t.trainer, &error));
    const orr_field_parts *parts = orr_field_parts_of(t.field);
    assert_ptr_not_equal(parts->inference_network, parts->network_parameters);
    orr_cuda_model model;
    assert_ok(orr_cuda_model_create(cuda, &parts->encoding, &parts->network, &model, &error));
    assert_ok(orr_cuda_model_set(&model, parts->inference_network, parts->inference_table, &error));
    float *positions = orr_alloc(BLOCKS * DIMS * ORR_SAMPLES, sizeof *positions);
    float *found = orr_alloc_zero(BLOCKS * CHANNELS * ORR_SAMPLES, sizeof *found);
    float *expected = orr_alloc(CHANNELS * ORR_SAMPLES, sizeof *expected);
    float *scratch = orr_alloc(orr_field_scratch_floats(t.field), sizeof *scratch);
    assert_true(positions && found && expected && scratch);
    draw_positions(NULL, 99, 0, BLOCKS * ORR_SAMPLES, 0, positions);
    assert_ok(orr_cuda_model_values(&model, positions, COUNT, found, &error));
    for (int block = 0; block < BLOCKS; block++) {
        orr_field_values(t.field, positions + block * DIMS * ORR_SAMPLES, scratch, expected);
        for (int i = 0; i < ORR_SAMPLES && block * ORR_SAMPLES + i < COUNT; i++) {
            for (int k = 0; k < CHANNELS; k++) {
                // values around 1, of halves and, on this CPU perhaps, of bf16 with 8 bits
                assert_float_equal(found[(block * CHANNELS + k) * ORR_SAMPLES + i],
                                   expected[k * ORR_SAMPLES + i], 0.02);
            }
        }
    }
    orr_free(positions);
    orr_free(found);
    orr_free(expected);
    orr_free(scratch);
    orr_cuda_model_destroy(&model);
    end(&t);
}

static void a_training_goes_on_on_another_machine(void **state)
{
    (void)state;
    training device = begin("{}", true, 256), own = begin("{}", false, 256), again = begin("{}", true, 256);
    double before = step(&device, 30);
    size_t size = orr_field_trainer_state_size(device.trainer);
    assert_int_equal(orr_field_trainer_state_size(own.trainer), size);
    void *saved = malloc(size), *loaded = malloc(size);
    assert_ok(orr_field_trainer_state_save(device.trainer, saved, &error));
    assert_ok(orr_field_trainer_state_load(own.trainer, saved, size, &error));
    assert_ok(orr_field_trainer_state_load(again.trainer, saved, size, &error));
    assert_ok(orr_field_trainer_state_save(own.trainer, loaded, &error));
    assert_memory_equal(loaded, saved, size);
    assert_ok(orr_field_trainer_state_save(again.trainer, loaded, &error));
    assert_memory_equal(loaded, saved, size);
    assert_int_equal(orr_field_trainer_steps(own.trainer), 30);
    double next = step(&device, 1), next_own = step(&own, 1), next_again = step(&again, 1);
    assert_true(next_again == next); // the same halves in the same order
    assert_true(fabs(next_own - next) <= 0.02 * next);
    assert_true(step(&own, 20) < before && step(&device, 20) < before);
    orr_error why;
    assert_int_equal(orr_field_trainer_state_load(again.trainer, saved, size - 1, &why), ORR_ERROR_FORMAT);
    free(saved);
    free(loaded);
    end(&device);
    end(&own);
    end(&again);
}

#if ORR_CUDA_EMULATED
// A call that fails leaves nothing behind, whichever it is, and the field can go on on the CPU.
static void a_device_that_fails_leaves_the_field_to_the_cpu(void **state)
{
    (void)state;
    training own = begin("{}", false, 128);
    const orr_field_trainer_desc desc = {
        .field = own.field, .jobs = jobs, .source = source, .batch_size = 128, .cuda = cuda};
    settings *device = current_settings();
    size_t allocations = live_allocations();
    orr_field_trainer *trainer;
    orr_error why;
    int failures = 0;
    for (int call = 1;; call++, failures++) {
        device->fail_call = call;
        device->fail_with = cudaErrorMemoryAllocation;
        orr_result result = orr_field_trainer_create(&desc, &trainer, &why);
        if (result == ORR_OK) {
            break;
        }
        assert_null(trainer);
        assert_non_null(strstr(why.message, "out of memory"));
        assert_int_equal(live_allocations(), allocations);
    }
    device->fail_call = 0;
    assert_true(failures > 30);
    orr_field_trainer_destroy(trainer);
    assert_int_equal(live_allocations(), allocations);
    device->memory = 1 << 20;
    assert_int_equal(
        orr_field_trainer_create(
            &(orr_field_trainer_desc){
                .field = own.field, .jobs = jobs, .source = source, .batch_size = 1 << 17, .cuda = cuda},
            &trainer, &why),
        ORR_ERROR_MEMORY);
    print_message("%s\n", why.message);
    assert_non_null(strstr(why.message, "MiB free"));
    device->memory = 0;
    step(&own, 1);
    end(&own);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_loss_has_the_gradient_of_the_cpu),
        cmocka_unit_test(it_learns_as_well_as_the_cpu),
        cmocka_unit_test(a_model_moves_between_machines),
        cmocka_unit_test(a_training_goes_on_on_another_machine),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(a_device_that_fails_leaves_the_field_to_the_cpu),
#endif
    };
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
