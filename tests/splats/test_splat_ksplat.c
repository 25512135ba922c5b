// Tests of the .ksplat reader against files whose bytes the test makes itself.
#include "engine/core/memory.h"
#include "render/formats/splat_formats.h"
#include "tests/splats/splat_samples.h"
#include "tests/support/support.h"

#include "tests/splats/splat_asserts.h"

#include <stdlib.h>

static orr_result read_bytes(const uint8_t *data, size_t size, orr_splats **cloud, orr_error *error)
{
    return orr_read_ksplat((orr_splat_source){"a.ksplat", data, size}, cloud, error);
}

static void every_mode_and_degree_is_read(void **state)
{
    (void)state;
    static const int sizes[] = {1, 5, 8, 16, 22, 23};
    for (int mode = 0; mode < 3; mode++) {
        for (int n = 0; n < 24; n++) {
            const int degree = n % 4;
            orr_splats *cloud = sample_cloud(sizes[n / 4], degree, (uint32_t)n), *back;
            orr_splats_view a = orr_splats_data(cloud);
            orr_bytes file = sample_ksplat(&a, mode);
            assert_ok(read_bytes(file.data, file.size, &back, &error));
            orr_splats_view b = orr_splats_data(back);
            assert_int_equal(a.count, b.count);
            assert_int_equal(a.sh_degree, b.sh_degree);
            // a half has 11 bits; a position half a step of 2.5 / 32767; a byte of SH is rounded down
            const double half = 0x1p-11, coefficient = mode == 0 ? 0.0 : mode == 1 ? half : 3.0 / 255 + 1e-6;
            for (int64_t i = 0; i < 3 * a.count; i++) {
                assert_near((double)a.position[i], (double)b.position[i], mode ? 4e-5 : 0.0, "position",
                            i / 3);
                // scales near the smallest normal half (log -9.7) keep their 11 bits
                assert_near((double)a.log_scale[i], (double)b.log_scale[i], mode ? half : 1e-5, "scale",
                            i / 3);
                assert_near((double)a.colour[i], (double)b.colour[i], 0.5 / 255 / 0.28209479 + 1e-6, "colour",
                            i / 3);
            }
            for (int64_t i = 0; i < 4 * a.count; i++) {
                assert_near((double)a.rotation[i], (double)b.rotation[i], mode ? 2 * half : 1e-6, "rotation",
                            i / 4);
            }
            for (int64_t i = 0; i < a.count; i++) {
                assert_near(1 / (1 + exp(-(double)a.opacity[i])), 1 / (1 + exp(-(double)b.opacity[i])),
                            0.5 / 255 + 1e-6, "opacity", i);
            }
            int64_t values = a.count * 3 * ((degree + 1) * (degree + 1) - 1);
            for (int64_t i = 0; i < values; i++) {
                assert_near((double)a.harmonics[i], (double)b.harmonics[i], coefficient, "harmonics", i);
            }
            orr_splats_destroy(back);
            orr_splats_destroy(cloud);
            orr_free(file.data);
        }
    }
}

// changes one 32-bit number of a whole file and expects the message
static void assert_change_refused(size_t at, uint32_t value, const char *expected)
{
    orr_splats *cloud = sample_cloud(22, 1, 1), *back;
    orr_splats_view d = orr_splats_data(cloud);
    orr_bytes file = sample_ksplat(&d, 1);
    memcpy(file.data + at, &value, 4);
    orr_error error = {0};
    orr_result result = read_bytes(file.data, file.size, &back, &error);
    if (result == ORR_OK || back || !strstr(error.message, expected)) {
        fail_msg("byte %zu = %u: '%s' should say: %s", at, value, error.message, expected);
    }
    orr_splats_destroy(cloud);
    orr_free(file.data);
}

static void lying_headers_are_refused(void **state)
{
    (void)state;
    enum { SECTION = 4096 };
    assert_change_refused(0, 1, "version 1.0");
    assert_change_refused(4, 2, "cannot hold 2 sections");
    assert_change_refused(4, 0xffffffff, "cannot hold 4294967295 sections");
    assert_change_refused(16, 23, "23 splats, but 22");
    assert_change_refused(20, 3, "compression mode 3");
    assert_change_refused(SECTION, 0xffffffff, "4294967295 in sections");
    assert_change_refused(SECTION + 4, 21, "do not fit"); // capacity for fewer splats than there are
    assert_change_refused(SECTION + 4, 0xffffffff, "do not fit");
    assert_change_refused(SECTION + 8, 0, "splat 6 is in no bucket");
    assert_change_refused(SECTION + 12, 0xffffffff, "do not fit");
    assert_change_refused(SECTION + 12, 1, "expected 1 of 12 bytes");
    assert_change_refused(SECTION + 20, 4, "of 12 bytes");
    assert_change_refused(SECTION + 16, 0x7fc00000, "whose position is not valid");
    assert_change_refused(SECTION + 36, 0xffffffff, "do not fit");
    assert_change_refused(SECTION + 40, 4, "SH degree 4");
}

static void files_cut_anywhere_are_refused(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(9, 2, 1);
    orr_splats_view d = orr_splats_data(cloud);
    orr_bytes file = sample_ksplat(&d, 2);
    for (size_t size = 0; size < file.size; size += size < 5100 && size > 64 ? 61 : 1) {
        uint8_t *part = malloc(size + !size);
        memcpy(part, file.data, size);
        orr_splats *back;
        orr_error error = {0};
        if (read_bytes(part, size, &back, &error) == ORR_OK || back || !error.message[0]) {
            fail_msg("cut to %zu of %zu bytes: accepted", size, file.size);
        }
        free(part);
    }
    orr_free(file.data);
    orr_splats_destroy(cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_and_degree_is_read),
        cmocka_unit_test(lying_headers_are_refused),
        cmocka_unit_test(files_cut_anywhere_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
