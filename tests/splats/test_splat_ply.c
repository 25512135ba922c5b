// Tests of .ply and .compressed.ply: the variants of both, and headers that lie.
#include "engine/core/memory.h"
#include "orr_features.h"
#include "render/formats/splat_formats.h"
#include "tests/splats/splat_samples.h"
#include "tests/support/support.h"

#include "tests/splats/splat_asserts.h"

#include <stdio.h>
#include <stdlib.h>

// rounding of values in float, several times
#define EXACT 1e-6

typedef struct ply_text {
    char bytes[1 << 16];
    size_t size;
} ply_text;

static void add_text(ply_text *t, const char *text)
{
    size_t length = strlen(text);
    memcpy(t->bytes + t->size, text, length);
    t->size += length;
}

static void add_value(ply_text *t, const char *type, const char *encoding, double value)
{
    uint8_t bytes[8];
    size_t size;
    if (encoding[0] == 'a') {
        char text[64];
        snprintf(text, sizeof text, type[0] == 'd' || type[0] == 'f' ? "%.9e " : "%.0f ", value);
        add_text(t, text);
        return;
    }
    if (strcmp(type, "double") == 0) {
        memcpy(bytes, &value, size = 8);
    } else if (strcmp(type, "float") == 0) {
        float single = (float)value;
        memcpy(bytes, &single, size = 4);
    } else if (strcmp(type, "short") == 0) {
        int16_t whole = (int16_t)value;
        memcpy(bytes, &whole, size = 2);
    } else {
        bytes[0] = (uint8_t)value;
        size = 1;
    }
    for (size_t k = 0; k < size; k++) {
        bool big = strstr(encoding, "big") != NULL; // this machine is little-endian
        t->bytes[t->size++] = (char)bytes[big ? size - 1 - k : k];
    }
}

static void ply_is_read_in_any_order_type_and_encoding(void **state)
{
    (void)state;
    static const char *const encodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    static const struct {
        const char *type, *name;
        double value; // times (splat's index + 1), so that the two splats differ
    } properties[] = {
        {"double", "rot_3", 0.5},    {"uchar", "red", 7},        {"float", "x", 1.25},
        {"float", "opacity", -0.5},  {"short", "y", -300},       {"float", "z", 1e-3},
        {"uchar", "f_dc_0", 2},      {"float", "f_dc_1", -0.75}, {"float", "f_dc_2", 0.25},
        {"float", "scale_1", -2.5},  {"float", "scale_0", -3},   {"double", "scale_2", -4},
        {"float", "rot_0", 0.5},     {"float", "rot_1", -0.5},   {"float", "rot_2", 0.5},
        {"double", "confidence", 9},
    };
    enum { PROPERTIES = sizeof properties / sizeof properties[0] };
    static ply_text t;
    for (int e = 0; e < 3; e++) {
        char line[128];
        t.size = 0;
        add_text(&t, "ply\r\nformat ");
        add_text(&t, encodings[e]);
        add_text(&t, " 1.0\r\nobj_info made by a test\r\ncomment antialiased 1\r\nelement camera 3\r\n"
                     "property short id\r\nelement vertex 2\r\n");
        for (int p = 0; p < PROPERTIES; p++) {
            snprintf(line, sizeof line, "property %s %s\r\n", properties[p].type, properties[p].name);
            add_text(&t, line);
        }
        add_text(&t, "element face 1\r\nproperty list uchar int vertex_index\r\nend_header\r\n");
        for (int i = 0; i < 3; i++) {
            add_value(&t, "short", encodings[e], 1000 + i);
        }
        for (int i = 0; i < 2; i++) {
            for (int p = 0; p < PROPERTIES; p++) {
                add_value(&t, properties[p].type, encodings[e], properties[p].value * (i + 1));
            }
        }
        orr_splats *cloud;
        orr_splat_source source = {"variant.ply", (const uint8_t *)t.bytes, t.size};
        assert_ok(orr_read_ply(source, &cloud, &error));
        orr_splats_view d = orr_splats_data(cloud);
        assert_int_equal(d.count, 2);
        assert_true(d.antialiased);
        for (int i = 0; i < 2; i++) {
            const double n = i + 1;
            const double position[3] = {1.25 * n, -300 * n, 1e-3 * n},
                         colour[3] = {2 * n, -0.75 * n, 0.25 * n}, scale[3] = {-3 * n, -2.5 * n, -4 * n},
                         rotation[4] = {0.5, -0.5, 0.5, 0.5};
            for (int k = 0; k < 3; k++) {
                assert_near(position[k], (double)d.position[3 * i + k], EXACT, "position", i);
                assert_near(colour[k], (double)d.colour[3 * i + k], EXACT, "colour", i);
                assert_near(scale[k], (double)d.log_scale[3 * i + k], EXACT, "scale", i);
            }
            for (int k = 0; k < 4; k++) {
                assert_near(rotation[k], (double)d.rotation[4 * i + k], EXACT, "rotation", i);
            }
            assert_near(-0.5 * n, (double)d.opacity[i], EXACT, "opacity", i);
        }
        orr_splats_destroy(cloud);
    }
}

