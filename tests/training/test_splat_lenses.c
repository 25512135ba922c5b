// Splats learn from photos whose lens is kept: what the lens of such a photo sees, the file that a training
// goes on from, and held-out photos beside those of a training that undistorts them.
#include "engine/core/file.h"
#include "engine/maths/rng.h"
#include "neural/capture/ray_camera.h"
#include "render/training/splat_photos.h"
#include "render/training/splat_state.h"
#include "render/training/splat_trainer.h"
#include "tests/support/machine.h"
#include "tests/support/scenes/photos.h"
#include "tests/support/support.h"
#include "tests/training/lens_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

// Barrel distortion: at the picture's corners a twelfth of the radius is gone.
static photo_plan barrel_plan(void)
{
    photo_plan plan = sphere_photos;
    plan.focal = 0.9f;
    plan.radial[0] = -0.15f;
    plan.radial[1] = 0.02f;
    return plan;
}

static photo_plan fisheye_plan(void)
{
    photo_plan plan = sphere_photos;
    plan.focal = 0.5f;
    plan.distance = 2.0f;
    plan.fisheye = true;
    plan.radial[0] = 0.03f;
    plan.radial[1] = -0.01f;
    return plan;
}

static orr_splat_photo *photos_of(const photos *p, orr_splat_lenses lenses)
{
    orr_splat_photo *made;
    assert_ok(orr_splat_photos_create(&p->capture, ORR_SPLAT_MASKS_IGNORE, lenses, jobs, &made, &error));
    return made;
}

// ---- what a photo sees ----

// Beside the cameras of neural fields, which go the other way, by Newton's iteration.
static void compare_sight(const photo_plan *plan)
{
    photos p;
    take_photos(plan, &p);
    orr_splat_photo *kept = photos_of(&p, ORR_SPLAT_LENSES_KEEP), *photo = &kept[3];
    const orr_ray_camera camera = orr_ray_camera_of_image(&p.images[3], identity);
    orr_rng rng = {7, 0, 0};
    int seen = 0, unseen = 0;
    assert_true(photo->lens.distorted && photo->pixels == p.images[3].pixels && !photo->mask);
    for (int i = 0; i < 500; i++) {
        const float pixel[2] = {orr_rng_range(&rng, -20.0f, 84.0f), orr_rng_range(&rng, -20.0f, 84.0f)};
        const float far_away = orr_rng_range(&rng, 0.5f, 4.0f);
        const orr_camera_ray ray = orr_ray_camera_ray(&camera, pixel[0], pixel[1]);
        float point[3], found[2], depth, direction[3];
        for (int k = 0; k < 3; k++) {
            point[k] = ray.origin[k] + far_away * ray.direction[k];
        }
        const bool inside = pixel[0] > 0.0f && pixel[1] > 0.0f && pixel[0] < 64.0f && pixel[1] < 64.0f;
        if (!inside) {
            unseen += !orr_splat_lens_sees(&photo->lens, &photo->distortion, point, found, &depth);
            continue;
        }
        seen++;
        assert_true(orr_splat_lens_sees(&photo->lens, &photo->distortion, point, found, &depth));
        if (!(hypotf(found[0] - pixel[0], found[1] - pixel[1]) < 1e-3f &&
              fabsf(depth - far_away * ray.depth) < 1e-5f * far_away)) {
            fail_msg("(%g, %g), depth %g: expected (%g, %g), %g", (double)found[0], (double)found[1],
                     (double)depth, (double)pixel[0], (double)pixel[1], (double)(far_away * ray.depth));
        }
        // where seeds are drawn: at depth 1
        orr_splat_photo_direction(photo, pixel, direction);
        for (int k = 0; k < 3; k++) {
            point[k] = photo->lens.position[k];
            for (int c = 0; c < 3; c++) {
                point[k] += photo->lens.view[4 * c + k] * direction[c];
            }
        }
        assert_true(orr_splat_lens_sees(&photo->lens, &photo->distortion, point, found, &depth));
        assert_true(hypotf(found[0] - pixel[0], found[1] - pixel[1]) < 1e-3f && fabsf(depth - 1.0f) < 1e-5f);
    }
    assert_true(seen > 100 && unseen == 500 - seen);
    orr_splat_photos_destroy(kept, p.capture.count);
    drop_photos(&p);
}

