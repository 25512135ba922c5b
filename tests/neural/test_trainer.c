// Tests of the training step: it follows the gradient, learns, and gives the same bits however many threads
// there are and wherever it was interrupted.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/network/loss_kind.h"
#include "neural/training/field_trainer.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 2, CHANNELS = 3 };

// ---- a picture that is a formula ----

static void draw_positions(void *context, uint32_t batch, int first, int count, int total, float *positions)
{
    (void)context, (void)total;
    for (int i = 0; i < count; i++) {
        uint64_t bits = orr_random_bits(5, batch, (uint32_t)(first + i));
        positions[DIMS * i] = (float)(uint32_t)(bits >> 40) * 0x1p-24f;
        positions[DIMS * i + 1] = (float)((uint32_t)bits >> 8) * 0x1p-24f;
    }
}

static void stripes(void *context, const float *positions, float *targets)
{
    (void)context;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        float x = positions[i], y = positions[ORR_SAMPLES + i];
        targets[i] = 0.5f + 0.4f * sinf(12.0f * x);
        targets[ORR_SAMPLES + i] = 0.5f + 0.4f * cosf(9.0f * y);
        targets[2 * ORR_SAMPLES + i] = x * y;
    }
}

static void half_unknown(void *context, const float *positions, float *targets)
{
    stripes(context, positions, targets);
    for (int i = 0; i < ORR_SAMPLES; i += 2) {
        targets[i] = NAN;
    }
}

typedef struct training {
    orr_jobs *jobs;
    orr_field *field;
    orr_field_trainer *trainer;
} training;

static orr_field *make_field(const char *changes)
{
    orr_field_desc desc = {.kind = ORR_FIELD_IMAGE, .desired_resolution = 64.0, .seed = 3};
    assert_ok(orr_isa_choose(&desc.isa, &error));
    assert_ok(orr_field_config_base(ORR_FIELD_IMAGE, &desc.config, &error));
    // hashed and dense levels, an average to be kept, and a decaying rate: everything that has state
    assert_ok(orr_field_config_parse(
        "{\"encoding\": {\"n_levels\": 6, \"log2_hashmap_size\": 9, \"base_resolution\": 4},"
        " \"network\": {\"n_neurons\": 32, \"n_hidden_layers\": 1},"
        " \"optimizer\": {\"otype\": \"Ema\", \"decay\": 0.9, \"nested\": {\"otype\": \"ExponentialDecay\","
        " \"decay_start\": 20, \"decay_interval\": 10, \"decay_base\": 0.9, \"nested\": {\"otype\": \"Adam\","
        " \"learning_rate\": 1e-2, \"beta1\": 0.9, \"beta2\": 0.99, \"epsilon\": 1e-15, \"l2_reg\": 1e-6}}}}",
        "test", &desc.config, &error));
    assert_ok(orr_field_config_parse(changes, "test", &desc.config, &error));
    orr_field *field;
    assert_ok(orr_field_create(&desc, &field, &error));
    orr_field_config_free(&desc.config);
    return field;
}

static training begin(int threads, int batch_size, orr_sample_source source)
{
    training t;
    assert_ok(orr_jobs_create(threads, NULL, NULL, &t.jobs, &error));
    t.field = make_field("{}");
    const orr_field_trainer_desc desc = {
        .field = t.field, .jobs = t.jobs, .source = source, .batch_size = batch_size};
    assert_ok(orr_field_trainer_create(&desc, &t.trainer, &error));
    return t;
}

static void end(training *t)
{
    orr_field_trainer_destroy(t->trainer);
    orr_field_destroy(t->field);
    orr_jobs_destroy(t->jobs);
}

static double step(training *t, int count)
{
    double loss = 0.0;
    for (int i = 0; i < count; i++) {
        assert_ok(orr_field_trainer_step(t->trainer, &loss, &error));
    }
    return loss;
}

static const orr_sample_source plain = {
    .draw = draw_positions, .truth = stripes, .batches_kept = 1, .steps_per_batch = 1};
static const orr_sample_source kept = {
    .draw = draw_positions, .truth = stripes, .batches_kept = 3, .steps_per_batch = 2};

// everything the trainer knows, to be compared
static void *take_state(const training *t, size_t *size)
{
    *size = orr_field_trainer_state_size(t->trainer);
    void *state = malloc(*size);
    assert_non_null(state);
    assert_ok(orr_field_trainer_state_save(t->trainer, state, &error));
    return state;
}

