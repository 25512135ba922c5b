// BMP, TGA and GIF through stb_image, which is compiled here alone; PNG and JPEG too where the
// build has no library for them.
#include "engine/core/memory.h"
#include "engine/image/decode.h"
#include "orr_features.h"

#include <stdlib.h>
#include <string.h>

// stb is a system header, silent except for its unused static functions: those are reported at the end of
// this file, so a pop after the includes would come too early
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_ONLY_GIF
#if !ORR_HAVE_SPNG
#define STBI_ONLY_PNG
#endif
#if !ORR_HAVE_JPEG
#define STBI_ONLY_JPEG
#endif
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_MAX_DIMENSIONS ORR_PICTURE_SIDE_MAX
#define STBI_MALLOC(size) orr_alloc(1, size)
#define STBI_REALLOC(memory, size) realloc(memory, size) // orr_alloc's memory is malloc's
#define STBI_FREE(memory) orr_free(memory)
#include <stb_image.h>

enum {
    PIXELS_PER_BYTE = 8 * 1032,        // PNG, the densest of them
    ROW_MAX = 4 * ORR_PICTURE_SIDE_MAX // bytes that stb reads at once
};

// stb takes what is missing at the end of a file for zeros, and leaves rows out: it is given more bytes than
// there are, and is to use none of them.
static orr_result decode(const orr_picture_source *source, uint8_t *padded, orr_pixels *pixels,
                         orr_error *error)
{
    memcpy(padded, source->data, source->size);
    stbi__context context;
    stbi__start_mem(&context, padded, (int)source->size + ROW_MAX);
    int width = 0, height = 0, channels;
    pixels->data = stbi__load_and_postprocess_8bit(&context, &width, &height, &channels, 4);
    if (!pixels->data) {
        return orr_picture_damaged(source, stbi_failure_reason(), error);
    }
    if (context.img_buffer > padded + source->size || width != pixels->width || height != pixels->height) {
        return orr_picture_damaged(source, "expected more bytes", error);
    }
    return ORR_OK;
}

orr_result orr_decode_stb(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    int width, height, channels, size = source->size < INT32_MAX - ROW_MAX ? (int)source->size : 0;
    if (!stbi_info_from_memory(source->data, size, &width, &height, &channels)) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE,
                        "%s: not a picture: expected PNG, JPEG, WebP, EXR, BMP, TGA, HDR or GIF",
                        source->name);
    }
    height = height < 0 && height > INT32_MIN ? -height : height; // a BMP from the top
    orr_picture_source header = *source;
    header.header_only = true; // stb allocates the pixels
    ORR_TRY(orr_pixels_allocate(&header, width, height, 4, ORR_PIXEL_BYTE, PIXELS_PER_BYTE, pixels, error));
    if (source->header_only) {
        return ORR_OK;
    }
    uint8_t *padded;
    ORR_TRY((padded = orr_alloc_zero(source->size + ROW_MAX, 1)) != NULL
                ? ORR_OK
                : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", source->name));
    orr_result result = decode(source, padded, pixels, error);
    orr_free(padded);
    return result;
}
