// The engine inside another program: several engines at once, and threads in any floating-point mode.
#define _GNU_SOURCE // feenableexcept
#include "tests/support/robots.h"
#include "tests/support/support.h"
#include "tests/support/typical_job.h"

#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *robot;
static typical_result expected; // drawn by one engine alone, in the default mode

static int draw_expected(void **state)
{
    (void)state;
    robot = strdup(own_robot("quadruped"));
    assert_ok(run_typical_job(robot, NULL, &expected, &error));
    for (int i = 0; i < JOB_WIDTH * JOB_HEIGHT; i++) {
        if (expected.rgba[4 * i + 3] > 0.5f) {
            return 0; // something is there
        }
    }
    return -1;
}

static int free_expected(void **state)
{
    (void)state;
    free((char *)robot);
    return 0;
}

// ---- several engines ----

enum { THREADS = 3, ROUNDS = 4 };

static void *run_jobs(void *argument)
{
    (void)argument;
    static _Thread_local typical_result own;
    for (int i = 0; i < ROUNDS; i++) {
        orr_error why = {0};
        if (run_typical_job(robot, NULL, &own, &why) != ORR_OK) {
            return "a job failed";
        }
        if (memcmp(&own, &expected, sizeof own) != 0) {
            return "a job has another result than alone";
        }
    }
    return NULL;
}

static void engines_in_several_threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_jobs, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        if (failed) {
            fail_msg("thread %d: %s", i, (const char *)failed);
        }
    }
}

// ---- floating-point modes ----

typedef enum float_mode { UPWARD = 0, DOWNWARD, TOWARDS_ZERO, TRAPPING, FLUSHING, MODES } float_mode;

static void set_mode(float_mode mode)
{
    fesetenv(FE_DFL_ENV);
    switch (mode) {
    case UPWARD:
        fesetround(FE_UPWARD);
        break;
    case DOWNWARD:
        fesetround(FE_DOWNWARD);
        break;
    case TOWARDS_ZERO:
        fesetround(FE_TOWARDZERO);
        break;
    case TRAPPING:
        feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
        break;
    case FLUSHING:
#if defined(__x86_64__)
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u); // results and operands
#endif
        break;
    case MODES:
        break;
    }
}

// how this thread computes, apart from what it has computed: the flags
static uint64_t mode_now(void)
{
    uint64_t mode = (uint64_t)fegetround() << 32 | (uint64_t)fegetexcept();
#if defined(__x86_64__)
    mode = mode << 16 | (__builtin_ia32_stmxcsr() & ~0x3fu);
#endif
    return mode;
}

static void results_do_not_depend_on_the_callers_floating_point_mode(void **state)
{
    (void)state;
    for (float_mode mode = 0; mode < MODES; mode++) {
        static typical_result drawn;
        orr_error why = {0};
        set_mode(mode);
        const uint64_t before = mode_now();
        orr_result result = run_typical_job(robot, NULL, &drawn, &why);
        const uint64_t after = mode_now();
        fesetenv(FE_DFL_ENV);
        if (result != ORR_OK || memcmp(&drawn, &expected, sizeof drawn) != 0) {
            fail_msg("mode %d: %s", (int)mode, result == ORR_OK ? "another result" : why.message);
        }
        assert_true(after == before);
    }
}

// The host's pool: a thread for each worker, and each in another mode.
typedef struct host_part {
    pthread_t thread;
    int count, worker, workers;
    void (*body)(void *context, int i, int worker);
    void *context;
} host_part;

static void *run_part(void *argument)
{
    host_part *part = argument;
    set_mode((float_mode)(part->worker % MODES));
    for (int i = part->worker; i < part->count; i += part->workers) {
        part->body(part->context, i, part->worker);
    }
    return NULL;
}

static void run_on_host(void *user, int count, void (*body)(void *context, int i, int worker), void *context)
{
    enum { WORKERS = MODES };
    (void)user;
    host_part parts[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        parts[i] =
            (host_part){.count = count, .worker = i, .workers = WORKERS, .body = body, .context = context};
        if (pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) != 0) {
            abort();
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(parts[i].thread, NULL);
    }
}

static void results_do_not_depend_on_the_mode_of_the_hosts_pool(void **state)
{
    (void)state;
    static typical_result drawn;
    const orr_engine_desc desc = {.threads = MODES, .parallel_for = run_on_host};
    assert_ok(run_typical_job(robot, &desc, &drawn, &error));
    assert_memory_equal(&drawn, &expected, sizeof drawn);
}

static void clouds_and_cameras_are_read_alike_in_every_mode(void **state)
{
    (void)state;
    static const char text[] =
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
        "property float z\nproperty float f_dc_0\nproperty float f_dc_1\n"
        "property float f_dc_2\nproperty float opacity\nproperty float scale_0\n"
        "property float scale_1\nproperty float scale_2\nproperty float rot_0\n"
        "property float rot_1\nproperty float rot_2\nproperty float rot_3\nend_header\n"
        "0.1 1.1 2.3 0.7 1e-39 0.3 0.9 -3.1 -3.3 -3.7 0.5 0.3 0.1 0.7\n";
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("one.ply"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    const float eye[3] = {0.1f, 0.7f, 3.3f}, target[3] = {1e-39f, 0.2f, 0.1f}, up[3] = {0, 1, 0.01f};
    orr_camera first = {0};
    float rotation[4] = {0}, colour = 0.0f;
    for (int mode = MODES; mode >= 0; mode--) { // the default mode first
        orr_splats *splats;
        set_mode((float_mode)mode);
        orr_camera camera = orr_camera_look_at(eye, target, up, 0.9f, 640, 480);
        orr_result result = orr_splats_load(path, &splats, NULL);
        fesetenv(FE_DFL_ENV);
        assert_int_equal(result, ORR_OK);
        orr_splats_view d = orr_splats_data(splats);
        if (mode == MODES) {
            first = camera;
            memcpy(rotation, d.rotation, sizeof rotation);
            colour = d.colour[1];
            assert_true(colour > 0.0f); // a denormal number
        }
        assert_memory_equal(&camera, &first, sizeof camera);
        assert_memory_equal(d.rotation, rotation, sizeof rotation);
        assert_true(d.colour[1] == colour);
        orr_splats_destroy(splats);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_in_several_threads_do_not_disturb_each_other),
        cmocka_unit_test(results_do_not_depend_on_the_callers_floating_point_mode),
        cmocka_unit_test(results_do_not_depend_on_the_mode_of_the_hosts_pool),
        cmocka_unit_test(clouds_and_cameras_are_read_alike_in_every_mode),
    };
    return cmocka_run_group_tests(tests, draw_expected, free_expected);
}