static const char flat_ply[] = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
                               "property float z\nproperty float f_dc_0\nproperty float f_dc_1\n"
                               "property float f_dc_2\nproperty float opacity\nproperty float scale_0\n"
                               "property float scale_1\nproperty float rot_0\nproperty float rot_1\n"
                               "property float rot_2\nproperty float rot_3\nend_header\n"
                               "1 -2.5 +3.25e1 .5 5.E-1 -0 1e-400 -123456789012345678901e-20 0 1 0 0 0\n";

static void a_flat_ply_becomes_thin_discs(void **state)
{
    (void)state;
    orr_splats *cloud;
    orr_splat_source source = {"flat.ply", (const uint8_t *)flat_ply, sizeof flat_ply - 1};
    assert_ok(orr_read_ply(source, &cloud, &error));
    orr_splats_view d = orr_splats_data(cloud);
    assert_float_equal(d.log_scale[2], -13.8155106f, 1e-5f); // log(1e-6)
    assert_float_equal(d.log_scale[0], -1.23456789f, 1e-6f);
    assert_float_equal(d.position[1], -2.5f, 0.0f);
    assert_float_equal(d.position[2], 32.5f, 0.0f);
    assert_float_equal(d.colour[0], 0.5f, 0.0f);
    assert_float_equal(d.colour[1], 0.5f, 0.0f);
    assert_float_equal(d.opacity[0], 0.0f, 0.0f);
    orr_splats_destroy(cloud);
}

static void an_old_compressed_ply_has_colours_without_bounds(void **state)
{
    (void)state;
    static const char header[] =
        "ply\nformat binary_little_endian 1.0\nelement chunk 1\nproperty float min_x\nproperty float min_y\n"
        "property float min_z\nproperty float max_x\nproperty float max_y\nproperty float max_z\n"
        "property float min_scale_x\nproperty float min_scale_y\nproperty float min_scale_z\n"
        "property float max_scale_x\nproperty float max_scale_y\nproperty float max_scale_z\n"
        "element vertex 1\nproperty uint packed_position\nproperty uint packed_rotation\n"
        "property uint packed_scale\nproperty uint packed_color\nend_header\n";
    static const float bounds[12] = {-1, -2, -3, 1, 2, 3, -8, -8, -8, -4, -4, -4};
    // x at its low end, y at its high end, z at 1024 / 2047; w largest, x = (1023 / 1023 - 0.5) sqrt 2
    static const uint32_t words[4] = {1023u << 11 | 1024u, 1023u << 20 | 512u << 10 | 512u, 2047u << 21,
                                      0xff8000ffu};
    uint8_t file[sizeof header + sizeof bounds + sizeof words];
    memcpy(file, header, sizeof header - 1);
    memcpy(file + sizeof header - 1, bounds, sizeof bounds);
    memcpy(file + sizeof header - 1 + sizeof bounds, words, sizeof words);
    orr_splats *cloud;
    assert_ok(orr_read_compressed_ply((orr_splat_source){"old.ply", file, sizeof file - 1}, &cloud, &error));
    orr_splats_view d = orr_splats_data(cloud);
    assert_float_equal(d.position[0], -1.0f, 1e-6f);
    assert_float_equal(d.position[1], 2.0f, 1e-6f);
    assert_float_equal(d.position[2], -3.0f + 6.0f * 1024 / 2047, 1e-5f);
    assert_float_equal(d.log_scale[0], -4.0f, 1e-6f);
    assert_float_equal(d.log_scale[1], -8.0f, 1e-6f);
    assert_float_equal(d.rotation[0], 0.7071068f, 1e-3f);
    assert_float_equal(d.rotation[1], 0.7071068f, 1e-3f);
    assert_float_equal(d.colour[0], 0.5f / 0.28209479f, 1e-5f);
    assert_float_equal(d.colour[1], (128.0f / 255 - 0.5f) / 0.28209479f, 1e-5f);
    assert_float_equal(d.colour[2], -0.5f / 0.28209479f, 1e-5f);
    assert_true(opacity_of(d.opacity[0]) > 0.99999);
    orr_splats_destroy(cloud);
}

