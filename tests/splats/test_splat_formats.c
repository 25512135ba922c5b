// Tests of reading and writing splat clouds: every writer through its reader, a pair of real files, and files
// that are cut.
#include "engine/core/memory.h"
#include "orr_features.h"
#include "render/formats/splat_bytes.h"
#include "render/formats/splat_formats.h"
#include "render/formats/splat_palette.h"
#include "tests/splats/splat_samples.h"
#include "tests/support/support.h"

#include "tests/splats/splat_asserts.h"

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

// orr_splats_save refuses broken splats; a trainer does not.
static orr_splats *through_unchecked_ply(const orr_splats *cloud)
{
    const char *path = scratch_path("broken.ply");
    orr_file_writer out;
    orr_splats *back;
    assert_ok(orr_file_begin(&out, path, &error));
    assert_ok(orr_write_ply(cloud, &out, &error));
    assert_ok(orr_file_commit(&out, &error));
    assert_ok(orr_splats_load(path, &back, &error));
    return back;
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

static void splat_keeps_what_32_bytes_represent(void **state)
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

static void spz_4_keeps_what_its_bytes_represent(void **state)
{
    (void)state;
    round_trips("a.spz", 3, true, &spz_tolerance);
}

static void spz_3_keeps_what_its_bytes_represent(void **state)
{
    (void)state;
    round_trips("a.v3.spz", 3, true, &spz_tolerance);
}

// Half of values lie close together, where entries of a codebook gather; none of the others is lost.
static void a_codebook_follows_its_values(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static float values[COUNT];
    float codebook[ORR_CODEBOOK];
    double error_squared = 0.0, even = 0.0;
    for (int i = 0; i < COUNT; i++) {
        const float x = (float)(i * 7919 % COUNT) / COUNT;
        values[i] = i % 2 ? x * x * x : 4.0f * x - 2.0f;
    }
    assert_ok(orr_codebook_of(values, COUNT, codebook, &error));
    for (int i = 0; i < COUNT; i++) {
        const int found = orr_codebook_index(codebook, values[i]);
        for (int k = 0; k < ORR_CODEBOOK; k++) {
            assert_true(fabsf(codebook[k] - values[i]) >= fabsf(codebook[found] - values[i]));
        }
        const double off = (double)codebook[found] - (double)values[i], step = 4.0 / 255.0;
        const double level = ((double)values[i] + 2.0) / step, rounded = (level - floor(level + 0.5)) * step;
        error_squared += off * off;
        even += rounded * rounded;
    }
    print_message("squared error %.2f of that of even steps\n", error_squared / even);
    assert_true(error_squared < 0.8 * even);
    for (int i = 0; i < COUNT; i++) { // as many values as entries stay exact
        values[i] = (float)(i % ORR_CODEBOOK) * 0.37f - 20.0f;
    }
    assert_ok(orr_codebook_of(values, COUNT, codebook, &error));
    for (int i = 0; i < COUNT; i++) {
        assert_true(codebook[orr_codebook_index(codebook, values[i])] == values[i]);
    }
}

// Vectors around 40 points: as many entries as that find them; with an entry for each vector all are exact.
static void a_palette_finds_clusters(void **state)
{
    (void)state;
    enum { COUNT = 4000, DIMS = 9, POINTS = 40 };
    static float vectors[COUNT * DIMS], palette[COUNT * DIMS];
    static uint16_t label[COUNT];
    double off = 0.0, spread = 0.0;
    for (int i = 0; i < COUNT * DIMS; i++) {
        const int point = i / DIMS * POINTS / COUNT;
        vectors[i] = (float)sin(12.9898 * (point * DIMS + i % DIMS)) + 0.01f * (float)sin(78.233 * i);
    }
    assert_ok(orr_palette_of(vectors, COUNT, DIMS, POINTS, palette, label, &error));
    for (int i = 0; i < COUNT * DIMS; i++) {
        const double x = (double)vectors[i];
        assert_true(label[i / DIMS] < POINTS);
        off += pow(x - (double)palette[label[i / DIMS] * DIMS + i % DIMS], 2.0);
        spread += x * x;
    }
    assert_true(off < 1e-3 * spread);
    assert_ok(orr_palette_of(vectors, COUNT, DIMS, COUNT, palette, label, &error));
    for (int i = 0; i < COUNT * DIMS; i++) {
        assert_true(palette[label[i / DIMS] * DIMS + i % DIMS] == vectors[i]);
    }
}

#if ORR_HAVE_ZIP && ORR_HAVE_WEBP
// From the lowest to the highest.
static double range_of(const float *values, int64_t count)
{
    float low = 0.0f, high = 0.0f;
    for (int64_t i = 0; i < count; i++) {
        low = i == 0 || values[i] < low ? values[i] : low;
        high = i == 0 || values[i] > high ? values[i] : high;
    }
    return (double)high - (double)low;
}

// Splats come back along the Morton curve; these are few enough for an entry of the palette each.
static void sog_keeps_what_its_pictures_represent(void **state)
{
    (void)state;
    for (int degree = 0; degree <= 3; degree++) {
        for (int s = 0; s < SIZES; s++) {
            orr_splats *cloud = sample_cloud(sizes[s], degree, (uint32_t)s), *back;
            ((struct orr_splats *)cloud)->data.antialiased = s % 2;
            back = round_trip(cloud, "a.sog");
            const orr_splats_view a = orr_splats_data(cloud), b = orr_splats_data(back);
            assert_int_equal(a.count, b.count);
            assert_int_equal(b.antialiased, s % 2);
            assert_int_equal(a.sh_degree, b.sh_degree);
            int64_t *order;
            assert_ok(orr_splats_morton_order(&a, &order, &error));
            // a codebook is no coarser than twice even steps where values are rare
            const double step = 2.0 / 255, scale = step * range_of(a.log_scale, 3 * a.count) + EXACT,
                         harmonics = step * range_of(a.harmonics, 3 * a.count * orr_sh_rest(degree)) + EXACT;
            // positions: half a step of 2 ln 3 / 65535, times 3; rotations: half of sqrt 2 / 255 in each of
            // three, and twice the length of that, twice
            const tolerance t = {.position = {6e-5, 6e-5, 6e-5},
                                 .log_scale = {scale, scale, scale},
                                 .rotation = 0.02,
                                 .opacity = 0.5 / 255 + EXACT,
                                 .colour = step * range_of(a.colour, 3 * a.count) + EXACT,
                                 .harmonics = {harmonics, harmonics}};
            for (int64_t i = 0; i < a.count; i++) {
                assert_splat_near(&a, order[i], &b, i, &t);
            }
            orr_free(order);
            orr_splats_destroy(back);
            orr_splats_destroy(cloud);
        }
    }
}
#endif

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
            assert_float_equal(b.position[1], 8388608.0f, 1.0f); // with no fractional bits
            assert_float_equal(b.log_scale[0], -10.0f, 0.0f);
            assert_float_equal(b.log_scale[1], 5.9375f, 0.0f);
        }
        orr_splats_destroy(back);
        orr_splats_destroy(cloud);
    }
}

