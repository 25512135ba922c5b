// Pictures of every format and depth, whole, cut short, and with sizes that their bytes do not hold.
#define ORR_SCALAR
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/decode.h"
#include "engine/image/image.h"
#include "engine/image/picture.h"
#include "engine/maths/colour_formula.h"
#include "orr_features.h"
#include "tests/image/picture_samples.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static picture_sample samples[PICTURE_SAMPLES_MAX];
static int count;

static int make_samples(void **state)
{
    (void)state;
    count = picture_samples_make(samples, scratch_path("sample.exr"));
    return 0;
}

static int free_samples(void **state)
{
    (void)state;
    picture_samples_free(samples, count);
    return 0;
}

// What a byte is to be: 16 bits lose their lower half, linear light becomes display colours.
static int expected_byte(const picture_sample *s, float value, int channel)
{
    if (s->deep) {
        return (int)lrintf(65535.0f * value) >> 8;
    }
    value = s->linear && channel < 3 ? linear_to_srgb(value) : value;
    return (int)lrintf(255.0f * fminf(value, 1.0f));
}

static void bytes_are_those_of_the_file(void **state)
{
    (void)state;
    assert_true(count >= 35);
    for (int i = 0; i < count; i++) {
        const picture_sample *s = &samples[i];
        orr_image8 image;
        orr_error error = {0};
        if (orr_image8_decode(s->data, s->size, "wrong.ending", &image, &error) != ORR_OK) {
            fail_msg("%s %s: %s", s->format, s->name, error.message);
        }
        assert_int_equal(image.width, s->width);
        assert_int_equal(image.height, s->height);
        for (int at = 0; at < 4 * s->width * s->height; at++) {
            int expected = expected_byte(s, s->rgba[at], at % 4);
            if (abs(image.rgba[at] - expected) > s->tolerance) {
                fail_msg("%s %s: channel %d of pixel (%d, %d): %d, expected %d", s->format, s->name, at % 4,
                         at / 4 % s->width, at / 4 / s->width, image.rgba[at], expected);
            }
        }
        orr_image8_free(&image);
    }
}

static void pictures_keep_depth_and_range(void **state)
{
    (void)state;
    for (int i = 0; i < count; i++) {
        const picture_sample *s = &samples[i];
        const char *path = scratch_path("picture.bin");
        assert_ok(orr_file_write(path, s->data, s->size, &error));
        int width, height;
        assert_ok(orr_image8_size(path, &width, &height, &error));
        assert_int_equal(width, s->width);
        assert_int_equal(height, s->height);
        orr_picture_file *picture;
        assert_ok(orr_picture_load(path, &picture, &error));
        bool opaque = true;
        float tolerance = (float)s->tolerance / 255.0f + 1e-5f; // half a step of 16 bits is 8e-6
        if (!ORR_HAVE_SPNG && strcmp(s->format, "png") == 0) {
            tolerance += 1.0f / 255.0f; // stb_image gives the upper 8 of 16 bits
        }
        for (int at = 0; at < s->width * s->height; at++) {
            float colour[3];
            orr_picture_sample(picture, ((float)(at % s->width) + 0.5f) / (float)s->width,
                               ((float)(at / s->width) + 0.5f) / (float)s->height, colour);
            const float *expected = s->rgba + 4 * at;
            opaque = opaque && expected[3] >= 1.0f;
            for (int k = 0; k < 3; k++) {
                // an EXR's light is premultiplied, and is learnt as it is stored
                float light = s->linear ? linear_to_srgb(expected[k] * expected[3]) : expected[k];
                if (fabsf(colour[k] - light) > tolerance) {
                    fail_msg("%s %s: pixel %d: %g, expected %g", s->format, s->name, at, (double)colour[k],
                             (double)light);
                }
            }
        }
        assert_int_equal(orr_picture_opaque(picture), opaque);
        orr_picture_destroy(picture);
    }
}

static void a_file_that_ends_early_is_an_error(void **state)
{
    (void)state;
    for (int i = 0; i < count; i++) {
        const picture_sample *s = &samples[i];
        for (size_t size = 0; size < s->needed; size++) {
            uint8_t *cut = malloc(size ? size : 1); // for the sanitizer to see what is read behind it
            memcpy(cut, s->data, size);
            orr_image8 image;
            orr_error error = {0};
            if (orr_image8_decode(cut, size, "cut", &image, &error) == ORR_OK) {
                fail_msg("%s %s: %zu of %zu bytes are a picture", s->format, s->name, size, s->size);
            }
            assert_null(image.rgba);
            assert_null(strchr(error.message, '\n'));
            assert_true(error.message[0] != 0);
            free(cut);
        }
    }
}

static void sizes_that_the_bytes_cannot_hold_are_refused_before_memory_is_allocated(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height;
        const char *expected;
    } cases[] = {{50000, 50000, "expected at most 1024 MiB"},
                 {16000, 16000, "expected more than"},
                 {70000, 1, "expected sides of 1 to 65536"},
                 {0, 8, "damaged picture"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        picture_sample *s = &samples[0];
        uint8_t *bomb = malloc(s->size);
        memcpy(bomb, s->data, s->size);
        picture_sample_resize_png(bomb, cases[i].width, cases[i].height);
        orr_image8 image;
        orr_error error = {0};
        assert_int_equal(orr_image8_decode(bomb, s->size, "bomb", &image, &error), ORR_ERROR_FORMAT);
        // stb_image refuses some of them before it tells their sizes
        if (ORR_HAVE_SPNG && !strstr(error.message, cases[i].expected)) {
            fail_msg("%s: expected \"%s\"", error.message, cases[i].expected);
        }
        assert_null(image.rgba);
        free(bomb);
    }
}

