// Tests of neural/optimizer: textbook Adam, SGD, decay and average in double; laziness; the losses.
#define ORR_SCALAR
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/network/loss_kind.h"
#include "neural/network/optimizer.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { COUNT = 1003, STEPS = 60 }; // not a multiple of a block

static const orr_optimizer_config adam = {.learning_rate = 0.01,
                                          .beta1 = 0.9,
                                          .beta2 = 0.99,
                                          .epsilon = 1e-10,
                                          .l2_reg = 0.01,
                                          .decay_base = 0.5,
                                          .decay_start = 20,
                                          .decay_interval = 10,
                                          .decay_end = 35,
                                          .ema_decay = 0.9};

// The textbook, one parameter.
typedef struct textbook {
    double weight, first, second, average;
    int steps, total;
} textbook;

static void textbook_step(textbook *t, const orr_optimizer_config *c, double gradient, double l2, bool lazy)
{
    double rate = c->learning_rate;
    for (int s = c->decay_start; s <= t->total && s <= c->decay_end; s += c->decay_interval) {
        rate *= c->decay_base;
    }
    t->total++;
    if (!lazy || gradient != 0.0) {
        gradient += l2 * t->weight;
        t->steps++;
        t->first = c->beta1 * t->first + (1.0 - c->beta1) * gradient;
        t->second = c->beta2 * t->second + (1.0 - c->beta2) * gradient * gradient;
        double bias = sqrt(1.0 - pow(c->beta2, t->steps)) / (1.0 - pow(c->beta1, t->steps));
        double step = c->sgd ? gradient : bias * t->first / (sqrt(t->second) + c->epsilon);
        t->weight -= rate * step;
    }
    // the average with its own bias removed, at every step
    double old = 1.0 - pow(c->ema_decay, t->total - 1), new = 1.0 - pow(c->ema_decay, t->total);
    t->average = (t->average * c->ema_decay * old + t->weight * (1.0 - c->ema_decay)) / new;
}

typedef struct training {
    orr_optimizer *optimizer;
    orr_jobs *jobs;
    float weights[COUNT], gradients[COUNT], average[COUNT];
    uint32_t touched[(COUNT + 511) / 512];
    bool lazy;
} training;

static void training_start(training *t, const orr_optimizer_config *config, bool lazy, int threads)
{
    memset(t, 0, sizeof *t);
    assert_ok(orr_optimizer_create(config, COUNT, lazy, &t->optimizer, &error));
    t->lazy = lazy;
    assert_ok(orr_jobs_create(threads, NULL, NULL, &t->jobs, &error));
    for (int i = 0; i < COUNT; i++) {
        t->weights[i] = (float)i / COUNT - 0.5f;
    }
}

static void training_end(training *t)
{
    orr_optimizer_destroy(t->optimizer);
    orr_jobs_destroy(t->jobs);
}

// a third of the parameters gets a gradient, in runs; those from 512 to 767 never
static float gradient_at(int step, int i)
{
    orr_rng rng = {.seed = 3, .stream = (uint32_t)step, .counter = (uint64_t)i};
    bool zero = (i / 16 + step) % 3 != 0 || i % 5 == 0 || (i >= 512 && i < 768);
    return zero ? 0.0f : orr_rng_range(&rng, -1.0f, 1.0f);
}

static void training_step(training *t, int step)
{
    for (int i = 0; i < COUNT; i++) {
        t->gradients[i] = gradient_at(step, i);
        t->touched[i / 512] |= t->gradients[i] != 0.0f ? 1u << (i / 16 % 32) : 0u;
    }
    orr_optimizer_step(t->optimizer, t->jobs, t->weights, t->gradients, t->touched);
    for (int i = 0; i < COUNT; i++) {
        assert_true(t->gradients[i] == 0.0f);
    }
    for (int w = 0; w < (COUNT + 511) / 512; w++) {
        // used marks are gone; an optimiser that is not lazy does not read marks
        assert_true(!t->lazy || t->touched[w] == 0);
        t->touched[w] = 0;
    }
}

static void compare_with_textbook(const orr_optimizer_config *config, bool lazy)
{
    static training t;
    static textbook book[COUNT];
    training_start(&t, config, lazy, 2);
    for (int i = 0; i < COUNT; i++) {
        book[i] = (textbook){.weight = (double)t.weights[i]};
    }
    for (int step = 0; step < STEPS; step++) {
        training_step(&t, step);
        for (int i = 0; i < COUNT; i++) {
            textbook_step(&book[i], config, (double)gradient_at(step, i), lazy ? 0.0 : config->l2_reg, lazy);
        }
    }
    assert_int_equal(orr_optimizer_steps(t.optimizer), STEPS);
    orr_optimizer_average(t.optimizer, t.jobs, t.weights, t.average);
    for (int i = 0; i < COUNT; i++) {
        // 60 steps of 0.01, each rounded to 2^-24 of a weight up to 1
        assert_true(fabs((double)t.weights[i] - book[i].weight) < 4e-6);
        double average = config->ema_decay > 0.0 ? book[i].average : book[i].weight;
        assert_true(fabs((double)t.average[i] - average) < 4e-6);
    }
    training_end(&t);
}

