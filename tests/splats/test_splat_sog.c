// Tests of the SOG reader against clouds that the test packs itself: bundles and folders, versions 1 and 2.
#include "engine/core/memory.h"
#include "render/formats/splat_formats.h"
#include "tests/splats/sog_sample.h"
#include "tests/splats/splat_samples.h"
#include "tests/support/support.h"

#include "tests/splats/splat_asserts.h"

#include <stdio.h>
#include <stdlib.h>
#include <webp/decode.h>
#include <webp/encode.h>

static void assert_same_cloud(const orr_splats_view *a, const orr_splats_view *b, int version)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->sh_degree, b->sh_degree);
    assert_int_equal(b->antialiased, version == 2);
    for (int64_t i = 0; i < 3 * a->count; i++) {
        // half a step of the logarithms' range of 2 ln 3, times the slope of 3 at +-2
        assert_near((double)a->position[i], (double)b->position[i], 3 * 0.5 * 2.2 / 65535 + 1e-6, "position",
                    i / 3);
        assert_near((double)a->log_scale[i], (double)b->log_scale[i], 0.5 * 8 / 255 + 1e-5, "log scale",
                    i / 3);
        assert_near((double)a->colour[i], (double)b->colour[i], 0.5 * 3 / 255 + 1e-5, "colour", i / 3);
    }
    for (int64_t i = 0; i < a->count; i++) {
        double alpha = 1 / (1 + exp(-(double)a->opacity[i])), back = 1 / (1 + exp(-(double)b->opacity[i]));
        if (version == 2) {
            assert_near(alpha, back, 0.5 / 255 + 1e-6, "opacity", i);
        } else {
            assert_near((double)a->opacity[i], (double)b->opacity[i], 0.5 * 10 / 255 + 1e-5, "logit", i);
        }
        double dot = 0.0;
        for (int k = 0; k < 4; k++) {
            dot += (double)a->rotation[4 * i + k] * (double)b->rotation[4 * i + k];
        }
        // half a step of sqrt 2 / 255 in each of three components, and twice that in the largest
        assert_near(1.0, fabs(dot), 1e-4, "rotation", i);
    }
    int64_t rest = 3 * ((a->sh_degree + 1) * (a->sh_degree + 1) - 1);
    for (int64_t i = 0; i < rest * a->count; i++) {
        assert_near((double)a->harmonics[i], (double)b->harmonics[i], 0.5 * 1.8 / 255 + 1e-5, "harmonics",
                    i / rest);
    }
}

static void bundles_of_both_versions_are_read(void **state)
{
    (void)state;
    static const int sizes[] = {1, 64, 65, 300};
    for (int n = 0; n < 32; n++) {
        const int version = 1 + n / 16, degree = n % 4;
        orr_splats *cloud = sample_cloud(sizes[n / 4 % 4], degree, (uint32_t)n), *back;
        orr_splats_view a = orr_splats_data(cloud);
        sog_sample sample;
        assert_true(sog_sample_make(&a, version, &sample));
        orr_bytes bundle = sog_sample_bundle(&sample);
        assert_ok(orr_read_sog((orr_splat_source){"a.sog", bundle.data, bundle.size}, &back, &error));
        orr_splats_view b = orr_splats_data(back);
        assert_same_cloud(&a, &b, version);
        orr_free(bundle.data);
        sog_sample_free(&sample);
        orr_splats_destroy(back);
        orr_splats_destroy(cloud);
    }
}

