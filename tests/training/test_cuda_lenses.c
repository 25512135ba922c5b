// Training splats through lenses that are kept on CUDA (a GPU, or the emulated device) beside the CPU, on
// photos of three spheres: pictures, gradients, steps and held-out photos.
#define ORR_SCALAR
#include "render/formula_inputs.h"
#include "render/splat/splat_backward_formula.h"
#include "render/splat/splat_photo_inputs.h"
#include "render/training/cuda/splat_steps_state.h"
#include "render/training/splat_schedule.h"
#include "render/training/splat_trainer_state.h"
#include "tests/training/machine_pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 40, PIXELS = SIDE * SIDE }; // [px] of a photo: two tiles and a half

// Every coefficient counts: without the last of them, k4, what is at the corners moves by a tenth of a pixel.
static photo_plan perspective_plan(void)
{
    photo_plan plan = sphere_photos;
    const float radial[4] = {-0.15f, 0.02f, -0.02f, 0.02f}, tangential[2] = {0.01f, -0.015f};
    plan.size = SIDE;
    plan.focal = 0.9f;
    memcpy(plan.radial, radial, sizeof radial);
    memcpy(plan.tangential, tangential, sizeof tangential);
    return plan;
}

static photo_plan fisheye_plan(void)
{
    photo_plan plan = sphere_photos;
    const float radial[4] = {0.03f, -0.01f, 0.002f, -0.0005f};
    plan.size = SIDE;
    plan.focal = 0.5f;
    plan.distance = 2.0f;
    plan.fisheye = true;
    memcpy(plan.radial, radial, sizeof radial);
    return plan;
}

static orr_splat_trainer_desc describe(const photos *p)
{
    return (orr_splat_trainer_desc){.capture = &p->capture,
                                    .images = p->indices,
                                    .image_count = p->learned,
                                    .jobs = jobs,
                                    .isa = isa,
                                    .splats = 600,
                                    .sh_degree = 2,
                                    .lenses = ORR_SPLAT_LENSES_KEEP,
                                    .seed = 1};
}

// ---- splats where lenses are at their ends ----

// How many splats of a state are drawn in the first photo and have points beyond its lens's reach, or nearer
// than points may be.
typedef struct unusual {
    int beyond, near;
} unusual;

static bool is_near(const splat_sigma *s, real3 axis)
{
    return s->p.z + axis.z < s->least_z || s->p.z - axis.z < s->least_z;
}

static bool is_beyond(splat_photo_lens photo, const splat_sigma *s, real3 axis)
{
    return !splat_point_of(photo, add3(s->p, axis), s->least_z).seen ||
           !splat_point_of(photo, sub3(s->p, axis), s->least_z).seen;
}