static void adam_follows_the_textbook(void **state)
{
    (void)state;
    compare_with_textbook(&adam, false);
    compare_with_textbook(&adam, true);
}

static void sgd_follows_the_textbook(void **state)
{
    (void)state;
    orr_optimizer_config sgd = adam;
    sgd.sgd = true;
    sgd.ema_decay = 0.0;
    compare_with_textbook(&sgd, false);
    compare_with_textbook(&sgd, true);
}

static void what_has_no_gradient_keeps_its_bits(void **state)
{
    (void)state;
    static training t;
    training_start(&t, &adam, true, 1);
    static float before[COUNT];
    memcpy(before, t.weights, sizeof before);
    int moved = 0;
    for (int step = 0; step < STEPS; step++) {
        static float last[COUNT];
        memcpy(last, t.weights, sizeof last);
        training_step(&t, step);
        for (int i = 0; i < COUNT; i++) {
            assert_true(gradient_at(step, i) != 0.0f || t.weights[i] == last[i]);
            moved += t.weights[i] != last[i];
        }
    }
    assert_true(moved > COUNT * STEPS / 6); // a fifth has a gradient
    orr_optimizer_average(t.optimizer, t.jobs, t.weights, t.average);
    for (int i = 512; i < 768; i++) {
        assert_true(t.weights[i] == before[i]);
        assert_true(t.average[i] == before[i]); // the average of what never moved, to the bit
    }
    // a gradient in a block that is not marked is not seen
    t.gradients[600] = 1.0f;
    orr_optimizer_step(t.optimizer, t.jobs, t.weights, t.gradients, t.touched);
    assert_true(t.weights[600] == before[600]);
    assert_true(t.gradients[600] == 1.0f);
    training_end(&t);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    enum { MANY = 70000 }; // more than one job
    float *weights[2];
    for (int run = 0; run < 2; run++) {
        orr_optimizer *optimizer;
        orr_jobs *jobs;
        assert_ok(orr_optimizer_create(&adam, MANY, false, &optimizer, &error));
        assert_ok(orr_jobs_create(run ? 3 : 1, NULL, NULL, &jobs, &error));
        weights[run] = orr_alloc_zero(MANY, sizeof(float));
        float *gradients = orr_alloc(MANY, sizeof *gradients);
        assert_true(weights[run] && gradients);
        for (int step = 0; step < 3; step++) {
            for (int i = 0; i < MANY; i++) {
                gradients[i] = gradient_at(step, i);
            }
            orr_optimizer_step(optimizer, jobs, weights[run], gradients, NULL);
        }
        orr_free(gradients);
        orr_optimizer_destroy(optimizer);
        orr_jobs_destroy(jobs);
    }
    assert_memory_equal(weights[0], weights[1], MANY * sizeof(float));
    orr_free(weights[0]);
    orr_free(weights[1]);
}

static void a_resumed_training_has_the_same_bits(void **state)
{
    (void)state;
    static training whole, first, second;
    training_start(&whole, &adam, true, 1);
    training_start(&first, &adam, true, 1);
    for (int step = 0; step < STEPS; step++) {
        training_step(&whole, step);
        if (step < STEPS / 2) {
            training_step(&first, step);
        }
    }
    // reading the average before saving changes nothing
    orr_optimizer_average(first.optimizer, first.jobs, first.weights, first.average);
    size_t size = orr_optimizer_state_size(first.optimizer);
    char *saved = orr_alloc(size, 1);
    assert_non_null(saved);
    orr_optimizer_state_save(first.optimizer, saved);
    training_start(&second, &adam, true, 3);
    memcpy(second.weights, first.weights, sizeof second.weights);
    assert_ok(orr_optimizer_state_load(second.optimizer, saved, size, &error));
    for (int step = STEPS / 2; step < STEPS; step++) {
        training_step(&second, step);
    }
    assert_memory_equal(whole.weights, second.weights, sizeof whole.weights);
    orr_optimizer_average(whole.optimizer, whole.jobs, whole.weights, whole.average);
    orr_optimizer_average(second.optimizer, second.jobs, second.weights, second.average);
    assert_memory_equal(whole.average, second.average, sizeof whole.average);
    orr_error why;
    assert_int_equal(orr_optimizer_state_load(second.optimizer, saved, size - 1, &why), ORR_ERROR_FORMAT);
    assert_int_equal(orr_optimizer_state_load(second.optimizer, saved, 3, &why), ORR_ERROR_FORMAT);
    // counts beyond the tables are clamped
    memset(saved + 16, 0xff, size - 16);
    assert_ok(orr_optimizer_state_load(second.optimizer, saved, size, &error));
    training_step(&second, STEPS);
    orr_free(saved);
    training_end(&whole);
    training_end(&first);
    training_end(&second);
}

