// Training of splat clouds on the CPU: the loss and its gradient, photos without distortion, relocation, and
// the whole on photos of three spheres.
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "render/training/nearest.h"
#include "render/training/splat_densify.h"
#include "render/training/splat_photos.h"
#include "render/training/splat_relocate.h"
#include "render/training/splat_seeds.h"
#include "render/training/splat_state.h"
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

static orr_jobs *threads(int count)
{
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(count, NULL, NULL, &jobs, &error));
    return jobs;
}

// ---- the loss ----

enum { WIDTH = 21, HEIGHT = 18, PIXELS = WIDTH * HEIGHT };

static double at(const double *plane, int x, int y)
{
    return x >= 0 && y >= 0 && x < WIDTH && y < HEIGHT ? plane[y * WIDTH + x] : 0.0;
}

// SSIM of the window about a pixel, by its definition
static double similarity_at(const double *a, const double *b, int x, int y)
{
    double weights = 0.0, mean[5] = {0};
    for (int i = -5; i <= 5; i++) {
        for (int k = -5; k <= 5; k++) {
            double w = exp(-(i * i + k * k) / (2.0 * 1.5 * 1.5));
            double p = at(a, x + k, y + i), q = at(b, x + k, y + i);
            const double values[5] = {p, q, p * p, q * q, p * q};
            weights += w;
            for (int n = 0; n < 5; n++) {
                mean[n] += w * values[n];
            }
        }
    }
    for (int n = 0; n < 5; n++) {
        mean[n] /= weights;
    }
    double p = mean[0], q = mean[1];
    return (2.0 * p * q + 1e-4) * (2.0 * (mean[4] - p * q) + 9e-4) /
           ((p * p + q * q + 1e-4) * (mean[2] - p * p + mean[3] - q * q + 9e-4));
}

static double expected_loss(double a[3][PIXELS], double b[3][PIXELS])
{
    double difference = 0.0, similarity = 0.0;
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < PIXELS; i++) {
            difference += fabs(a[c][i] - b[c][i]);
            similarity += similarity_at(a[c], b[c], i % WIDTH, i / WIDTH);
        }
    }
    return 0.8 * difference / (3.0 * PIXELS) + 0.2 * (1.0 - similarity / (3.0 * PIXELS));
}

static void test_loss(void **state)
{
    (void)state;
    static double a[3][PIXELS], b[3][PIXELS];
    static uint8_t kept_pixels[PIXELS];
    orr_jobs *jobs = threads(2);
    orr_arena arena = {0};
    orr_loss_planes picture, photo, gradient;
    assert_ok(orr_loss_planes_take(&arena, WIDTH, HEIGHT, &picture, &error));
    assert_ok(orr_loss_planes_take(&arena, WIDTH, HEIGHT, &photo, &error));
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < PIXELS; i++) {
            a[c][i] = 0.5 + 0.4 * sin(0.7 * i + c) * cos(0.31 * i);
            b[c][i] = 0.5 + 0.4 * sin(0.68 * i + 1.1 * c);
            orr_loss_row(&picture, c, i / WIDTH)[i % WIDTH] = (float)a[c][i];
            orr_loss_row(&photo, c, i / WIDTH)[i % WIDTH] = (float)b[c][i];
            kept_pixels[i] = i % 7 != 0;
        }
    }
    double loss;
    assert_ok(orr_picture_loss(jobs, machine(), &arena, &picture, &photo, kept_pixels, 0.2f, &loss, &gradient,
                               &error));
    assert_true(fabs(loss - expected_loss(a, b)) < 1e-6);
    for (int i = 0; i < 3 * PIXELS; i += 5) {
        const double h = 1e-5;
        int c = i / PIXELS, pixel = i % PIXELS;
        double kept = a[c][pixel];
        a[c][pixel] = kept + h;
        double more = expected_loss(a, b);
        a[c][pixel] = kept - h;
        double less = expected_loss(a, b);
        a[c][pixel] = kept;
        double expected = kept_pixels[pixel] ? (more - less) / (2.0 * h) : 0.0;
        double found = (double)orr_loss_row(&gradient, c, pixel / WIDTH)[pixel % WIDTH];
        if (!(fabs(found - expected) < 2e-6)) { // of 7e-4
            fail_msg("pixel %d: gradient %g: expected %g", i, found, expected);
        }
    }
    orr_arena_destroy(&arena);
    orr_jobs_destroy(jobs);
}

// ---- photos ----

