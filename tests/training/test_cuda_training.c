// Training splats on CUDA (a GPU, or the emulated device) beside the CPU, on photos of three spheres.
#include "engine/core/file.h"
#include "render/training/splat_state.h"
#include "render/training/splat_trainer.h"
#include "tests/support/machine.h"
#include "tests/support/photos.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 40 }; // [px] of a photo: two tiles and a half
static photos spheres;

static orr_splat_trainer_desc describe(orr_cuda *device)
{
    return (orr_splat_trainer_desc){.capture = &spheres.capture,
                                    .images = spheres.indices,
                                    .image_count = spheres.learned,
                                    .jobs = jobs,
                                    .isa = isa,
                                    .splats = 600,
                                    .sh_degree = 2,
                                    .cuda = device,
                                    .seed = 1};
}

static orr_splat_trainer *make(const orr_splat_trainer_desc *desc)
{
    orr_splat_trainer *trainer;
    assert_ok(orr_splat_trainer_create(desc, &trainer, &error));
    return trainer;
}

static double step(orr_splat_trainer *trainer, double progress)
{
    orr_splat_step_report report;
    assert_ok(orr_splat_trainer_step(trainer, progress, &report, &error));
    assert_true(report.evaluated > 0);
    return report.loss;
}

static void take_state(orr_splat_trainer *trainer, orr_splat_state *s)
{
    const char *path = scratch_path("a.training");
    orr_bytes bytes;
    assert_ok(orr_splat_trainer_save(trainer, path, &error));
    assert_ok(orr_file_read(path, &bytes, &error));
    assert_ok(orr_splat_state_read(path, bytes, s, &error));
    orr_free(bytes.data);
    remove(path);
}

// Of one member of `members`, over all splats: how far arrays a and b are apart, over the length of b less
// `keeps` times `before`.
static double distance(const float *a, const float *b, const float *before, double keeps, int64_t splats,
                       int members, int member)
{
    double apart = 0.0, length = 0.0;
    for (int64_t i = 0; i < splats; i++) {
        const int64_t at = orr_param_index(i, members, member);
        const double difference = (double)a[at] - (double)b[at],
                     new = (double)b[at] - keeps *(double)before[at];
        apart += difference * difference;
        length += new *new;
    }
    return sqrt(apart / fmax(length, 1e-30));
}

// Parameters to 2e-5 of their steps, and first moments to 2e-5 of the gradients in them: sums of floats in
// another order, and divisions of gradients that are nearly 0 by their own size, leave less.
static void assert_near_params(float *const a[3], float *const b[3], float *const before[3], int64_t splats,
                               int members, const char *what)
{
    for (int k = 0; k < members; k++) {
        const double moved = distance(a[0], b[0], before[0], 1.0, splats, members, k);
        const double gradient = distance(a[1], b[1], before[1], 0.9, splats, members, k);
        if (!(gradient < 2e-5 && moved < 2e-5)) {
            fail_msg("%s %d: its step is off by %g, its gradient by %g: expected less than 2e-5", what, k,
                     moved, gradient);
        }
    }
}

static void assert_near(const float *a, const float *b, int count, const char *what)
{
    for (int k = 0; k < count; k++) {
        if (!(fabs((double)a[k] - (double)b[k]) <= 1e-6)) {
            fail_msg("%s %d: %g: expected %g", what, k, (double)a[k], (double)b[k]);
        }
    }
}

// One step of each machine, CUDA first, from where the CPU has come in some steps.
static void step_both(orr_splat_trainer_desc desc, int before, double progress, orr_splat_state *begun,
                      orr_splat_state states[2], double losses[2])
{
    const char *path = scratch_path("begun.training");
    orr_splat_trainer *first = make(&desc);
    for (int i = 0; i < before; i++) {
        step(first, progress);
    }
    take_state(first, begun);
    assert_ok(orr_splat_trainer_save(first, path, &error));
    orr_splat_trainer_destroy(first);
    desc.resume = path;
    for (int i = 0; i < 2; i++) {
        desc.cuda = i == 0 ? cuda : NULL;
        orr_splat_trainer *trainer = make(&desc);
        losses[i] = step(trainer, progress);
        take_state(trainer, &states[i]);
        orr_splat_trainer_destroy(trainer);
    }
    remove(path);
}

