// OpenEXR, scan lines or tiles with channels R, G, B or Y and A, through the C core API of OpenEXR 3.
#include "engine/image/decode_exr.h"

#include "orr_features.h"

#if ORR_HAVE_EXR
#include <openexr.h>
#include <string.h>

enum { PIXELS_PER_BYTE = 4096 };

// without a handler OpenEXR prints to stderr
static void keep_silent(exr_const_context_t file, exr_result_t code, const char *message)
{
    (void)file, (void)code, (void)message;
}

static int64_t read_bytes(exr_const_context_t file, void *context, void *buffer, uint64_t size,
                          uint64_t offset, exr_stream_error_func_ptr_t report)
{
    (void)file, (void)report;
    const orr_picture_source *source = context;
    uint64_t left = offset < source->size ? source->size - offset : 0, count = size < left ? size : left;
    if (count > 0) {
        memcpy(buffer, source->data + offset, count);
    }
    return (int64_t)count;
}

static int64_t size_bytes(exr_const_context_t file, void *context)
{
    (void)file;
    return (int64_t)((const orr_picture_source *)context)->size;
}

// Which of R, G, B, A a channel is; Y is red, green and blue: 4. Otherwise -1.
static int target_of(const char *name)
{
    static const char *const names[] = {"R", "G", "B", "A", "Y"};
    for (int i = 0; i < 5; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

typedef struct exr_shape {
    exr_attr_box2i_t window;
    int channels; // 3, or 4 with A
    orr_pixel_format format;
    bool grey;  // Y alone, which is decoded to red
    bool tiles; // not scan lines
} exr_shape;

// NULL, or what was expected.
static const char *read_shape(exr_context_t file, exr_shape *shape)
{
    exr_storage_t storage;
    const exr_attr_chlist_t *channels;
    *shape = (exr_shape){.channels = 3, .format = ORR_PIXEL_HALF};
    if (exr_get_storage(file, 0, &storage) != EXR_ERR_SUCCESS ||
        (storage != EXR_STORAGE_SCANLINE && storage != EXR_STORAGE_TILED)) {
        return "scan lines or tiles";
    }
    shape->tiles = storage == EXR_STORAGE_TILED;
    if (exr_get_data_window(file, 0, &shape->window) != EXR_ERR_SUCCESS ||
        exr_get_channels(file, 0, &channels) != EXR_ERR_SUCCESS) {
        return "a data window and channels";
    }
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
        found |= 1 << target;
        shape->format = e->pixel_type == EXR_PIXEL_HALF ? shape->format : ORR_PIXEL_FLOAT;
    }
    bool coloured = (found & 7) == 7;
    shape->grey = (found & 7) == 0 && (found & 16);
    shape->channels = found & 8 ? 4 : 3;
    return coloured || shape->grey ? NULL : "channels R, G and B, or Y";
}

static void aim_channels(exr_decode_pipeline_t *decoder, const orr_pixels *p, const exr_shape *shape, int row)
{
    size_t pixel = orr_pixel_bytes(p), value = pixel / (size_t)p->channels;
    uint8_t *line = (uint8_t *)p->data + (size_t)row * (size_t)p->width * pixel;
    for (int c = 0; c < decoder->channel_count; c++) {
        exr_coding_channel_info_t *channel = &decoder->channels[c];
        int target = target_of(channel->channel_name);
        target = target < 4 ? target : (shape->grey ? 0 : -1);
        channel->decode_to_ptr = target < 0 ? NULL : line + (size_t)target * value;
        channel->user_pixel_stride = (int)pixel;
        channel->user_line_stride = p->width * (int)pixel;
        channel->user_bytes_per_element = (int16_t)value;
        channel->user_data_type = p->format == ORR_PIXEL_HALF ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    }
}

static exr_result_t read_lines(exr_context_t file, const orr_pixels *p, const exr_shape *shape)
{
    int32_t lines = 0;
    exr_result_t result = exr_get_scanlines_per_chunk(file, 0, &lines);
    exr_decode_pipeline_t decoder = EXR_DECODE_PIPELINE_INITIALIZER;
    for (int y = 0; y < p->height && result == EXR_ERR_SUCCESS; y += lines) {
        exr_chunk_info_t chunk;
        result = exr_read_scanline_chunk_info(file, 0, shape->window.min.y + y, &chunk);
        if (result == EXR_ERR_SUCCESS) {
            result = y == 0 ? exr_decoding_initialize(file, 0, &chunk, &decoder)
                            : exr_decoding_update(file, 0, &chunk, &decoder);
        }
        if (result == EXR_ERR_SUCCESS) {
            aim_channels(&decoder, p, shape, y);
            result = y == 0 ? exr_decoding_choose_default_routines(file, 0, &decoder) : EXR_ERR_SUCCESS;
        }
        if (result == EXR_ERR_SUCCESS) {
            result = exr_decoding_run(file, 0, &decoder);
        }
    }
    exr_decoding_destroy(file, &decoder);
    return result;
}

static void spread_grey(const orr_pixels *p)
{
    size_t pixel = orr_pixel_bytes(p), value = pixel / (size_t)p->channels;
    char *at = p->data;
    for (int64_t i = 0; i < (int64_t)p->width * p->height; i++, at += pixel) {
        memcpy(at + value, at, value);
        memcpy(at + 2 * value, at, value);
    }
}

static orr_result decode(exr_context_t file, const orr_picture_source *source, orr_pixels *pixels,
                         orr_error *error)
{
    exr_shape shape;
    const char *expected = read_shape(file, &shape);
    if (expected) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: expected %s", source->name, expected);
    }
    const exr_attr_box2i_t *w = &shape.window;
    ORR_TRY(orr_pixels_allocate(source, (int64_t)w->max.x - w->min.x + 1, (int64_t)w->max.y - w->min.y + 1,
                                shape.channels, shape.format, PIXELS_PER_BYTE, pixels, error));
    if (source->header_only) {
        return ORR_OK;
    }
    exr_result_t status = shape.tiles ? EXR_ERR_FEATURE_NOT_IMPLEMENTED : read_lines(file, pixels, &shape);
    if (status == EXR_ERR_FEATURE_NOT_IMPLEMENTED) { // DWAA and DWAB
        return orr_decode_exr_rgba(source, w->min.x, w->min.y, pixels, error);
    }
    if (status == EXR_ERR_OUT_OF_MEMORY) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", source->name);
    }
    if (status != EXR_ERR_SUCCESS) {
        return orr_picture_damaged(source, exr_get_default_error_message(status), error);
    }
    if (shape.grey) {
        spread_grey(pixels);
    }
    return ORR_OK;
}

orr_result orr_decode_exr(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    exr_context_initializer_t start = EXR_DEFAULT_CONTEXT_INITIALIZER;
    start.error_handler_fn = keep_silent;
    start.user_data = (void *)(uintptr_t)source;
    start.read_fn = read_bytes;
    start.size_fn = size_bytes;
    start.max_image_width = start.max_image_height = ORR_PICTURE_SIDE_MAX;
    exr_context_t file = NULL;
    exr_result_t status = exr_start_read(&file, source->name, &start);
    if (status != EXR_ERR_SUCCESS) {
        return orr_picture_damaged(source, exr_get_default_error_message(status), error);
    }
    orr_result result = decode(file, source, pixels, error);
    exr_finish(&file);
    return result;
}

#else

orr_result orr_decode_exr(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    (void)pixels;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: this build has no OpenEXR (Debian: libopenexr-dev)",
                    source->name);
}

#endif