// A photo whose colours are its coordinates: without distortion they are where the lens had put them.
static void test_undistorted(void **state)
{
    (void)state;
    enum { SIDE = 64 };
    static uint8_t pixels[SIDE * SIDE * 3];
    for (int i = 0; i < SIDE * SIDE; i++) {
        pixels[3 * i] = (uint8_t)(4 * (i % SIDE));
        pixels[3 * i + 1] = (uint8_t)(4 * (i / SIDE));
    }
    char name[] = "a photo";
    orr_capture_image image = {.path = name,
                               .width = SIDE,
                               .height = SIDE,
                               .channels = 3,
                               .pixels = pixels,
                               .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                               .focal = {50.0f, 55.0f},
                               .centre = {31.0f, 33.0f},
                               .radial = {-0.1f, 0.02f},
                               .tangential = {0.01f, -0.005f}};
    const orr_capture capture = {.images = &image, .count = 1};
    orr_jobs *jobs = threads(2);
    orr_splat_photo *made;
    assert_ok(orr_splat_photos_create(&capture, ORR_SPLAT_MASKS_IGNORE, ORR_SPLAT_LENSES_UNDISTORT, jobs,
                                      &made, &error));
    int kept = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        double x = (i % SIDE + 0.5 - 31.0) / 50.0, y = (i / SIDE + 0.5 - 33.0) / 55.0, r2 = x * x + y * y;
        double stretch = 1.0 - 0.1 * r2 + 0.02 * r2 * r2;
        double u = x * stretch + 2.0 * 0.01 * x * y - 0.005 * (r2 + 2.0 * x * x);
        double v = y * stretch + 0.01 * (r2 + 2.0 * y * y) - 2.0 * 0.005 * x * y;
        if (made->mask[i]) {
            kept++;
            assert_true(fabs(made->pixels[3 * i] - 4.0 * (31.0 + 50.0 * u - 0.5)) < 0.6);
            assert_true(fabs(made->pixels[3 * i + 1] - 4.0 * (33.0 + 55.0 * v - 0.5)) < 0.6);
        }
    }
    assert_in_range(kept, SIDE * SIDE * 9 / 10, SIDE * SIDE);
    orr_splat_photos_destroy(made, 1);
    orr_jobs_destroy(jobs);
}

// A fisheye's photo as a pinhole of its focal length takes it: OpenCV's definition, with the mathematics
// library's arctangent; where its polynomial falls there is nothing, whatever masks mean.
static void test_fisheye(void **state)
{
    (void)state;
    enum { SIDE = 64 };
    static uint8_t pixels[SIDE * SIDE * 3], all[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        pixels[3 * i] = (uint8_t)(4 * (i % SIDE));
        pixels[3 * i + 1] = (uint8_t)(4 * (i / SIDE));
    }
    memset(all, 255, sizeof all);
    char name[] = "a photo";
    orr_capture_image image = {.path = name,
                               .width = SIDE,
                               .height = SIDE,
                               .channels = 3,
                               .pixels = pixels,
                               .mask = all,
                               .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                               .focal = {30.0f, 33.0f},
                               .centre = {31.0f, 33.0f},
                               .radial = {0.1f, -0.8f},
                               .fisheye = true};
    const orr_capture capture = {.images = &image, .count = 1};
    orr_jobs *jobs = threads(2);
    for (int i = 0; i < 3; i++) {
        const double k1 = i < 2 ? 0.1 : 0.0, k2 = i < 2 ? -0.8 : 0.0;
        // 1 + 0.3 a^2 - 4 a^4 is 0, or it always rises
        const double limit = i < 2 ? sqrt((0.3 + sqrt(0.09 + 16.0)) / 8.0) : 3.2;
        image.radial[0] = (float)k1;
        image.radial[1] = (float)k2;
        orr_splat_photo *made;
        assert_ok(orr_splat_photos_create(&capture, i == 1 ? ORR_SPLAT_MASKS_EMPTY : ORR_SPLAT_MASKS_IGNORE,
                                          ORR_SPLAT_LENSES_UNDISTORT, jobs, &made, &error));
        int kept = 0, out = 0;
        for (int p = 0; p < SIDE * SIDE; p++) {
            const double x = (p % SIDE + 0.5 - 31.0) / 30.0, y = (p / SIDE + 0.5 - 33.0) / 33.0;
            const double r = hypot(x, y), a = atan2(r, 1.0);
            const double share = a * (1.0 + k1 * a * a + k2 * a * a * a * a) / r;
            const uint8_t *pixel = made->pixels + made->channels * p;
            if (made->mask[p]) {
                kept++;
                assert_true(fabs(pixel[0] - 4.0 * (31.0 + 30.0 * x * share - 0.5)) < 0.6);
                assert_true(fabs(pixel[1] - 4.0 * (33.0 + 33.0 * y * share - 0.5)) < 0.6);
                assert_true(a < limit);
            }
            out += a > limit;
        }
        assert_true(i == 2 || out > 50);
        assert_in_range(kept, SIDE * SIDE / 4, SIDE * SIDE - out);
        orr_splat_photos_destroy(made, 1);
    }
    orr_jobs_destroy(jobs);
}