static void spz_positions_take_the_bits_they_need(void **state)
{
    (void)state;
    // 24 bits with a sign, 12 of them fractional unless the cloud is far away or small
    static const struct {
        float centre, extent;
        double step;
    } cases[] = {{0, 2, 1.0 / 4096},   {2000, 10, 1.0 / 4096},   {1e4f, 50, 1.0 / 512},
                 {1e6f, 100, 1.0 / 8}, {0, 0.01f, 1.0 / 524288}, {0, 1e-9f, 1.0 / 8388608}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        orr_splats *cloud = sample_cloud(50, 0, (uint32_t)c);
        orr_splats_view d = orr_splats_data(cloud);
        for (int64_t i = 0; i < 3 * d.count; i++) {
            d.position[i] = (i % 3 == 1 ? cases[c].centre : 0.0f) + d.position[i] / 2 * cases[c].extent;
        }
        for (int version = 3; version <= 4; version++) {
            orr_splats *back = round_trip(cloud, version == 3 ? "far.v3.spz" : "far.spz");
            orr_splats_view b = orr_splats_data(back);
            for (int64_t i = 0; i < 3 * d.count; i++) {
                assert_near((double)d.position[i], (double)b.position[i], cases[c].step / 2, "position",
                            i / 3);
            }
            orr_splats_destroy(back);
        }
        char line[508], step[64];
        assert_true(orr_splats_losses(&d, orr_splat_format_to_write("a.spz"), line, sizeof line));
        snprintf(step, sizeof step, "positions to %.3g units", cases[c].step);
        assert_non_null(strstr(line, step));
        assert_null(strstr(line, "out of range"));
        orr_splats_destroy(cloud);
    }
}

