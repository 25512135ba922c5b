// OpenEXR pictures: written by the engine, read back by OpenEXR itself.
#define _POSIX_C_SOURCE 200809L
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/decode.h"
#include "engine/image/image.h"
#include "orr_features.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if ORR_HAVE_EXR
#include <ImfCRgbaFile.h>
#include <openexr.h>

// all channels of part 0 of a scan-line file, as height x width x 4 RGBA
static float *read_exr(const char *path, int width, int height)
{
    static const char order[] = "RGBA";
    exr_context_t file;
    exr_attr_box2i_t window;
    const exr_attr_chlist_t *channels;
    exr_compression_t compression;
    int32_t lines;
    assert_int_equal(exr_start_read(&file, path, NULL), EXR_ERR_SUCCESS);
    assert_int_equal(exr_get_data_window(file, 0, &window), EXR_ERR_SUCCESS);
    assert_int_equal(window.min.x, 0);
    assert_int_equal(window.min.y, 0);
    assert_int_equal(window.max.x, width - 1);
    assert_int_equal(window.max.y, height - 1);
    assert_int_equal(exr_get_compression(file, 0, &compression), EXR_ERR_SUCCESS);
    assert_int_equal(compression, EXR_COMPRESSION_ZIP);
    assert_int_equal(exr_get_channels(file, 0, &channels), EXR_ERR_SUCCESS);
    assert_int_equal(channels->num_channels, 4);
    assert_int_equal(exr_get_scanlines_per_chunk(file, 0, &lines), EXR_ERR_SUCCESS);

    float *rgba = calloc((size_t)width * (size_t)height * 4, sizeof *rgba);
    exr_decode_pipeline_t decoder = EXR_DECODE_PIPELINE_INITIALIZER;
    for (int y = 0; y < height; y += lines) {
        exr_chunk_info_t chunk;
        assert_int_equal(exr_read_scanline_chunk_info(file, 0, y, &chunk), EXR_ERR_SUCCESS);
        assert_int_equal(y ? exr_decoding_update(file, 0, &chunk, &decoder)
                           : exr_decoding_initialize(file, 0, &chunk, &decoder),
                         EXR_ERR_SUCCESS);
        for (int c = 0; c < decoder.channel_count; c++) {
            exr_coding_channel_info_t *channel = &decoder.channels[c];
            assert_int_equal(channel->data_type, EXR_PIXEL_FLOAT);
            const char *place = strchr(order, channel->channel_name[0]);
            assert_non_null(place);
            channel->decode_to_ptr = (uint8_t *)(rgba + (ptrdiff_t)y * width * 4 + (place - order));
            channel->user_bytes_per_element = 4;
            channel->user_data_type = EXR_PIXEL_FLOAT;
            channel->user_pixel_stride = 16;
            channel->user_line_stride = 16 * width;
        }
        if (y == 0) {
            assert_int_equal(exr_decoding_choose_default_routines(file, 0, &decoder), EXR_ERR_SUCCESS);
        }
        assert_int_equal(exr_decoding_run(file, 0, &decoder), EXR_ERR_SUCCESS);
    }
    exr_decoding_destroy(file, &decoder);
    exr_finish(&file);
    return rgba;
}

static void every_float_comes_back_from_an_exr(void **state)
{
    (void)state;
    // 37 lines: two whole chunks of 16 and one that is cut short
    enum { WIDTH = 23, HEIGHT = 37, COUNT = WIDTH * HEIGHT * 4 };
    static float rgba[COUNT];
    for (int i = 0; i < COUNT; i++) {
        rgba[i] = (float)(i - 700) * 1.37f;
    }
    rgba[5] = INFINITY;
    rgba[6] = 1e-40f;
    rgba[9] = -0.0f;
    const char *path = scratch_path("picture.exr");
    assert_ok(orr_exr_save(path, rgba, WIDTH, HEIGHT, 4, &error));
    float *back = read_exr(path, WIDTH, HEIGHT);
    assert_memory_equal(back, rgba, sizeof rgba); // ZIP is lossless
    free(back);
}

static void an_exr_that_cannot_be_written_says_so_and_prints_nothing(void **state)
{
    (void)state;
    float rgba[4] = {0};
    const char *printed = scratch_path("stderr.txt");
    fflush(stderr);
    int terminal = dup(STDERR_FILENO);
    assert_non_null(freopen(printed, "w", stderr));
    orr_error error;
    orr_result result = orr_exr_save("/nonexistent/a.exr", rgba, 1, 1, 4, &error);
    fflush(stderr);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    assert_int_equal(result, ORR_ERROR_FILE);
    assert_non_null(strstr(error.message, "/nonexistent/a.exr"));
    FILE *stream = fopen(printed, "rb");
    assert_non_null(stream);
    assert_int_equal(fgetc(stream), EOF);
    fclose(stream);
}

enum { WIDE = 70, HIGH = 37, LEFT = -3, TOP = 5 };