static void nothing_to_optimise_is_fine(void **state)
{
    (void)state;
    orr_optimizer *optimizer;
    orr_jobs *jobs;
    assert_ok(orr_optimizer_create(&adam, 0, true, &optimizer, &error));
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    orr_optimizer_step(optimizer, jobs, NULL, NULL, NULL);
    assert_int_equal(orr_optimizer_steps(optimizer), 1);
    orr_optimizer_destroy(optimizer);
    orr_jobs_destroy(jobs);
    orr_optimizer_config bad = adam;
    orr_error why;
    bad.beta2 = 1.0;
    assert_int_equal(orr_optimizer_create(&bad, 1, true, &optimizer, &why), ORR_ERROR_ARGUMENT);
    assert_null(optimizer);
}

// Definitions in double. frozen: the prediction that a denominator sees.
static double loss_in_double(orr_loss_kind kind, double p, double t, double frozen)
{
    double d = fabs(p - t);
    switch (kind) {
    case ORR_LOSS_L2:
        return d * d;
    case ORR_LOSS_RELATIVE_L2:
        return d * d / (frozen * frozen + 0.01);
    case ORR_LOSS_L1:
        return d;
    case ORR_LOSS_MAPE:
        return d / (fabs(t) + 0.01);
    case ORR_LOSS_SMAPE:
        return d / (0.5 * (fabs(frozen) + fabs(t)) + 0.01);
    case ORR_LOSS_HUBER:
        return (d > 0.1 ? d - 0.05 : d * d / 0.2) / 5.0;
    case ORR_LOSS_LOG_L1:
        return log(1.0 + d);
    case ORR_LOSS_CROSS_ENTROPY:
        return -t * log(p);
    case ORR_LOSS_BINARY_CROSS_ENTROPY:
        return -t * log(p) - (1.0 - t) * log(1.0 - p);
    }
    return NAN;
}

static void losses_and_their_slopes_are_as_defined(void **state)
{
    (void)state;
    for (int kind = ORR_LOSS_L2; kind <= ORR_LOSS_BINARY_CROSS_ENTROPY; kind++) {
        for (float p = 0.05f; p < 1.0f; p += 0.1f) {
            for (float t = 0.02f; t < 1.0f; t += 0.09f) {
                const double h = 1e-6;
                if (fabsf(p - t) < 1e-3f) {
                    continue; // the corner of an absolute value
                }
                real2 loss = loss_at((orr_loss_kind)kind, p, t);
                double value = loss_in_double((orr_loss_kind)kind, (double)p, (double)t, (double)p);
                double slope = (loss_in_double((orr_loss_kind)kind, (double)p + h, (double)t, (double)p) -
                                loss_in_double((orr_loss_kind)kind, (double)p - h, (double)t, (double)p)) /
                               (2.0 * h);
                // single precision; the logarithm is good to 2e-7
                assert_true(fabs((double)loss.x - value) < 1e-6 * fmax(1.0, fabs(value)));
                assert_true(fabs((double)loss.y - slope) < 2e-6 * fmax(1.0, fabs(slope)));
            }
        }
    }
    assert_true(loss_at(ORR_LOSS_L1, 0.5f, 0.5f).y == 0.0f);
    assert_true(isfinite(loss_at(ORR_LOSS_CROSS_ENTROPY, 0.0f, 1.0f).y));
    assert_true(isfinite(loss_at(ORR_LOSS_BINARY_CROSS_ENTROPY, 1.0f, 0.0f).y));
}

int main(void)
{
    orr_isa isa;
    orr_error error;
    if (orr_isa_choose(&isa, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_follows_the_textbook),
        cmocka_unit_test(sgd_follows_the_textbook),
        cmocka_unit_test(what_has_no_gradient_keeps_its_bits),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_resumed_training_has_the_same_bits),
        cmocka_unit_test(nothing_to_optimise_is_fine),
        cmocka_unit_test(losses_and_their_slopes_are_as_defined),
    };
    return cmocka_run_group_tests_name("optimisers and losses", tests, NULL, NULL);
}
