// Proposal sampling: contracted space, the interlevel loss, and training on photos of a scene without bounds.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/fields/contraction_formula.h"
#include "neural/ingp/ingp.h"
#include "neural/nerf/evaluate.h"
#include "neural/training/interlevel.h"
#include "tests/support/machine.h"
#include "tests/support/scenes/small_nerf.h"

#include <math.h>
#include <string.h>

// ---- formulas ----

static void contraction_keeps_the_unit_cube_and_folds_the_rest_around_it(void **state)
{
    (void)state;
    real3 inside = contraction_position(make_real3(0.1f, 0.9f, 0.5f));
    assert_float_equal(inside.x, 0.3f, 1e-6);
    assert_float_equal(inside.y, 0.7f, 1e-6);
    assert_float_equal(inside.z, 0.5f, 1e-6);
    // four half sides along x, two along y: 2 - 1/4 of them, in the same direction
    real3 outside = contraction_position(make_real3(2.5f, 1.5f, 0.5f));
    assert_float_equal(outside.x, 0.5f + 0.25f * 1.75f, 1e-6);
    assert_float_equal(outside.y, 0.5f + 0.125f * 1.75f, 1e-6);
    real3 far = contraction_position(make_real3(-1e9f, 0.5f, 1e6f));
    assert_float_equal(far.x, 0.0f, 1e-6);
    assert_true(far.x >= 0.0f);
    for (float t = 0.01f; t < 900.0f; t *= 1.3f) {
        // what is near 1 has 2^-24 / 2 of rounding, which is 2 t^2 as much in distance
        assert_float_equal(contraction_distance(contraction_spacing(t)), t, 2e-6f * t + 2e-7f * t * t);
    }
    assert_float_equal(contraction_spacing(1.0f), 0.5f, 0.0);
}

// The bound by its definition: all coarse weights whose intervals overlap.
static double loss_by_definition(int coarse_count, const float *coarse, const double *thickness,
                                 int fine_count, const float *fine, const double *weights)
{
    double loss = 0.0;
    for (int i = 0; i < fine_count; i++) {
        double bound = 0.0, before = 0.0;
        for (int j = 0; j < coarse_count; j++) {
            bool apart = coarse[j + 1] <= fine[i] || coarse[j] >= fine[i + 1];
            bound += apart ? 0.0 : exp(-before) * (1.0 - exp(-thickness[j]));
            before += thickness[j];
        }
        double excess = fmax(0.0, weights[i] - bound);
        loss += excess * excess / (weights[i] + 1e-7);
    }
    return loss;
}

static void the_interlevel_loss_sends_back_its_derivative(void **state)
{
    (void)state;
    enum { COARSE = 24, FINE = 9 };
    orr_rng rng = {.seed = 4};
    float coarse[COARSE + 1] = {0.0f}, fine[FINE + 1] = {0.3f};
    double thickness[COARSE], weights[FINE], gradient[COARSE], unused[COARSE], largest = 0.0;
    for (int j = 0; j < COARSE; j++) {
        coarse[j + 1] = coarse[j] + orr_rng_range(&rng, 0.1f, 1.0f);
        thickness[j] = (double)orr_rng_range(&rng, 0.0f, 0.2f);
    }
    for (int i = 0; i < FINE; i++) {
        fine[i + 1] = fine[i] + orr_rng_range(&rng, 0.1f, 2.0f);
        weights[i] = (double)orr_rng_range(&rng, 0.0f, 0.4f);
    }
    double loss = orr_interlevel_loss(COARSE, coarse, thickness, FINE, fine, weights, gradient);
    assert_true(fabs(loss - loss_by_definition(COARSE, coarse, thickness, FINE, fine, weights)) <= 1e-12);
    assert_true(loss > 0.01);
    for (int j = 0; j < COARSE; j++) {
        const double h = 1e-6;
        double kept = thickness[j];
        thickness[j] = kept + h;
        double above = orr_interlevel_loss(COARSE, coarse, thickness, FINE, fine, weights, unused);
        thickness[j] = kept - h;
        double below = orr_interlevel_loss(COARSE, coarse, thickness, FINE, fine, weights, unused);
        thickness[j] = kept;
        // rounding of a loss about 1 over 2 h: 1e-10
        assert_true(fabs(gradient[j] - (above - below) / (2.0 * h)) <= 1e-8);
        largest = fmax(largest, fabs(gradient[j]));
    }
    assert_true(largest > 0.01);
    // an upper bound costs nothing
    memset(weights, 0, sizeof weights);
    assert_true(orr_interlevel_loss(COARSE, coarse, thickness, FINE, fine, weights, gradient) == 0.0);
}

// ---- a ball in front of a far wall ----