static void lenses_see_as_those_of_fields(void **state)
{
    (void)state;
    photo_plan plan = barrel_plan();
    compare_sight(&plan);
    plan = fisheye_plan();
    compare_sight(&plan);
}

// x (1 - x^2) rises up to 1 / sqrt(3), where it is 2 / sqrt(27): pixels farther out show nothing.
static void what_folds_back_is_left_out(void **state)
{
    (void)state;
    photo_plan plan = barrel_plan();
    photos p;
    plan.radial[0] = -1.0f;
    plan.radial[1] = 0.0f;
    take_photos(&plan, &p);
    orr_splat_photo *kept = photos_of(&p, ORR_SPLAT_LENSES_KEEP);
    assert_non_null(kept[0].mask);
    assert_true(fabsf(kept[0].distortion.reach - 0.57735027f) < 1e-6f);
    for (int i = 0; i < 64 * 64; i++) {
        const double x = (i % 64 + 0.5 - 32.0) / (0.9 * 64.0), y = (i / 64 + 0.5 - 32.0) / (0.9 * 64.0);
        assert_int_equal(kept[0].mask[i] != 0, hypot(x, y) <= 2.0 / sqrt(27.0));
    }
    orr_splat_photos_destroy(kept, p.capture.count);
    drop_photos(&p);
}

// ---- training ----

static orr_splat_trainer_desc describe(const photos *p, orr_splat_lenses lenses)
{
    return (orr_splat_trainer_desc){.capture = &p->capture,
                                    .images = p->indices,
                                    .image_count = p->learned,
                                    .jobs = jobs,
                                    .isa = isa,
                                    .splats = 1500,
                                    .sh_degree = 1,
                                    .strategy = ORR_SPLAT_ADC,
                                    .lenses = lenses,
                                    .seed = 1};
}

static orr_splat_trainer *make(const orr_splat_trainer_desc *desc)
{
    orr_splat_trainer *trainer;
    assert_ok(orr_splat_trainer_create(desc, &trainer, &error));
    return trainer;
}

enum { STEPS = 500 };

static double step(orr_splat_trainer *trainer, int i)
{
    orr_splat_step_report report;
    assert_ok(orr_splat_trainer_step(trainer, (double)i / STEPS, &report, &error));
    return report.loss;
}

// Of the photos held out, as the training has them.
static double score(orr_splat_trainer *trainer, const photos *p, bool masked)
{
    double sum = 0.0;
    for (int i = p->learned; i < p->capture.count; i++) {
        orr_arena arena = {0};
        orr_splat_comparison seen;
        double psnr, ssim;
        assert_ok(orr_splat_trainer_compare(trainer, p->indices[i], 1, &arena, &seen, &error));
        assert_true((seen.mask != NULL) == masked);
        assert_ok(orr_splat_comparison_score(&seen, jobs, &psnr, &ssim, &error));
        sum += psnr / (p->capture.count - p->learned);
        orr_arena_destroy(&arena);
    }
    return sum;
}

static orr_splat_trainer *trained(const photos *p, orr_splat_lenses lenses)
{
    const orr_splat_trainer_desc desc = describe(p, lenses);
    orr_splat_trainer *trainer = make(&desc);
    for (int i = 0; i < STEPS; i++) {
        step(trainer, i);
    }
    return trainer;
}