static void folders_are_read_by_their_path_or_that_of_their_meta(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(100, 2, 1), *back;
    orr_splats_view a = orr_splats_data(cloud);
    sog_sample sample;
    assert_true(sog_sample_make(&a, 2, &sample));
    for (int i = 0; i < sample.count; i++) {
        assert_ok(
            orr_file_write(scratch_path(sample.name[i]), sample.file[i].data, sample.file[i].size, &error));
    }
    assert_ok(orr_splats_load(scratch_path("meta.json"), &back, &error));
    orr_splats_view b = orr_splats_data(back);
    assert_same_cloud(&a, &b, 2);
    orr_splats_destroy(back);
    assert_ok(orr_splats_load(scratch_path(""), &back, &error));
    assert_int_equal(orr_splats_data(back).count, 100);
    orr_splats_destroy(back);
    assert_true(orr_splat_folder(scratch_path("")));
    // a streamed one is named as such, and not a folder without a cloud
    orr_error why = {0};
    assert_int_equal(rename(scratch_path("meta.json"), scratch_path("lod-meta.json")), 0);
    const char streamed[] = "{\"lodLevels\":2,\"filenames\":[]}";
    assert_ok(orr_file_write(scratch_path("lod-meta.json"), streamed, sizeof streamed - 1, &error));
    assert_true(orr_splat_folder(scratch_path("")));
    assert_int_equal(orr_splats_load(scratch_path(""), &back, &why), ORR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(why.message, "streamed SOG"));
    assert_int_equal(remove(scratch_path("lod-meta.json")), 0);
    assert_false(orr_splat_folder(scratch_path("")));
    assert_int_equal(orr_splats_load(scratch_path(""), &back, &why), ORR_ERROR_FORMAT);
    assert_non_null(strstr(why.message, "without a meta.json"));
    sog_sample_free(&sample);
    orr_splats_destroy(cloud);
}

// ---- as a scene ----

static void count_warnings(void *user, orr_log_level level, int code, const char *line)
{
    bool named = strstr(line, "splats are left out") != NULL;
    *(int *)user += level == ORR_LOG_WARNING && code == ORR_CODE_IGNORED && named;
}

static void a_folder_is_a_scene_and_its_warning_is_logged(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(50, 0, 1);
    orr_splats_view a = orr_splats_data(cloud);
    sog_sample sample;
    assert_true(sog_sample_make(&a, 2, &sample));
    for (int i = 0; i < sample.count; i++) {
        const bool quats = strcmp(sample.name[i], "quats.webp") == 0;
        if (quats) { // the first texel names no largest component
            int width, height;
            uint8_t *rgba = WebPDecodeRGBA(sample.file[i].data, sample.file[i].size, &width, &height), *out;
            rgba[3] = 200;
            size_t size = WebPEncodeLosslessRGBA(rgba, width, height, 4 * width, &out);
            assert_ok(orr_file_write(scratch_path(sample.name[i]), out, size, &error));
            WebPFree(rgba);
            WebPFree(out);
        } else {
            assert_ok(orr_file_write(scratch_path(sample.name[i]), sample.file[i].data, sample.file[i].size,
                                     &error));
        }
    }
    const char text[] = "{\"orrery\":1,\"layers\":[{\"file\":\".\"}]}";
    assert_ok(orr_file_write(scratch_path("scene.json"), text, sizeof text - 1, &error));
    int warnings = 0;
    orr_engine *engine;
    const orr_engine_desc desc = {
        .threads = 1, .device = ORR_DEVICE_CPU, .log = count_warnings, .log_user = &warnings};
    assert_ok(orr_engine_create(&desc, &engine, &error));
    static const char *const paths[] = {"", "meta.json", "scene.json"};
    for (int k = 0; k < 3; k++) {
        orr_scene *scene;
        assert_ok(orr_scene_load(engine, scratch_path(paths[k]), &scene, &error));
        assert_int_equal(warnings, k + 1);
        orr_scene_destroy(scene);
    }
    orr_engine_destroy(engine);
    sog_sample_free(&sample);
    orr_splats_destroy(cloud);
}

// Reads a cloud of 65 splats whose meta.json has `to` for the first `from`.
static orr_result read_changed(const char *from, const char *to, orr_splats **back, orr_error *error)
{
    orr_splats *cloud = sample_cloud(65, 1, 1);
    orr_splats_view a = orr_splats_data(cloud);
    sog_sample sample;
    assert_true(sog_sample_make(&a, 2, &sample));
    size_t capacity = sample.file[0].size + strlen(to) + 1;
    char *text = calloc(sample.file[0].size + 1, 1), *changed = orr_alloc_zero(capacity, 1);
    memcpy(text, sample.file[0].data, sample.file[0].size);
    char *found = strstr(text, from);
    assert_non_null(found);
    snprintf(changed, capacity, "%.*s%s%s", (int)(found - text), text, to, found + strlen(from));
    orr_free(sample.file[0].data);
    sample.file[0] = (orr_bytes){(uint8_t *)changed, strlen(changed)};
    orr_bytes bundle = sog_sample_bundle(&sample);
    orr_result result = orr_read_sog((orr_splat_source){"a.sog", bundle.data, bundle.size}, back, error);
    free(text);
    orr_free(bundle.data);
    sog_sample_free(&sample);
    orr_splats_destroy(cloud);
    return result;
}

