// Trainings of splats from what is damaged, empty or in the wrong place: one line says so, or they go on, and
// no number that is not finite is ever saved.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "render/training/splat_trainer_state.h"
#include "tests/support/scenes/photos.h"
#include "tests/support/support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { STEPS = 120 }; // with one relocation

static char names[SPHERE_PHOTOS][24];

typedef struct spheres {
    photos photos;
    orr_jobs *jobs;
    orr_splat_trainer_desc desc;
} spheres;

static void open_spheres(spheres *s)
{
    *s = (spheres){0};
    take_photos(&sphere_photos, &s->photos);
    assert_ok(orr_jobs_create(2, NULL, NULL, &s->jobs, &error));
    for (int i = 0; i < SPHERE_PHOTOS; i++) {
        snprintf(names[i], sizeof names[i], "photo %d", i);
        s->photos.images[i].path = names[i];
    }
    s->desc = (orr_splat_trainer_desc){.capture = &s->photos.capture,
                                       .images = s->photos.indices,
                                       .image_count = s->photos.learned,
                                       .jobs = s->jobs,
                                       .splats = 400,
                                       .sh_degree = 1,
                                       .seed = 1};
    assert_ok(orr_isa_choose(&s->desc.isa, &error));
}

static void close_spheres(spheres *s)
{
    drop_photos(&s->photos);
    orr_jobs_destroy(s->jobs);
}

static void assert_refused(const spheres *s, orr_result expected, const char *words)
{
    orr_splat_trainer *trainer;
    orr_error why = {0};
    assert_int_equal(orr_splat_trainer_create(&s->desc, &trainer, &why), expected);
    assert_null(trainer);
    assert_null(strchr(why.message, '\n'));
    if (!strstr(why.message, words)) {
        fail_msg("\"%s\": expected \"%s\"", why.message, words);
    }
}

static void train(orr_splat_trainer *trainer)
{
    for (int i = 0; i < STEPS; i++) {
        orr_splat_step_report report;
        assert_ok(orr_splat_trainer_step(trainer, (double)i / STEPS, &report, &error));
        assert_true(isfinite(report.loss));
    }
}

// How many splats the cloud has, all of them finite.
static int64_t saved_splats(orr_splat_trainer *trainer)
{
    orr_splats *splats;
    assert_ok(orr_splat_trainer_cloud(trainer, &splats, &error));
    assert_ok(orr_splats_check(splats, "the cloud", &error));
    const int64_t count = splats->data.count;
    orr_splats_destroy(splats);
    return count;
}

// The cloud of a training that none of this must break.
static int64_t trained_splats(const spheres *s, orr_splat_strategy strategy)
{
    orr_splat_trainer_desc desc = s->desc;
    orr_splat_trainer *trainer;
    desc.strategy = strategy;
    assert_ok(orr_splat_trainer_create(&desc, &trainer, &error));
    train(trainer);
    const int64_t count = saved_splats(trainer);
    orr_splat_trainer_destroy(trainer);
    return count;
}

static void poses_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const float bad[3] = {NAN, INFINITY, -INFINITY};
    spheres s;
    open_spheres(&s);
    for (int i = 0; i < 3; i++) {
        float *value = &s.photos.images[2].pose[i == 0 ? 3 : 5], kept = *value;
        *value = bad[i];
        assert_refused(&s, ORR_ERROR_FORMAT, "photo 2: ");
        *value = kept;
    }
    close_spheres(&s);
}

static void masks_that_leave_nothing_are_refused_or_learned_as_empty(void **state)
{
    (void)state;
    static uint8_t nothing[SPHERE_PHOTO_SIZE * SPHERE_PHOTO_SIZE];
    spheres s;
    open_spheres(&s);
    for (int i = 0; i < SPHERE_PHOTOS; i++) {
        s.photos.images[i].mask = nothing;
    }
    assert_refused(&s, ORR_ERROR_FORMAT, "photo 0: no pixel is left");
    s.desc.masks = ORR_SPLAT_MASKS_EMPTY; // nothing is anywhere: what is left is at most a mist
    for (int k = 0; k < 2; k++) {
        assert_true(trained_splats(&s, (orr_splat_strategy)k) <= s.desc.splats);
    }
    close_spheres(&s);
}