// What a mask leaves out is not learned from, or is transparent.
static void test_masked(void **state)
{
    (void)state;
    enum { SIDE = 8 };
    uint8_t pixels[SIDE * SIDE * 3], kept[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        pixels[3 * i] = pixels[3 * i + 1] = pixels[3 * i + 2] = (uint8_t)(3 * i);
        kept[i] = i % SIDE < 3 ? 0 : 255;
    }
    char name[] = "a photo";
    orr_capture_image image = {.path = name,
                               .width = SIDE,
                               .height = SIDE,
                               .channels = 3,
                               .pixels = pixels,
                               .mask = kept,
                               .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                               .focal = {8.0f, 8.0f},
                               .centre = {4.0f, 4.0f}};
    const orr_capture capture = {.images = &image, .count = 1};
    const float white[3] = {1.0f, 1.0f, 1.0f};
    orr_jobs *jobs = threads(1);
    for (int masks = 0; masks < 2; masks++) {
        orr_splat_photo *made;
        orr_splat_photo_picture picture;
        orr_arena arena = {0};
        assert_ok(orr_splat_photos_create(&capture, (orr_splat_masks)masks, ORR_SPLAT_LENSES_UNDISTORT, jobs,
                                          &made, &error));
        assert_ok(orr_splat_photo_take(made, 2, white, jobs, &arena, &picture, &error));
        assert_true((picture.kept != NULL) == (masks == ORR_SPLAT_MASKS_IGNORE));
        assert_true((picture.alpha != NULL) == (masks == ORR_SPLAT_MASKS_EMPTY));
        // columns 0 and 1 are left out, of 2 and 3 one is
        for (int x = 0; picture.kept && x < SIDE / 2; x++) {
            assert_int_equal(picture.kept[x], x >= 2);
        }
        for (int x = 0; picture.alpha && x < SIDE / 2; x++) {
            assert_true(fabs((double)picture.alpha[x] - (x == 0 ? 0.0 : x == 1 ? 0.5 : 1.0)) < 1e-6);
        }
        // of pixels 2, 3, 10 and 11: (9 + 33) / 255 and two of white
        double expected = masks == ORR_SPLAT_MASKS_EMPTY ? (9.0 / 255 + 33.0 / 255 + 2.0) / 4.0
                                                         : (6.0 + 9.0 + 30.0 + 33.0) / 4.0 / 255.0;
        assert_true(fabs((double)orr_loss_row(&picture.planes, 1, 0)[1] - expected) < 1e-6);
        orr_arena_destroy(&arena);
        orr_splat_photos_destroy(made, 1);
    }
    orr_jobs_destroy(jobs);
}

// ---- relocation ----

static double stored(const orr_splat_params *params, int splat, int member)
{
    return (double)params->stored[0][orr_param_index(splat, ORR_STORED, member)];
}

static void test_relocation(void **state)
{
    (void)state;
    orr_splat_params params;
    assert_ok(orr_splat_params_create(40, false, &params, &error));
    const orr_splat_seed seeds[2] = {
        {{1.0f, 2.0f, 3.0f}, {0.2f, 0.5f, 0.9f}, -2.0f, 1.5f},
        {{4.0f, 5.0f, 6.0f}, {0.2f, 0.5f, 0.9f}, -2.0f, -20.0f}, // draws nothing
    };
    orr_splat_params_add(&params, seeds, 2);
    params.stored[0][orr_param_index(0, ORR_STORED, 3)] = -1.0f;
    assert_ok(orr_splat_relocate(&params, 2, 7, 100, &error));
    assert_int_equal(params.count, 2);
    // two in one place that look like one
    double o = 1.0 / (1.0 + exp(-1.5)), each = 1.0 - sqrt(1.0 - o);
    double factor = o / (2.0 * each - each * each / sqrt(2.0));
    for (int i = 0; i < 2; i++) {
        assert_true(stored(&params, i, 0) == 1.0 && stored(&params, i, 2) == 3.0);
        assert_true(fabs(1.0 / (1.0 + exp(-stored(&params, i, 10))) - each) < 1e-6);
        assert_true(fabs(stored(&params, i, 3) - (-1.0 + log(factor))) < 1e-6);
        assert_true(fabs(stored(&params, i, 4) - (-2.0 + log(factor))) < 1e-6);
    }
    assert_ok(orr_splat_relocate(&params, 33, 7, 200, &error));
    assert_int_equal(params.count, 33);
    for (int i = 0; i < 33; i++) {
        assert_true(stored(&params, i, 0) == 1.0);
    }
    orr_splat_params_destroy(&params);
}