// Replaces `from` by `to` and expects the message; NULL: it is accepted.
static void assert_meta(const char *from, const char *to, const char *expected)
{
    orr_splats *back;
    orr_error error = {0};
    orr_result result = read_changed(from, to, &back, &error);
    if ((result == ORR_OK) != !expected || (expected && !strstr(error.message, expected))) {
        fail_msg("%s -> %s: '%s' should say: %s", from, to, error.message, expected ? expected : "nothing");
    }
    orr_splats_destroy(back);
}

static void broken_texels_are_left_out(void **state)
{
    (void)state;
    orr_splats *back;
    assert_ok(read_changed("\"count\":65,\"bands\"", "\"count\":64,\"bands\"", &back, &error));
    orr_splats_view d = orr_splats_data(back);
    assert_int_equal(d.count, 64);
    assert_int_equal(d.dropped, 1); // the label of the palette's last entry
    assert_non_null(strstr(d.warning, "splat 0, whose harmonics is not valid"));
    orr_splats_destroy(back);
    // opacities instead of the numbers 252 to 255
    orr_error why = {0};
    orr_result result = read_changed("quats.webp", "sh0.webp", &back, &why);
    assert_true(result == ORR_OK ? orr_splats_data(back).dropped > 60
                                 : strstr(why.message, "whose rotation is not valid") != NULL);
    orr_splats_destroy(back);
}

static void antialiased_models_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        bool antialiased, warned;
    } cases[] = {{"", false, false},
                 {"\"model\":\"antialiased\",", true, false},
                 {"\"antialias\":true,", true, false},
                 {"\"antialias\":false,", false, false},
                 {"\"model\":\"2dgs\",", false, false},
                 {"\"model\":\"betas\",", false, true}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        orr_splats *back;
        assert_ok(read_changed("\"antialias\":true,", cases[c].members, &back, &error));
        orr_splats_view d = orr_splats_data(back);
        assert_int_equal(d.antialiased, cases[c].antialiased);
        assert_int_equal(d.warning != NULL, cases[c].warned);
        orr_splats_destroy(back);
    }
}

static void lying_metas_are_refused(void **state)
{
    (void)state;
    assert_meta("\"version\":2", "\"version\":3", "expected version 2");
    assert_meta("\"version\":2", "\"version\":1e300", "expected version 2");
    assert_meta("\"version\":2", "\"version\":{}", "expected version 2");
    assert_meta("\"version\":2", "\"version\":2.5", "expected version 2");
    assert_meta("\"count\":65", "\"count\":1e9", "expected 1000000000 to");
    assert_meta("\"count\":65", "\"count\":-1", "count: expected a number");
    assert_meta("\"count\":65", "\"count\":\"65\"", "count: expected a number");
    assert_meta("\"mins\":[", "\"mins\":[[],", "means.mins[0]: expected a number");
    assert_meta("\"mins\":[", "\"mins\":[1e300,", "whose position is not valid");
    assert_meta("means_u.webp", "../means_u.webp", "expected a plain name");
    assert_meta("means_u.webp", "/etc/passwd", "expected a plain name");
    assert_meta("means_u.webp", "absent.webp", "no file absent.webp");
    assert_meta("means_u.webp", "meta.json", "not a WebP picture");
    assert_meta("\"bands\":1", "\"bands\":2", "192, 512 or 960");
    assert_meta("shN_centroids.webp", "means_l.webp", "192, 512 or 960");
    assert_meta("\"count\":65", "\"count\":65,\"lodLevels\":3",
                "a streamed SOG (lod-meta.json) is not supported");
    assert_meta("{\"version\"", "{\"version", "not valid JSON");
    assert_meta("{\"version\"", "[\"version\"", "not valid JSON");
}

// ---- limits of expansion ----