static void points_at_the_cameras_are_no_seeds(void **state)
{
    (void)state;
    static float position[3 * SPHERE_PHOTOS], colour[3 * SPHERE_PHOTOS];
    spheres s;
    open_spheres(&s);
    for (int i = 0; i < SPHERE_PHOTOS; i++) {
        for (int k = 0; k < 3; k++) {
            position[3 * i + k] = s.photos.images[i].pose[4 * k + 3];
        }
    }
    const orr_splat_points points = {.count = SPHERE_PHOTOS_LEARNED, .position = position, .colour = colour};
    s.desc.points = &points;
    orr_splat_trainer *trainer;
    assert_ok(orr_splat_trainer_create(&s.desc, &trainer, &error));
    assert_int_equal(orr_splat_trainer_progress(trainer).seeds, 0);
    train(trainer);
    assert_in_range(saved_splats(trainer), 100, 400);
    orr_splat_trainer_destroy(trainer);
    close_spheres(&s);
}

// A splat that a step has broken is left out, and the training goes on.
static void no_number_that_is_not_finite_is_saved(void **state)
{
    (void)state;
    spheres s;
    open_spheres(&s);
    for (int k = 0; k < 2; k++) {
        orr_splat_trainer *trainer;
        s.desc.strategy = (orr_splat_strategy)k;
        assert_ok(orr_splat_trainer_create(&s.desc, &trainer, &error));
        orr_splat_params *params = &trainer->params;
        const int64_t before = saved_splats(trainer);
        for (int member = 0; member < ORR_STORED; member++) { // each of another splat
            params->stored[0][orr_param_index(member, ORR_STORED, member)] =
                (member + k) % 2 ? NAN : INFINITY;
        }
        params->harmonics[0][orr_param_index(20, orr_harmonics_members(0), 1)] = NAN;
        for (int n = 0; n < 4; n++) { // a rotation without a length
            params->stored[0][orr_param_index(21, ORR_STORED, 6 + n)] = 0.0f;
        }
        assert_int_equal(saved_splats(trainer), before - ORR_STORED - 2);
        orr_splat_trainer_prepare(trainer);
        train(trainer);
        assert_true(saved_splats(trainer) > 50);
        orr_splat_trainer_destroy(trainer);
    }
    close_spheres(&s);
}

// A limit on the size of files stands in for a full disk.
static void a_full_disk_leaves_the_state_that_is_there(void **state)
{
    (void)state;
    const char *path = scratch_path("full.training");
    spheres s;
    open_spheres(&s);
    orr_splat_trainer *trainer, *resumed;
    orr_error why = {0};
    struct rlimit limit;
    orr_bytes before, after;
    assert_ok(orr_splat_trainer_create(&s.desc, &trainer, &error));
    assert_ok(orr_splat_trainer_save(trainer, path, &error));
    assert_ok(orr_file_read(path, &before, &error));
    train(trainer);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit small = {4096, limit.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const orr_result result = orr_splat_trainer_save(trainer, path, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(result, ORR_ERROR_FILE);
    assert_non_null(strstr(why.message, "full.training: "));
    assert_ok(orr_file_read(path, &after, &error));
    assert_int_equal(after.size, before.size);
    assert_memory_equal(after.data, before.data, before.size);
    orr_free(before.data);
    orr_free(after.data);
    assert_ok(orr_splat_trainer_save(trainer, path, &error)); // nothing was lost
    s.desc.resume = path;
    assert_ok(orr_splat_trainer_create(&s.desc, &resumed, &error));
    assert_int_equal(orr_splat_trainer_progress(resumed).steps, STEPS);
    orr_splat_trainer_destroy(resumed);
    orr_splat_trainer_destroy(trainer);
    close_spheres(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_that_are_not_finite_are_refused),
        cmocka_unit_test(masks_that_leave_nothing_are_refused_or_learned_as_empty),
        cmocka_unit_test(points_at_the_cameras_are_no_seeds),
        cmocka_unit_test(no_number_that_is_not_finite_is_saved),
        cmocka_unit_test(a_full_disk_leaves_the_state_that_is_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