// The ball has a radius of 0.3 and is in the middle of the unit cube; around it, at a distance of 12, is a
// round wall with coloured fields, far outside any box that a capture of so small a thing would be given.
static void shade(const float origin[3], const float direction[3], float rgba[4])
{
    const float radius = 0.3f, wall = 12.0f;
    float b = 0.0f, square = 0.0f;
    for (int k = 0; k < 3; k++) {
        b += origin[k] * direction[k];
        square += origin[k] * origin[k];
    }
    float in_ball = b * b - square + radius * radius;
    bool hit = in_ball >= 0.0f && b < 0.0f;
    float t = hit ? -b - sqrtf(in_ball) : -b + sqrtf(b * b - square + wall * wall);
    float n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = (origin[k] + t * direction[k]) / (hit ? radius : wall);
    }
    float field = sinf(4.0f * n[0]) * sinf(4.0f * n[1] + 1.0f) * cosf(4.0f * n[2]);
    for (int k = 0; k < 3; k++) {
        rgba[k] = hit ? 0.5f + 0.4f * n[k] : 0.5f + 0.45f * tanhf(6.0f * field) * (k == 1 ? -1.0f : 1.0f);
    }
    rgba[3] = 1.0f;
}

static const photo_plan ball_photos = {.shade = shade,
                                       .size = 48,
                                       .channels = 3,
                                       .count = 26,
                                       .learned = 24,
                                       .focal = 0.7f,
                                       .distance = 1.2f,
                                       .lowest = -0.6f,
                                       .highest = 0.6f,
                                       .scale = 1.0f,
                                       .aabb_scale = 4};

static void training_gives_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    photos p;
    take_photos(&ball_photos, &p);
    assert_threads_change_no_bit(&p, true, 12);
    drop_photos(&p);
}

static void a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(void **state)
{
    (void)state;
    photos p;
    take_photos(&ball_photos, &p);
    assert_resuming_changes_no_bit(&p, true, 10, 9);
    drop_photos(&p);
}

static void a_bounded_field_takes_no_state_of_an_unbounded_one(void **state)
{
    (void)state;
    photos p;
    take_photos(&ball_photos, &p);
    orr_field *fields[2];
    orr_nerf_trainer *trainers[2];
    for (int unbounded = 0; unbounded < 2; unbounded++) {
        fields[unbounded] = small_field(4, unbounded, "{}");
        trainers[unbounded] = small_trainer(fields[unbounded], &p, jobs);
    }
    size_t size;
    void *saved = training_state(trainers[1], &size);
    orr_error error;
    assert_int_equal(orr_nerf_trainer_state_load(trainers[0], saved, size, &error), ORR_ERROR_FORMAT);
    orr_free(saved);
    for (int unbounded = 0; unbounded < 2; unbounded++) {
        orr_nerf_trainer_destroy(trainers[unbounded]);
        orr_field_destroy(fields[unbounded]);
    }
    drop_photos(&p);
}

static double holdout_psnr(const orr_field *field, const orr_occupancy *grid, const photos *p)
{
    orr_nerf_drawer *drawer;
    orr_nerf_score mean;
    assert_ok(orr_nerf_drawer_create(field, jobs, &drawer, &error));
    assert_ok(orr_nerf_evaluate(drawer, grid, &p->capture, p->indices + p->learned,
                                p->capture.count - p->learned, jobs, NULL, NULL, &mean, &error));
    orr_nerf_drawer_destroy(drawer);
    return mean.psnr;
}

static void an_unbounded_scene_is_learned_better_than_in_a_box_and_comes_back_from_its_file(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    photos p;
    take_photos(&ball_photos, &p);
    double found[2];
    for (int unbounded = 0; unbounded < 2; unbounded++) {
        orr_field *field = small_field(4, unbounded, "{}");
        orr_nerf_trainer *trainer = small_trainer(field, &p, jobs);
        train(trainer, 500);
        const orr_occupancy *grid = orr_nerf_trainer_occupancy(trainer);
        found[unbounded] = holdout_psnr(field, grid, &p);
        if (unbounded) {
            const char *path = scratch_path("unbounded.ingp");
            orr_field_model model = {.field = field, .size = 1.0}, loaded;
            assert_ok(orr_field_model_save(&model, path, &error));
            assert_ok(orr_field_model_load(path, isa, ORR_MLP_FP32, &loaded, &error));
            assert_true(orr_field_describe(loaded.field)->unbounded);
            assert_true(holdout_psnr(loaded.field, grid, &p) == found[1]);
            orr_field_model_free(&loaded);
        }
        orr_nerf_trainer_destroy(trainer);
        orr_field_destroy(field);
    }
    // 21.0 against 16.2 dB
    assert_true(found[1] > 19.5);
    assert_true(found[1] > found[0] + 3.0);
    drop_photos(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contraction_keeps_the_unit_cube_and_folds_the_rest_around_it),
        cmocka_unit_test(the_interlevel_loss_sends_back_its_derivative),
        cmocka_unit_test(training_gives_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one),
        cmocka_unit_test(a_bounded_field_takes_no_state_of_an_unbounded_one),
        cmocka_unit_test(an_unbounded_scene_is_learned_better_than_in_a_box_and_comes_back_from_its_file),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
