// Tests of reading and writing splat clouds: every writer through its reader, the variants of each format,
// and files that are broken.
#include "engine/core/memory.h"
#include "render/splat_formats.h"
#include "render/splat_spz.h"
#include "tests/splat_samples.h"
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// the largest difference that a format's quantisation explains
typedef struct tolerance {
    double position[3], log_scale[3];
    double rotation;     // angle [rad]
    double opacity;      // 0 .. 1, after the sigmoid
    double colour;       // coefficient
    double harmonics[2]; // of degree 1, of higher degrees
} tolerance;

// rounding of values in float, several times
#define EXACT 1e-6
// A quaternion's smallest three with a step of 1 / (511 sqrt 2) or sqrt 2 / 1023: half a step in each is
// 1.2e-3 long, the largest component moves by up to twice that, and the angle is twice the distance.
#define SMALLEST_THREE 6e-3

static double opacity_of(float logit)
{
    return 1.0 / (1.0 + exp(-(double)logit));
}

static double angle_between(const float *a, const float *b)
{
    double plus = 0.0, minus = 0.0;
    for (int k = 0; k < 4; k++) {
        plus += ((double)a[k] + (double)b[k]) * ((double)a[k] + (double)b[k]);
        minus += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    }
    return 4.0 * asin(fmin(1.0, sqrt(fmin(plus, minus)) / 2.0));
}

static void assert_near(double a, double b, double limit, const char *member, int64_t i)
{
    if (!(fabs(a - b) <= limit)) {
        fail_msg("splat %lld: %s is %.9g, expected %.9g within %g", (long long)i, member, b, a, limit);
    }
}

static void assert_splat_near(const orr_splats_view *a, int64_t i, const orr_splats_view *b, int64_t j,
                              const tolerance *t)
{
    const int rest = orr_sh_rest(a->sh_degree);
    for (int k = 0; k < 3; k++) {
        assert_near((double)a->position[3 * i + k], (double)b->position[3 * j + k], t->position[k],
                    "position", i);
        assert_near((double)a->log_scale[3 * i + k], (double)b->log_scale[3 * j + k], t->log_scale[k],
                    "log scale", i);
        assert_near((double)a->colour[3 * i + k], (double)b->colour[3 * j + k], t->colour, "colour", i);
    }
    assert_near(opacity_of(a->opacity[i]), opacity_of(b->opacity[j]), t->opacity, "opacity", i);
    assert_near(0.0, angle_between(a->rotation + 4 * i, b->rotation + 4 * j), t->rotation, "rotation", i);
    for (int k = 0; k < 3 * rest; k++) {
        assert_near((double)a->harmonics[3 * rest * i + k], (double)b->harmonics[3 * rest * j + k],
                    t->harmonics[k >= 9], "harmonics", i);
    }
}

static void assert_clouds_near(const orr_splats *a, const orr_splats *b, const tolerance *t)
{
    orr_splats_view x = orr_splats_data(a), y = orr_splats_data(b);
    assert_int_equal(x.count, y.count);
    assert_int_equal(x.sh_degree, y.sh_degree);
    assert_int_equal(x.antialiased, y.antialiased);
    for (int64_t i = 0; i < x.count; i++) {
        assert_splat_near(&x, i, &y, i, t);
    }
}

static orr_splats *round_trip(const orr_splats *cloud, const char *file)
{
    const char *path = scratch_path(file);
    orr_splats *back;
    assert_ok(orr_splats_save(cloud, path, &error));
    assert_ok(orr_splats_load(path, &back, &error));
    return back;
}

static const int64_t sizes[] = {0, 1, 2, 255, 256, 257, 1001};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

// ---- round trips ----

static void round_trips(const char *file, int highest_degree, bool antialiased, const tolerance *t)
{
    for (int degree = 0; degree <= highest_degree; degree++) {
        for (int s = 0; s < SIZES; s++) {
            orr_splats *cloud = sample_cloud(sizes[s], degree, (uint32_t)s);
            assert_non_null(cloud);
            ((struct orr_splats *)cloud)->data.antialiased = antialiased && s % 2;
            orr_splats *back = round_trip(cloud, file);
            assert_clouds_near(cloud, back, t);
            orr_splats_destroy(back);
            orr_splats_destroy(cloud);
        }
    }
}

static void ply_keeps_every_value(void **state)
{
    (void)state;
    // rotations are normalised when they are read
    round_trips("a.ply", 3, true, &(tolerance){.rotation = EXACT});
}