// Half floats with a window that does not begin at 0.
static void write_rgba(const char *path, int compression, bool tiles, int channels, const ImfRgba *pixels)
{
    ImfHeader *header = ImfNewHeader();
    ImfHeaderSetDataWindow(header, LEFT, TOP, LEFT + WIDE - 1, TOP + HIGH - 1);
    ImfHeaderSetCompression(header, compression);
    // the library adds the places of the window
    const ImfRgba *base =
        (const ImfRgba *)((intptr_t)pixels - (intptr_t)sizeof *pixels * (LEFT + TOP * WIDE));
    if (tiles) {
        ImfTiledOutputFile *file =
            ImfOpenTiledOutputFile(path, header, channels, 32, 16, IMF_ONE_LEVEL, IMF_ROUND_DOWN);
        assert_non_null(file);
        assert_true(ImfTiledOutputSetFrameBuffer(file, base, 1, WIDE));
        assert_true(ImfTiledOutputWriteTiles(file, 0, (WIDE - 1) / 32, 0, (HIGH - 1) / 16, 0, 0));
        assert_true(ImfCloseTiledOutputFile(file));
    } else {
        ImfOutputFile *file = ImfOpenOutputFile(path, header, channels);
        assert_non_null(file);
        assert_true(ImfOutputSetFrameBuffer(file, base, 1, WIDE));
        assert_true(ImfOutputWritePixels(file, HIGH));
        assert_true(ImfCloseOutputFile(file));
    }
    ImfDeleteHeader(header);
}

// What the C core leaves to OpenEXR's C++ library.
static void tiles_and_lossy_compression_are_read(void **state)
{
    (void)state;
    static const struct {
        int compression, channels;
        bool tiles;
        double off; // of the largest value, 1.5: what DWAA loses at its default level
    } cases[] = {{IMF_ZIP_COMPRESSION, IMF_WRITE_RGBA, true, 0.0},
                 {IMF_NO_COMPRESSION, IMF_WRITE_RGB, true, 0.0},
                 {IMF_DWAA_COMPRESSION, IMF_WRITE_RGBA, false, 0.02},
                 {IMF_DWAB_COMPRESSION, IMF_WRITE_RGB, false, 0.02},
                 {IMF_DWAA_COMPRESSION, IMF_WRITE_RGB, true, 0.02}};
    static ImfRgba pixels[WIDE * HIGH];
    for (int i = 0; i < WIDE * HIGH; i++) {
        ImfFloatToHalf((float)(i % WIDE) / WIDE, &pixels[i].r);
        ImfFloatToHalf((float)(i / WIDE) / HIGH, &pixels[i].g);
        ImfFloatToHalf(1.5f - (float)i / (WIDE * HIGH), &pixels[i].b);
        ImfFloatToHalf(0.5f, &pixels[i].a);
    }
    char path[4096];
    snprintf(path, sizeof path, "%s", scratch_path("rgba.exr"));
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        bool alpha = cases[c].channels == IMF_WRITE_RGBA;
        write_rgba(path, cases[c].compression, cases[c].tiles, cases[c].channels, pixels);
        orr_bytes bytes;
        orr_pixels read;
        assert_ok(orr_file_read(path, &bytes, &error));
        orr_picture_source source = {
            .data = bytes.data, .size = bytes.size, .name = path, .bytes_max = ORR_PICTURE_BYTES_MAX};
        assert_ok(orr_picture_decode(&source, &read, &error));
        assert_true(read.width == WIDE && read.height == HIGH && read.channels == (alpha ? 4 : 3));
        assert_int_equal(read.format, ORR_PIXEL_HALF);
        for (int i = 0; i < WIDE * HIGH * read.channels; i++) {
            const uint16_t *wanted = &pixels[i / read.channels].r + i % read.channels;
            assert_float_equal(ImfHalfToFloat(((const uint16_t *)read.data)[i]), ImfHalfToFloat(*wanted),
                               cases[c].off);
        }
        orr_free(read.data);
        orr_error why = {0};
        source.size = bytes.size / 2;
        assert_int_equal(orr_picture_decode(&source, &read, &why), ORR_ERROR_FORMAT);
        assert_null(strchr(why.message, '\n'));
        orr_free(bytes.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_float_comes_back_from_an_exr),
        cmocka_unit_test(tiles_and_lossy_compression_are_read),
        cmocka_unit_test(an_exr_that_cannot_be_written_says_so_and_prints_nothing),
    };
    return cmocka_run_group_tests_name("exr", tests, NULL, NULL);
}
#else
static void a_build_without_openexr_names_the_package(void **state)
{
    (void)state;
    float rgba[4] = {0};
    orr_error error;
    assert_int_equal(orr_exr_save("a.exr", rgba, 1, 1, 4, &error), ORR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "libopenexr-dev"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_without_openexr_names_the_package),
    };
    return cmocka_run_group_tests_name("exr", tests, NULL, NULL);
}
#endif