static void compare_a_step(orr_splat_trainer_desc desc)
{
    orr_splat_state begun, states[2];
    double losses[2];
    step_both(desc, 20, 0.5, &begun, states, losses); // cameras move
    const orr_splat_params *a = &states[0].params, *b = &states[1].params, *before = &begun.params;
    assert_true(fabs(losses[0] - losses[1]) < 1e-6 * losses[1]);
    assert_int_equal(a->count, b->count);
    assert_near_params(a->stored, b->stored, before->stored, a->count, ORR_STORED, "stored member");
    assert_near_params(a->harmonics, b->harmonics, before->harmonics, a->count,
                       orr_harmonics_members(a->degree), "harmonic");
    for (int k = 0; k < 2 && desc.strategy == ORR_SPLAT_ADC; k++) {
        assert_true(distance(a->statistic[k], b->statistic[k], before->statistic[k], 1.0, a->count, 1, 0) <
                    2e-5);
    }
    for (int i = 0; i < states[0].image_count; i++) {
        const orr_splat_view *v = &states[0].views[i], *w = &states[1].views[i];
        assert_int_equal(states[0].images[i], states[1].images[i]);
        assert_near(v->exposure_moments[0], w->exposure_moments[0], ORR_EXPOSURE, "exposure");
        assert_near(v->motion_moments[0], w->motion_moments[0], ORR_MOTION, "motion");
    }
    for (int i = 0; i < 2; i++) {
        orr_splat_state_destroy(&states[i]);
    }
    orr_splat_state_destroy(&begun);
}

static void a_step_is_that_of_the_cpu(void **state)
{
    (void)state;
    orr_splat_trainer_desc desc = describe(NULL);
    compare_a_step(desc);
    desc.strategy = ORR_SPLAT_ADC;
    desc.antialias = desc.exposures = desc.refine_poses = true;
    compare_a_step(desc);
}

static void masks_count_as_on_the_cpu(void **state)
{
    (void)state;
    static uint8_t kept[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        kept[i] = i % SIDE < 13 ? 0 : 255;
    }
    for (int i = 0; i < spheres.capture.count; i++) {
        spheres.capture.images[i].mask = kept;
    }
    compare_a_step(describe(NULL));
    for (int i = 0; i < spheres.capture.count; i++) {
        spheres.capture.images[i].mask = NULL;
    }
}

// A few splats that reach all tiles: there is room for four pairs of each at first.
static void a_step_that_needs_more_memory_is_taken_once(void **state)
{
    (void)state;
    orr_splat_trainer_desc desc = describe(NULL);
    desc.splats = 12;
    compare_a_step(desc);
}

// In how many splats a set of arrays differs by more than a thousandth of its largest value.
static int different_splats(const float *a, const float *b, int64_t splats, int members)
{
    float largest = 0.0f;
    int count = 0;
    for (int64_t i = 0; i < splats * members; i++) {
        largest = fmaxf(largest, fabsf(b[orr_param_index(i / members, members, (int)(i % members))]));
    }
    for (int64_t i = 0; i < splats; i++) {
        bool differs = false;
        for (int k = 0; k < members; k++) {
            const int64_t at = orr_param_index(i, members, k);
            differs = differs || !(fabsf(a[at] - b[at]) <= 1e-3f * largest);
        }
        count += differs;
    }
    return count;
}

// The hundredth step, behind which splats are relocated or divided. Of roundings it depends which of two is.
static void splats_are_rearranged_as_on_the_cpu(void **state)
{
    (void)state;
    for (int strategy = 0; strategy < 2; strategy++) {
        orr_splat_trainer_desc desc = describe(NULL);
        orr_splat_state begun, states[2];
        double losses[2];
        desc.strategy = (orr_splat_strategy)strategy;
        step_both(desc, 99, 0.3, &begun, states, losses);
        const orr_splat_params *a = &states[0].params, *b = &states[1].params;
        const int harmonics = orr_harmonics_members(a->degree);
        int different = 0;
        assert_int_equal(a->count, b->count);
        assert_true(a->count > begun.params.count && a->degree == 2);
        for (int set = 0; set < 3; set++) {
            different += different_splats(a->stored[set], b->stored[set], a->count, ORR_STORED);
            different += different_splats(a->harmonics[set], b->harmonics[set], a->count, harmonics);
        }
        print_message("%d of %d splats and arrays differ\n", different, 6 * (int)a->count);
        assert_true(different < (int)a->count / 20);
        for (int i = 0; i < 2; i++) {
            orr_splat_state_destroy(&states[i]);
        }
        orr_splat_state_destroy(&begun);
    }
}

enum { STEPS = 110, OF = 150, BREAK = 96 }; // splats are divided behind step 100

static void train(orr_splat_trainer *trainer, int from, int to)
{
    for (int i = from; i < to; i++) {
        step(trainer, (double)i / OF);
    }
}

