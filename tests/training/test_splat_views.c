// What a training of splats learns of each photo: exposures and poses, alone and on photos of three spheres.
#include "engine/core/memory.h"
#include "render/training/picture/picture_compose.h"
#include "render/training/splat_trainer.h"
#include "tests/support/scenes/photos.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static orr_isa machine(void)
{
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    return isa;
}

static double noise(unsigned i) // in -1 .. 1, the same in every run
{
    i = i * 2654435761u + 12345u;
    i = (i ^ (i >> 15)) * 2246822519u;
    return (double)((i ^ (i >> 13)) & 0xffffff) / 8388608.0 - 1.0;
}

// ---- the exposure of a picture ----

enum { WIDTH = 37, HEIGHT = 35, PIXELS = WIDTH * HEIGHT }; // neither is a whole number of vectors or jobs

static const float true_exposure[12] = {1.1f, 0.1f,  -0.05f, 0.02f, 0.03f, 0.8f,
                                        0.1f, -0.1f, -0.02f, 0.2f,  0.9f,  0.05f};

// what a drawn pixel becomes
static void expected_pixel(const float *rgba, const float background[3], const double exposure[12],
                           double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = exposure[4 * k + 3] * (double)rgba[3] + (1.0 - (double)rgba[3]) * (double)background[k];
        for (int c = 0; c < 3; c++) {
            out[k] += exposure[4 * k + c] * (double)rgba[c];
        }
    }
}

typedef struct exposed_picture {
    orr_jobs *jobs;
    orr_arena arena;
    float rgba[4 * PIXELS], alpha[PIXELS];
    uint8_t kept[PIXELS];
    orr_compose_job job;
} exposed_picture;

static float weight_of(int pixel, int channel) // of a value of the picture in the loss
{
    return (float)noise((unsigned)(5000 + 3 * pixel + channel));
}

static void make_picture(exposed_picture *p)
{
    assert_ok(orr_jobs_create(2, NULL, NULL, &p->jobs, &error));
    p->job = (orr_compose_job){.rgba = p->rgba,
                               .background = {0.2f, 0.5f, 1.0f},
                               .exposure = true_exposure,
                               .mask = p->kept,
                               .photo_alpha = p->alpha,
                               .alpha_weight = 300.0f};
    assert_ok(orr_loss_planes_take(&p->arena, WIDTH, HEIGHT, &p->job.photo, &error));
    assert_ok(orr_loss_planes_take(&p->arena, WIDTH, HEIGHT, &p->job.gradient, &error));
    for (int i = 0; i < PIXELS; i++) {
        p->kept[i] = i % 11 != 0;
        p->alpha[i] = (float)(0.5 + 0.5 * noise((unsigned)(20000 + i)));
        for (int k = 0; k < 4; k++) {
            p->rgba[4 * i + k] = (float)(0.5 + 0.5 * noise((unsigned)(4 * i + k)));
        }
        for (int k = 0; k < 3; k++) {
            orr_loss_row(&p->job.photo, k, i / WIDTH)[i % WIDTH] = (float)noise((unsigned)(9000 + 3 * i + k));
            orr_loss_row(&p->job.gradient, k, i / WIDTH)[i % WIDTH] = p->kept[i] ? weight_of(i, k) : 0.0f;
        }
    }
}

static void drop_picture(exposed_picture *p)
{
    orr_arena_destroy(&p->arena);
    orr_jobs_destroy(p->jobs);
}

// The loss: weights on the values of the exposed picture, and the mean difference of alpha.
static double pixel_loss(const exposed_picture *p, int i, const double exposure[12])
{
    double out[3], sum = 300.0 / PIXELS * fabs((double)p->rgba[4 * i + 3] - (double)p->alpha[i]);
    expected_pixel(p->rgba + 4 * i, p->job.background, exposure, out);
    for (int k = 0; k < 3; k++) {
        sum += (double)weight_of(i, k) * out[k];
    }
    return p->kept[i] ? sum : 0.0;
}

static double whole_loss(const exposed_picture *p, const double exposure[12])
{
    double sum = 0.0;
    for (int i = 0; i < PIXELS; i++) {
        sum += pixel_loss(p, i, exposure);
    }
    return sum;
}