// ---- what is lost, and what is left out ----

static void losses_are_named_in_one_line(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(20, 3, 1);
    cloud->data.antialiased = true;
    orr_splats_view d = orr_splats_data(cloud);
    char line[508];
    assert_false(orr_splats_losses(&d, orr_splat_format_to_write("a.ply"), line, sizeof line));
    assert_string_equal(line, "");
    assert_true(orr_splats_losses(&d, orr_splat_format_to_write("a.splat"), line, sizeof line));
    assert_string_equal(line,
                        "rounded: colours, opacities and rotations to 8 bits; dropped: SH above degree 0, "
                        "the flag of antialiased training");
    d.position[4] = 1e9f;
    d.log_scale[7] = d.log_scale[8] = -12.0f;
    d.log_scale[2] = 9.0f;
    d.colour[3] = 7.0f;
    d.harmonics[0] = -2.0f;
    assert_true(orr_splats_losses(&d, orr_splat_format_to_write("a.spz"), line, sizeof line));
    assert_non_null(strstr(line, "rounded: positions to 1 units, scales to 1/16 of their logarithm"));
    assert_non_null(strstr(line, "; out of range and clamped: positions of 1 splats, scales of 2 splats, "
                                 "colours of 1 splats, SH of 1 splats"));
    assert_null(strstr(line, "dropped"));
    assert_true(orr_splats_losses(&d, orr_splat_format_to_write("a.compressed.ply"), line, sizeof line));
    assert_null(strstr(line, "out of range"));
    d.harmonics[0] = -5.0f;
    assert_true(orr_splats_losses(&d, orr_splat_format_to_write("a.compressed.ply"), line, sizeof line));
    assert_non_null(strstr(line, "; out of range and clamped: SH of 1 splats"));
    orr_splats_destroy(cloud);
}

