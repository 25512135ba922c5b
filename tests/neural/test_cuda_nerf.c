// Radiance fields trained on the CUDA device (a GPU, or the emulated one) against the CPU: the same gradients
// to the rounding of halves, and states that move between the two.
#include "engine/core/memory.h"
#include "neural/training/nerf_trainer.h"
#include "tests/support/machine.h"
#include "tests/support/scenes/small_nerf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static photos pictures;

typedef struct training {
    orr_field *field;
    orr_nerf_trainer *trainer;
} training;

static training begin(const char *changes, bool on_device, bool exposures)
{
    training t = {.field = small_field(1, false, changes)};
    const orr_nerf_trainer_desc desc = {.capture = &pictures.capture,
                                        .images = pictures.indices,
                                        .image_count = SPHERE_PHOTOS_LEARNED,
                                        .jobs = jobs,
                                        .target_samples = 1 << 10,
                                        .exposures = exposures,
                                        .seed = 3,
                                        .cuda = on_device ? cuda : NULL};
    assert_ok(orr_nerf_trainer_create(t.field, &desc, &t.trainer, &error));
    return t;
}

static void end(training *t)
{
    orr_nerf_trainer_destroy(t->trainer);
    orr_field_destroy(t->field);
}

// the mean loss of the last quarter of the steps
static double step(training *t, int count)
{
    double sum = 0.0;
    int first = count - (count + 3) / 4;
    for (int i = 0; i < count; i++) {
        orr_nerf_step_report report;
        assert_ok(orr_nerf_trainer_step(t->trainer, &report, &error));
        sum += i >= first ? report.loss : 0.0;
    }
    return sum / (count - first);
}

// How two fields' parameters differ, in squares, to how much they changed.
static double difference(const float *start, const float *expected, const float *found, int64_t count)
{
    double off = 0.0, size = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double d = (double)found[i] - (double)expected[i], change = (double)expected[i] - (double)start[i];
        off += d * d;
        size += change * change;
    }
    assert_true(size > 0.0);
    return off / size;
}