static void assert_same_state(const training *t, const void *state, size_t size)
{
    size_t own_size;
    void *own = take_state(t, &own_size);
    assert_int_equal(own_size, size);
    assert_memory_equal(own, state, size);
    free(own);
}

// ---- tests ----

static void the_loss_falls_and_inference_sees_what_was_learnt(void **state)
{
    (void)state;
    training t = begin(2, 4096, plain);
    double first = step(&t, 1), last = step(&t, 299);
    // at first everything is near 0: the mean square of the picture, 0.25 or so. The stripes are smooth: 64
    // vertices a side interpolate sin 12x to (12 / 64)^2 / 8 = 4e-3 of its size, which is 1e-5 in squares
    assert_true(first > 0.1 && last < 1e-4);
    assert_ok(orr_field_trainer_refresh(t.trainer, &error));
    _Alignas(ORR_ALIGNMENT) float positions[DIMS * ORR_SAMPLES], output[CHANNELS * ORR_SAMPLES],
        truth[CHANNELS * ORR_SAMPLES];
    for (int i = 0; i < ORR_SAMPLES; i++) {
        positions[i] = ((float)(i % 8) + 0.5f) / 8.0f;
        positions[ORR_SAMPLES + i] = ((float)(i / 8) + 0.5f) / 8.0f;
    }
    float *scratch = orr_alloc(orr_field_scratch_floats(t.field), sizeof *scratch);
    orr_field_values(t.field, positions, scratch, output);
    orr_free(scratch);
    stripes(NULL, positions, truth);
    assert_true(psnr(output, truth, CHANNELS * ORR_SAMPLES) >
                38.0); // 1e-4 is 40 dB; the average lags a little
    assert_int_equal(orr_field_trainer_steps(t.trainer), 300);
    assert_int_equal(orr_field_trainer_profile(t.trainer)->count, 4);
    end(&t);
}

// One step of gradient descent at rate 1 from features of a size that gives clear gradients; parameter number
// `nudged` (network first, then table) starts `nudge` off. Returns the loss before the step.
static double descend(int64_t nudged, float nudge, float *before, float *after)
{
    training t = {
        .field = make_field("{\"optimizer\": {\"otype\": \"SGD\", \"learning_rate\": 1, \"l2_reg\": 0}}")};
    const orr_field_parts *parts = orr_field_parts_of(t.field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] = (float)((i * 7919) % 1000) / 1000.0f - 0.5f;
    }
    int64_t in_network = parts->network.parameter_count;
    float *parameter =
        nudged < in_network ? parts->network_parameters + nudged : parts->table + nudged - in_network;
    *before = *parameter;
    *parameter += nudge;
    assert_ok(orr_jobs_create(1, NULL, NULL, &t.jobs, &error));
    const orr_field_trainer_desc desc = {
        .field = t.field, .jobs = t.jobs, .source = plain, .batch_size = 256};
    assert_ok(orr_field_trainer_create(&desc, &t.trainer, &error));
    double loss = step(&t, 1);
    *after = *parameter;
    end(&t);
    return loss;
}

static void a_step_goes_down_the_gradient_of_the_loss(void **state)
{
    (void)state;
    orr_field *field = make_field("{}");
    const orr_field_parts *parts = orr_field_parts_of(field);
    int64_t count = parts->network.parameter_count + parts->encoding.parameter_count;
    orr_field_destroy(field);
    const float nudge = 2e-3f;
    double wrong = 0.0, whole = 0.0;
    int clear = 0;
    for (int64_t k = 0; k < count; k += 17) {
        float before, after, unused;
        descend(k, 0.0f, &before, &after);
        double up = descend(k, nudge, &unused, &unused), down = descend(k, -nudge, &unused, &unused);
        double slope = (up - down) / (2.0 * (double)nudge), stepped = (double)before - (double)after;
        wrong += (slope - stepped) * (slope - stepped);
        whole += slope * slope;
        clear += fabs(slope) > 1e-4;
    }
    // single precision: the loss has 7 digits and changes by 1e-4 of itself; units that switch on between the
    // two sides add about as much
    assert_true(clear > 50 && wrong < 1e-5 * whole);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    void *first = NULL;
    size_t size = 0;
    for (int threads = 1; threads <= 3; threads++) {
        training t =
            begin(threads, 5000, kept); // several chunks, the last one odd; rounded up to whole blocks
        assert_int_equal(orr_field_trainer_batch_size(t.trainer), 79 * ORR_SAMPLES);
        step(&t, 12);
        if (threads == 1) {
            first = take_state(&t, &size);
        } else {
            assert_same_state(&t, first, size);
        }
        end(&t);
    }
    free(first);
}