// ---- division ----

static float *member_of(orr_splat_params *params, int splat, int member)
{
    return &params->stored[0][orr_param_index(splat, ORR_STORED, member)];
}

// The one that is pulled hardest becomes two while there is room for one; what draws nothing goes.
static void test_division(void **state)
{
    (void)state;
    orr_splat_params params;
    assert_ok(orr_splat_params_create(4, true, &params, &error));
    const orr_splat_seed seeds[4] = {
        {{1.0f, 0.0f, 0.0f}, {0.2f, 0.5f, 0.9f}, -2.0f, -20.0f}, // draws nothing
        {{2.0f, 0.0f, 0.0f}, {0.2f, 0.5f, 0.9f}, -2.0f, 1.5f},
        {{3.0f, 0.0f, 0.0f}, {0.2f, 0.5f, 0.9f}, -2.0f, 1.5f},
        {{4.0f, 0.0f, 0.0f}, {0.2f, 0.5f, 0.9f}, -2.0f, 1.5f},
    };
    orr_splat_params_add(&params, seeds, 4);
    const float sums[4] = {9.0f, 1.0f, 4.0f, 0.1f};
    memcpy(params.statistic[0], sums, sizeof sums);
    for (int i = 0; i < 4; i++) {
        params.statistic[1][i] = 2.0f;
    }
    // three are left: there is room for one more. The longest axis of the one at 3 is its second, which a
    // quarter turn about z lays along -x
    *member_of(&params, 2, 4) = -1.0f;
    *member_of(&params, 2, 8) = *member_of(&params, 2, 9) = sqrtf(0.5f);
    orr_densify_desc desc = {.target = 4, .threshold = 0.2f};
    assert_ok(orr_splat_densify(&params, &desc, &error));
    assert_int_equal(params.count, 4);
    const double o = 1.0 / (1.0 + exp(-1.5)), each = 1.0 - sqrt(1.0 - o), apart = 0.5 * exp(-1.0);
    const double expected[4] = {2.0, 3.0 + apart, 4.0, 3.0 - apart};
    for (int i = 0; i < 4; i++) {
        const bool half = i == 1 || i == 3;
        assert_true(fabs(stored(&params, i, 0) - expected[i]) < 1e-6 && params.statistic[0][i] == 0.0f);
        assert_true(fabs(stored(&params, i, 1)) < 1e-6);
        double opacity = 1.0 / (1.0 + exp(-stored(&params, i, 10)));
        assert_true(fabs(opacity - (half ? each : o)) < 1e-6);
        assert_true(fabs(stored(&params, i, 3) - (half ? -2.0 + log(0.9) : -2.0)) < 1e-6);
        assert_true(fabs(stored(&params, i, 4) - (half ? -1.0 + log(0.6) : -2.0)) < 1e-6);
    }
    // nothing but one is above the threshold
    params.statistic[0][0] = params.statistic[1][0] = 1.0f;
    desc = (orr_densify_desc){.target = 100, .threshold = 0.5f};
    assert_ok(orr_splat_densify(&params, &desc, &error));
    assert_int_equal(params.count, 5);
    orr_splat_params_destroy(&params);
}

// ---- where splats begin ----

static float random_in(orr_rng *rng) // in -1 .. 1
{
    return 2.0f * orr_rng_uniform(rng) - 1.0f;
}

// Against all pairs; the same place many times, and a point far away.
static void test_nearest(void **state)
{
    (void)state;
    enum { COUNT = 700 };
    static float position[3 * COUNT], found[ORR_NEAREST_COUNT * COUNT];
    orr_rng rng = {5, 0, 0};
    orr_jobs *jobs = threads(2);
    for (int i = 0; i < 3 * COUNT; i++) {
        position[i] = i < 600 ? 0.25f : random_in(&rng);
    }
    position[3 * COUNT - 1] = 1e6f;
    assert_ok(orr_nearest_find(position, COUNT, jobs, found, &error));
    for (int i = 0; i < COUNT; i++) {
        float expected[ORR_NEAREST_COUNT] = {INFINITY, INFINITY, INFINITY};
        for (int k = 0; k < COUNT; k++) {
            float squared = 0.0f;
            for (int c = 0; c < 3; c++) {
                float d = position[3 * k + c] - position[3 * i + c];
                squared += d * d;
            }
            for (int n = 0; n < ORR_NEAREST_COUNT && k != i; n++) {
                float smaller = fminf(expected[n], squared);
                squared = fmaxf(expected[n], squared);
                expected[n] = smaller;
            }
        }
        assert_memory_equal(expected, found + ORR_NEAREST_COUNT * i, sizeof expected);
    }
    assert_ok(orr_nearest_find(position, 2, jobs, found, &error));
    assert_true(found[0] == 0.0f && isinf(found[1]) && isinf(found[5]));
    orr_jobs_destroy(jobs);
}

