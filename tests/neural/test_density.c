// Tests of neural/density: .npy grids and their interpolation.
#include "neural/fields/density.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// a file of shape (2, 3, 4) whose voxel [z, y, x] is 100 z + 10 y + x
static size_t make_file(uint8_t *file, const char *dict, bool fortran, int bytes)
{
    size_t length = strlen(dict);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (uint8_t)length;
    file[9] = 0;
    memcpy(file + 10, dict, length);
    size_t at = 10 + length;
    for (int i = 0; i < 24; i++) {
        int z = fortran ? i % 2 : i / 12, y = fortran ? i / 2 % 3 : i / 4 % 3, x = fortran ? i / 6 : i % 4;
        double d = 100 * z + 10 * y + x;
        float f = (float)d;
        uint16_t u = (uint16_t)d;
        memcpy(file + at, bytes == 8 ? (void *)&d : bytes == 4 ? (void *)&f : (void *)&u, (size_t)bytes);
        at += (size_t)bytes;
    }
    return at;
}

static void every_type_and_order_is_the_same_grid(void **state)
{
    (void)state;
    static const char *const descr[] = {"<f4", "<f8", "<u2"};
    static const int bytes[] = {4, 8, 2};
    for (int n = 0; n < 6; n++) {
        uint8_t file[512];
        char dict[128];
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3, 4), }\n",
                 descr[n % 3], n / 3 ? "True" : "False");
        size_t size = make_file(file, dict, n / 3, bytes[n % 3]);
        orr_density density;
        assert_ok(orr_density_parse(file, size, "grid.npy", &density, &error));
        for (int i = 0; i < 24; i++) {
            int x = i % 4, y = i / 4 % 3, z = i / 12;
            assert_float_equal(density.values[i], (float)(100 * z + 10 * y + x), 0.0);
        }
        // longest side 4 fills the cube: half a voxel right of the middle of [0, 1, 1]
        const float position[3] = {0.5f, 0.5f, 0.375f}, outside[3] = {0.5f, 0.5f, 0.1f};
        assert_true(fabsf(orr_density_at(&density, position) - 11.5f) < 1e-5f);
        assert_float_equal(orr_density_at(&density, outside), 0.0f, 0.0);
        orr_density_free(&density);
        for (size_t cut = 0; cut < size; cut++) {
            assert_int_equal(orr_density_parse(file, cut, "grid.npy", &density, NULL), ORR_ERROR_FORMAT);
        }
    }
}

static void wrong_headers_are_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3, 4), }", "descr"},
        {"{'descr': '<f4', 'fortran_order': 1, 'shape': (2, 3, 4), }", "fortran_order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6, 4), }", "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 0), }", "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 5), }", "30 values"},
    };
    for (int i = 0; i < 5; i++) {
        uint8_t file[512];
        orr_density density;
        orr_error error = {0};
        size_t size = make_file(file, cases[i][0], false, 4);
        assert_int_equal(orr_density_parse(file, size, "grid.npy", &density, &error), ORR_ERROR_FORMAT);
        assert_non_null(strstr(error.message, cases[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_order_is_the_same_grid),
        cmocka_unit_test(wrong_headers_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