static void hostile_headers_are_refused_with_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"ply\n", "line 2: the header ends"},
        {"ply\nformat binary 1.0\n", "line 2: 'format binary'"},
        {"ply\nelement vertex 1\nend_header\n", "a format line before"},
        {"ply\nformat ascii 1.0\nend_header\n", "no element vertex"},
        {"ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", "'-1' rows"},
        {"ply\nformat ascii 1.0\nelement vertex 99999999999999999999\nend_header\n",
         "rows, expected 0 to 2^31"},
        {"ply\nformat ascii 1.0\nelement vertex 2147483647\nproperty float x\nend_header\n1\n",
         "cannot hold"},
        {"ply\nformat binary_little_endian 1.0\nelement vertex 2147483647\nproperty float "
         "x\nend_header\nxxxx",
         "expected 8589934588 for"},
        {"ply\nformat ascii 1.0\nproperty float x\n", "an element before"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty quaternion x\n", "line 4: 'property quaternion'"},
        {"ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty list uchar int y\nend_header\n",
         "no number called y"},
        {"ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float f_rest_0\nend_header\n",
         "1 properties f_rest"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float packed_position\nend_header\n",
         "expected format"},
        {"ply\nnonsense\n", "line 2: 'nonsense"},
        {"ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_index\nelement vertex 3\n"
         "property float x\nproperty float y\nproperty float z\nend_header\n3 0 1 2\n0 0 0\n1 0 0\n0 1 0\n",
         "a mesh: expected a splat cloud or points"},
        {"NGSP", "expected a header of 32"},
        {"\x1f\x8b", "gzip stream"},
        {"PK", ORR_HAVE_ZIP ? "not a whole zip archive" : "libzip-dev"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].expected);
    }
    // a word that is no number, in an otherwise whole file
    char text[sizeof flat_ply];
    memcpy(text, flat_ply, sizeof flat_ply);
    memcpy(strstr(text, "-2.5"), "nano", 4);
    assert_refused(text, sizeof text - 1, "row 0, y: expected a number");
    // files of which no splat is left
    memcpy(strstr(text, "nano"), "nan ", 4);
    assert_refused(text, sizeof text - 1, "1 of 1 splats are left out, the first is splat 0, whose position");
    memcpy(text, flat_ply, sizeof flat_ply);
    memcpy(strstr(text, "1 0 0 0\n"), "0 0 0 0\n", 8);
    assert_refused(text, sizeof text - 1, "splat 0, whose rotation is not valid");
}

// ---- values that are not finite ----

static void infinities_as_text_are_limits(void **state)
{
    (void)state;
    static const char text[] =
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
        "property float z\nproperty float f_dc_0\nproperty float f_dc_1\nproperty float f_dc_2\n"
        "property float opacity\nproperty float scale_0\nproperty float scale_1\nproperty float scale_2\n"
        "property float rot_0\nproperty float rot_1\nproperty float rot_2\nproperty float rot_3\nend_header\n"
        "1 0 0 0 0 0 inf -1 -Infinity -2 1 0 0 0\n"
        "2 0 0 0 0 0 -INF -1 -1 -1 1 0 0 0\n"
        "3 0 0 0 0 0 NaN -1 -1 -1 1 0 0 0\n"
        "4 0 0 0 0 0 0 -1 +inf -1 1 0 0 0\n";
    orr_splats *cloud;
    assert_ok(
        orr_read_ply((orr_splat_source){"a.ply", (const uint8_t *)text, sizeof text - 1}, &cloud, &error));
    orr_splats_view d = orr_splats_data(cloud);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.dropped, 2);
    assert_string_equal(d.warning,
                        "2 of 4 splats are left out, the first is splat 2, whose opacity is not valid");
    assert_float_equal(d.position[0], 1.0f, 0.0f);
    assert_float_equal(d.position[3], 2.0f, 0.0f);
    assert_true(isfinite(d.opacity[0]) && opacity_of(d.opacity[0]) > 0.9999999);
    assert_true(isfinite(d.opacity[1]) && opacity_of(d.opacity[1]) < 1e-7);
    assert_true(isfinite(d.log_scale[1]) && d.log_scale[1] < -80.0f);
    assert_float_equal(d.log_scale[2], -2.0f, 0.0f);
    orr_splats_destroy(cloud);
}