static void splat_keeps_what_32_bytes_hold(void **state)
{
    (void)state;
    // colours: half of 1/255 over C0; a component of a rotation: half of 1/128, or all of it at 1; scales go
    // through exp and log
    round_trips("a.splat", 0, false,
                &(tolerance){.log_scale = {1e-5, 1e-5, 1e-5},
                             .rotation = 0.03,
                             .opacity = 0.5 / 255 + EXACT,
                             .colour = 0.5 / 255 / 0.28209479 + EXACT});
}

static const tolerance spz_tolerance = {
    .position = {0.5 / 4096 + EXACT, 0.5 / 4096 + EXACT, 0.5 / 4096 + EXACT},
    .log_scale = {0.5 / 16 + EXACT, 0.5 / 16 + EXACT, 0.5 / 16 + EXACT},
    .rotation = SMALLEST_THREE,
    .opacity = 0.5 / 255 + EXACT,
    .colour = 0.5 / (0.15 * 255) + EXACT,
    // half a bucket of 8 or 16, and half of the rounding to bytes before it
    .harmonics = {4.5 / 128, 8.5 / 128},
};

static void spz_4_keeps_what_its_bytes_hold(void **state)
{
    (void)state;
    round_trips("a.spz", 3, true, &spz_tolerance);
}

static void spz_3_keeps_what_its_bytes_hold(void **state)
{
    (void)state;
    round_trips("a.v3.spz", 3, true, &spz_tolerance);
}

static void compressed_ply_keeps_splats_within_their_chunk(void **state)
{
    (void)state;
    // half a step of 11, 10 and 11 bits over the widest chunk there can be: 4 units, 8 in log scale
    const double wide = 0.5 / 2047, narrow = 0.5 / 1023;
    const tolerance t = {
        .position = {4 * wide + EXACT, 4 * narrow + EXACT, 4 * wide + EXACT},
        .log_scale = {8 * wide + EXACT, 8 * narrow + EXACT, 8 * wide + EXACT},
        .rotation = SMALLEST_THREE,
        .opacity = 0.5 / 255 + EXACT,
        .colour = 3 * 0.5 / 255 + EXACT,
        .harmonics = {0.5 / 32 + EXACT, 0.5 / 32 + EXACT},
    };
    for (int degree = 0; degree <= 3; degree++) {
        for (int s = 0; s < SIZES; s++) {
            orr_splats *cloud = sample_cloud(sizes[s], degree, (uint32_t)s);
            orr_splats *back = round_trip(cloud, "a.compressed.ply");
            orr_splats_view a = orr_splats_data(cloud), b = orr_splats_data(back);
            assert_int_equal(a.count, b.count);
            assert_int_equal(a.sh_degree, b.sh_degree);
            // the file is in Morton order: each splat that was read belongs to the nearest that was written
            bool *used = calloc((size_t)a.count + 1, 1);
            for (int64_t j = 0; j < b.count; j++) {
                int64_t nearest = 0;
                double best = 1e30;
                for (int64_t i = 0; i < a.count; i++) {
                    double distance = 0.0;
                    for (int k = 0; k < 3; k++) {
                        double step = (double)a.position[3 * i + k] - (double)b.position[3 * j + k];
                        distance += step * step;
                    }
                    nearest = distance < best ? i : nearest;
                    best = fmin(distance, best);
                }
                assert_false(used[nearest]);
                used[nearest] = true;
                assert_splat_near(&a, nearest, &b, j, &t);
            }
            free(used);
            orr_splats_destroy(back);
            orr_splats_destroy(cloud);
        }
    }
}

static void compressed_ply_orders_neighbours_together(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(4096, 0, 1), *back = round_trip(cloud, "m.compressed.ply");
    orr_splats_view d = orr_splats_data(back);
    double in_order = 0.0, as_drawn = 0.0;
    orr_splats_view original = orr_splats_data(cloud);
    for (int64_t i = 0; i + 1 < d.count; i++) {
        for (int k = 0; k < 3; k++) {
            in_order += fabs((double)d.position[3 * i + k] - (double)d.position[3 * i + 3 + k]);
            as_drawn += fabs((double)original.position[3 * i + k] - (double)original.position[3 * i + 3 + k]);
        }
    }
    // neighbours along the curve are about a sixteenth of the cube apart, random ones a third of each axis
    assert_true(in_order < as_drawn / 4);
    orr_splats_destroy(back);
    orr_splats_destroy(cloud);
}

