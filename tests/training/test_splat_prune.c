// Pruning of splats in training: what splats matter to the photos, against pictures in which one of them
// alone shines, and which ones stay.
#include "engine/core/memory.h"
#include "render/training/splat_schedule.h"
#include "render/training/splat_trainer_state.h"
#include "tests/support/scenes/photos.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPLATS = 600, PIXELS = SPHERE_PHOTO_SIZE * SPHERE_PHOTO_SIZE };

static orr_jobs *jobs;

static orr_splat_trainer_desc describe(const photos *p)
{
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    return (orr_splat_trainer_desc){.capture = &p->capture,
                                    .images = p->indices,
                                    .image_count = p->learned,
                                    .jobs = jobs,
                                    .isa = isa,
                                    .splats = SPLATS,
                                    .sh_degree = 1};
}

static orr_splat_trainer *make_trainer(const photos *p, float prune, orr_splat_strategy strategy)
{
    orr_splat_trainer_desc desc = describe(p);
    orr_splat_trainer *trainer;
    desc.prune = prune;
    desc.strategy = strategy;
    assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
    return trainer;
}

static int64_t train_part(orr_splat_trainer *trainer, int from, int to, int steps)
{
    orr_splat_step_report report = {0};
    for (int i = from; i < to; i++) {
        assert_ok(orr_splat_trainer_step(trainer, (double)i / steps, &report, &error));
    }
    return report.splats;
}

// The sum over the pixels of a picture: of a channel, but for those with kept 0.
static double sum_of(orr_splat_trainer *t, int image, int channel, const uint8_t *kept)
{
    orr_arena arena = {0};
    orr_profile profile = {0};
    orr_splat_drawing d;
    const orr_lens lens = orr_splat_photo_lens(&t->photos[image], 1);
    assert_ok(orr_splat_trainer_draw(t, &lens, false, &arena, &d, &profile, &error));
    double sum = 0.0;
    for (int i = 0; i < PIXELS; i++) {
        sum += !kept || kept[i] ? (double)d.rgba[4 * i + channel] : 0.0;
    }
    orr_arena_destroy(&arena);
    return sum;
}

// Colours are sums of weights times colours, so that one red splat among black ones draws its weights.
static void shine(orr_splat_trainer *t, int64_t splat)
{
    const int members = orr_harmonics_members(t->params.degree);
    for (int64_t i = 0; i < t->params.count; i++) {
        for (int k = 0; k < members; k++) {
            const float red = k == 0 && i == splat ? 0.5f : -0.5f;
            t->params.harmonics[0][orr_param_index(i, members, k)] = k < 3 ? red / 0.28209479f : 0.0f;
        }
    }
    orr_splat_trainer_prepare(t);
}