// ---- points ----

// A grid of points 0.1 apart, and one that is far away.
static orr_splats *read_points(const char *encoding, const char *colour_type, double colour)
{
    static ply_text t;
    char line[256];
    t.size = 0;
    snprintf(line, sizeof line,
             "ply\nformat %s 1.0\nelement vertex 126\nproperty float x\nproperty float y\n"
             "property double z\n",
             encoding);
    add_text(&t, line);
    static const char *const channels[] = {"red", "green", "blue"};
    for (int k = 0; k < 3 && colour_type; k++) {
        snprintf(line, sizeof line, "property %s %s\n", colour_type, channels[k]);
        add_text(&t, line);
    }
    add_text(&t, "element face 0\nproperty list uchar int vertex_index\nend_header\n");
    for (int i = 0; i < 126; i++) {
        const double at[3] = {0.1 * (i % 5), 0.1 * (i / 5 % 5), i == 125 ? 1000.0 : 0.1 * (i / 25)};
        for (int k = 0; k < 3; k++) {
            add_value(&t, k < 2 ? "float" : "double", encoding, at[k]);
        }
        for (int k = 0; k < 3 && colour_type; k++) {
            add_value(&t, colour_type, encoding, k == 0 ? colour : 0.0);
        }
    }
    orr_splats *cloud;
    assert_ok(
        orr_read_ply((orr_splat_source){"points.ply", (const uint8_t *)t.bytes, t.size}, &cloud, &error));
    return cloud;
}

static void points_become_splats_as_large_as_their_distance(void **state)
{
    (void)state;
    static const struct {
        const char *encoding, *type;
        double colour;
    } cases[] = {
        {"ascii", "uchar", 255}, {"binary_little_endian", "float", 1}, {"binary_big_endian", NULL, 0}};
    for (int c = 0; c < 3; c++) {
        orr_splats *cloud = read_points(cases[c].encoding, cases[c].type, cases[c].colour);
        orr_splats_view d = orr_splats_data(cloud);
        assert_int_equal(d.count, 126);
        assert_int_equal(d.sh_degree, 0);
        for (int i = 0; i < 126; i++) {
            // half of 0.1; neighbours along the curve are at most a few steps away
            const double size = exp((double)d.log_scale[3 * i]);
            if (i < 125 ? size < 0.0499 || size > 0.15 : size < 0.4 || size > 0.8) {
                fail_msg("point %d: standard deviation %g", i, size);
            }
            assert_float_equal(d.log_scale[3 * i], d.log_scale[3 * i + 2], 0.0f);
            assert_true(opacity_of(d.opacity[i]) > 0.999);
            const double red = 0.5 + 0.28209479 * (double)d.colour[3 * i];
            assert_near(cases[c].type ? 1.0 : 0.5, red, EXACT, "red", i);
            const double blue = 0.5 + 0.28209479 * (double)d.colour[3 * i + 2];
            assert_near(cases[c].type ? 0.0 : 0.5, blue, EXACT, "blue", i);
        }
        assert_float_equal(d.position[3 * 7], 0.2f, 1e-7f);
        assert_float_equal(d.position[3 * 125 + 2], 1000.0f, 0.0f);
        orr_splats_destroy(cloud);
    }
}

static void points_without_neighbours_have_a_size(void **state)
{
    (void)state;
    static const char text[] = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\n"
                               "property float y\nproperty float z\nproperty uchar alpha\nend_header\n"
                               "1 1 1 255\n1 1 1 0\n";
    orr_splats *cloud;
    assert_ok(
        orr_read_ply((orr_splat_source){"a.ply", (const uint8_t *)text, sizeof text - 1}, &cloud, &error));
    orr_splats_view d = orr_splats_data(cloud);
    assert_int_equal(d.count, 2);
    assert_near(0.01, exp((double)d.log_scale[0]), 1e-6, "size", 0);
    assert_true(opacity_of(d.opacity[0]) > 0.999 && opacity_of(d.opacity[1]) < 0.001);
    orr_splats_destroy(cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_is_read_in_any_order_type_and_encoding),
        cmocka_unit_test(a_flat_ply_becomes_thin_discs),
        cmocka_unit_test(an_old_compressed_ply_has_colours_without_bounds),
        cmocka_unit_test(hostile_headers_are_refused_with_one_line),
        cmocka_unit_test(infinities_as_text_are_limits),
        cmocka_unit_test(points_become_splats_as_large_as_their_distance),
        cmocka_unit_test(points_without_neighbours_have_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
