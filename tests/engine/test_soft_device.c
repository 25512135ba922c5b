// Soft layers of a world on CUDA: the same as on the CPU within rounding, moved from one to the other.
#include "engine/device/cuda.h"
#include "engine/loop/world/soft/world_soft.h"
#include "orr_features.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

enum { MOST = 3 * 1000, STRAINS = 9 * 3000 };

static orr_engine *engine;
static char last[512]; // line of the log

static void keep_line(void *user, orr_log_level level, int code, const char *line)
{
    (void)user;
    (void)level;
    (void)code;
    snprintf(last, sizeof last, "%s", line);
}

static int open_engine_with_log(void **state)
{
    need_cuda(state);
    const orr_engine_desc desc = {.threads = 2, .device = ORR_DEVICE_CPU, .log = keep_line};
    assert_ok(orr_engine_create(&desc, &engine, &error));
    return 0;
}

static int close_engine_with_log(void **state)
{
    (void)state;
    orr_engine_destroy(engine);
    return 0;
}

// A rigid box falls on a soft block, beside which is a second, that touches it.
typedef struct fixture {
    orr_scene *scene;
    orr_world *world;
    orr_layer box, block[2];
} fixture;

// yield_stress: of the first block; 0: it does not yield
static void open_on(fixture *f, orr_device_kind device, int worlds, double yield_stress)
{
    static const char model[] =
        "<mujoco><option timestep='0.004'/><worldbody><geom type='plane' size='0 0 1'/>"
        "<body pos='0.05 0 0.262'><freejoint/><geom type='box' size='0.1 0.1 0.05' mass='1'/></body>"
        "</worldbody></mujoco>";
    orr_body_desc jelly = {
        .soft = true, .resolution = 4, .density = 100.0, .young = 3e4, .poisson = 0.3, .damping = 0.02};
    assert_ok(orr_scene_create(engine, &f->scene, &error));
    assert_ok(orr_scene_add_file(f->scene, written("box.xml", model), NULL, &f->box, &error));
    for (int i = 0; i < 2; i++) {
        const orr_transform at = {.position = {0.0f, 0.3f * (float)i, 0.11f}};
        jelly.yield_stress = i == 0 ? yield_stress : 0.0;
        f->block[i] = add_block(f->scene, (const float[3]){0.15f, 0.15f, 0.1f}, &at, 12);
        assert_ok(orr_scene_set_physics(f->scene, f->block[i], &jelly, &error));
    }
    assert_ok(orr_world_create(f->scene, worlds, &f->world, &error));
    assert_ok(orr_world_set_device(f->world, device, &error));
}

static void close_fixture(fixture *f)
{
    orr_world_destroy(f->world);
    orr_scene_destroy(f->scene);
}

static bool is_on_cuda(const fixture *f, int i)
{
    const orr_world_soft *s = NULL;
    assert_ok(orr_world_soft_open(f->world, 0, f->block[i], &s, &error));
    return orr_soft_get_cuda(s->copies[0]) != NULL;
}

static int positions(const fixture *f, int copy, int i, double *x)
{
    const orr_world_soft *s = NULL;
    assert_ok(orr_world_soft_open(f->world, 0, f->block[i], &s, &error));
    const int count = (int)orr_world_soft_numbers(s);
    assert_true(count <= MOST);
    memcpy(x, orr_world_soft_positions(s, copy), (size_t)count * sizeof *x);
    return count;
}

static double largest(const double *a, const double *b, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

// 25 steps there, then 5 on the CPU. Rounding of floats is amplified where contacts open and close within the
// iterations of a step (test_soft_cuda compares with double): 2e-4 of the 13 mm that they move.
static void a_world_is_the_same_on_cuda(void **state)
{
    (void)state;
    static double x[2][2][MOST], start[MOST];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        fixture f;
        open_on(&f, k ? ORR_DEVICE_CUDA : ORR_DEVICE_CPU, 1, 0.0);
        count = positions(&f, 0, 0, start);
        assert_int_equal(is_on_cuda(&f, 0), k);
        assert_int_equal(is_on_cuda(&f, 1), k);
        assert_ok(orr_world_advance(f.world, 25 * 4e-3, &error));
        assert_int_equal(is_on_cuda(&f, 0), k);
        if (k) {
            assert_ok(orr_world_set_device(f.world, ORR_DEVICE_CPU, &error));
            assert_false(is_on_cuda(&f, 0));
        }
        assert_ok(orr_world_advance(f.world, 5 * 4e-3, &error));
        positions(&f, 0, 0, x[k][0]);
        positions(&f, 0, 1, x[k][1]);
        close_fixture(&f);
    }
    print_message("moved %.2g m, off by %.2g and %.2g m\n", largest(x[0][0], start, count),
                  largest(x[0][0], x[1][0], count), largest(x[0][1], x[1][1], count));
    assert_true(largest(x[0][0], start, count) > 0.005);
    assert_true(largest(x[0][0], x[1][0], count) < 2e-4);
    assert_true(largest(x[0][1], x[1][1], count) < 2e-4);
}