static void broken_splats_are_left_out_and_counted(void **state)
{
    (void)state;
    for (int degree = 0; degree <= 3; degree += 3) {
        orr_splats *cloud = sample_cloud(300, degree, 4), *whole = sample_cloud(300, degree, 4);
        orr_splats_view d = orr_splats_data(cloud), a = orr_splats_data(whole);
        d.position[3 * 10 + 1] = NAN;
        d.position[3 * 299] = -INFINITY;
        d.log_scale[3 * 20] = INFINITY;
        d.log_scale[3 * 30 + 2] = NAN;
        d.opacity[40] = NAN;
        d.colour[3 * 50] = INFINITY;
        memset(d.rotation + 4 * 60, 0, 4 * sizeof(float));
        d.rotation[4 * 70 + 3] = INFINITY;
        d.opacity[80] = INFINITY; // a value, like the following two
        d.opacity[81] = -INFINITY;
        d.log_scale[3 * 82 + 1] = -INFINITY;
        if (degree == 3) {
            d.harmonics[45 * 90 + 44] = NAN;
        }
        orr_splats *back = through_unchecked_ply(cloud);
        orr_splats_view b = orr_splats_data(back);
        assert_int_equal(b.dropped, degree == 3 ? 9 : 8);
        assert_int_equal(b.count, 300 - b.dropped);
        char expected[128];
        snprintf(expected, sizeof expected,
                 "%d of 300 splats are left out, the first is splat 10, whose position is not valid",
                 (int)b.dropped);
        assert_string_equal(b.warning, expected);
        // the others stay, in their order
        static const int left_out[] = {10, 20, 30, 40, 50, 60, 70, 299, 90};
        for (int64_t i = 0, j = 0; i < 300; i++) {
            bool gone = false;
            for (int k = 0; k < (degree == 3 ? 9 : 8); k++) {
                gone = gone || left_out[k] == i;
            }
            if (!gone && (i < 80 || i > 82)) {
                assert_splat_near(&a, i, &b, j, &(tolerance){.rotation = EXACT});
            }
            j += !gone;
        }
        assert_true(b.opacity[73] > 20.0f && isfinite(b.opacity[73]));
        assert_true(b.opacity[74] < -20.0f && isfinite(b.opacity[74]));
        assert_true(b.log_scale[3 * 75 + 1] < -80.0f && isfinite(b.log_scale[3 * 75 + 1]));
        orr_splats_destroy(back);
        orr_splats_destroy(whole);
        orr_splats_destroy(cloud);
    }
}

static void a_length_of_zero_is_no_broken_scale(void **state)
{
    (void)state;
    // .splat has lengths: those of 0 are splats without extent, one of infinity is broken
    orr_splats *cloud = sample_cloud(3, 0, 1), *back;
    orr_splats_destroy(round_trip(cloud, "a.splat"));
    orr_bytes bytes;
    assert_ok(orr_file_read(scratch_path("a.splat"), &bytes, &error));
    memset(bytes.data + 12, 0, 12);
    memcpy(bytes.data + 32 + 12, "\0\0\x80\x7f", 4);
    assert_ok(orr_read_splat((orr_splat_source){"a.splat", bytes.data, bytes.size}, &back, &error));
    orr_splats_view b = orr_splats_data(back);
    assert_int_equal(b.count, 2);
    assert_int_equal(b.dropped, 1);
    assert_non_null(strstr(b.warning, "splat 1, whose scale is not valid"));
    assert_true(b.log_scale[0] < -80.0f);
    orr_free(bytes.data);
    orr_splats_destroy(back);
    orr_splats_destroy(cloud);
}

static void saving_refuses_an_unknown_ending(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(1, 0, 1);
    orr_error error;
    assert_int_equal(orr_splats_save(cloud, scratch_path("a.ksplat"), &error), ORR_ERROR_FORMAT);
    assert_non_null(strstr(error.message, ".compressed.ply"));
    assert_int_equal(orr_splats_save(cloud, "/nowhere/a.ply", &error), ORR_ERROR_FILE);
    orr_splats_destroy(cloud);
}

// ---- pairs of files of one cloud ----

// .compressed.ply and .spz 4 with the same splats in the same order. low: scales that .spz clamps; rotation:
// the largest angle [rad] between the two
static void assert_same_in_both(const orr_splats *ply, const orr_splats *spz, int64_t count, int sh_degree,
                                int low, double rotation)
{
    orr_splats_view a = orr_splats_data(ply), b = orr_splats_data(spz);
    assert_int_equal(a.count, count);
    assert_int_equal(b.count, count);
    assert_int_equal(a.sh_degree, sh_degree);
    assert_int_equal(b.sh_degree, sh_degree);
    int clipped = 0;
    for (int64_t i = 0; i < a.count; i++) {
        assert_near(opacity_of(a.opacity[i]), opacity_of(b.opacity[i]), EXACT, "opacity", i);
        assert_near(0.0, angle_between(a.rotation + 4 * i, b.rotation + 4 * i), rotation, "rotation", i);
        for (int k = 0; k < 3; k++) {
            int64_t at = 3 * i + k;
            assert_near((double)a.position[at], (double)b.position[at], 1.24e-4, "position", i);
            assert_near(0.28209479 * (double)a.colour[at], 0.28209479 * (double)b.colour[at], 3.75e-3,
                        "colour", i);
            // spz cuts log scales off at -10; otherwise half of 1/16 and half a step of the ply's chunk,
            // whose widest range here is 9
            const double step = 1.0 / 32 + 0.5 * 9 / 1023;
            bool below = (double)a.log_scale[at] < -10.0 - step;
            clipped += below;
            assert_near(below ? -10.0 : (double)a.log_scale[at], (double)b.log_scale[at], step, "log scale",
                        i);
        }
    }
    assert_int_equal(clipped, low);
}