static void a_resumed_training_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    size_t size, half_size;
    training whole = begin(1, 1024, kept), half = begin(2, 1024, kept), resumed = begin(3, 1024, kept);
    step(&whole, 40);
    step(&half, 17);
    void *at_half = take_state(&half, &half_size), *at_end = take_state(&whole, &size);
    step(&resumed, 3); // whatever was there before
    assert_ok(orr_field_trainer_state_load(resumed.trainer, at_half, half_size, &error));
    assert_same_state(&resumed, at_half, half_size);
    step(&resumed, 23);
    assert_same_state(&resumed, at_end, size);

    orr_error why;
    assert_int_equal(orr_field_trainer_state_load(resumed.trainer, at_half, half_size - 1, &why),
                     ORR_ERROR_FORMAT);
    training other = begin(1, 2048, kept);
    assert_int_equal(orr_field_trainer_state_load(other.trainer, at_half, half_size, &why), ORR_ERROR_FORMAT);
    end(&other);
    free(at_half);
    free(at_end);
    end(&whole);
    end(&half);
    end(&resumed);
}

static void samples_without_a_truth_teach_nothing(void **state)
{
    (void)state;
    orr_sample_source source = plain;
    source.truth = half_unknown;
    training t = begin(1, 1024, source);
    assert_true(isfinite(step(&t, 50)));
    const orr_field_parts *parts = orr_field_parts_of(t.field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        assert_true(isfinite(parts->table[i]));
    }
    end(&t);
}

// Value and derivative of a loss as tiny-cuda-nn defines it.
static real2 expected_loss(orr_loss_kind kind, double p, double t)
{
    double d = p - t, size = fabs(d), sign = d > 0.0 ? 1.0 : -1.0, weight = 1.0;
    double value = d * d, slope = 2.0 * d, q = 1.0 - p;
    switch (kind) {
    case ORR_LOSS_L2:
        break;
    case ORR_LOSS_RELATIVE_L2:
        weight = 1.0 / (p * p + 0.01);
        break;
    case ORR_LOSS_L1:
    case ORR_LOSS_MAPE:
    case ORR_LOSS_SMAPE:
        value = size, slope = sign;
        weight = kind == ORR_LOSS_MAPE    ? 1.0 / (fabs(t) + 0.01)
                 : kind == ORR_LOSS_SMAPE ? 1.0 / (0.5 * (fabs(p) + fabs(t)) + 0.01)
                                          : 1.0;
        break;
    case ORR_LOSS_HUBER:
        value = size > 0.1 ? size - 0.05 : 5.0 * d * d;
        slope = size > 0.1 ? sign : 10.0 * d;
        weight = 0.2;
        break;
    case ORR_LOSS_LOG_L1:
        value = log(1.0 + size), slope = sign / (1.0 + size);
        break;
    case ORR_LOSS_CROSS_ENTROPY:
        value = -t * log(p), slope = -t / p;
        break;
    case ORR_LOSS_BINARY_CROSS_ENTROPY:
        value = -t * log(p) - (1.0 - t) * log(q), slope = (p - t) / (p * q);
        break;
    }
    return (real2){(float)(value * weight), (float)(slope * weight)};
}

static void losses_are_as_defined(void **state)
{
    (void)state;
    static const float values[] = {0.03f, 0.2f, 0.25f, 0.6f, 0.97f};
    for (int kind = ORR_LOSS_L2; kind <= ORR_LOSS_BINARY_CROSS_ENTROPY; kind++) {
        for (int i = 0; i < 25; i++) {
            float p = values[i / 5], t = values[i % 5];
            if (p == t) {
                continue; // a kink of some
            }
            real2 found = loss_at((orr_loss_kind)kind, p, t);
            real2 expected = expected_loss((orr_loss_kind)kind, (double)p, (double)t);
            assert_float_equal(found.x, expected.x, 1e-6f + 1e-5f * fabsf(expected.x));
            assert_float_equal(found.y, expected.y, 1e-6f + 1e-5f * fabsf(expected.y));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_falls_and_inference_sees_what_was_learnt),
        cmocka_unit_test(losses_are_as_defined),
        cmocka_unit_test(a_step_goes_down_the_gradient_of_the_loss),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_resumed_training_goes_on_to_the_same_bits),
        cmocka_unit_test(samples_without_a_truth_teach_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
