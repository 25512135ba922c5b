// Tests of .spz: versions 1 to 3 from first principles, its axes, and headers that lie.
#include "engine/core/memory.h"
#include "render/formats/splat_spz.h"
#include "tests/splats/splat_samples.h"
#include "tests/support/support.h"

#include "tests/splats/splat_asserts.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

// rounding of values in float, several times
#define EXACT 1e-6

static orr_bytes gzip_of(const uint8_t *data, size_t size)
{
    const size_t room = size + size / 1000 + 1024;
    orr_bytes packed = {orr_alloc(room, 1), 0};
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = packed.data};
    stream.avail_out = (uInt)room;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.size = room - stream.avail_out;
    deflateEnd(&stream);
    return packed;
}

static orr_bytes gunzip(orr_bytes file)
{
    const size_t room = 1 << 16;
    orr_bytes plain = {orr_alloc(room, 1), 0};
    z_stream stream = {.next_in = file.data, .avail_in = (uInt)file.size, .next_out = plain.data};
    stream.avail_out = (uInt)room;
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    plain.size = room - stream.avail_out;
    inflateEnd(&stream);
    return plain;
}

static void spz_1_to_3_are_read_from_first_principles(void **state)
{
    (void)state;
    const orr_spz_axes axes = orr_spz_axes_of(ORR_SPZ_RIGHT_UP_BACK);
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
                    assert_float_equal(d.harmonics[at], axes.harmonics[k / 3] * (float)(k / 3) / 128, 0.0f);
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
    const orr_spz_axes axes = orr_spz_axes_of(ORR_SPZ_RIGHT_UP_BACK);
    double here[15], there[15];
    basis(0.3, 0.5, 0.8, here);
    basis(0.3, -0.5, -0.8, there);
    for (int k = 0; k < 15; k++) {
        // the colour seen along a direction stays: c' b(d') = c b(d)
        assert_near(here[k], (double)axes.harmonics[k] * there[k], 1e-12, "basis", k);
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

// From 64 MiB on a file may expand to 1024 times its size.
static void an_expansion_has_a_limit(void **state)
{
    (void)state;
    assert_true(orr_plausible_expansion(1, UINT64_C(64) << 20));
    assert_true(orr_plausible_expansion(1 << 20, UINT64_C(1) << 30));
    assert_false(orr_plausible_expansion((1 << 20) - 1, UINT64_C(1) << 30));
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

// ---- coordinate systems ----

// What a coordinate system does to a direction of the engine, from its name: for each of x right, y down and
// z forward, the file's axis and its sign.
static void axes_by_name(const char *name, int axis[3], double sign[3])
{
    static const char letters[3][3] = {"RL", "DU", "FB"}; // along, against
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 3; a++) {
            if (name[a] == letters[k][0] || name[a] == letters[k][1]) {
                axis[k] = a;
                sign[k] = name[a] == letters[k][0] ? 1.0 : -1.0;
            }
        }
    }
}

// The colour of one channel in a direction, with the constants of 3DGS.
static double colour_along(const float *harmonics, const double d[3])
{
    static const double constants[15] = {-0.4886025119, 0.4886025119, -0.4886025119, 1.0925484306,
                                         -1.0925484306, 0.3153915653, -1.0925484306, 0.5462742153,
                                         -0.5900435899, 2.8906114426, -0.4570457995, 0.3731763326,
                                         -0.4570457995, 1.4453057213, -0.5900435899};
    double b[15], sum = 0.0;
    basis(d[0], d[1], d[2], b);
    for (int k = 0; k < 15; k++) {
        sum += constants[k] * b[k] * (double)harmonics[3 * k];
    }
    return sum;
}

// Covariance of a splat: R S S R'.
static void covariance(const orr_splats_view *d, int64_t i, double c[3][3])
{
    const double w = (double)d->rotation[4 * i], x = (double)d->rotation[4 * i + 1],
                 y = (double)d->rotation[4 * i + 2], z = (double)d->rotation[4 * i + 3];
    const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            c[a][b] = 0.0;
            for (int k = 0; k < 3; k++) {
                c[a][b] += r[a][k] * r[b][k] * exp(2 * (double)d->log_scale[3 * i + k]);
            }
        }
    }
}

// A file of version 3 or 4 with a record that names its coordinate system, behind one of another type.
static orr_splats *read_with_system(orr_bytes file, int version, uint32_t system, orr_error *error)
{
    uint8_t records[28] = {1, 0, 0x34, 0x12, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0, 0xbe, 0xad, 4};
    orr_put_u32(records + 24, system);
    uint8_t *data = calloc(file.size + 32, 1);
    size_t size = file.size + sizeof records;
    orr_splats *cloud = NULL;
    if (version == 4) {
        memcpy(data, file.data, 32);
        memcpy(data + 32, records, sizeof records);
        memcpy(data + 32 + sizeof records, file.data + 32, file.size - 32);
        orr_put_u32(data + 16, 32 + sizeof records);
        data[14] |= 2;
        orr_read_spz((orr_splat_source){"a.spz", data, size}, &cloud, error);
    } else {
        memcpy(data, file.data, file.size);
        memcpy(data + file.size, records, sizeof records);
        data[14] |= 2;
        orr_bytes packed = gzip_of(data, size);
        orr_read_spz((orr_splat_source){"a.spz", packed.data, packed.size}, &cloud, error);
        orr_free(packed.data);
    }
    free(data);
    return cloud;
}