static void check_drawn_gradients(exposed_picture *p, const double exposure[12])
{
    for (int i = 0; i < 4 * PIXELS; i++) {
        const float kept = p->rgba[i], h = 1e-3f; // the loss is linear but where alphas are equal
        const int pixel = i / 4, k = i % 4;
        p->rgba[i] = kept + h;
        double more = pixel_loss(p, pixel, exposure), step = (double)p->rgba[i];
        p->rgba[i] = kept - h;
        double expected = (more - pixel_loss(p, pixel, exposure)) / (step - (double)p->rgba[i]);
        p->rgba[i] = kept;
        double found = (double)(k < 3 ? orr_loss_row(&p->job.gradient, k, pixel / WIDTH)[pixel % WIDTH]
                                      : p->job.by_alpha[pixel]);
        bool bent = k == 3 && fabsf(kept - p->alpha[pixel]) < h;
        if (!bent && !(fabs(found - expected) < 2e-6)) { // of about 1
            fail_msg("pixel %d, channel %d: gradient %g: expected %g", pixel, k, found, expected);
        }
    }
}

static void test_exposure(void **state)
{
    (void)state;
    static exposed_picture p;
    double exposure[12], by_exposure[12], alpha_loss, expected_alpha_loss = 0.0;
    make_picture(&p);
    for (int k = 0; k < 12; k++) {
        exposure[k] = (double)true_exposure[k];
    }
    assert_ok(orr_picture_compose(p.jobs, machine(), &p.arena, &p.job, &error));
    for (int i = 0; i < PIXELS; i++) {
        double out[3];
        expected_pixel(p.rgba + 4 * i, p.job.background, exposure, out);
        for (int k = 0; k < 3; k++) {
            double expected =
                p.kept[i] ? out[k] : (double)orr_loss_row(&p.job.photo, k, i / WIDTH)[i % WIDTH];
            double found = (double)orr_loss_row(&p.job.picture, k, i / WIDTH)[i % WIDTH];
            assert_true(fabs(found - expected) < 1e-6);
        }
        expected_alpha_loss +=
            p.kept[i] ? 300.0 / PIXELS * fabs((double)p.rgba[4 * i + 3] - (double)p.alpha[i]) : 0.0;
    }
    assert_true(orr_loss_row(&p.job.picture, 1, 3)[WIDTH] == 0.0f); // what is outside is black
    assert_ok(
        orr_picture_compose_backward(p.jobs, machine(), &p.arena, &p.job, by_exposure, &alpha_loss, &error));
    assert_true(fabs(alpha_loss - expected_alpha_loss) < 1e-4);
    for (int k = 0; k < 12; k++) {
        const double h = 1e-3; // the loss is linear in it
        double kept = exposure[k];
        exposure[k] = kept + h;
        double more = whole_loss(&p, exposure);
        exposure[k] = kept - h;
        double expected = (more - whole_loss(&p, exposure)) / (2.0 * h);
        exposure[k] = kept;
        if (!(fabs(by_exposure[k] - expected) < 1e-4)) { // of sums of a thousand products of about 0.5
            fail_msg("exposure %d: gradient %g: expected %g", k, by_exposure[k], expected);
        }
    }
    check_drawn_gradients(&p, exposure);
    drop_picture(&p);
}

// The left half alone decides.
static void test_fitted_exposure(void **state)
{
    (void)state;
    static exposed_picture p;
    float found[12];
    make_picture(&p);
    assert_ok(orr_picture_compose(p.jobs, machine(), &p.arena, &p.job, &error));
    for (int i = 0; i < 3 * PIXELS; i++) {
        const int x = i / 3 % WIDTH, y = i / 3 / WIDTH;
        if (x < WIDTH / 2 && p.kept[i / 3]) { // elsewhere the photo is noise
            orr_loss_row(&p.job.photo, i % 3, y)[x] = orr_loss_row(&p.job.picture, i % 3, y)[x];
        }
    }
    orr_exposure_fit(&p.job, found);
    for (int k = 0; k < 12; k++) {
        assert_true(fabsf(found[k] - true_exposure[k]) < 0.02f); // the identity weighs one of 570 pixels
    }
    memset(p.kept, 0, sizeof p.kept);
    orr_exposure_fit(&p.job, found);
    for (int k = 0; k < 12; k++) {
        assert_true(fabsf(found[k] - (k % 5 == 0 ? 1.0f : 0.0f)) < 1e-6f);
    }
    drop_picture(&p);
}

// ---- trainings ----

enum { STEPS = 400, GRID_STEPS = 1600 };

// what a training learns of its photos
enum { NOTHING = 0, EXPOSURES = 1, GRIDS = 2, POSES = 4 };