static void extreme_values_are_clamped(void **state)
{
    (void)state;
    static const char *const files[] = {"x.ply", "x.compressed.ply", "x.splat", "x.spz", "x.v3.spz"};
    for (int f = 0; f < 5; f++) {
        orr_splats *cloud = sample_cloud(3, f == 2 ? 0 : 3, 5);
        orr_splats_view d = orr_splats_data(cloud);
        for (int64_t i = 0; i < 9; i++) {
            d.position[i] = i % 2 ? 3e38f : -3e38f;
            d.log_scale[i] = i % 2 ? 100.0f : -100.0f;
            d.colour[i] = i % 2 ? 1e6f : -1e6f;
        }
        for (int64_t i = 0; i < 3; i++) {
            d.opacity[i] = i % 2 ? 1e4f : -1e4f;
        }
        for (int64_t i = 0; d.harmonics && i < 3 * 45; i++) {
            d.harmonics[i] = i % 2 ? 1e5f : -1e5f;
        }
        orr_splats *back = round_trip(cloud, files[f]);
        orr_splats_view b = orr_splats_data(back);
        assert_int_equal(b.count, 3);
        // the second splat is the one with the high opacity; the compressed ply sorts, and there it is last
        int64_t opaque = f == 1 ? 2 : 1;
        assert_true(opacity_of(b.opacity[opaque]) > 0.999 && opacity_of(b.opacity[0]) < 0.001);
        if (f >= 3) {
            assert_float_equal(b.position[1], 2048.0f, 1e-3f);
            assert_float_equal(b.log_scale[0], -10.0f, 0.0f);
            assert_float_equal(b.log_scale[1], 5.9375f, 0.0f);
        }
        orr_splats_destroy(back);
        orr_splats_destroy(cloud);
    }
}

static void saving_refuses_an_unknown_ending(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(1, 0, 1);
    orr_error error;
    assert_int_equal(orr_splats_save(cloud, scratch_path("a.sog"), &error), ORR_ERROR_FORMAT);
    assert_non_null(strstr(error.message, ".compressed.ply"));
    assert_int_equal(orr_splats_save(cloud, "/nowhere/a.ply", &error), ORR_ERROR_FILE);
    orr_splats_destroy(cloud);
}

// ---- the pair of real files ----

static void the_biker_is_the_same_in_both_formats(void **state)
{
    (void)state;
    orr_splats *spz, *ply;
    assert_ok(orr_splats_load(shared_data("splats/biker.spz"), &spz, &error));
    assert_ok(orr_splats_load(shared_data("splats/biker.compressed.ply"), &ply, &error));
    orr_splats_view a = orr_splats_data(ply), b = orr_splats_data(spz);
    assert_int_equal(a.count, 152746);
    assert_int_equal(b.count, 152746);
    assert_int_equal(a.sh_degree, 0);
    assert_int_equal(b.sh_degree, 0);
    int clipped = 0;
    for (int64_t i = 0; i < a.count; i++) {
        assert_near(opacity_of(a.opacity[i]), opacity_of(b.opacity[i]), EXACT, "opacity", i);
        assert_near(0.0, angle_between(a.rotation + 4 * i, b.rotation + 4 * i), 2.7e-3, "rotation", i);
        for (int k = 0; k < 3; k++) {
            int64_t at = 3 * i + k;
            assert_near((double)a.position[at], (double)b.position[at], 1.24e-4, "position", i);
            assert_near(0.28209479 * (double)a.colour[at], 0.28209479 * (double)b.colour[at], 3.75e-3,
                        "colour", i);
            // spz cuts log scales off at -10; otherwise half of 1/16 and half a step of the ply's chunk,
            // whose widest range here is 9
            const double step = 1.0 / 32 + 0.5 * 9 / 1023;
            bool low = (double)a.log_scale[at] < -10.0 - step;
            clipped += low;
            assert_near(low ? -10.0 : (double)a.log_scale[at], (double)b.log_scale[at], step, "log scale", i);
        }
    }
    assert_int_equal(clipped, 89);
    orr_splats_destroy(spz);
    orr_splats_destroy(ply);
}

// ---- variants of ply ----

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

// ---- variants of spz ----

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
                    float size = (float)(k / 3) / 128;
                    assert_float_equal(fabsf(d.harmonics[3 * orr_sh_rest(d.sh_degree) * i + k]), size, 0.0f);
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

// ---- broken files ----

static void assert_refused(const char *text, size_t size, const char *expected)
{
    orr_splats *cloud = (orr_splats *)1;
    orr_error error = {0};
    orr_splat_source source = {"broken.ply", (const uint8_t *)text, size};
    const orr_splat_format *format = orr_splat_format_of(source);
    orr_result result = format->read(source, &cloud, &error);
    if (result == ORR_OK || cloud) {
        fail_msg("accepted: expected an error about %s", expected);
    }
    if (!strstr(error.message, expected) || strstr(error.message, "broken.ply: ") != error.message) {
        fail_msg("'%s' should say: %s", error.message, expected);
    }
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
        {"NGSP", "expected a header of 32"},
        {"\x1f\x8b", "gzip stream"},
        {"PK", "not a whole zip archive"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].expected);
    }
    // a number that is not one, in an otherwise whole file
    char text[sizeof flat_ply];
    memcpy(text, flat_ply, sizeof flat_ply);
    memcpy(strstr(text, "-2.5"), "nan ", 4);
    assert_refused(text, sizeof text - 1, "row 0, y: expected a number");
    memcpy(text, flat_ply, sizeof flat_ply);
    memcpy(strstr(text, "1 0 0 0\n"), "0 0 0 0\n", 8);
    assert_refused(text, sizeof text - 1, "splat 0: rotation is zero");
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