// Both clouds beside the photos held out, as they are and undistorted, and beside what a pinhole would have
// photographed.
static void a_kept_lens_is_learned_through(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    const photo_plan plan = barrel_plan();
    photo_plan pinhole = plan;
    pinhole.radial[0] = pinhole.radial[1] = 0.0f;
    photos p, straight;
    take_photos(&plan, &p);
    take_photos(&pinhole, &straight);
    const int *images = p.indices + p.learned, count = p.capture.count - p.learned;
    lens_score kept[2], resampled[2], truth[2]; // by what was learned from
    for (int lenses = 0; lenses < 2; lenses++) {
        orr_splat_trainer *trainer = trained(&p, (orr_splat_lenses)lenses);
        kept[lenses] = score_beside(trainer, &p.capture, ORR_SPLAT_LENSES_KEEP, images, count);
        resampled[lenses] = score_beside(trainer, &p.capture, ORR_SPLAT_LENSES_UNDISTORT, images, count);
        truth[lenses] = score_beside(trainer, &straight.capture, ORR_SPLAT_LENSES_UNDISTORT, images, count);
        const double own = score(trainer, &p, lenses == ORR_SPLAT_LENSES_UNDISTORT);
        assert_true(own == (lenses == ORR_SPLAT_LENSES_KEEP ? kept : resampled)[lenses].psnr);
        print_message("lens %s: as photographed %.2f dB, resampled %.2f dB, by a pinhole %.2f dB\n",
                      lenses == ORR_SPLAT_LENSES_KEEP ? "kept" : "undistorted", kept[lenses].psnr,
                      resampled[lenses].psnr, truth[lenses].psnr);
        orr_splat_trainer_destroy(trainer);
    }
    const int keep = ORR_SPLAT_LENSES_KEEP, undistort = ORR_SPLAT_LENSES_UNDISTORT;
    // Resampled photos are less sharp, and so are the splats that learn from them: 38.7 and 35.2 dB were
    // measured beside the photos as they are, 38.0 and 35.0 beside a pinhole's. Half a pixel costs 4 dB.
    assert_true(kept[keep].psnr > kept[undistort].psnr + 1.5 &&
                truth[keep].psnr > truth[undistort].psnr + 1.5);
    assert_true(truth[undistort].psnr > 33.5 && resampled[undistort].psnr > 37.0);
    drop_photos(&p);
    drop_photos(&straight);
}

// All that a fisheye sees, of which a pinhole of its focal length has the middle.
static void a_fisheye_is_learned_through(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    const photo_plan plan = fisheye_plan();
    photos p;
    take_photos(&plan, &p);
    orr_splat_trainer *trainer = trained(&p, ORR_SPLAT_LENSES_KEEP);
    const double kept = score(trainer, &p, false);
    orr_splat_trainer_destroy(trainer);
    print_message("held-out photos of a fisheye, kept: %.2f dB\n", kept);
    assert_true(kept > 35.0);
    drop_photos(&p);
}

// A training goes on with the lens of its file, to the same bits.
static void the_lens_is_in_the_file(void **state)
{
    (void)state;
    const char *path = scratch_path("half.training");
    const photo_plan plan = barrel_plan();
    photos p;
    take_photos(&plan, &p);
    orr_splat_trainer_desc desc = describe(&p, ORR_SPLAT_LENSES_KEEP);
    orr_splat_trainer *whole = make(&desc);
    for (int i = 0; i < 3; i++) {
        step(whole, i);
    }
    assert_ok(orr_splat_trainer_save(whole, path, &error));
    desc.lenses = ORR_SPLAT_LENSES_UNDISTORT;
    desc.resume = path;
    orr_splat_trainer *again = make(&desc);
    assert_true(orr_splat_trainer_progress(again).keeps_lenses);
    for (int i = 3; i < 6; i++) {
        const double expected = step(whole, i), found = step(again, i);
        assert_memory_equal(&found, &expected, sizeof found);
    }
    orr_splat_trainer_destroy(whole);
    orr_splat_trainer_destroy(again);
    remove(path);
    drop_photos(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lenses_see_as_those_of_fields), cmocka_unit_test(what_folds_back_is_left_out),
        cmocka_unit_test(a_kept_lens_is_learned_through), cmocka_unit_test(a_fisheye_is_learned_through),
        cmocka_unit_test(the_lens_is_in_the_file)};
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