static orr_splat_trainer *train(const photos *p, orr_jobs *jobs, int learned, int steps)
{
    const orr_splat_trainer_desc desc = {.capture = &p->capture,
                                         .images = p->indices,
                                         .image_count = p->learned,
                                         .jobs = jobs,
                                         .isa = machine(),
                                         .splats = 1500,
                                         .exposures = (learned & EXPOSURES) != 0,
                                         .bilateral_grid = (learned & GRIDS) != 0,
                                         .refine_poses = (learned & POSES) != 0,
                                         .seed = 1};
    orr_splat_trainer *trainer;
    orr_splat_step_report report;
    assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
    for (int i = 0; i < steps; i++) {
        assert_ok(orr_splat_trainer_step(trainer, (double)i / steps, &report, &error));
    }
    return trainer;
}

static double score(orr_splat_trainer *trainer, const photos *p, orr_jobs *jobs)
{
    double sum = 0.0;
    for (int i = p->learned; i < p->capture.count; i++) {
        orr_arena arena = {0};
        orr_splat_comparison seen;
        double psnr, ssim;
        assert_ok(orr_splat_trainer_compare(trainer, p->indices[i], 1, &arena, &seen, &error));
        assert_ok(orr_splat_comparison_score(&seen, jobs, &psnr, &ssim, &error));
        sum += psnr;
        orr_arena_destroy(&arena);
    }
    return sum / (p->capture.count - p->learned);
}

// Photos a third brighter or darker, each by its own: only a training that learns exposures can explain them.
static void test_exposures_are_learned(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    for (int i = 0; i < p.learned; i++) {
        orr_capture_image *image = &p.images[i];
        for (int k = 0; k < 4 * image->width * image->height; k++) {
            double gain = i % 2 ? 1.1 : 0.6;
            image->pixels[k] = k % 4 == 3 ? image->pixels[k] : (uint8_t)(gain * (double)image->pixels[k]);
        }
    }
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    double psnr[2];
    for (int i = 0; i < 2; i++) {
        orr_splat_trainer *trainer = train(&p, jobs, i == 1 ? EXPOSURES : NOTHING, STEPS);
        psnr[i] = score(trainer, &p, jobs);
        orr_splat_trainer_destroy(trainer);
    }
    print_message("without exposures %.2f dB, with them %.2f dB\n", psnr[0], psnr[1]);
    assert_true(psnr[1] > psnr[0] + 3.0);
    orr_jobs_destroy(jobs);
    drop_photos(&p);
}

// Photos that grow darker towards their left or right edge, which one map for a photo does not explain.
static void test_grids_are_learned(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    photos p;
    take_photos(&sphere_photos, &p);
    for (int i = 0; i < p.learned; i++) {
        orr_capture_image *image = &p.images[i];
        for (int k = 0; k < 4 * image->width * image->height; k++) {
            const double across = (k / 4 % image->width + 0.5) / image->width;
            const double gain = 1.0 - 0.6 * (i % 2 ? across : 1.0 - across);
            image->pixels[k] = k % 4 == 3 ? image->pixels[k] : (uint8_t)(gain * (double)image->pixels[k]);
        }
    }
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    double psnr[2];
    for (int i = 0; i < 2; i++) {
        orr_splat_trainer *trainer = train(&p, jobs, i == 1 ? GRIDS : EXPOSURES, GRID_STEPS);
        psnr[i] = score(trainer, &p, jobs);
        orr_splat_trainer_destroy(trainer);
    }
    print_message("with exposures %.2f dB, with grids %.2f dB\n", psnr[0], psnr[1]);
    assert_true(psnr[1] > psnr[0] + 0.3);
    orr_jobs_destroy(jobs);
    drop_photos(&p);
}