static double held_out(orr_splat_trainer *trainer)
{
    double sum = 0.0;
    for (int i = spheres.learned; i < spheres.capture.count; i++) {
        orr_arena arena = {0};
        orr_splat_comparison seen;
        double psnr, ssim;
        assert_ok(orr_splat_trainer_compare(trainer, spheres.indices[i], 1, &arena, &seen, &error));
        assert_ok(orr_splat_comparison_score(&seen, jobs, &psnr, &ssim, &error));
        sum += psnr / (spheres.capture.count - spheres.learned);
        orr_arena_destroy(&arena);
    }
    return sum;
}

static void assert_same_params(const orr_splat_params *a, const orr_splat_params *b)
{
    const size_t lanes = (size_t)(a->count / ORR_PACK_BLOCK) * ORR_PACK_BLOCK; // whole blocks
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->degree, b->degree);
    for (int set = 0; set < 3; set++) {
        assert_memory_equal(a->stored[set], b->stored[set], lanes * ORR_STORED * sizeof(float));
        assert_memory_equal(a->harmonics[set], b->harmonics[set],
                            lanes * (size_t)orr_harmonics_members(a->degree) * sizeof(float));
    }
}

// All of a training: as good as the CPU's, and to the bit the same with a break.
static void compare_trainings(float prune)
{
    const char *path = scratch_path("half.training");
    orr_splat_trainer_desc desc = describe(cuda);
    orr_splat_state states[2];
    desc.strategy = ORR_SPLAT_ADC;
    desc.prune = prune;
    orr_splat_trainer *whole = make(&desc);
    train(whole, 0, BREAK);
    assert_ok(orr_splat_trainer_save(whole, path, &error));
    train(whole, BREAK, STEPS);
    const double psnr = held_out(whole);
    desc.resume = path;
    orr_splat_trainer *again = make(&desc);
    train(again, BREAK, STEPS);
    take_state(whole, &states[0]);
    take_state(again, &states[1]);
    assert_same_params(&states[0].params, &states[1].params);
    desc.resume = NULL;
    desc.cuda = NULL;
    orr_splat_trainer *cpu = make(&desc);
    train(cpu, 0, STEPS);
    const double expected = held_out(cpu);
    print_message("held-out photos: %.2f dB, on the CPU %.2f dB\n", psnr, expected);
    assert_true(fabs(psnr - expected) < 0.1); // trainings part by roundings
    const int64_t left = orr_splat_trainer_progress(whole).splats;
    assert_true(prune > 0.0f ? left == orr_splat_trainer_progress(cpu).splats && left < 180 : left > 180);
    for (int i = 0; i < 2; i++) {
        orr_splat_state_destroy(&states[i]);
    }
    orr_splat_trainer_destroy(whole);
    orr_splat_trainer_destroy(again);
    orr_splat_trainer_destroy(cpu);
    remove(path);
}

static void a_training_is_as_good_as_on_the_cpu(void **state)
{
    (void)state;
    compare_trainings(0.0f);
}

// Once before the break and once behind it.
static void a_pruned_training_is_as_good_as_on_the_cpu(void **state)
{
    (void)state;
    compare_trainings(0.4f);
}

static void what_the_device_lacks_is_said(void **state)
{
    (void)state;
    orr_splat_trainer *trainer;
    orr_error why = {0};
    orr_splat_trainer_desc desc = describe(cuda);
    desc.bilateral_grid = true;
    assert_int_equal(orr_splat_trainer_create(&desc, &trainer, &why), ORR_ERROR_UNSUPPORTED);
    assert_null(trainer);
    assert_string_equal(why.message, "CUDA: no training of splats with bilateral grids");
    desc.bilateral_grid = false;
    desc.lenses = ORR_SPLAT_LENSES_KEEP;
    assert_int_equal(orr_splat_trainer_create(&desc, &trainer, &why), ORR_ERROR_UNSUPPORTED);
    assert_null(trainer);
    assert_string_equal(why.message, "CUDA: no training of splats with lenses that are kept");
}

static int open_all(void **state)
{
    photo_plan plan = sphere_photos;
    plan.size = SIDE;
    take_photos(&plan, &spheres);
    return open_cuda_machine(state);
}

static int close_all(void **state)
{
    drop_photos(&spheres);
    return close_machine(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_that_of_the_cpu),
        cmocka_unit_test(masks_count_as_on_the_cpu),
        cmocka_unit_test(a_step_that_needs_more_memory_is_taken_once),
        cmocka_unit_test(splats_are_rearranged_as_on_the_cpu),
        cmocka_unit_test(a_training_is_as_good_as_on_the_cpu),
        cmocka_unit_test(a_pruned_training_is_as_good_as_on_the_cpu),
        cmocka_unit_test(what_the_device_lacks_is_said),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