static float *copy(const float *from, int64_t count)
{
    float *to = malloc((size_t)count * sizeof *to);
    assert_non_null(to);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

typedef struct parameters {
    float *network, *rgb_network, *table, *exposures;
} parameters;

static parameters copy_parameters(const training *t)
{
    const orr_field_parts *p = orr_field_parts_of(t->field);
    return (parameters){copy(p->network_parameters, p->network.parameter_count),
                        copy(p->rgb_network_parameters, p->rgb_network.parameter_count),
                        copy(p->table, p->encoding.parameter_count),
                        copy(orr_nerf_trainer_exposures(t->trainer), 3 * SPHERE_PHOTOS_LEARNED)};
}

static void drop_parameters(parameters *p)
{
    free(p->network);
    free(p->rgb_network);
    free(p->table);
    free(p->exposures);
}

static void take_parameters(const training *to, const training *from)
{
    const orr_field_parts *a = orr_field_parts_of(to->field), *b = orr_field_parts_of(from->field);
    memcpy(a->network_parameters, b->network_parameters, (size_t)a->network.parameter_count * sizeof(float));
    memcpy(a->rgb_network_parameters, b->rgb_network_parameters,
           (size_t)a->rgb_network.parameter_count * sizeof(float));
    memcpy(a->table, b->table, (size_t)a->encoding.parameter_count * sizeof(float));
}

static void compare_gradients(const training *learnt, const char *loss)
{
    char changes[200];
    snprintf(changes, sizeof changes,
             "{\"loss\": {\"otype\": \"%s\"}, \"optimizer\": {\"otype\": \"SGD\", \"learning_rate\": 0.01}}",
             loss);
    training own = begin(changes, false, true), device = begin(changes, true, true);
    take_parameters(&own, learnt);
    step(&own, 33); // the grid is not updated before step 33
    parameters start = copy_parameters(&own);
    size_t size;
    void *state = training_state(own.trainer, &size);
    assert_int_equal(orr_nerf_trainer_state_size(device.trainer), size);
    assert_ok(orr_nerf_trainer_state_load(device.trainer, state, size, &error));
    double expected_loss = step(&own, 1), found_loss = step(&device, 1);
    orr_free(state);
    state = training_state(device.trainer, &size); // and the field has what was learnt
    parameters expected = copy_parameters(&own), found = copy_parameters(&device);
    const orr_field_parts *p = orr_field_parts_of(own.field);
    double network = difference(start.network, expected.network, found.network, p->network.parameter_count);
    double rgb = difference(start.rgb_network, expected.rgb_network, found.rgb_network,
                            p->rgb_network.parameter_count);
    double table = difference(start.table, expected.table, found.table, p->encoding.parameter_count);
    double gains =
        difference(start.exposures, expected.exposures, found.exposures, 3 * SPHERE_PHOTOS_LEARNED);
    print_message("%-10s loss %.6f, on the device %.6f; NMSE of gradients: network %.1e, colours %.1e, table "
                  "%.1e, exposures %.1e\n",
                  loss, expected_loss, found_loss, network, rgb, table, gains);
    assert_true(fabs(found_loss - expected_loss) <= 1e-3 * expected_loss);
    assert_true(network <= 1e-3 && rgb <= 1e-3 && table <= 1e-3 && gains <= 1e-3);
    orr_free(state);
    drop_parameters(&start);
    drop_parameters(&expected);
    drop_parameters(&found);
    end(&own);
    end(&device);
}

// Plain descent by one step from a field that the CPU has begun to learn, when the grid is not updated, so
// that what changes is the gradient. Halves round to 2^-12 of a size, densities among them, whose roundings
// add up along a ray; and a ReLU here and there is active on one machine and not on the other: 1e-3 in
// squares is the bar.
static void a_step_has_the_gradients_of_the_cpu(void **state)
{
    (void)state;
    training learnt = begin("{}", false, true);
    step(&learnt, 40);
    compare_gradients(&learnt, "Huber");
    end(&learnt);
}

static void it_learns_as_the_cpu_does(void **state)
{
    (void)state;
    enum { STEPS = 48 };
    training own = begin("{}", false, false), device = begin("{}", true, false);
    double first = step(&device, 1), last = step(&device, STEPS - 1), expected = step(&own, STEPS);
    print_message("loss %.4f at first, %.4f after %d steps; the CPU's %.4f\n", first, last, STEPS, expected);
    assert_true(last <= first / 1.5);
    assert_true(last <= 1.4 * expected); // the same rays; updates of its grid sample 1/32 of the positions
    assert_ok(orr_nerf_trainer_refresh(device.trainer, &error));
    assert_ptr_not_equal(orr_field_parts_of(device.field)->inference_table,
                         orr_field_parts_of(device.field)->table);
    const orr_occupancy *grid = orr_nerf_trainer_occupancy(device.trainer);
    assert_in_range(grid->sampled_count, 1, grid->live_count);
    end(&own);
    end(&device);
}

static void a_training_goes_on_on_another_machine(void **state)
{
    (void)state;
    training device = begin("{}", true, true), own = begin("{}", false, true),
             again = begin("{}", true, true);
    step(&device, 5);
    size_t size, loaded_size;
    void *saved = training_state(device.trainer, &size);
    assert_ok(orr_nerf_trainer_state_load(own.trainer, saved, size, &error));
    assert_ok(orr_nerf_trainer_state_load(again.trainer, saved, size, &error));
    training *const others[] = {&own, &again};
    for (int i = 0; i < 2; i++) {
        void *loaded = training_state(others[i]->trainer, &loaded_size);
        assert_int_equal(loaded_size, size);
        assert_memory_equal(loaded, saved, size);
        assert_int_equal(orr_nerf_trainer_steps(others[i]->trainer), 5);
        orr_free(loaded);
    }
    double next = step(&device, 4), next_own = step(&own, 4), next_again = step(&again, 4);
    assert_true(fabs(next_again - next) <= 1e-3 * next); // the order of atomics is not fixed on a GPU
    assert_true(fabs(next_own - next) <= 0.3 * next);    // updates of the grid sample other positions
    orr_error why;
    assert_int_equal(orr_nerf_trainer_state_load(again.trainer, saved, size - 1, &why), ORR_ERROR_FORMAT);
    orr_free(saved);
    end(&device);
    end(&own);
    end(&again);
}

static void proposals_are_for_the_cpu(void **state)
{
    (void)state;
    orr_field_desc desc = {.kind = ORR_FIELD_NERF, .unbounded = true, .isa = orr_isa_best()};
    assert_ok(orr_nerf_training_config(&desc.config, &error));
    orr_field *field;
    assert_ok(orr_field_create(&desc, &field, &error));
    orr_field_config_free(&desc.config);
    const orr_nerf_trainer_desc train = {.capture = &pictures.capture,
                                         .images = pictures.indices,
                                         .image_count = SPHERE_PHOTOS_LEARNED,
                                         .jobs = jobs,
                                         .cuda = cuda};
    orr_nerf_trainer *trainer;
    orr_error why;
    assert_int_equal(orr_nerf_trainer_create(field, &train, &trainer, &why), ORR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(why.message, "proposals"));
    orr_field_destroy(field);
}

int main(void)
{
    take_photos(&sphere_photos, &pictures);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_has_the_gradients_of_the_cpu),
        cmocka_unit_test(it_learns_as_the_cpu_does),
        cmocka_unit_test(a_training_goes_on_on_another_machine),
        cmocka_unit_test(proposals_are_for_the_cpu),
    };
    int failures = cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
    drop_photos(&pictures);
    return failures;
}
