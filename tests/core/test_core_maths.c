// Tests of engine/core: sorting, rotations and lenses.
#include "engine/maths/camera.h"
#include "engine/maths/radix_sort.h"
#include "engine/maths/rng.h"
#include "engine/maths/rotation.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

// Many blocks of 16384 keys; keys of `bits` bits take one to three passes, and many of them are equal.
static void equal_keys_keep_their_order(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(3, NULL, NULL, &jobs, &error));
    uint32_t *keys = malloc(COUNT * sizeof *keys), *values = malloc(COUNT * sizeof *values);
    uint32_t *given = malloc(COUNT * sizeof *given);
    for (int bits = 4; bits <= 32; bits += 7) {
        orr_arena arena = {0};
        orr_rng rng = {.seed = 5};
        for (uint32_t i = 0; i < COUNT; i++) {
            // sixteen values, spread over all bits
            given[i] = keys[i] = (orr_rng_next(&rng) & 15u) * (UINT32_MAX >> (32 - bits)) / 15u;
            values[i] = i;
        }
        assert_ok(orr_radix_sort(jobs, &arena, keys, values, COUNT, &error));
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(keys[i], given[values[i]]);
            assert_true(i == 0 || keys[i - 1] < keys[i] ||
                        (keys[i - 1] == keys[i] && values[i - 1] < values[i]));
        }
        orr_arena_destroy(&arena);
    }
    free(keys);
    free(values);
    free(given);
    orr_jobs_destroy(jobs);
}

// Half turns about each axis among them, where the quaternion's w vanishes.
static void axes_become_the_quaternion_that_turns_to_them(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < 60; k++) {
        double axis[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2}, m[9], turn[4], found[4];
        if (k >= 30) { // no axis in particular
            axis[0] = sin(k), axis[1] = cos(2.0 * k), axis[2] = sin(3.0 * k);
            vec3_normalise(axis);
        }
        quat_axis_angle(axis, k < 3 ? pi : pi * sin(0.7 * k), turn);
        quat_matrix(turn, m);
        const double x[3] = {m[0], m[3], m[6]}, y[3] = {m[1], m[4], m[7]}, z[3] = {m[2], m[5], m[8]};
        quat_from_axes(x, y, z, found);
        double dot = 0.0;
        for (int i = 0; i < 4; i++) {
            dot += turn[i] * found[i];
        }
        assert_true(fabs(fabs(dot) - 1.0) < 1e-14); // q and -q are one rotation
    }
}

static orr_camera some_camera(void)
{
    return orr_camera_look_at((float[]){1, 2, -3}, (float[]){0, 0, 0}, (float[]){0, -1, 0}, 0.8f, 200, 100);
}

// Slopes inside the projection's derivative are bounded by 30 % of half a side beyond the picture's edges, as
// in gsplat.
static void slopes_are_bounded_beyond_the_edges(void **state)
{
    (void)state;
    orr_lens lens;
    orr_camera camera = some_camera();
    camera.focal[0] = 100.0f;
    camera.focal[1] = 50.0f;
    camera.centre[0] = 80.0f;
    camera.centre[1] = 60.0f;
    assert_ok(orr_camera_resolve(&camera, &lens, &error));
    assert_float_equal(lens.slope_low[0], -(80.0f + 30.0f) / 100.0f, 1e-6);
    assert_float_equal(lens.slope_high[0], (120.0f + 30.0f) / 100.0f, 1e-6);
    assert_float_equal(lens.slope_low[1], -(60.0f + 15.0f) / 50.0f, 1e-6);
    assert_float_equal(lens.slope_high[1], (40.0f + 15.0f) / 50.0f, 1e-6);
}

static void poses_with_skewed_or_stretched_axes_are_refused(void **state)
{
    (void)state;
    orr_lens lens;
    orr_error why;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) { // an axis leans towards another, or is longer
            orr_camera camera = some_camera();
            float length = 0.0f;
            for (int i = 0; i < 3; i++) {
                float *axis = camera.pose + 4 * i + a;
                *axis += 0.2f * camera.pose[4 * i + b];
                length += *axis * *axis;
            }
            for (int i = 0; i < 3 && a != b; i++) {
                camera.pose[4 * i + a] /= sqrtf(length);
            }
            assert_int_equal(orr_camera_resolve(&camera, &lens, &why), ORR_ERROR_ARGUMENT);
            assert_int_equal(why.code, ORR_CODE_CAMERA);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_keys_keep_their_order),
        cmocka_unit_test(axes_become_the_quaternion_that_turns_to_them),
        cmocka_unit_test(slopes_are_bounded_beyond_the_edges),
        cmocka_unit_test(poses_with_skewed_or_stretched_axes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