static unusual count_unusual(const orr_splat_state *s, const photos *p)
{
    const orr_draw_splats layer = {.model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    orr_splat_photo *made;
    splat_lens_values values;
    unusual count = {0, 0};
    assert_ok(orr_splat_photos_create(&p->capture, ORR_SPLAT_MASKS_IGNORE, ORR_SPLAT_LENSES_KEEP, jobs, &made,
                                      &error));
    assert_ok(orr_splat_lens_make(&made[0].lens, &layer, &values, &error));
    const splat_lens lens = splat_lens_of(&values);
    const splat_photo_lens photo = splat_photo_of(&made[0].distortion);
    for (int64_t i = 0; i < s->params.count; i++) {
        real m[ORR_STORED];
        for (int k = 0; k < ORR_STORED; k++) {
            m[k] = s->params.stored[0][orr_param_index(i, ORR_STORED, k)];
        }
        const real3 mean = {m[0], m[1], m[2]}, scale = {m[3], m[4], m[5]};
        const splat_axes axes = splat_make_shape(scale, make_real4(m[6], m[7], m[8], m[9])).axes;
        const splat_sigma sigma = splat_sigma_of(lens, photo, mean, axes);
        if (splat_project_unscented(lens, photo, mean, axes, splat_opacity(m[10])).visible) {
            const splat_axes *way = &sigma.spread;
            count.near += is_near(&sigma, way->a) || is_near(&sigma, way->b) || is_near(&sigma, way->c);
            count.beyond += is_beyond(photo, &sigma, way->a) || is_beyond(photo, &sigma, way->b) ||
                            is_beyond(photo, &sigma, way->c);
        }
    }
    orr_splat_photos_destroy(made, p->capture.count);
    return count;
}

// A training that begins at splats about the cameras and behind them, large ones among them.
static void scatter(orr_splat_trainer_desc desc, const photos *p, bool perspective, const char *path)
{
    orr_splat_state s;
    orr_splat_trainer *trainer = make_trainer(&desc);
    take_state(trainer, &s);
    for (int64_t i = 0; i < s.params.count; i++) {
        for (int k = 0; i % 3 == 0 && k < 3; k++) {
            s.params.stored[0][orr_param_index(i, ORR_STORED, k)] *= 2.5f;
            s.params.stored[0][orr_param_index(i, ORR_STORED, 3 + k)] += i % 2 ? 2.0f : 0.0f;
        }
    }
    const unusual count = count_unusual(&s, p);
    print_message("%d splats reach beyond the lens, %d come too near\n", count.beyond, count.near);
    assert_true(perspective ? count.beyond >= 5 && count.near >= 5 : count.beyond >= 3);
    assert_ok(orr_splat_state_save(&s, path, &error));
    orr_splat_state_destroy(&s);
    orr_splat_trainer_destroy(trainer);
}

// ---- pictures ----

// What a step on CUDA has drawn, against what the CPU draws of the same splats. A splat whose coverage is
// within rounding of 1/255 may count on one of them alone, and so may the last of a pixel: a pixel in a
// hundred may differ, by no more than two of them.
static void compare_pictures(orr_splat_trainer_desc desc)
{
    orr_splat_trainer *cpu = make_trainer(&desc);
    desc.cuda = cuda;
    orr_splat_trainer *device = make_trainer(&desc);
    const int image = device->images[device->step % desc.image_count];
    const orr_lens lens = orr_splat_photo_lens(&cpu->photos[image], 1);
    orr_arena arena = {0};
    orr_profile profile = {0};
    orr_splat_drawing d;
    float rgba[4 * PIXELS];
    int differ = 0, lit = 0;
    assert_true(lens.distorted && lens.width == SIDE);
    assert_true(device->step % desc.image_count != 0); // behind which photos are shuffled
    assert_ok(orr_splat_trainer_draw(cpu, &lens, false, &arena, &d, &profile, &error));
    take_step(device, 0.9);
    assert_int_equal(device->device->frame.width, SIDE);
    assert_ok(orr_cuda_download(cuda, rgba, device->device->frame.rgba.memory, sizeof rgba, &error));
    for (int i = 0; i < 4 * PIXELS; i++) {
        const float apart = fabsf(rgba[i] - d.rgba[i]);
        assert_true(apart <= 2.0f / 255.0f);
        differ += apart > 1e-5f;
        lit += d.rgba[i] > 0.1f;
    }
    print_message("%d of %d numbers of the picture differ\n", differ, 4 * PIXELS);
    assert_true(differ <= 4 * PIXELS / 100 && lit > PIXELS);
    orr_arena_destroy(&arena);
    orr_splat_trainer_destroy(cpu);
    orr_splat_trainer_destroy(device);
}

// ---- the tests ----

// What moves the size of a splat comes from differences between its points, which are rounded where these are
// on the picture: gradients that are nearly 0 keep fewer digits than a pinhole's, and steps are 2.6e-5 apart.
#define THROUGH_LENS_APART 1e-4

// From splats as a training has them, and from splats strewn about, with all that a step may ask for.
static void compare(const photo_plan *plan)
{
    static strewn_points strewn;
    char path[512], shown[512];
    photos p;
    snprintf(path, sizeof path, "%s", scratch_path("scattered.training"));
    snprintf(shown, sizeof shown, "%s", scratch_path("shown.training"));
    take_photos(plan, &p);
    orr_splat_trainer_desc desc = describe(&p);
    compare_a_step(desc, THROUGH_LENS_APART);
    desc.strategy = ORR_SPLAT_ADC;
    desc.antialias = desc.exposures = desc.refine_poses = true;
    compare_a_step(desc, THROUGH_LENS_APART);
    strew_points(&strewn); // what depth is, a lens says
    desc.points = &strewn.points;
    desc.depth_weight = 0.5f;
    compare_a_step(desc, THROUGH_LENS_APART);
    scatter(desc, &p, !plan->fisheye, path);
    desc.resume = path;
    compare_a_step(desc, THROUGH_LENS_APART);
    orr_splat_trainer *some = make_trainer(&desc);
    for (int i = 0; i < 5; i++) {
        take_step(some, 0.5);
    }
    assert_ok(orr_splat_trainer_save(some, shown, &error));
    orr_splat_trainer_destroy(some);
    desc.resume = shown;
    compare_pictures(desc);
    remove(path);
    remove(shown);
    drop_photos(&p);
}

static void a_distorting_lens_is_that_of_the_cpu(void **state)
{
    (void)state;
    const photo_plan plan = perspective_plan();
    compare(&plan);
}

static void a_fisheye_is_that_of_the_cpu(void **state)
{
    (void)state;
    const photo_plan plan = fisheye_plan();
    compare(&plan);
}

enum { STEPS = 60, OF = 90, BREAK = 30 };

static void train(orr_splat_trainer *trainer, int from, int to)
{
    for (int i = from; i < to; i++) {
        take_step(trainer, (double)i / OF);
    }
}

// A training of photos through a distorting lens, a fisheye and a pinhole in turn: held-out photos, of the
// two lenses, are as good as on the CPU, and after a break, in whose file the lenses are, bits are the same.
static void lenses_change_from_photo_to_photo(void **state)
{
    (void)state;
    const char *path = scratch_path("half.training");
    photo_plan plans[3] = {perspective_plan(), fisheye_plan(), perspective_plan()};
    photos p, others[2];
    memset(plans[2].radial, 0, sizeof plans[2].radial);
    memset(plans[2].tangential, 0, sizeof plans[2].tangential);
    take_photos(&plans[0], &p);
    for (int k = 0; k < 2; k++) {
        take_photos(&plans[1 + k], &others[k]);
        for (int i = 1 + k; i < p.capture.count; i += 3) {
            const orr_capture_image kept = p.images[i];
            p.images[i] = others[k].images[i];
            others[k].images[i] = kept;
        }
    }
    assert_true(p.learned % 3 == 0 && p.capture.count == p.learned + 2);
    orr_splat_trainer_desc desc = describe(&p);
    orr_splat_state states[2];
    desc.strategy = ORR_SPLAT_ADC;
    desc.cuda = cuda;
    orr_splat_trainer *whole = make_trainer(&desc);
    train(whole, 0, BREAK);
    assert_ok(orr_splat_trainer_save(whole, path, &error));
    train(whole, BREAK, STEPS);
    desc.resume = path;
    desc.lenses = ORR_SPLAT_LENSES_UNDISTORT; // the file says otherwise
    orr_splat_trainer *again = make_trainer(&desc);
    train(again, BREAK, STEPS);
    take_state(whole, &states[0]);
    take_state(again, &states[1]);
    assert_same_params(&states[0].params, &states[1].params);
    desc.cuda = NULL;
    desc.resume = NULL;
    desc.lenses = ORR_SPLAT_LENSES_KEEP;
    orr_splat_trainer *cpu = make_trainer(&desc);
    train(cpu, 0, STEPS);
    const double psnr = held_out(whole, &p), expected = held_out(cpu, &p);
    print_message("held-out photos: %.2f dB, on the CPU %.2f dB\n", psnr, expected);
    assert_true(fabs(psnr - expected) < 0.1 && expected > 20.0); // trainings part by roundings
    for (int i = 0; i < 2; i++) {
        orr_splat_state_destroy(&states[i]);
    }
    orr_splat_trainer_destroy(whole);
    orr_splat_trainer_destroy(again);
    orr_splat_trainer_destroy(cpu);
    remove(path);
    drop_photos(&p);
    drop_photos(&others[0]);
    drop_photos(&others[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_distorting_lens_is_that_of_the_cpu),
        cmocka_unit_test(a_fisheye_is_that_of_the_cpu),
        cmocka_unit_test(lenses_change_from_photo_to_photo),
    };
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