// A file that is small and expands to much, in the place of one of a whole bundle.
static void assert_bomb(int file, void *data, size_t size, const char *expected)
{
    orr_splats *cloud = sample_cloud(65, 1, 1), *back;
    orr_splats_view a = orr_splats_data(cloud);
    sog_sample sample;
    assert_true(sog_sample_make(&a, 2, &sample));
    orr_free(sample.file[file].data);
    sample.file[file] = (orr_bytes){data, size};
    orr_bytes bundle = sog_sample_bundle(&sample);
    orr_error error = {0};
    assert_int_equal(orr_read_sog((orr_splat_source){"a.sog", bundle.data, bundle.size}, &back, &error),
                     ORR_ERROR_FORMAT);
    if (!strstr(error.message, expected)) {
        fail_msg("'%s' should say: %s", error.message, expected);
    }
    orr_free(bundle.data);
    sog_sample_free(&sample);
    orr_splats_destroy(cloud);
}

static void bombs_are_refused_by_their_headers(void **state)
{
    (void)state;
    const size_t size = 2 << 20;
    char *zeros = orr_alloc(size, 1);
    memset(zeros, '[', size); // deflates to 2 kB
    assert_bomb(0, zeros, size, "meta.json: 2097152 bytes");
    const int side = 1024;
    uint8_t *rgba = calloc((size_t)side * (size_t)side, 4), *webp = NULL;
    size_t packed = WebPEncodeLosslessRGBA(rgba, side, side, 4 * side, &webp);
    assert_true(packed > 0 && packed < 10000);
    for (int file = 1; file < 6; file += 4) { // a picture with a texel for each splat, and the palette
        uint8_t *copy = orr_alloc(packed, 1);
        memcpy(copy, webp, packed);
        assert_bomb(file == 1 ? 1 : 6, copy, packed, "1024 x 1024 texels, expected");
    }
    WebPFree(webp);
    free(rgba);
}

static void a_codebook_that_starts_with_null_is_mended(void **state)
{
    (void)state;
    // what comes before the codebook's first number ends in [; the number becomes the second entry
    assert_meta("\"scales\":{\"codebook\":[", "\"scales\":{\"codebook\":[null,", NULL);
}

static void bundles_cut_anywhere_are_refused(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(9, 1, 1), *back;
    orr_splats_view a = orr_splats_data(cloud);
    sog_sample sample;
    assert_true(sog_sample_make(&a, 2, &sample));
    orr_bytes bundle = sog_sample_bundle(&sample);
    for (size_t size = 0; size < bundle.size; size++) {
        uint8_t *part = malloc(size + !size);
        memcpy(part, bundle.data, size);
        orr_error error = {0};
        if (orr_read_sog((orr_splat_source){"a.sog", part, size}, &back, &error) == ORR_OK || back ||
            !error.message[0]) {
            fail_msg("cut to %zu of %zu bytes: accepted", size, bundle.size);
        }
        free(part);
    }
    // and each picture by itself, in a folder
    for (int i = 1; i < sample.count; i++) {
        for (int k = 0; k < sample.count; k++) {
            size_t size = k == i ? sample.file[k].size / 2 : sample.file[k].size;
            assert_ok(orr_file_write(scratch_path(sample.name[k]), sample.file[k].data, size, &error));
        }
        orr_error error = {0};
        assert_int_equal(orr_splats_load(scratch_path("meta.json"), &back, &error), ORR_ERROR_FORMAT);
        assert_non_null(strstr(error.message, sample.name[i]));
    }
    orr_free(bundle.data);
    sog_sample_free(&sample);
    orr_splats_destroy(cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bundles_of_both_versions_are_read),
        cmocka_unit_test(folders_are_read_by_their_path_or_that_of_their_meta),
        cmocka_unit_test(a_folder_is_a_scene_and_its_warning_is_logged),
        cmocka_unit_test(lying_metas_are_refused),
        cmocka_unit_test(broken_texels_are_left_out),
        cmocka_unit_test(antialiased_models_are_recognised),
        cmocka_unit_test(bombs_are_refused_by_their_headers),
        cmocka_unit_test(a_codebook_that_starts_with_null_is_mended),
        cmocka_unit_test(bundles_cut_anywhere_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
