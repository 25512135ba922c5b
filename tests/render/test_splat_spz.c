// Tests of .spz: versions 1 to 3 from first principles, its axes, and headers that lie.
#include "engine/core/memory.h"
#include "render/formats/splat_spz.h"
#include "tests/render/splat_samples.h"
#include "tests/support/support.h"

#include "tests/render/splat_asserts.h"

#include <stdio.h>
#include <stdlib.h>

// rounding of values in float, several times
#define EXACT 1e-6

static void spz_1_to_3_are_read_from_first_principles(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        for (int degree = 0; degree <= 4; degree++) {
            orr_bytes file = sample_spz(version, 5, degree);
            orr_splats *cloud;
            assert_ok(orr_read_spz((orr_splat_source){"a.spz", file.data, file.size}, &cloud, &error));
            orr_splats_view d = orr_splats_data(cloud);
            assert_int_equal(d.count, 5);
            assert_int_equal(d.sh_degree, degree < 3 ? degree : 3);
            assert_true(d.antialiased);
            for (int i = 0; i < 5; i++) {
                assert_float_equal(d.position[3 * i], (float)i, 0.0f);
                assert_float_equal(d.position[3 * i + 1], -2.0f, 0.0f);
                assert_float_equal(d.position[3 * i + 2], (float)i / 2, 0.0f);
                assert_near(64.0 / 255, opacity_of(d.opacity[i]), EXACT, "opacity", i);
                assert_float_equal(d.colour[3 * i], -0.5f / 0.15f, 1e-5f);
                assert_float_equal(d.colour[3 * i + 2], 0.5f / 0.15f, 1e-5f);
                assert_float_equal(d.log_scale[3 * i], 5.9375f, 0.0f);
                assert_float_equal(d.log_scale[3 * i + 1], 0.0f, 0.0f);
                assert_float_equal(d.log_scale[3 * i + 2], -5.0f, 0.0f);
                if (version == 3) {
                    const float x = 0.70710678f, y = 128.0f / 511 * x;
                    const float expected[4] = {sqrtf(1 - x * x - y * y), x, y, 0}; // y: - in spz, + here
                    assert_near(0.0, angle_between(expected, d.rotation + 4 * i), 1e-5, "rotation", i);
                } else {
                    const float x = 218 / 127.5f - 1, y = 128 / 127.5f - 1;
                    const float expected[4] = {sqrtf(1 - x * x - 2 * y * y), x, -y, -y};
                    assert_near(0.0, angle_between(expected, d.rotation + 4 * i), 1e-5, "rotation", i);
                }
                for (int k = 0; k < 3 * orr_sh_rest(d.sh_degree); k++) {
                    int at = 3 * orr_sh_rest(d.sh_degree) * i + k;
                    assert_float_equal(d.harmonics[at], orr_spz_sign[k / 3] * (float)(k / 3) / 128, 0.0f);
                }
            }
            orr_splats_destroy(cloud);
            orr_free(file.data);
        }
    }
}

// the polynomials of SH basis functions 1 .. 15, without their constants
static void basis(double x, double y, double z, double b[15])
{
    const double values[15] = {y,
                               z,
                               x,
                               x * y,
                               y * z,
                               2 * z * z - x * x - y * y,
                               x * z,
                               x * x - y * y,
                               y * (3 * x * x - y * y),
                               x * y * z,
                               y * (4 * z * z - x * x - y * y),
                               z * (2 * z * z - 3 * x * x - 3 * y * y),
                               x * (4 * z * z - x * x - y * y),
                               z * (x * x - y * y),
                               x * (x * x - 3 * y * y)};
    memcpy(b, values, sizeof values);
}

static void spz_turns_harmonics_with_its_axes(void **state)
{
    (void)state;
    double here[15], there[15];
    basis(0.3, 0.5, 0.8, here);
    basis(0.3, -0.5, -0.8, there);
    for (int k = 0; k < 15; k++) {
        // the colour seen along a direction stays: c' b(d') = c b(d)
        assert_near(here[k], (double)orr_spz_sign[k] * there[k], 1e-12, "basis", k);
    }
}

static void halves_become_floats(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[2];
        float value;
    } cases[] = {{{0x00, 0x3c}, 1.0f},        {{0x00, 0xc0}, -2.0f}, {{0x01, 0x00}, 0x1p-24f},
                 {{0xff, 0x7b}, 65504.0f},    {{0x00, 0x80}, -0.0f}, {{0x55, 0x35}, 0.33325195f},
                 {{0xff, 0x03}, 0x1.ff8p-15f}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_float_equal(orr_get_f16(cases[i].bytes), cases[i].value, 0.0f);
    }
    assert_true(isinf(orr_get_f16((const uint8_t *)"\x00\x7c")));
    assert_true(isnan(orr_get_f16((const uint8_t *)"\x01\x7e")));
}

static void lying_spz_headers_are_refused(void **state)
{
    (void)state;
    uint8_t file[32 + 6 * 16] = {'N', 'G', 'S', 'P', 4, 0, 0, 0, 0, 0, 0, 0x40, 3, 12, 0, 6, 32};
    assert_refused((const char *)file, sizeof file, "cannot hold 1073741824 splats");
    file[11] = 0xff;
    assert_refused((const char *)file, sizeof file, "expected at most 2^31 - 1");
    file[11] = 0;
    file[8] = 2;
    assert_refused((const char *)file, sizeof file, "byte 32: stream 0 unpacks 0 bytes to 0, expected 18");
    file[16] = 200;
    assert_refused((const char *)file, sizeof file, "table of 6 streams at byte 200");
    file[4] = 5;
    assert_refused((const char *)file, sizeof file, "version 5");
    file[4] = 4;
    file[12] = 5;
    assert_refused((const char *)file, sizeof file, "SH degree 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spz_1_to_3_are_read_from_first_principles),
        cmocka_unit_test(spz_turns_harmonics_with_its_axes),
        cmocka_unit_test(halves_become_floats),
        cmocka_unit_test(lying_spz_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
