// Proposal sampling: contracted space, the interlevel loss, and training on photos of a scene without bounds.
#define ORR_SCALAR
#include "support.h"

#include "engine/core/memory.h"
#include "engine/core/rng.h"
#include "neural/contraction_formula.h"
#include "neural/ingp.h"
#include "neural/interlevel.h"
#include "neural/nerf_evaluate.h"
#include "neural/nerf_train.h"

#include <math.h>
#include <string.h>

enum { SIZE = 48, VIEWS = 26, LEARNED = 24 };

static orr_jobs *jobs;
static orr_isa isa;

static int start(void **state)
{
    (void)state;
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    return 0;
}

// ---- formulas ----

static void contraction_keeps_the_unit_cube_and_folds_the_rest_around_it(void **state)
{
    (void)state;
    real3 inside = contraction_place(make_real3(0.1f, 0.9f, 0.5f));
    assert_float_equal(inside.x, 0.3f, 1e-6);
    assert_float_equal(inside.y, 0.7f, 1e-6);
    assert_float_equal(inside.z, 0.5f, 1e-6);
    // four half sides along x, two along y: 2 - 1/4 of them, in the same direction
    real3 outside = contraction_place(make_real3(2.5f, 1.5f, 0.5f));
    assert_float_equal(outside.x, 0.5f + 0.25f * 1.75f, 1e-6);
    assert_float_equal(outside.y, 0.5f + 0.125f * 1.75f, 1e-6);
    real3 far = contraction_place(make_real3(-1e9f, 0.5f, 1e6f));
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

// The ball has a radius of 0.3 and stands in the middle of the unit cube; around it, at a distance of 12, is a round wall
// with coloured fields, far outside any box that a capture of so small a thing would be given.
static void shade(const orr_nerf_ray *ray, float colour[3])
{
    const float radius = 0.3f, wall = 12.0f;
    float o[3], b = 0.0f, square = 0.0f;
    for (int k = 0; k < 3; k++) {
        o[k] = ray->origin[k] - 0.5f;
        b += o[k] * ray->direction[k];
        square += o[k] * o[k];
    }
    float in_ball = b * b - square + radius * radius;
    bool hit = in_ball >= 0.0f && b < 0.0f;
    float t = hit ? -b - sqrtf(in_ball) : -b + sqrtf(b * b - square + wall * wall);
    float n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = (o[k] + t * ray->direction[k]) / (hit ? radius : wall);
    }
    float field = sinf(4.0f * n[0]) * sinf(4.0f * n[1] + 1.0f) * cosf(4.0f * n[2]);
    for (int k = 0; k < 3; k++) {
        colour[k] = hit ? 0.5f + 0.4f * n[k] : 0.5f + 0.45f * tanhf(6.0f * field) * (k == 1 ? -1.0f : 1.0f);
    }
}

static void take_photo(orr_capture_image *image, float angle, float height)
{
    *image = (orr_capture_image){.width = SIZE,
                                 .height = SIZE,
                                 .channels = 3,
                                 .focal = {0.7f * SIZE, 0.7f * SIZE},
                                 .centre = {0.5f * SIZE, 0.5f * SIZE},
                                 .sharpness = 1.0f};
    float eye[3] = {cosf(angle) * cosf(height), sinf(angle) * cosf(height), sinf(height)};
    float right[3] = {-sinf(angle), cosf(angle), 0.0f};
    float down[3] = {-eye[1] * right[2] + eye[2] * right[1], -eye[2] * right[0] + eye[0] * right[2],
                     -eye[0] * right[1] + eye[1] * right[0]};
    for (int k = 0; k < 3; k++) {
        image->pose[4 * k] = right[k];
        image->pose[4 * k + 1] = down[k];
        image->pose[4 * k + 2] = -eye[k];
        image->pose[4 * k + 3] = 0.5f + 1.2f * eye[k];
    }
    image->pixels = orr_alloc(SIZE * SIZE, 3);
    assert_non_null(image->pixels);
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    orr_nerf_camera camera = orr_nerf_camera_of_image(image, identity);
    for (int i = 0; i < SIZE * SIZE; i++) {
        float sum[3] = {0.0f};
        for (int k = 0; k < 4; k++) {
            orr_nerf_ray ray = orr_nerf_camera_ray(&camera, (float)(i % SIZE) + 0.25f + 0.5f * (float)(k % 2),
                                                   (float)(i / SIZE) + 0.25f + 0.5f * (float)(k / 2));
            float colour[3];
            shade(&ray, colour);
            for (int c = 0; c < 3; c++) {
                sum[c] += 0.25f * colour[c];
            }
        }
        for (int c = 0; c < 3; c++) {
            image->pixels[3 * i + c] = (uint8_t)(255.0f * sum[c] + 0.5f);
        }
    }
}