static void a_large_cloud_is_the_same_in_both_formats(void **state)
{
    (void)state;
    orr_splats *cloud, *spz, *ply;
    assert_ok(orr_splats_load(made_asset("orrery.spz"), &cloud, &error));
    int64_t count = orr_splats_data(cloud).count;
    ply = round_trip(cloud, "large.compressed.ply"); // sorts
    spz = round_trip(ply, "large.spz");
    assert_same_in_both(ply, spz, count, 2, 0, 3e-3);
    orr_splats_destroy(spz);
    orr_splats_destroy(ply);
    orr_splats_destroy(cloud);
}

static void a_captured_cloud_is_the_same_in_both_formats(void **state)
{
    (void)state;
    orr_splats *spz, *ply;
    const char *path = needed_shared_data("splats/biker.spz");
    assert_ok(orr_splats_load(path, &spz, &error));
    assert_ok(orr_splats_load(shared_data("splats/biker.compressed.ply"), &ply, &error));
    assert_same_in_both(ply, spz, 152746, 0, 89, 2.7e-3);
    orr_splats_destroy(spz);
    orr_splats_destroy(ply);
}

// ---- broken files ----

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
    // text up to its last number: a shorter one is a number, too
    static const char text[] =
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
        "property float z\nproperty float f_dc_0\nproperty float f_dc_1\n"
        "property float f_dc_2\nproperty float opacity\nproperty float scale_0\n"
        "property float scale_1\nproperty float rot_0\nproperty float rot_1\n"
        "property float rot_2\nproperty float rot_3\nend_header\n1 2 3 4 5 6 7 8 9 1 0 0 0";
    assert_ok(orr_file_write(scratch_path("text.ply"), text, sizeof text - 1, &error));
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
        cmocka_unit_test(splat_keeps_what_32_bytes_represent),
        cmocka_unit_test(spz_4_keeps_what_its_bytes_represent),
        cmocka_unit_test(spz_3_keeps_what_its_bytes_represent),
        cmocka_unit_test(a_codebook_follows_its_values),
        cmocka_unit_test(a_palette_finds_clusters),
#if ORR_HAVE_ZIP && ORR_HAVE_WEBP
        cmocka_unit_test(sog_keeps_what_its_pictures_represent),
#endif
        cmocka_unit_test(compressed_ply_keeps_splats_within_their_chunk),
        cmocka_unit_test(compressed_ply_orders_neighbours_together),
        cmocka_unit_test(extreme_values_are_clamped),
        cmocka_unit_test(spz_positions_take_the_bits_they_need),
        cmocka_unit_test(losses_are_named_in_one_line),
        cmocka_unit_test(broken_splats_are_left_out_and_counted),
        cmocka_unit_test(a_length_of_zero_is_no_broken_scale),
        cmocka_unit_test(saving_refuses_an_unknown_ending),
        cmocka_unit_test(a_large_cloud_is_the_same_in_both_formats),
        cmocka_unit_test(a_captured_cloud_is_the_same_in_both_formats),
        cmocka_unit_test(a_file_that_is_no_cloud_is_named_as_such),
        cmocka_unit_test(files_cut_anywhere_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