static void weights_are_what_splats_draw(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    uint8_t upper[PIXELS]; // of one photo: its upper half
    for (int i = 0; i < PIXELS; i++) {
        upper[i] = i < PIXELS / 2 ? 255 : 0;
    }
    p.images[2].mask = upper;
    orr_splat_trainer *t = make_trainer(&p, 0.0f, ORR_SPLAT_ADC);
    train_part(t, 0, 80, 100);
    const int64_t count = t->params.count;
    double *weights = orr_alloc((size_t)count, sizeof *weights), sum = 0.0, alpha = 0.0;
    assert_non_null(weights);
    assert_ok(orr_splat_trainer_weights(t, 1.0, weights, &error)); // of photos in full size
    for (int64_t i = 0; i < count; i++) {
        assert_true(weights[i] >= 0.0);
        sum += weights[i];
    }
    for (int i = 0; i < p.learned; i++) {
        alpha += sum_of(t, p.indices[i], 3, p.images[p.indices[i]].mask);
    }
    // all together they are the opacity of the pictures; float32 sums of tiles, and drawing ends a pixel at
    // a transmittance of 1e-4
    print_message("    %lld splats weigh %.1f, opacity %.1f\n", (long long)count, sum, alpha);
    assert_true(alpha > 1000.0 && fabs(sum - alpha) < 1e-3 * alpha);
    double largest = 0.0;
    for (int64_t i = 0; i < count; i += count / 25) {
        double red = 0.0;
        shine(t, i);
        for (int k = 0; k < p.learned; k++) {
            red += sum_of(t, p.indices[k], 0, p.images[p.indices[k]].mask);
        }
        largest = fmax(largest, red);
        if (!(fabs(red - weights[i]) < 1e-4 * red + 1e-3)) {
            fail_msg("splat %lld: %g: expected %g", (long long)i, weights[i], red);
        }
    }
    assert_true(largest > 10.0);
    orr_free(weights);
    orr_splat_trainer_destroy(t);
    p.images[2].mask = NULL;
    drop_photos(&p);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void the_least_go_and_the_others_stay_as_they_are(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    orr_splat_trainer *t = make_trainer(&p, 0.0f, ORR_SPLAT_ADC);
    train_part(t, 0, 80, 100);
    const int64_t count = t->params.count, left = count - (int64_t)(0.3 * (double)count);
    double *weights = orr_alloc((size_t)count, sizeof *weights);
    double *sorted = orr_alloc((size_t)count, sizeof *sorted);
    float *before[3];
    const size_t stored = (size_t)orr_param_index(count + ORR_PACK_BLOCK, ORR_STORED, 0);
    assert_true(weights && sorted);
    for (int set = 0; set < 3; set++) {
        before[set] = orr_alloc(stored, sizeof(float));
        assert_non_null(before[set]);
        memcpy(before[set], t->params.stored[set],
               (size_t)orr_param_index(count / ORR_PACK_BLOCK * ORR_PACK_BLOCK, ORR_STORED, 0) *
                   sizeof(float));
    }
    assert_ok(orr_splat_trainer_weights(t, 0.6, weights, &error));
    memcpy(sorted, weights, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    assert_ok(orr_splat_trainer_prune(t, 0.6, 0.3, &error));
    assert_int_equal(t->params.count, left);
    int64_t next = 0;
    const int64_t whole = count / ORR_PACK_BLOCK * ORR_PACK_BLOCK;
    for (int64_t i = 0; i < whole; i++) { // those above the bound, in their order, moments and all
        if (weights[i] > sorted[count - left]) {
            bool same = false;
            while (!same && next < left) { // of equal weights any may be between
                same = true;
                for (int set = 0; set < 3; set++) {
                    for (int k = 0; k < ORR_STORED; k++) {
                        same = same && t->params.stored[set][orr_param_index(next, ORR_STORED, k)] ==
                                           before[set][orr_param_index(i, ORR_STORED, k)];
                    }
                }
                next++;
            }
            assert_true(same);
        }
    }
    // what stays weighs at least as much: less is in front of it
    double *after = orr_alloc((size_t)left, sizeof *after);
    assert_non_null(after);
    assert_ok(orr_splat_trainer_weights(t, 0.6, after, &error));
    for (int64_t i = 0; i < left; i++) {
        assert_true(after[i] >= 0.99 * sorted[count - left]);
    }
    // all of them at once: one is left
    assert_ok(orr_splat_trainer_prune(t, 0.6, 1.0, &error));
    assert_int_equal(t->params.count, 1);
    train_part(t, 80, 100, 100);
    for (int set = 0; set < 3; set++) {
        orr_free(before[set]);
    }
    orr_free(weights);
    orr_free(sorted);
    orr_free(after);
    orr_splat_trainer_destroy(t);
    drop_photos(&p);
}

static double score(orr_splat_trainer *t, const photos *p)
{
    double mean = 0.0;
    for (int i = p->learned; i < p->capture.count; i++) {
        orr_arena arena = {0};
        orr_splat_comparison seen;
        double psnr, ssim;
        assert_ok(orr_splat_trainer_compare(t, p->indices[i], 1, &arena, &seen, &error));
        assert_ok(orr_splat_comparison_score(&seen, jobs, &psnr, &ssim, &error));
        mean += psnr / (p->capture.count - p->learned);
        orr_arena_destroy(&arena);
    }
    return mean;
}

static void a_pruned_training_keeps_its_share(void **state)
{
    (void)state;
    enum { STEPS = 600 };
    assert_int_equal(orr_splat_prunings_at(0.0), 0);
    assert_int_equal(orr_splat_prunings_at(0.55), 1);
    assert_int_equal(orr_splat_prunings_at(1.0), 2);
    photos p;
    take_photos(&sphere_photos, &p);
    for (int i = 0; i < 2; i++) {
        const orr_splat_strategy strategy = i == 0 ? ORR_SPLAT_ADC : ORR_SPLAT_MCMC;
        orr_splat_trainer *t = make_trainer(&p, 0.75f, strategy);
        const int64_t grown = train_part(t, 0, STEPS / 2, STEPS);
        const int64_t half = train_part(t, STEPS / 2, STEPS / 2 + 1, STEPS);
        const int64_t left = train_part(t, STEPS / 2 + 1, STEPS, STEPS);
        const double found = score(t, &p);
        print_message("    %lld splats, %lld, %lld: %.1f dB\n", (long long)grown, (long long)half,
                      (long long)left, found);
        assert_int_equal(half, grown - grown / 2);
        // dead ones go besides
        assert_in_range(left, 8 * grown / 10 / 4, grown / 4 + 1);
        assert_true(found > 24.0);
        orr_splat_trainer_destroy(t);
    }
    drop_photos(&p);
}

static void shares_out_of_range_are_refused(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    const float shares[3] = {-0.1f, 0.96f, NAN};
    for (int i = 0; i < 3; i++) {
        orr_splat_trainer_desc desc = describe(&p);
        orr_splat_trainer *trainer;
        orr_error why;
        desc.prune = shares[i];
        assert_int_equal(orr_splat_trainer_create(&desc, &trainer, &why), ORR_ERROR_ARGUMENT);
        assert_non_null(strstr(why.message, "expected 0 to 0.95"));
    }
    drop_photos(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_what_splats_draw),
        cmocka_unit_test(the_least_go_and_the_others_stay_as_they_are),
        cmocka_unit_test(a_pruned_training_keeps_its_share),
        cmocka_unit_test(shares_out_of_range_are_refused),
    };
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    orr_jobs_destroy(jobs);
    return failures;
}