static void coordinate_systems_are_honoured(void **state)
{
    (void)state;
    static const char *const names[17] = {"RUB", "LDB", "RDB", "LUB", "RUB", "LDF", "RDF", "LUF", "RUF",
                                          "LFD", "RFD", "LFU", "RFU", "LBD", "RBD", "LBU", "RBU"};
    orr_splats *cloud = sample_cloud(6, 3, 1), *rub;
    assert_ok(orr_splats_save(cloud, scratch_path("a.spz"), &error));
    assert_ok(orr_splats_save(cloud, scratch_path("a.v3.spz"), &error));
    assert_ok(orr_splats_load(scratch_path("a.spz"), &rub, &error));
    orr_splats_view a = orr_splats_data(rub);
    for (uint32_t system = 0; system <= 16; system++) {
        int axis[3], base_axis[3];
        double sign[3], base_sign[3];
        axes_by_name(names[system], axis, sign);
        axes_by_name("RUB", base_axis, base_sign);
        for (int version = 3; version <= 4; version++) {
            orr_bytes file;
            assert_ok(orr_file_read(scratch_path(version == 3 ? "a.v3.spz" : "a.spz"), &file, &error));
            if (version == 3) {
                orr_bytes plain = gunzip(file);
                orr_free(file.data);
                file = plain;
            }
            orr_error error = {0};
            orr_splats *back = read_with_system(file, version, system, &error);
            if (!back) {
                fail_msg("system %s: %s", names[system], error.message);
            }
            orr_splats_view b = orr_splats_data(back);
            for (int64_t i = 0; i < 6; i++) {
                double from[3][3], to[3][3];
                covariance(&a, i, from);
                covariance(&b, i, to);
                for (int k = 0; k < 3; k++) {
                    // the file's coordinate on this axis, by way of what a file without the record means
                    const double stored = base_sign[axis[k]] * (double)a.position[3 * i + axis[k]];
                    assert_near(sign[k] * stored, (double)b.position[3 * i + k], EXACT, "position", i);
                    for (int l = 0; l < 3; l++) {
                        const double turned = sign[k] * sign[l] * base_sign[axis[k]] * base_sign[axis[l]] *
                                              from[axis[k]][axis[l]];
                        assert_near(turned, to[k][l], 1e-6, "covariance", i);
                    }
                }
                // a direction of the engine, and the same in the system without the record
                const double here[3] = {0.36, 0.48, 0.8};
                double there[3];
                for (int k = 0; k < 3; k++) {
                    there[axis[k]] = base_sign[axis[k]] * sign[k] * here[k];
                }
                assert_near(colour_along(a.harmonics + 45 * i, there),
                            colour_along(b.harmonics + 45 * i, here), 1e-5, "colour", i);
            }
            orr_splats_destroy(back);
            orr_free(file.data);
        }
    }
    orr_splats_destroy(rub);
    orr_splats_destroy(cloud);
}

static void a_coordinate_system_that_is_none_is_refused(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(6, 0, 1);
    assert_ok(orr_splats_save(cloud, scratch_path("a.spz"), &error));
    orr_bytes file;
    assert_ok(orr_file_read(scratch_path("a.spz"), &file, &error));
    orr_error error = {0};
    assert_null(read_with_system(file, 4, 17, &error));
    assert_non_null(strstr(error.message, "a coordinate system from 0 to 16"));
    orr_free(file.data);
    orr_splats_destroy(cloud);
}

// ---- limits of expansion ----

static void gzip_bombs_are_refused(void **state)
{
    (void)state;
    // two splats, and behind them 64 MiB of zeros in 64 kB
    const size_t size = 64 << 20;
    uint8_t *data = calloc(size, 1);
    orr_put_u32(data, ORR_SPZ_MAGIC);
    orr_put_u32(data + 4, 3);
    orr_put_u32(data + 8, 2);
    orr_bytes bomb = gzip_of(data, size);
    assert_true(bomb.size < 100000);
    assert_refused((const char *)bomb.data, bomb.size, "more than 1048576 bytes behind the arrays");
    orr_free(bomb.data);
    // as many splats as a small file cannot hold
    orr_put_u32(data + 8, 50000000);
    bomb = gzip_of(data, 1 << 20);
    assert_refused((const char *)bomb.data, bomb.size, "cannot hold 50000000 splats");
    orr_free(bomb.data);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spz_1_to_3_are_read_from_first_principles),
        cmocka_unit_test(spz_turns_harmonics_with_its_axes),
        cmocka_unit_test(halves_become_floats),
        cmocka_unit_test(an_expansion_has_a_limit),
        cmocka_unit_test(lying_spz_headers_are_refused),
        cmocka_unit_test(coordinate_systems_are_honoured),
        cmocka_unit_test(a_coordinate_system_that_is_none_is_refused),
        cmocka_unit_test(gzip_bombs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