// A grid of points, one at a camera, one at that of a photo that is held out, one far away and two in one
// place.
static void test_points_become_seeds(void **state)
{
    (void)state;
    enum { SIDE = 5, GRID = SIDE * SIDE * SIDE, COUNT = GRID + 4 };
    static float position[3 * COUNT], colour[3 * COUNT];
    static orr_splat_seed seeds[COUNT];
    const float step = 0.125f;
    photos p;
    orr_splat_photo *made;
    orr_jobs *jobs = threads(2);
    take_photos(&sphere_photos, &p);
    assert_ok(orr_splat_photos_create(&p.capture, ORR_SPLAT_MASKS_IGNORE, ORR_SPLAT_LENSES_UNDISTORT, jobs,
                                      &made, &error));
    for (int i = 0; i < GRID; i++) {
        const float at[3] = {step * (float)(i % SIDE), step * (float)(i / SIDE % SIDE),
                             step * (float)(i / SIDE / SIDE)};
        memcpy(position + 3 * i, at, sizeof at);
        colour[3 * i + 1] = (float)i / GRID;
    }
    memcpy(position + 3 * GRID, made[0].lens.position, 3 * sizeof *position);
    position[3 * GRID] += 1e-3f;
    position[3 * GRID + 3] = 1e4f;
    assert_true(p.learned < p.capture.count);
    memcpy(position + 3 * (GRID + 2), made[p.indices[p.learned]].lens.position, 3 * sizeof *position);
    memcpy(position + 3 * (COUNT - 1), position, 3 * sizeof *position);
    const orr_splat_points points = {.count = COUNT, .position = position, .colour = colour};
    const float extent = orr_splat_extent(made, p.indices, p.learned);
    int64_t count = orr_splat_seeds_take(&points, made, p.capture.count, extent, COUNT, 1, seeds);
    assert_int_equal(count, COUNT - 2);
    assert_ok(orr_splat_seeds_finish(seeds, count, jobs, &error));
    for (int i = 0; i < count; i++) {
        const bool far = seeds[i].position[0] > 1e3f;
        const bool twice = seeds[i].position[0] + seeds[i].position[1] + seeds[i].position[2] == 0.0f;
        assert_true(isfinite(seeds[i].log_scale));
        if (!far && !twice) { // the nearest three are one step away; but for one they have an own place
            assert_true(fabsf(seeds[i].log_scale - logf(0.5f * step)) < 1e-5f);
            const int number = (int)lroundf(
                (seeds[i].position[0] + SIDE * seeds[i].position[1] + SIDE * SIDE * seeds[i].position[2]) /
                step);
            assert_true(seeds[i].colour[1] == (float)number / GRID);
        }
        assert_true(seeds[i].log_scale < logf(6.0f * step)); // ten times the usual at most
    }
    // fewer than there are: all over the grid, none twice
    count = orr_splat_seeds_take(&points, made, p.capture.count, extent, 40, 1, seeds);
    assert_in_range(count, 38, 40);
    int upper = 0;
    for (int i = 0; i < count; i++) {
        upper += seeds[i].position[2] > 0.25f;
        assert_true(i == 0 || memcmp(seeds[i].position, seeds[i - 1].position, 12) != 0);
    }
    assert_in_range(upper, 6, 28); // of 40 with 0.4 each: 16, give or take 3
    orr_splat_photos_destroy(made, p.capture.count);
    orr_jobs_destroy(jobs);
    drop_photos(&p);
}