// A training that goes on from its file has the bits of one that was not interrupted, on another number of
// threads too.
static void test_grids_go_on(void **state)
{
    (void)state;
    enum { FIRST = 120, ALL = 240 };
    photos p;
    take_photos(&sphere_photos, &p);
    orr_splats *clouds[2];
    for (int way = 0; way < 2; way++) {
        orr_jobs *jobs;
        assert_ok(orr_jobs_create(way ? 1 : 3, NULL, NULL, &jobs, &error));
        orr_splat_trainer_desc desc = {.capture = &p.capture,
                                       .images = p.indices,
                                       .image_count = p.learned,
                                       .jobs = jobs,
                                       .isa = machine(),
                                       .splats = 500,
                                       .bilateral_grid = true,
                                       .seed = 1};
        orr_splat_trainer *trainer;
        orr_splat_step_report report;
        assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
        for (int i = 0; i < ALL; i++) {
            if (way && i == FIRST) {
                char path[512];
                snprintf(path, sizeof path, "%s", scratch_path("grids.training"));
                assert_ok(orr_splat_trainer_save(trainer, path, &error));
                orr_splat_trainer_destroy(trainer);
                desc = (orr_splat_trainer_desc){.capture = &p.capture,
                                                .images = p.indices,
                                                .image_count = p.learned,
                                                .jobs = jobs,
                                                .isa = machine(),
                                                .resume = path};
                assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
            }
            assert_ok(orr_splat_trainer_step(trainer, (double)i / ALL, &report, &error));
        }
        assert_ok(orr_splat_trainer_cloud(trainer, &clouds[way], &error));
        orr_splat_trainer_destroy(trainer);
        orr_jobs_destroy(jobs);
    }
    const orr_splats_view a = orr_splats_data(clouds[0]), b = orr_splats_data(clouds[1]);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.position, b.position, 3 * (size_t)a.count * sizeof(float));
    assert_memory_equal(a.colour, b.colour, 3 * (size_t)a.count * sizeof(float));
    orr_splats_destroy(clouds[0]);
    orr_splats_destroy(clouds[1]);
    drop_photos(&p);
}

// Turns a pose about its own axes by as many radians, and shifts it.
static void disturb(float pose[12], unsigned seed, double turn, double shift)
{
    for (int axis = 0; axis < 3; axis++) {
        const int a = (axis + 1) % 3, b = (axis + 2) % 3;
        const double angle = turn * noise(seed + (unsigned)axis), c = cos(angle), s = sin(angle);
        for (int i = 0; i < 3; i++) {
            double x = (double)pose[4 * i + a], y = (double)pose[4 * i + b];
            pose[4 * i + a] = (float)(c * x - s * y);
            pose[4 * i + b] = (float)(s * x + c * y);
        }
        pose[4 * axis + 3] += (float)(shift * noise(seed + 3 + (unsigned)axis));
    }
}

// How far cameras look past each other [rad], root mean square over pairs: what a common motion of all cannot
// change.
static double disagreement(const photos *truth, orr_splat_trainer *trainer)
{
    double sum = 0.0;
    int pairs = 0;
    for (int i = 0; i < truth->learned; i++) {
        const orr_camera one = orr_splat_trainer_camera(trainer, i);
        for (int k = 0; k < i; k++, pairs++) {
            const orr_camera other = orr_splat_trainer_camera(trainer, k);
            double found = 0.0, expected = 0.0;
            for (int r = 0; r < 3; r++) {
                found += (double)(one.pose[4 * r + 2] * other.pose[4 * r + 2]);
                expected += (double)(truth->images[i].pose[4 * r + 2] * truth->images[k].pose[4 * r + 2]);
            }
            double difference = acos(fmin(fmax(found, -1.0), 1.0)) - acos(fmin(fmax(expected, -1.0), 1.0));
            sum += difference * difference;
        }
    }
    return sqrt(sum / pairs);
}

// What all learned cameras have done in common since the given poses: shift, growth, and turn [rad] of the
// axes and about the middle.
static void common_drift(const photos *given, orr_splat_trainer *trainer, double drift[3])
{
    double middle[3] = {0}, shift[3] = {0}, turn[3] = {0}, squares = 0.0, along = 0.0;
    const int count = given->learned;
    for (int i = 0; i < 3 * count; i++) {
        middle[i % 3] += (double)given->images[i / 3].pose[4 * (i % 3) + 3] / count;
    }
    for (int i = 0; i < 3 * count; i++) {
        squares += pow((double)given->images[i / 3].pose[4 * (i % 3) + 3] - middle[i % 3], 2.0) / count;
    }
    for (int i = 0; i < count; i++) {
        const orr_camera now = orr_splat_trainer_camera(trainer, i);
        const float *then = given->images[i].pose;
        double r[3], moved[3];
        for (int k = 0; k < 3; k++) {
            r[k] = (double)then[4 * k + 3] - middle[k];
            moved[k] = (double)now.pose[4 * k + 3] - (double)then[4 * k + 3];
            shift[k] += moved[k] / count;
            along += r[k] * moved[k] / count;
        }
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            turn[k] += (r[a] * moved[b] - r[b] * moved[a]) / squares / (2.0 * count);
            for (int c = 0; c < 3; c++) { // half the odd part of now times the transpose of then
                turn[k] +=
                    0.5 / (2.0 * count) *
                    (double)(now.pose[4 * b + c] * then[4 * a + c] - now.pose[4 * a + c] * then[4 * b + c]);
            }
        }
    }
    drift[0] = sqrt(shift[0] * shift[0] + shift[1] * shift[1] + shift[2] * shift[2]);
    drift[1] = fabs(along / squares);
    drift[2] = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
}