typedef struct photos {
    orr_capture capture;
    orr_capture_image images[VIEWS];
    int indices[VIEWS];
} photos;

static void take_photos(photos *p)
{
    p->capture = (orr_capture){.images = p->images, .count = VIEWS, .aabb_scale = 4};
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    memcpy(p->capture.to_unit, identity, sizeof identity);
    for (int i = 0; i < VIEWS; i++) {
        float angle = i < LEARNED ? 2.39996f * (float)i : 0.7f + 2.0f * (float)i;
        float height = i < LEARNED ? -0.6f + 1.2f * (float)i / (LEARNED - 1) : 0.2f * (float)(i - LEARNED);
        take_photo(&p->images[i], angle, height);
        p->indices[i] = i;
    }
}

static void drop_photos(photos *p)
{
    for (int i = 0; i < VIEWS; i++) {
        orr_free(p->images[i].pixels);
    }
}

static orr_field *small_field(bool unbounded)
{
    orr_field_desc desc = {
        .kind = ORR_FIELD_NERF, .aabb_scale = 4, .unbounded = unbounded, .seed = 7, .isa = isa};
    assert_ok(orr_nerf_train_config(&desc.config, &error));
    desc.config.encoding.levels = 4;
    desc.config.encoding.log2_hashmap_size = 14;
    desc.desired_resolution = 128.0;
    orr_field *field;
    assert_ok(orr_field_create(&desc, &field, &error));
    orr_field_config_free(&desc.config);
    return field;
}

static orr_nerf_trainer *small_trainer(orr_field *field, const photos *p, orr_jobs *with)
{
    orr_nerf_train_desc desc = {.capture = &p->capture,
                                .images = p->indices,
                                .image_count = LEARNED,
                                .jobs = with,
                                .target_samples = 1 << 12,
                                .seed = 3};
    orr_nerf_trainer *trainer;
    assert_ok(orr_nerf_trainer_create(field, &desc, &trainer, &error));
    return trainer;
}

static void train(orr_nerf_trainer *trainer, int steps)
{
    orr_nerf_step report;
    for (int i = 0; i < steps; i++) {
        assert_ok(orr_nerf_trainer_step(trainer, &report, &error));
    }
    assert_ok(orr_nerf_trainer_refresh(trainer, &error));
}

static void assert_same_field(const orr_field *a, const orr_field *b)
{
    const orr_field_parts *x = orr_field_parts_of(a), *y = orr_field_parts_of(b);
    assert_memory_equal(x->inference_table, y->inference_table,
                        (size_t)x->encoding.parameter_count * sizeof(float));
    assert_memory_equal(x->proposal->table, y->proposal->table,
                        (size_t)x->proposal->encoding.parameter_count * sizeof(float));
    assert_memory_equal(x->proposal->inference_table, y->proposal->inference_table,
                        (size_t)x->proposal->encoding.parameter_count * sizeof(float));
    assert_memory_equal(x->proposal->network_parameters, y->proposal->network_parameters,
                        (size_t)x->proposal->network.parameter_count * sizeof(float));
}