static int strain_of(const fixture *f, double *strain)
{
    const orr_world_soft *s = NULL;
    assert_ok(orr_world_soft_open(f->world, 0, f->block[0], &s, &error));
    const int count = orr_soft_strain_numbers(s->layer->model);
    assert_true(count > 0 && count <= STRAINS);
    orr_soft_get_strain(s->copies[0], 0, strain);
    return count;
}

static void what_has_yielded_moves_along(void **state)
{
    (void)state;
    static double strain[3][STRAINS];
    fixture f;
    int count = 0;
    open_on(&f, ORR_DEVICE_CUDA, 1, 300.0);
    assert_ok(orr_world_advance(f.world, 25 * 4e-3, &error));
    for (int k = 0; k < 3; k++) { // to the CPU, and back
        assert_int_equal(is_on_cuda(&f, 0), k != 1);
        count = strain_of(&f, strain[k]);
        assert_memory_equal(strain[k], strain[0], (size_t)count * sizeof **strain);
        assert_ok(orr_world_set_device(f.world, k == 0 ? ORR_DEVICE_CPU : ORR_DEVICE_CUDA, &error));
    }
    double most = 0.0;
    for (int i = 0; i < count; i += 9) {
        most = fmax(most, fabs(strain[0][i + 8] - 1.0));
    }
    print_message("strain %.3f\n", most);
    assert_true(most > 0.01);
    close_fixture(&f);
}

// Copies step one after the other, each to the bits that it has alone; the second of them starts elsewhere.
static void copies_are_on_cuda(void **state)
{
    (void)state;
    static double x[3][2][MOST];
    int count = 0;
    for (int k = 0; k < 3; k++) { // both copies, then each alone
        fixture f;
        open_on(&f, ORR_DEVICE_CUDA, k == 0 ? 2 : 1, 300.0);
        count = positions(&f, 0, 0, x[k][0]);
        for (int i = 0; i < count; i += 3) {
            x[k][0][i + 2] += 0.02;
        }
        if (k != 1) {
            assert_ok(orr_world_set_soft(f.world, k == 0, f.block[0], x[k][0], NULL, &error));
        }
        assert_ok(orr_world_advance(f.world, 15 * 4e-3, &error));
        assert_true(is_on_cuda(&f, 0));
        for (int copy = 0; copy < (k == 0 ? 2 : 1); copy++) {
            positions(&f, copy, 0, x[k][copy]);
        }
        close_fixture(&f);
    }
    assert_memory_equal(x[0][0], x[1][0], (size_t)count * sizeof(double));
    assert_memory_equal(x[0][1], x[2][0], (size_t)count * sizeof(double));
    assert_true(largest(x[0][0], x[0][1], count) > 0.005);
}

#if ORR_CUDA_EMULATED
// A failure is told once, and bodies go on on the CPU.
static void a_device_that_fails_is_left(void **state)
{
    (void)state;
    static double before[MOST], x[MOST];
    fixture f;
    orr_error why;
    open_on(&f, ORR_DEVICE_CUDA, 1, 0.0);
    orr_world_set_device(f.world, ORR_DEVICE_CUDA, NULL);
    assert_ok(orr_world_advance(f.world, 4e-3, &error));
    assert_true(is_on_cuda(&f, 0));
    const int count = positions(&f, 0, 0, before);
    current_settings()->fail_call = 40;
    current_settings()->fail_with = 719; // cudaErrorLaunchFailure
    assert_int_equal(orr_world_advance(f.world, 3 * 4e-3, &why), ORR_ERROR_DEVICE);
    current_settings()->fail_call = 0;
    assert_non_null(strstr(last, "the CPU simulates soft bodies"));
    assert_false(is_on_cuda(&f, 0));
    assert_ok(orr_world_advance(f.world, 2 * 4e-3, &error));
    positions(&f, 0, 0, x);
    assert_true(largest(x, before, count) < 0.01); // on from there
    assert_true(largest(x, before, count) > 0.0);
    close_fixture(&f);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_is_the_same_on_cuda),
        cmocka_unit_test(what_has_yielded_moves_along),
        cmocka_unit_test(copies_are_on_cuda),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(a_device_that_fails_is_left),
#endif
    };
    return cmocka_run_group_tests(tests, open_engine_with_log, close_engine_with_log);
}