// What is common to all views is taken back, and nothing else.
static void test_views_hold_their_frame(void **state)
{
    (void)state;
    enum { COUNT = 6 };
    orr_capture_image given[COUNT] = {{0}};
    orr_splat_view views[COUNT];
    double own[COUNT][12];
    int images[COUNT];
    for (int i = 0; i < COUNT; i++) {
        images[i] = COUNT - 1 - i;
        memcpy(given[i].pose, (const float[12]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, sizeof given[i].pose);
        disturb(given[i].pose, 50u * (unsigned)i, 1.0, 3.0);
        orr_capture_image moved = given[i];
        disturb(moved.pose, 7u + 50u * (unsigned)i, 1e-3, 1e-3);
        views[i] = orr_splat_view_begin(&moved);
    }
    orr_splat_views_hold(views, given, images, COUNT);
    for (int i = 0; i < COUNT; i++) {
        memcpy(own[i], views[i].pose, sizeof own[i]);
    }
    // a turn about z by 2 mrad, a growth by 0.3 % and a shift, of all
    for (int i = 0; i < COUNT; i++) {
        double *pose = views[i].pose;
        for (int k = 0; k < 4; k++) {
            const double x = pose[k], y = pose[4 + k];
            pose[k] = cos(2e-3) * x - sin(2e-3) * y;
            pose[4 + k] = sin(2e-3) * x + cos(2e-3) * y;
        }
        for (int k = 0; k < 3; k++) {
            pose[4 * k + 3] = 1.003 * pose[4 * k + 3] + 0.01 * (k + 1);
        }
    }
    for (int n = 0; n < 3; n++) { // what is taken back is right to first order
        orr_splat_views_hold(views, given, images, COUNT);
    }
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 12; k++) {
            // products of two motions: of 3e-3, and of 1e-3 of its own
            assert_true(fabs(views[i].pose[k] - own[i][k]) < (k % 4 == 3 ? 3e-5 : 5e-6));
        }
    }
}

static void test_poses_are_refined(void **state)
{
    (void)state;
    photos p, truth;
    take_photos(&sphere_photos, &p);
    truth = p;
    for (int i = 0; i < p.learned; i++) {
        disturb(p.images[i].pose, 100u * (unsigned)i, 0.02, 0.03);
    }
    p.capture.images = p.images;
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    double off[2], psnr[2], drift[3];
    for (int i = 0; i < 2; i++) {
        orr_splat_trainer *trainer = train(&p, jobs, i == 1 ? POSES : NOTHING, STEPS);
        off[i] = disagreement(&truth, trainer);
        psnr[i] = score(trainer, &p, jobs);
        print_message("poses %s: cameras disagree by %.2f mrad, held-out photos %.2f dB\n",
                      i ? "refined" : "as given", 1e3 * off[i], psnr[i]);
        common_drift(&p, trainer, drift);
        orr_splat_trainer_destroy(trainer);
    }
    print_message("common drift: %.2g of the shift, %.2g of the scale, %.2g rad\n", drift[0], drift[1],
                  drift[2]);
    // rounding: the poses of cameras are floats
    assert_true(drift[0] < 1e-5 && drift[1] < 1e-5 && drift[2] < 1e-5);
    // spheres look much alike from all sides: their photos tell little of turns
    assert_true(off[1] < 0.9 * off[0]);
    assert_true(psnr[1] > psnr[0] + 1.0);
    orr_jobs_destroy(jobs);
    drop_photos(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exposure),
                                       cmocka_unit_test(test_fitted_exposure),
                                       cmocka_unit_test(test_exposures_are_learned),
                                       cmocka_unit_test(test_grids_are_learned),
                                       cmocka_unit_test(test_grids_go_on),
                                       cmocka_unit_test(test_views_hold_their_frame),
                                       cmocka_unit_test(test_poses_are_refined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