#if ORR_HAVE_SPNG
// A byte of deflate codes up to 1032 bytes, each of eight pixels in black and white.
static void a_large_picture_may_have_few_bytes(void **state)
{
    (void)state;
    uint8_t file[20000] = {0};
    orr_pixels pixels;
    orr_error why = {0};
    memcpy(file, samples[0].data, samples[0].size);
    picture_sample_resize_png(file, 10000, 10000);
    orr_picture_source source = {.data = file,
                                 .size = 12200,
                                 .name = "plain",
                                 .bytes_max = ORR_TEXTURE_BYTES_MAX,
                                 .header_only = true};
    assert_ok(orr_picture_decode(&source, &pixels, &error));
    assert_int_equal(pixels.width, 10000);
    source.size = 12000; // x 8256 is less than 10^8
    assert_int_equal(orr_picture_decode(&source, &pixels, &why), ORR_ERROR_FORMAT);
}
#endif

// 128 bytes that differ, the most that one count copies, and then a run of 72.
static void long_stretches_of_a_radiance_picture_are_whole(void **state)
{
    (void)state;
    static const char header[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 200\n";
    uint8_t file[1024];
    size_t size = sizeof header - 1;
    memcpy(file, header, size);
    memcpy(file + size, "\2\2\0\310", 4);
    size += 4;
    for (int channel = 0; channel < 4; channel++) {
        file[size++] = 128;
        for (int x = 0; x < 128; x++) {
            file[size++] = (uint8_t)(channel == 3 ? 129 : x + channel);
        }
        file[size++] = 200;
        file[size++] = (uint8_t)(channel == 3 ? 129 : 9 + channel);
    }
    orr_pixels pixels;
    const orr_picture_source source = {
        .data = file, .size = size, .name = "long", .bytes_max = ORR_TEXTURE_BYTES_MAX};
    assert_ok(orr_picture_decode(&source, &pixels, &error));
    assert_int_equal(pixels.width, 200);
    const float *colours = pixels.data;
    for (int i = 0; i < 600; i++) { // 129 - 136 is the exponent
        float mantissa = (float)((i < 3 * 128 ? i / 3 : 9) + i % 3);
        assert_float_equal(colours[i], mantissa / 128.0f, 0.0);
    }
    orr_free(pixels.data);
}

#if ORR_HAVE_EXR
static uint32_t number_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void add_at(uint8_t *p, uint32_t more)
{
    uint32_t sum = number_at(p) + more;
    for (int k = 0; k < 4; k++) {
        p[k] = (uint8_t)(sum >> (8 * k));
    }
}

// The data window of a rendered crop begins anywhere: only its size counts.
static void an_exr_window_may_begin_anywhere(void **state)
{
    (void)state;
    for (int i = 0; i < count; i++) {
        const picture_sample *s = &samples[i];
        if (strcmp(s->format, "exr") != 0) {
            continue;
        }
        uint8_t *moved = malloc(s->size), *at = moved + 8;
        memcpy(moved, s->data, s->size);
        while (*at) { // attributes: name, type, size, value
            const char *name = (const char *)at;
            uint8_t *size = at + strlen(name) + 1;
            size += strlen((const char *)size) + 1;
            for (int k = 0; k < 4 && strcmp(name, "dataWindow") == 0; k++) {
                add_at(size + 4 + 4 * k, k % 2 ? 70 : (uint32_t)-30); // x, y
            }
            at = size + 4 + number_at(size);
        }
        at++;
        // one block of lines, which its offset leads to, and which begins with its first line
        assert_true(s->height <= 16);
        add_at(moved + number_at(at), 70);
        orr_image8 image, expected;
        assert_ok(orr_image8_decode(moved, s->size, "moved", &image, &error));
        assert_ok(orr_image8_decode(s->data, s->size, "sample", &expected, &error));
        assert_int_equal(image.width, s->width);
        assert_memory_equal(image.rgba, expected.rgba, 4 * (size_t)(s->width * s->height));
        orr_image8_free(&image);
        orr_image8_free(&expected);
        free(moved);
    }
}
#endif

#if ORR_HAVE_JPEG
// what cameras write, and libjpeg warns of, is no loss
static void bytes_between_the_markers_of_a_jpeg_are_skipped(void **state)
{
    (void)state;
    for (int i = 0; i < count; i++) {
        const picture_sample *s = &samples[i];
        if (strcmp(s->format, "jpeg") != 0) {
            continue;
        }
        uint8_t *padded = malloc(s->size + 3);
        memcpy(padded, s->data, s->size - 2);
        memcpy(padded + s->size - 2, "\0\0\0\xff\xd9", 5); // before the marker of the end
        orr_image8 image;
        assert_ok(orr_image8_decode(padded, s->size + 3, "padded", &image, &error));
        orr_image8_free(&image);
        free(padded);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_file),
        cmocka_unit_test(pictures_keep_depth_and_range),
        cmocka_unit_test(a_file_that_ends_early_is_an_error),
        cmocka_unit_test(sizes_that_the_bytes_cannot_hold_are_refused_before_memory_is_allocated),
#if ORR_HAVE_SPNG
        cmocka_unit_test(a_large_picture_may_have_few_bytes),
#endif
        cmocka_unit_test(long_stretches_of_a_radiance_picture_are_whole),
#if ORR_HAVE_EXR
        cmocka_unit_test(an_exr_window_may_begin_anywhere),
#endif
#if ORR_HAVE_JPEG
        cmocka_unit_test(bytes_between_the_markers_of_a_jpeg_are_skipped),
#endif
    };
    return cmocka_run_group_tests_name("decode", tests, make_samples, free_samples);
}
