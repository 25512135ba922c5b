// Tests of pictures and videos in files (orr_output): numbered names, stills, and videos decoded again.
#define _GNU_SOURCE
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/image/output.h"
#include "engine/image/video.h"
#include "orr_features.h"
#include "tests/support/support.h"

#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static orr_error why;

static void numbers_are_where_the_pattern_says(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        int64_t index;
        const char *name;
    } cases[] = {
        {"a_%04d.png", 7, "a_0007.png"},  {"a_%d.png", 7, "a_7.png"},
        {"%02d/a.npy", 123, "123/a.npy"}, {"50%%_%03d.exr", 5, "50%_005.exr"},
        {"%09d", 1, "000000001"},         {"a%d.png", INT64_MAX, "a9223372036854775807.png"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *name;
        assert_ok(orr_output_file_name(cases[i].pattern, true, cases[i].index, &name, &error));
        assert_string_equal(name, cases[i].name);
        orr_free(name);
    }
}

static void patterns_that_printf_would_misread_are_refused(void **state)
{
    (void)state;
    static const char *const patterns[] = {"a.png",     "a%s.png",     "a%n.png",    "a%4d.png",  "a%-4d.png",
                                           "a%d%d.png", "a%04d%s.png", "a%010d.png", "a%00d.png", "a%",
                                           "a%0",       "a%04",        "a%ld.png",   "a%%d.png",  "a%*d.png"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char *name;
        assert_int_equal(orr_output_file_name(patterns[i], true, 0, &name, &why), ORR_ERROR_ARGUMENT);
        assert_null(name);
        assert_non_null(strstr(why.message, patterns[i]));
    }
}

static void wrong_outputs_are_refused_before_anything_is_written(void **state)
{
    (void)state;
    static const struct {
        orr_output_desc desc;
        const char *expected;
    } cases[] = {
        {{.path = "a.jpg", .channels = 4, .count = 1}, ".png"},
        {{.path = "a.png", .channels = 4, .count = 2}, "frame_%04d.png"},
        {{.path = "a.png", .channels = 1, .count = 1}, ".exr"},
        {{.path = "a.mp4", .channels = 1, .count = 1}, ".exr"},
        {{.path = "a%d.mp4", .channels = 4, .count = 2}, "without %d"},
        {{.path = "a%s.npy", .channels = 4, .count = 1}, "%0Nd"},
        {{.path = "a.mp4", .channels = 4, .count = 1, .transparent = true}, "no alpha"},
        {{.path = "a.png"}, "frame_%04d.png"},
        {{.path = NULL}, "path"},
        {{.path = "a%d.png", .channels = 5}, "4, 3 for normals, 2 for flow or segmentation, or 1"},
        {{.path = "a%d.png", .channels = 3}, "normals: expected a name that ends in .exr or .npy"},
        {{.path = "a%d.mp4", .channels = 2}, "flow or segmentation: expected a name that ends in .exr"},
        {{.path = "a%d.png", .count = -1}, "-1 pictures"},
        {{.path = "a.mp4", .frames_per_second = 0.01}, "0.1 to 1000"},
        {{.path = "a.mp4", .frames_per_second = (double)NAN}, "0.1 to 1000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        orr_output *output;
        assert_int_equal(orr_output_create(&cases[i].desc, &output, &why), ORR_ERROR_ARGUMENT);
        assert_null(output);
        if (!strstr(why.message, cases[i].expected)) {
            fail_msg("'%s' does not say '%s'", why.message, cases[i].expected);
        }
    }
}

static void descs_of_other_sizes_are_taken(void **state)
{
    (void)state;
    struct {
        orr_output_desc desc;
        int64_t later;
    } desc = {{.path = "a.png", .channels = 4, .count = 1}, 1};
    orr_output *output;
    assert_int_equal(orr_output_create_sized(&desc.desc, sizeof desc, &output, &why), ORR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(why.message, "orr_output_desc"));
    assert_null(output);
    desc.later = 0;
    assert_ok(orr_output_create_sized(&desc.desc, sizeof desc, &output, &error));
    orr_output_destroy(output);
    // without `count` any number of pictures may come
    assert_int_equal(orr_output_create_sized(&desc.desc, offsetof(orr_output_desc, count), &output, &why),
                     ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "any number of pictures"));
}