// COLMAP's and a .ply; what is absent, and what is damaged.
static void test_points_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *says; // says NULL: two points
    } files[] = {
        {"points3D.txt", "# points\n7 1 2 3 255 0 51 0.5 1 0 2 3\n9 4 5 6 0 0 0 0.25\n", NULL},
        {"points.ply",
         "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
         "property uint8 red\nproperty uint8 green\nproperty uint8 blue\nend_header\n"
         "1 2 3 255 0 51\n4 5 6 0 0 0\n",
         NULL},
        {"points3D.bin", "\2\0\0", "points3D.bin: expected"},
        {"points3D.txt", "7 1 2 three", "points3D.txt: line 1: expected POINT3D_ID X Y Z"},
        {"points.ply", "plyx", "points.ply: line 1: expected 'ply'"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s", written(files[i].name, files[i].text));
        const orr_capture capture = {.points = path};
        orr_splat_points points;
        orr_error why = {0};
        orr_result result = orr_splat_points_load(&capture, (orr_log){0}, &points, &why);
        if (files[i].says) {
            assert_int_equal(result, ORR_ERROR_FORMAT);
            assert_null(points.position);
            if (!strstr(why.message, files[i].says)) {
                fail_msg("\"%s\": expected \"%s\"", why.message, files[i].says);
            }
        } else {
            assert_int_equal(result, ORR_OK);
            assert_int_equal(points.count, 2);
            assert_true(points.position[2] == 3.0f && points.position[3] == 4.0f);
            assert_true(fabsf(points.colour[0] - 1.0f) < 1e-6f && fabsf(points.colour[2] - 0.2f) < 1e-6f);
            orr_splat_points_free(&points);
        }
        remove(path);
        assert_ok(orr_splat_points_load(&capture, (orr_log){0}, &points, &error)); // absent
        assert_int_equal(points.count, 0);
    }
}

// ---- all of it ----

static orr_splat_trainer_desc describe(const photos *p, orr_jobs *jobs)
{
    return (orr_splat_trainer_desc){.capture = &p->capture,
                                    .images = p->indices,
                                    .image_count = p->learned,
                                    .jobs = jobs,
                                    .isa = machine(),
                                    .splats = 1500,
                                    .sh_degree = 2,
                                    .seed = 1};
}

// everything that can be learned
static orr_splat_trainer *make_full_trainer(const photos *p, orr_jobs *jobs, orr_splat_strategy strategy)
{
    orr_splat_trainer_desc desc = describe(p, jobs);
    desc.strategy = strategy;
    desc.antialias = desc.exposures = desc.refine_poses = true;
    desc.prune = strategy == ORR_SPLAT_ADC ? 0.4f : 0.0f;
    orr_splat_trainer *trainer;
    assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
    return trainer;
}

static void train_part(orr_splat_trainer *trainer, int from, int to, int steps)
{
    for (int i = from; i < to; i++) {
        orr_splat_step_report report;
        assert_ok(orr_splat_trainer_step(trainer, (double)i / steps, &report, &error));
        assert_true(isfinite(report.loss));
    }
}

static void train(orr_splat_trainer *trainer, int steps)
{
    train_part(trainer, 0, steps, steps);
}

static double score(orr_splat_trainer *trainer, int image, orr_jobs *jobs)
{
    orr_arena arena = {0};
    orr_splat_comparison seen;
    double psnr, ssim;
    assert_ok(orr_splat_trainer_compare(trainer, image, 1, &arena, &seen, &error));
    assert_ok(orr_splat_comparison_score(&seen, jobs, &psnr, &ssim, &error));
    orr_arena_destroy(&arena);
    return psnr;
}

static void learn_spheres(orr_splat_strategy strategy)
{
    photos p;
    take_photos(&sphere_photos, &p);
    orr_jobs *jobs = threads(2);
    orr_splat_trainer_desc desc = describe(&p, jobs);
    orr_splat_trainer *trainer;
    desc.strategy = strategy;
    assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
    train(trainer, 600);
    for (int i = p.learned; i < p.capture.count; i++) {
        double psnr = score(trainer, p.indices[i], jobs);
        print_message("held-out photo %d: %.2f dB\n", i - p.learned, psnr);
        assert_true(psnr > 26.0);
    }
    orr_splats *splats;
    assert_ok(orr_splat_trainer_cloud(trainer, &splats, &error));
    assert_in_range(splats->data.count, 500, 1500);
    assert_int_equal(splats->data.sh_degree, 2);
    assert_ok(orr_splats_check(splats, "the cloud", &error));
    orr_splats_destroy(splats);
    orr_splat_trainer_destroy(trainer);
    orr_jobs_destroy(jobs);
    drop_photos(&p);
}

static void test_spheres(void **state)
{
    (void)state;
    learn_spheres(ORR_SPLAT_ADC);
    learn_spheres(ORR_SPLAT_MCMC);
}

static orr_splats *cloud_by(const photos *p, int thread_count, orr_splat_strategy strategy)
{
    orr_jobs *jobs = threads(thread_count);
    orr_splat_trainer *trainer = make_full_trainer(p, jobs, strategy);
    orr_splats *splats;
    train(trainer, 120);
    assert_ok(orr_splat_trainer_cloud(trainer, &splats, &error));
    orr_splat_trainer_destroy(trainer);
    orr_jobs_destroy(jobs);
    return splats;
}