static void training_gives_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { STEPS = 12 };
    photos p;
    take_photos(&p);
    orr_field *first = small_field(true);
    orr_nerf_trainer *trainer = small_trainer(first, &p, jobs);
    train(trainer, STEPS);
    for (int threads = 1; threads <= 3; threads += 2) {
        orr_jobs *others;
        assert_ok(orr_jobs_create(threads, NULL, NULL, &others, &error));
        orr_field *field = small_field(true);
        orr_nerf_trainer *other = small_trainer(field, &p, others);
        train(other, STEPS);
        assert_same_field(first, field);
        orr_nerf_trainer_destroy(other);
        orr_field_destroy(field);
        orr_jobs_destroy(others);
    }
    orr_nerf_trainer_destroy(trainer);
    orr_field_destroy(first);
    drop_photos(&p);
}

static void a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(void **state)
{
    (void)state;
    photos p;
    take_photos(&p);
    orr_field *first = small_field(true), *second = small_field(true), *bounded = small_field(false);
    orr_nerf_trainer *trainer = small_trainer(first, &p, jobs);
    train(trainer, 10);
    size_t size = orr_nerf_trainer_state_size(trainer);
    void *saved = orr_alloc(size, 1);
    assert_non_null(saved);
    assert_ok(orr_nerf_trainer_state_save(trainer, saved, &error));
    train(trainer, 9);
    orr_nerf_trainer *other = small_trainer(second, &p, jobs);
    assert_ok(orr_nerf_trainer_state_load(other, saved, size, &error));
    train(other, 9);
    assert_same_field(first, second);
    orr_nerf_trainer_destroy(other);
    other = small_trainer(bounded, &p, jobs);
    orr_error error;
    assert_int_equal(orr_nerf_trainer_state_load(other, saved, size, &error), ORR_ERROR_FORMAT);
    orr_free(saved);
    orr_nerf_trainer_destroy(trainer);
    orr_nerf_trainer_destroy(other);
    orr_field_destroy(first);
    orr_field_destroy(second);
    orr_field_destroy(bounded);
    drop_photos(&p);
}

static double held_out_psnr(const orr_field *field, const orr_occupancy *grid, const photos *p)
{
    orr_nerf_drawer *drawer;
    orr_nerf_score mean;
    assert_ok(orr_nerf_drawer_create(field, jobs, &drawer, &error));
    assert_ok(orr_nerf_evaluate(drawer, grid, &p->capture, p->indices + LEARNED, VIEWS - LEARNED, jobs, NULL,
                                &mean, &error));
    orr_nerf_drawer_destroy(drawer);
    return mean.psnr;
}

static void an_unbounded_scene_is_learned_better_than_in_a_box_and_comes_back_from_its_file(void **state)
{
    (void)state;
    photos p;
    take_photos(&p);
    double found[2];
    for (int unbounded = 0; unbounded < 2; unbounded++) {
        orr_field *field = small_field(unbounded);
        orr_nerf_trainer *trainer = small_trainer(field, &p, jobs);
        train(trainer, 500);
        const orr_occupancy *grid = orr_nerf_trainer_occupancy(trainer);
        found[unbounded] = held_out_psnr(field, grid, &p);
        if (unbounded) {
            const char *path = scratch_path("unbounded.ingp");
            orr_field_model model = {.field = field, .size = 1.0}, loaded;
            assert_ok(orr_field_model_save(&model, path, &error));
            assert_ok(orr_field_model_load(path, isa, ORR_MLP_FP32, &loaded, &error));
            assert_true(orr_field_describe(loaded.field)->unbounded);
            assert_true(held_out_psnr(loaded.field, grid, &p) == found[1]);
            orr_field_model_free(&loaded);
        }
        orr_nerf_trainer_destroy(trainer);
        orr_field_destroy(field);
    }
    // 20.8 against 16.6 dB
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
        cmocka_unit_test(an_unbounded_scene_is_learned_better_than_in_a_box_and_comes_back_from_its_file),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