static void a_file_that_is_no_cloud_is_named_as_such(void **state)
{
    (void)state;
    const char *path = scratch_path("cloud.txt");
    orr_splats *cloud;
    assert_ok(orr_file_write(path, "hello", 5, &error));
    orr_error error;
    assert_int_equal(orr_splats_load(path, &cloud, &error), ORR_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "not a splat cloud"));
    assert_int_equal(orr_splats_load(scratch_path("absent.ply"), &cloud, &error), ORR_ERROR_FILE);
    assert_null(cloud);
}

// every start of the file, each in memory of exactly its size, so that AddressSanitizer sees one byte too
// many
static void assert_truncation_refused(const char *file, size_t may_be_whole)
{
    orr_bytes bytes;
    assert_ok(orr_file_read(scratch_path(file), &bytes, &error));
    for (size_t size = 0; size < bytes.size; size++) {
        uint8_t *part = malloc(size + !size);
        memcpy(part, bytes.data, size);
        orr_splat_source source = {file, part, size};
        const orr_splat_format *format =
            orr_splat_format_of((orr_splat_source){file, bytes.data, bytes.size});
        orr_splats *cloud;
        orr_error error = {0};
        orr_result result = format->read(source, &cloud, &error);
        bool whole = may_be_whole && size % may_be_whole == 0;
        if ((result == ORR_OK) != whole || (!whole && (cloud || !error.message[0]))) {
            fail_msg("%s cut to %zu of %zu bytes: %s", file, size, bytes.size, error.message);
        }
        orr_splats_destroy(cloud);
        free(part);
    }
    orr_free(bytes.data);
}

static void files_cut_anywhere_are_refused(void **state)
{
    (void)state;
    static const char *const files[] = {"cut.ply", "cut.compressed.ply", "cut.splat", "cut.spz",
                                        "cut.v3.spz"};
    for (int f = 0; f < 5; f++) {
        orr_splats *cloud = sample_cloud(5, f == 2 ? 0 : 3, 3);
        orr_splats_destroy(round_trip(cloud, files[f]));
        assert_truncation_refused(files[f], f == 2 ? 32 : 0); // whole records of .splat are a whole file
        orr_splats_destroy(cloud);
    }
    // up to the last number: a shorter one is a number, too
    assert_ok(orr_file_write(scratch_path("text.ply"), flat_ply, sizeof flat_ply - 2, &error));
    assert_truncation_refused("text.ply", 0);
    orr_bytes old = sample_spz(2, 3, 1);
    assert_ok(orr_file_write(scratch_path("old.spz"), old.data, old.size, &error));
    assert_truncation_refused("old.spz", 0);
    orr_free(old.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_keeps_every_value),
        cmocka_unit_test(splat_keeps_what_32_bytes_hold),
        cmocka_unit_test(spz_4_keeps_what_its_bytes_hold),
        cmocka_unit_test(spz_3_keeps_what_its_bytes_hold),
        cmocka_unit_test(compressed_ply_keeps_splats_within_their_chunk),
        cmocka_unit_test(compressed_ply_orders_neighbours_together),
        cmocka_unit_test(extreme_values_are_clamped),
        cmocka_unit_test(saving_refuses_an_unknown_ending),
        cmocka_unit_test(the_biker_is_the_same_in_both_formats),
        cmocka_unit_test(ply_is_read_in_any_order_type_and_encoding),
        cmocka_unit_test(a_flat_ply_becomes_thin_discs),
        cmocka_unit_test(an_old_compressed_ply_has_colours_without_bounds),
        cmocka_unit_test(spz_1_to_3_are_read_from_first_principles),
        cmocka_unit_test(spz_turns_harmonics_with_its_axes),
        cmocka_unit_test(halves_become_floats),
        cmocka_unit_test(hostile_headers_are_refused_with_one_line),
        cmocka_unit_test(lying_spz_headers_are_refused),
        cmocka_unit_test(a_file_that_is_no_cloud_is_named_as_such),
        cmocka_unit_test(files_cut_anywhere_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