static void wrong_pictures_are_refused(void **state)
{
    (void)state;
    const float rgba[4] = {0};
    orr_output *output;
    orr_output_desc desc = {.path = scratch_path("wrong%d.png"), .count = 2};
    assert_ok(orr_output_create(&desc, &output, &error));
    const struct {
        int64_t index;
        const float *values;
        int width, height;
        const char *expected;
    } cases[] = {{-1, rgba, 1, 1, "0 to 1"},       {2, rgba, 1, 1, "0 to 1"},
                 {0, NULL, 1, 1, "values"},        {0, rgba, 0, 1, "0 x 1"},
                 {0, rgba, 1, -1, "1 x -1"},       {0, rgba, 16385, 1, "16385 x 1"},
                 {INT64_MIN, rgba, 1, 1, "0 to 1"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(
            orr_output_put(output, cases[i].index, cases[i].values, cases[i].width, cases[i].height, &why),
            ORR_ERROR_ARGUMENT);
        if (!strstr(why.message, cases[i].expected)) {
            fail_msg("'%s' does not say '%s'", why.message, cases[i].expected);
        }
    }
    assert_int_equal(access(scratch_path("wrong0.png"), F_OK), -1);
    assert_ok(orr_output_put(output, 1, rgba, 1, 1, &error)); // stills come in any order
    assert_ok(orr_output_put(output, 0, rgba, 1, 1, &error));
    assert_int_equal(access(scratch_path("wrong0.png"), F_OK), 0);
    assert_ok(orr_output_finish(output, &error));
    assert_int_equal(orr_output_put(output, 0, rgba, 1, 1, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "finished"));
    orr_output_destroy(output);
    orr_output_destroy(NULL);
}

static void a_doubled_percent_sign_is_one_in_every_kind(void **state)
{
    (void)state;
    static const char *const endings[] = {"png", "exr", "npy", "mp4"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char path[32], expected[32], *name;
        snprintf(path, sizeof path, "50%%%%.%s", endings[i]);
        snprintf(expected, sizeof expected, "50%%.%s", endings[i]);
        orr_output_desc desc = {.path = path, .channels = 4, .count = 1, .frames_per_second = 30.0};
        orr_output *output;
        assert_ok(orr_output_create(&desc, &output, &error));
        assert_ok(orr_output_name(output, 0, &name, &error));
        assert_string_equal(name, expected);
        orr_free(name);
        orr_output_destroy(output);
    }
}

static void put_one(const orr_output_desc *desc, const float *values, int width, int height)
{
    orr_output *output;
    assert_ok(orr_output_create(desc, &output, &error));
    assert_ok(orr_output_put(output, 0, values, width, height, &error));
    assert_ok(orr_output_finish(output, &error));
    orr_output_destroy(output);
}

static void png_is_over_black_or_keeps_straight_alpha(void **state)
{
    (void)state;
    // premultiplied: opaque, half covered, empty, almost nothing
    const float rgba[16] = {1.0f, 0.5f, 0.0f, 1.0f, 0.25f, 0.5f,   0.0f,   0.5f,
                            0,    0,    0,    0,    0.0f,  0.004f, 0.004f, 0.004f};
    const uint8_t before_black[16] = {255, 128, 0, 255, 64, 128, 0, 255, 0, 0, 0, 255, 0, 1, 1, 255};
    const uint8_t straight[16] = {255, 128, 0, 255, 128, 255, 0, 128, 0, 0, 0, 0, 0, 255, 255, 1};
    for (int transparent = 0; transparent < 2; transparent++) {
        orr_output_desc desc = {
            .path = scratch_path("alpha.png"), .channels = 4, .count = 1, .transparent = transparent};
        put_one(&desc, rgba, 2, 2);
        orr_image8 image;
        assert_ok(orr_image8_load(desc.path, &image, &error));
        assert_memory_equal(image.rgba, transparent ? straight : before_black, 16);
        orr_image8_free(&image);
    }
}

static void depth_npy_has_two_dimensions(void **state)
{
    (void)state;
    const float depth[6] = {0.0f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f};
    orr_output_desc desc = {.path = scratch_path("depth.npy"), .channels = 1, .count = 1};
    put_one(&desc, depth, 3, 2);
    orr_bytes bytes;
    assert_ok(orr_file_read(desc.path, &bytes, &error));
    assert_non_null(strstr((const char *)bytes.data + 10, "'shape': (2, 3), }"));
    assert_memory_equal(bytes.data + 128, depth, sizeof depth);
    orr_free(bytes.data);
}

#if ORR_HAVE_EXR
#include <openexr.h>

// Of depth, of two and of three numbers per pixel, read by OpenEXR itself.
static void check_exr_of_numbers(int count, const char *const *names)
{
    // 19 lines: a whole chunk of 16 and one that is cut short
    enum { WIDTH = 3, HEIGHT = 19 };
    float numbers[HEIGHT * WIDTH * 3], back[HEIGHT * WIDTH * 3];
    for (int i = 0; i < HEIGHT * WIDTH * count; i++) {
        numbers[i] = 0.37f * (float)(i - 20);
    }
    orr_output_desc desc = {.path = scratch_path("numbers.exr"), .channels = count, .count = 1};
    put_one(&desc, numbers, WIDTH, HEIGHT);
    exr_context_t file;
    const exr_attr_chlist_t *channels;
    assert_int_equal(exr_start_read(&file, desc.path, NULL), EXR_ERR_SUCCESS);
    assert_int_equal(exr_get_channels(file, 0, &channels), EXR_ERR_SUCCESS);
    assert_int_equal(channels->num_channels, count);
    for (int c = 0; c < count; c++) {
        assert_string_equal(channels->entries[c].name.str, names[c]);
    }
    exr_decode_pipeline_t decoder = EXR_DECODE_PIPELINE_INITIALIZER;
    for (int y = 0; y < HEIGHT; y += 16) {
        exr_chunk_info_t chunk;
        assert_int_equal(exr_read_scanline_chunk_info(file, 0, y, &chunk), EXR_ERR_SUCCESS);
        assert_int_equal(y ? exr_decoding_update(file, 0, &chunk, &decoder)
                           : exr_decoding_initialize(file, 0, &chunk, &decoder),
                         EXR_ERR_SUCCESS);
        for (int c = 0; c < count; c++) {
            decoder.channels[c].decode_to_ptr = (uint8_t *)(back + y * WIDTH * count + c);
            decoder.channels[c].user_pixel_stride = 4 * count;
            decoder.channels[c].user_line_stride = 4 * WIDTH * count;
        }
        if (y == 0) {
            assert_int_equal(exr_decoding_choose_default_routines(file, 0, &decoder), EXR_ERR_SUCCESS);
        }
        assert_int_equal(exr_decoding_run(file, 0, &decoder), EXR_ERR_SUCCESS);
    }
    exr_decoding_destroy(file, &decoder);
    exr_finish(&file);
    assert_memory_equal(back, numbers, (size_t)(HEIGHT * WIDTH * count) * sizeof *back);
}

static void numbers_in_an_exr_have_channels_of_their_own(void **state)
{
    (void)state;
    check_exr_of_numbers(1, (const char *const[]){"Z"});
    check_exr_of_numbers(2, (const char *const[]){"X", "Y"});
    check_exr_of_numbers(3, (const char *const[]){"X", "Y", "Z"});
}
#endif

#if ORR_HAVE_VIDEO
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

// What a decoder finds in a video: BT.709 colours of the middle of every frame.
typedef struct decoded_video {
    int width, height, frames;
    double colour[64][3];
    enum AVColorSpace colour_space;
    bool index_first;
} decoded_video;

static void note_frame(decoded_video *video, const AVFrame *frame)
{
    assert_int_equal(frame->format, AV_PIX_FMT_YUV420P);
    assert_true(video->frames < 64);
    int x = frame->width / 2, y = frame->height / 2;
    // BT.709, video range: luma 16 .. 235, chroma 16 .. 240
    double luma = (frame->data[0][y * frame->linesize[0] + x] - 16) / 219.0;
    double blue = (frame->data[1][y / 2 * frame->linesize[1] + x / 2] - 128) / 224.0;
    double red = (frame->data[2][y / 2 * frame->linesize[2] + x / 2] - 128) / 224.0;
    double *colour = video->colour[video->frames++];
    colour[0] = luma + 1.5748 * red;
    colour[1] = luma - 0.1873 * blue - 0.4681 * red;
    colour[2] = luma + 1.8556 * blue;
    video->width = frame->width;
    video->height = frame->height;
    video->colour_space = frame->colorspace;
}

static decoded_video decode(const char *path)
{
    decoded_video video = {0};
    AVFormatContext *file = NULL;
    char url[64];
    snprintf(url, sizeof url, "file:%s", path);
    assert_true(avformat_open_input(&file, url, NULL, NULL) >= 0);
    const AVCodecParameters *parameters = file->streams[0]->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    AVCodecContext *decoder = avcodec_alloc_context3(codec);
    assert_true(avcodec_parameters_to_context(decoder, parameters) >= 0);
    assert_true(avcodec_open2(decoder, codec, NULL) >= 0);
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    for (bool more = true; more;) {
        more = av_read_frame(file, packet) >= 0;
        assert_true(avcodec_send_packet(decoder, more ? packet : NULL) >= 0);
        while (avcodec_receive_frame(decoder, frame) >= 0) {
            note_frame(&video, frame);
        }
        av_packet_unref(packet);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&decoder);
    avformat_close_input(&file);
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    const uint8_t *index = memmem(bytes.data, bytes.size, "moov", 4);
    const uint8_t *content = memmem(bytes.data, bytes.size, "mdat", 4);
    video.index_first = index && content && index < content;
    orr_free(bytes.data);
    return video;
}

// frame i of a test video: one colour
static void paint(float *rgba, int64_t pixels, int i)
{
    const float colour[4] = {0.2f + 0.01f * (float)i, 0.6f, 0.8f - 0.02f * (float)i, 1.0f};
    for (int64_t p = 0; p < 4 * pixels; p++) {
        rgba[p] = colour[p % 4];
    }
}

static void videos_come_back_with_their_frames_and_colours(void **state)
{
    (void)state;
    enum { FRAMES = 30 };
    static const int sizes[][2] = {{64, 48}, {63, 47}, {1, 1}};
    // relative, where the colon could be read as the end of an address's scheme
    const char *path = "a:b.mp4";
    assert_int_equal(chdir(dirname(strdupa(scratch_path(path)))), 0);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int width = sizes[s][0], height = sizes[s][1];
        float rgba[4 * 64 * 48];
        orr_output_desc desc = {.path = path, .channels = 4, .count = FRAMES, .frames_per_second = 25.0};
        orr_output *output;
        assert_ok(orr_output_create(&desc, &output, &error));
        assert_true(orr_output_in_order(output));
        for (int i = 0; i < FRAMES; i++) {
            paint(rgba, width * height, i);
            assert_ok(orr_output_put(output, i, rgba, width, height, &error));
        }
        assert_int_equal(access(desc.path, F_OK), -1); // not before it is whole
        assert_ok(orr_output_finish(output, &error));
        orr_output_destroy(output);
        decoded_video video = decode(path);
        assert_int_equal(video.width, (width + 1) / 2 * 2);
        assert_int_equal(video.height, (height + 1) / 2 * 2);
        assert_int_equal(video.frames, FRAMES);
        assert_int_equal(video.colour_space, AVCOL_SPC_BT709);
        assert_true(video.index_first);
        for (int i = 0; i < FRAMES; i++) {
            paint(rgba, 1, i);
            for (int c = 0; c < 3; c++) {
                // 8-bit luma and chroma and the encoder's quantiser; BT.601 would be off by 0.03 and more
                assert_true(fabs(video.colour[i][c] - (double)rgba[c]) < 0.015);
            }
        }
        unlink(desc.path);
    }
}