static void assert_same_clouds(const orr_splats *one, const orr_splats *other)
{
    const orr_splats_view a = one->data, b = other->data;
    size_t count = (size_t)a.count;
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.position, b.position, count * 3 * sizeof(float));
    assert_memory_equal(a.log_scale, b.log_scale, count * 3 * sizeof(float));
    assert_memory_equal(a.rotation, b.rotation, count * 4 * sizeof(float));
    assert_memory_equal(a.opacity, b.opacity, count * sizeof(float));
    assert_memory_equal(a.colour, b.colour, count * 3 * sizeof(float));
    assert_memory_equal(a.harmonics, b.harmonics, count * 24 * sizeof(float));
}

static void test_threads_change_no_bit(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    orr_splats *one = cloud_by(&p, 1, ORR_SPLAT_ADC), *three = cloud_by(&p, 3, ORR_SPLAT_ADC);
    assert_same_clouds(one, three);
    orr_splats_destroy(one);
    orr_splats_destroy(three);
    one = cloud_by(&p, 1, ORR_SPLAT_MCMC);
    three = cloud_by(&p, 3, ORR_SPLAT_MCMC);
    assert_same_clouds(one, three);
    orr_splats_destroy(one);
    orr_splats_destroy(three);
    drop_photos(&p);
}

// ---- going on ----

static orr_result go_on(const photos *p, int image_count, orr_jobs *jobs, const char *path,
                        orr_splat_trainer **trainer, orr_error *why)
{
    const orr_splat_trainer_desc desc = {.capture = &p->capture,
                                         .images = p->indices,
                                         .image_count = image_count,
                                         .jobs = jobs,
                                         .isa = machine(),
                                         .resume = path};
    return orr_splat_trainer_create(&desc, trainer, why);
}

// In the middle of an epoch and before a relocation, with other threads: the same bits as in one go.
static void goes_on_to_the_same_bits(orr_splat_strategy strategy)
{
    enum { STEPS = 130, PART = 65 };
    const char *path = scratch_path("spheres.training");
    photos p;
    take_photos(&sphere_photos, &p);
    orr_jobs *jobs[2] = {threads(1), threads(3)};
    orr_splat_trainer *trainers[2] = {make_full_trainer(&p, jobs[0], strategy)};
    orr_splats *clouds[2];
    orr_error why;
    train_part(trainers[0], 0, PART, STEPS);
    assert_ok(orr_splat_trainer_save(trainers[0], path, &error));
    assert_ok(go_on(&p, p.learned, jobs[1], path, &trainers[1], &error));
    const orr_splat_progress progress = orr_splat_trainer_progress(trainers[1]);
    assert_true(progress.steps == PART && progress.progress == (double)(PART - 1) / STEPS);
    for (int i = 0; i < 2; i++) {
        train_part(trainers[i], PART, STEPS, STEPS);
        assert_ok(orr_splat_trainer_cloud(trainers[i], &clouds[i], &error));
    }
    assert_same_clouds(clouds[0], clouds[1]);
    for (int i = 0; i < p.learned; i++) {
        const orr_camera one = orr_splat_trainer_camera(trainers[0], i);
        const orr_camera other = orr_splat_trainer_camera(trainers[1], i);
        assert_memory_equal(one.pose, other.pose, sizeof one.pose);
    }
    for (int i = 0; i < 2; i++) {
        orr_splats_destroy(clouds[i]);
        orr_splat_trainer_destroy(trainers[i]);
    }
    assert_int_equal(go_on(&p, p.learned - 1, jobs[0], path, &trainers[0], &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "learned from other photos"));
    orr_jobs_destroy(jobs[0]);
    orr_jobs_destroy(jobs[1]);
    drop_photos(&p);
}

static void test_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    goes_on_to_the_same_bits(ORR_SPLAT_MCMC);
    goes_on_to_the_same_bits(ORR_SPLAT_ADC);
}

static void assert_unreadable(orr_bytes bytes, const char *words)
{
    orr_splat_state state;
    orr_error why = {0};
    assert_int_equal(orr_splat_state_read("a state", bytes, &state, &why), ORR_ERROR_FORMAT);
    assert_null(state.images);
    if (!strstr(why.message, words)) {
        fail_msg("\"%s\": expected \"%s\"", why.message, words);
    }
}

static void damage(orr_bytes bytes, size_t offset, const void *value, size_t size, const char *words)
{
    uint8_t kept[8];
    memcpy(kept, bytes.data + offset, size);
    memcpy(bytes.data + offset, value, size);
    assert_unreadable(bytes, words);
    memcpy(bytes.data + offset, kept, size);
}

