// OpenEXR pictures, through the C core API of OpenEXR 3.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "orr_features.h"

#if ORR_HAVE_EXR
#include <openexr.h>

// Channels are stored sorted by name.
typedef struct channel_layout {
    const char *part;
    const char *names[4];
    int offsets[4]; // of each in a pixel
} channel_layout;

static const channel_layout layouts[4] = {{"depth", {"Z"}, {0}},
                                          {"vectors", {"X", "Y"}, {0, 1}},
                                          {"vectors", {"X", "Y", "Z"}, {0, 1, 2}},
                                          {"rgba", {"A", "B", "G", "R"}, {3, 2, 1, 0}}};

// without a handler OpenEXR prints to stderr
static void keep_silent(exr_const_context_t file, exr_result_t code, const char *message)
{
    (void)file, (void)code, (void)message;
}

static exr_result_t exr_write(exr_context_t file, const float *values, int width, int height, int channels)
{
    const channel_layout *layout = &layouts[channels - 1];
    int part = 0;
    exr_result_t result = exr_add_part(file, layout->part, EXR_STORAGE_SCANLINE, &part);
    exr_attr_box2i_t window = {0};
    window.max.x = width - 1;
    window.max.y = height - 1;
    exr_attr_v2f_t centre = {0};
    if (result == EXR_ERR_SUCCESS) {
        result = exr_initialize_required_attr(file, part, &window, &window, 1.0f, &centre, 1.0f,
                                              EXR_LINEORDER_INCREASING_Y, EXR_COMPRESSION_ZIP);
    }
    for (int c = 0; c < channels && result == EXR_ERR_SUCCESS; c++) {
        result =
            exr_add_channel(file, part, layout->names[c], EXR_PIXEL_FLOAT, EXR_PERCEPTUALLY_LINEAR, 1, 1);
    }
    if (result == EXR_ERR_SUCCESS) {
        result = exr_write_header(file);
    }
    int32_t lines = 0;
    if (result == EXR_ERR_SUCCESS) {
        result = exr_get_scanlines_per_chunk(file, part, &lines);
    }
    exr_encode_pipeline_t encoder = {0};
    bool started = false;
    for (int y = 0; y < height && result == EXR_ERR_SUCCESS; y += lines) {
        exr_chunk_info_t chunk;
        result = exr_write_scanline_chunk_info(file, part, y, &chunk);
        if (result == EXR_ERR_SUCCESS) {
            result = started ? exr_encoding_update(file, part, &chunk, &encoder)
                             : exr_encoding_initialize(file, part, &chunk, &encoder);
            started = true;
        }
        for (int c = 0; c < channels && result == EXR_ERR_SUCCESS; c++) {
            exr_coding_channel_info_t *channel = &encoder.channels[c];
            channel->encode_from_ptr =
                (const uint8_t *)(values + (int64_t)y * width * channels + layout->offsets[c]);
            channel->user_pixel_stride = 4 * channels;
            channel->user_line_stride = 4 * channels * width;
        }
        if (result == EXR_ERR_SUCCESS && y == 0) {
            result = exr_encoding_choose_default_routines(file, part, &encoder);
        }
        if (result == EXR_ERR_SUCCESS) {
            result = exr_encoding_run(file, part, &encoder);
        }
    }
    if (started) {
        exr_encoding_destroy(file, &encoder);
    }
    return result;
}

orr_result orr_exr_save(const char *path, const float *values, int width, int height, int channels,
                        orr_error *error)
{
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    exr_context_initializer_t options = EXR_DEFAULT_CONTEXT_INITIALIZER;
    options.error_handler_fn = keep_silent;
    exr_context_t file;
    exr_result_t written = exr_start_write(&file, writer.temporary, EXR_WRITE_FILE_DIRECTLY, &options);
    if (written == EXR_ERR_SUCCESS) {
        written = exr_write(file, values, width, height, channels);
        exr_result_t finished = exr_finish(&file);
        written = written == EXR_ERR_SUCCESS ? finished : written;
    }
    if (written != EXR_ERR_SUCCESS) {
        orr_file_abort(&writer);
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: %s", path,
                        exr_get_default_error_message(written));
    }
    return orr_file_commit(&writer, error);
}
#else
orr_result orr_exr_save(const char *path, const float *values, int width, int height, int channels,
                        orr_error *error)
{
    (void)values, (void)width, (void)height, (void)channels;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: this build has no OpenEXR (Debian: libopenexr-dev)",
                    path);
}
#endif
