#include "engine/image/picture_exr.h"

#include "engine/core/memory.h"
#include "orr_features.h"

#if ORR_HAVE_EXR
#include <openexr.h>
#include <string.h>

enum { SIDE_MAX = 1 << 16 };

// without a handler OpenEXR prints to stderr
static void keep_silent(exr_const_context_t file, exr_result_t code, const char *message)
{
    (void)file, (void)code, (void)message;
}

// Which of R, G, B a channel is; Y is all three: 3. Otherwise -1.
static int target_of(const char *name)
{
    static const char *const names[] = {"R", "G", "B", "Y"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

// Sets size and width of numbers; NULL, or what was expected.
static const char *read_shape(exr_context_t file, orr_picture_pixels *p, exr_attr_box2i_t *window)
{
    exr_storage_t storage;
    const exr_attr_chlist_t *channels;
    if (exr_get_storage(file, 0, &storage) != EXR_ERR_SUCCESS || storage != EXR_STORAGE_SCANLINE) {
        return "scan lines";
    }
    if (exr_get_data_window(file, 0, window) != EXR_ERR_SUCCESS ||
        exr_get_channels(file, 0, &channels) != EXR_ERR_SUCCESS) {
        return "a data window and channels";
    }
    int64_t width = (int64_t)window->max.x - window->min.x + 1,
            height = (int64_t)window->max.y - window->min.y + 1;
    if (width < 1 || width > SIDE_MAX || height < 1 || height > SIDE_MAX) {
        return "sides of 1 to 65536 pixels";
    }
    *p = (orr_picture_pixels){.width = (int)width, .height = (int)height, .channels = 3, .bytes = 2};
    int found = 0;
    for (int c = 0; c < channels->num_channels; c++) {
        const exr_attr_chlist_entry_t *e = &channels->entries[c];
        int target = target_of(e->name.str);
        if (target < 0) {
            continue;
        }
        if (e->x_sampling != 1 || e->y_sampling != 1) {
            return "channels of full size";
        }
        found |= target == 3 ? 7 : 1 << target;
        p->bytes = e->pixel_type == EXR_PIXEL_HALF ? p->bytes : 4;
    }
    return found == 7 ? NULL : "channels R, G, B or Y";
}

static void aim_channels(exr_decode_pipeline_t *decoder, const orr_picture_pixels *p, int64_t row)
{
    char *line = (char *)p->data + (size_t)row * (size_t)p->width * 3 * (size_t)p->bytes;
    for (int c = 0; c < decoder->channel_count; c++) {
        exr_coding_channel_info_t *channel = &decoder->channels[c];
        int target = target_of(channel->channel_name);
        channel->decode_to_ptr = target < 0 ? NULL : (uint8_t *)line + (target == 3 ? 0 : target) * p->bytes;
        channel->user_pixel_stride = 3 * p->bytes;
        channel->user_line_stride = p->width * 3 * p->bytes;
        channel->user_bytes_per_element = (int16_t)p->bytes;
        channel->user_data_type = p->bytes == 2 ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    }
}

static exr_result_t read_lines(exr_context_t file, const orr_picture_pixels *p, int top)
{
    int32_t lines = 0;
    exr_result_t result = exr_get_scanlines_per_chunk(file, 0, &lines);
    exr_decode_pipeline_t decoder = EXR_DECODE_PIPELINE_INITIALIZER;
    for (int y = 0; y < p->height && result == EXR_ERR_SUCCESS; y += lines) {
        exr_chunk_info_t chunk;
        result = exr_read_scanline_chunk_info(file, 0, top + y, &chunk);
        if (result == EXR_ERR_SUCCESS) {
            result = y == 0 ? exr_decoding_initialize(file, 0, &chunk, &decoder)
                            : exr_decoding_update(file, 0, &chunk, &decoder);
        }
        if (result == EXR_ERR_SUCCESS) {
            aim_channels(&decoder, p, y);
            result = y == 0 ? exr_decoding_choose_default_routines(file, 0, &decoder) : EXR_ERR_SUCCESS;
        }
        if (result == EXR_ERR_SUCCESS) {
            result = exr_decoding_run(file, 0, &decoder);
        }
    }
    exr_decoding_destroy(file, &decoder);
    return result;
}

// a picture of Y alone was decoded to red
static void spread_grey(exr_context_t file, const orr_picture_pixels *p)
{
    const exr_attr_chlist_t *channels;
    bool grey = exr_get_channels(file, 0, &channels) == EXR_ERR_SUCCESS;
    for (int c = 0; grey && c < channels->num_channels; c++) {
        int target = target_of(channels->entries[c].name.str);
        grey = target < 0 || target == 3;
    }
    char *pixel = p->data;
    for (int64_t i = 0; grey && i < (int64_t)p->width * p->height; i++, pixel += 3 * p->bytes) {
        memcpy(pixel + p->bytes, pixel, (size_t)p->bytes);
        memcpy(pixel + 2 * p->bytes, pixel, (size_t)p->bytes);
    }
}

orr_result orr_picture_read_exr(const char *path, orr_picture_pixels *pixels, orr_error *error)
{
    *pixels = (orr_picture_pixels){0};
    exr_context_initializer_t start = EXR_DEFAULT_CONTEXT_INITIALIZER;
    start.error_handler_fn = keep_silent;
    exr_context_t file = NULL;
    exr_result_t status = exr_start_read(&file, path, &start);
    if (status != EXR_ERR_SUCCESS) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: %s: expected an OpenEXR picture", path,
                        exr_get_default_error_message(status));
    }
    exr_attr_box2i_t window;
    const char *expected = read_shape(file, pixels, &window);
    orr_result result = ORR_OK;
    if (expected) {
        result = orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: expected %s", path, expected);
    } else {
        size_t count = (size_t)pixels->width * (size_t)pixels->height * 3;
        pixels->data = orr_alloc(count, (size_t)pixels->bytes);
        status = pixels->data ? read_lines(file, pixels, window.min.y) : EXR_ERR_OUT_OF_MEMORY;
        if (status != EXR_ERR_SUCCESS) {
            result = orr_fail(error,
                              status == EXR_ERR_OUT_OF_MEMORY ? ORR_CODE_OUT_OF_MEMORY : ORR_CODE_IMAGE_FILE,
                              "%s: damaged picture: %s", path, exr_get_default_error_message(status));
        } else {
            spread_grey(file, pixels);
        }
    }
    exr_finish(&file);
    if (result != ORR_OK) {
        orr_free(pixels->data);
        pixels->data = NULL;
    }
    return result;
}

#else

orr_result orr_picture_read_exr(const char *path, orr_picture_pixels *pixels, orr_error *error)
{
    *pixels = (orr_picture_pixels){0};
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: this build has no OpenEXR (Debian: libopenexr-dev)",
                    path);
}

#endif