static void abandoned_and_mixed_videos_leave_nothing(void **state)
{
    (void)state;
    float rgba[4 * 16 * 16];
    paint(rgba, 16 * 16, 0);
    char folder[512];
    snprintf(folder, sizeof folder, "%s", scratch_path("videos"));
    assert_int_equal(mkdir(folder, 0700), 0);
    char path[600];
    snprintf(path, sizeof path, "%s/a.mp4", folder);
    orr_output_desc desc = {.path = path, .channels = 4, .count = 9, .frames_per_second = 30.0};
    orr_output *output;
    assert_ok(orr_output_create(&desc, &output, &error));
    for (int i = 0; i < 3; i++) {
        assert_ok(orr_output_put(output, i, rgba, 16, 16, &error));
    }
    assert_int_equal(orr_output_put(output, 2, rgba, 16, 16, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "expected picture 3"));
    assert_int_equal(orr_output_put(output, 3, rgba, 16, 8, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "16 x 8"));
    orr_output_destroy(output);
    assert_ok(orr_output_create(&(orr_output_desc){.path = path}, &output, &error));
    assert_int_equal(orr_output_finish(output, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "without pictures"));
    orr_output_destroy(output);
    assert_int_equal(rmdir(folder), 0); // empty
}

static void videos_say_what_they_cannot_write(void **state)
{
    (void)state;
    orr_video *video;
    assert_int_equal(orr_video_begin("/nonexistent/a.mp4", 16, 16, 30.0, &video, &why), ORR_ERROR_FILE);
    assert_non_null(strstr(why.message, "/nonexistent/a.mp4: cannot write: No such file"));
    assert_int_equal(orr_video_begin("a.mp4", 16, 0, 30.0, &video, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_video_begin("a.mp4", 16, 16, (double)NAN, &video, &why), ORR_ERROR_ARGUMENT);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_where_the_pattern_says),
        cmocka_unit_test(patterns_that_printf_would_misread_are_refused),
        cmocka_unit_test(wrong_outputs_are_refused_before_anything_is_written),
        cmocka_unit_test(wrong_pictures_are_refused),
        cmocka_unit_test(descs_of_other_sizes_are_taken),
        cmocka_unit_test(a_doubled_percent_sign_is_one_in_every_kind),
        cmocka_unit_test(png_is_over_black_or_keeps_straight_alpha),
        cmocka_unit_test(depth_npy_has_two_dimensions),
#if ORR_HAVE_EXR
        cmocka_unit_test(numbers_in_an_exr_have_channels_of_their_own),
#endif
#if ORR_HAVE_VIDEO
        cmocka_unit_test(videos_come_back_with_their_frames_and_colours),
        cmocka_unit_test(abandoned_and_mixed_videos_leave_nothing),
        cmocka_unit_test(videos_say_what_they_cannot_write),
#endif
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