static void test_damaged_states_are_refused(void **state)
{
    (void)state;
    const char *path = scratch_path("small.training");
    const float nan = NAN, negative = -1.0f;
    const int64_t many = ((int64_t)1 << 28) + 1, seventeen = 17;
    int images[2] = {1, 0};
    orr_splat_view views[2] = {{.steps = 3}, {.steps = 2}};
    orr_splat_state s = {.step = 5,
                         .progress = 0.25,
                         .extent = 1.0f,
                         .most = 20,
                         .image_count = 2,
                         .images = images,
                         .views = views};
    const orr_splat_seed seed = {{1.0f, 2.0f, 3.0f}, {0.2f, 0.5f, 0.9f}, -2.0f, 1.5f};
    assert_ok(orr_splat_params_create(1, false, &s.params, &error));
    orr_splat_params_add(&s.params, &seed, 1);
    assert_ok(orr_splat_state_save(&s, path, &error));
    orr_splat_params_destroy(&s.params);
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    assert_ok(orr_splat_state_read(path, bytes, &s, &error));
    assert_true(s.step == 5 && s.params.count == 1 && s.images[0] == 1 && stored(&s.params, 0, 2) == 3.0);
    assert_true(s.views[0].steps == 3 && s.views[1].steps == 2);
    orr_splat_state_destroy(&s);
    const size_t set = 16 * (ORR_STORED + 3) * sizeof(float);
    const size_t arrays = 88 + sizeof views;
    damage(bytes, 0, "ORRSPT99", 8, "begins with ORRSPT03");
    damage(bytes, 24, &seventeen, sizeof seventeen, "by its header"); // one block of 16 is there
    damage(bytes, 32, &many, sizeof many, "header");
    damage(bytes, 48, &nan, sizeof nan, "header");
    damage(bytes, 56, &negative, sizeof negative, "header"); // weight of depths
    damage(bytes, 60, &negative, sizeof negative, "header"); // share that is pruned
    damage(bytes, 88 + 96, &nan, sizeof nan, "exposure of photo 0");
    damage(bytes, arrays, &nan, sizeof nan, "finite");
    damage(bytes, arrays + 2 * set, &negative, sizeof negative, "none negative");
    bytes.size--;
    assert_unreadable(bytes, "by its header");
    bytes.size = 40;
    assert_unreadable(bytes, "expected a header");
    orr_free(bytes.data);
}

static void assert_refused(orr_splat_trainer_desc desc, const char *words)
{
    orr_splat_trainer *trainer;
    orr_error error = {0};
    assert_int_equal(orr_splat_trainer_create(&desc, &trainer, &error), ORR_ERROR_ARGUMENT);
    assert_null(trainer);
    if (!strstr(error.message, words)) {
        fail_msg("\"%s\": expected \"%s\"", error.message, words);
    }
}

static void test_refused(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    orr_jobs *jobs = threads(1);
    const orr_splat_trainer_desc good = {.capture = &p.capture,
                                         .images = p.indices,
                                         .image_count = p.learned,
                                         .jobs = jobs,
                                         .isa = machine(),
                                         .splats = 100};
    orr_splat_trainer_desc desc = good;
    desc.splats = 0;
    assert_refused(desc, "0 splats");
    desc = good;
    desc.sh_degree = 4;
    assert_refused(desc, "degree 4");
    desc = good;
    desc.image_count = 1;
    assert_refused(desc, "expected 2 or more");
    for (int i = 1; i < p.capture.count; i++) {
        memcpy(p.capture.images[i].pose, p.capture.images[0].pose, sizeof p.capture.images[0].pose);
    }
    assert_refused(good, "in one place");
    orr_jobs_destroy(jobs);
    drop_photos(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loss),
                                       cmocka_unit_test(test_undistorted),
                                       cmocka_unit_test(test_fisheye),
                                       cmocka_unit_test(test_masked),
                                       cmocka_unit_test(test_relocation),
                                       cmocka_unit_test(test_division),
                                       cmocka_unit_test(test_nearest),
                                       cmocka_unit_test(test_points_become_seeds),
                                       cmocka_unit_test(test_points_are_read),
                                       cmocka_unit_test(test_threads_change_no_bit),
                                       cmocka_unit_test(test_damaged_states_are_refused),
                                       cmocka_unit_test(test_refused)};
    const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_spheres),
                                            cmocka_unit_test(test_goes_on_to_the_same_bits)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return THREADS_ALONE ? failed : failed + cmocka_run_group_tests(long_tests, NULL, NULL);
}
