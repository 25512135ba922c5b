#include "engine/image/image.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// stb is a system header, silent except for its unused static functions: those are reported at the end of
// this file, so a pop after the includes would come too early
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_TGA
#define STBI_NO_LINEAR
#define STBI_NO_STDIO
#include <stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_ZLIB_COMPRESS deflate_png
static unsigned char *deflate_png(unsigned char *data, int size, int *out_size, int quality);
#include <stb_image_write.h>

enum { IMAGE_SIDE_MAX = 1 << 16 };

orr_result orr_image8_decode(const void *data, size_t size, const char *name, orr_image8 *image,
                             orr_error *error)
{
    *image = (orr_image8){0};
    int width, height, channels;
    if (size > INT32_MAX || !stbi_info_from_memory(data, (int)size, &width, &height, &channels)) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: not a picture: expected PNG, JPEG, BMP or TGA",
                        name);
    }
    if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: %d x %d pixels: expected sides of at most %d", name,
                        width, height, IMAGE_SIDE_MAX);
    }
    uint8_t *pixels = stbi_load_from_memory(data, (int)size, &width, &height, &channels, 4);
    if (!pixels) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: damaged picture: %s", name, stbi_failure_reason());
    }
    *image = (orr_image8){width, height, pixels};
    return ORR_OK;
}

orr_result orr_image8_load(const char *path, orr_image8 *image, orr_error *error)
{
    *image = (orr_image8){0};
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = orr_image8_decode(bytes.data, bytes.size, path, image, error);
    orr_free(bytes.data);
    return result;
}

static int read_some(void *context, char *data, int size)
{
    return (int)fread(data, 1, (size_t)size, context);
}

static void skip(void *context, int count)
{
    (void)fseek(context, count, SEEK_CUR); // what is read next fails too
}

static int is_over(void *context)
{
    return feof((FILE *)context);
}

orr_result orr_image8_size(const char *path, int *width, int *height, orr_error *error)
{
    FILE *file;
    ORR_TRY(orr_file_open(path, &file, error));
    const stbi_io_callbacks callbacks = {read_some, skip, is_over};
    int channels;
    bool known = stbi_info_from_callbacks(&callbacks, file, width, height, &channels) != 0;
    fclose(file);
    return known ? ORR_OK
                 : orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: not a picture: expected PNG, JPEG, BMP or TGA",
                            path);
}

void orr_image8_free(orr_image8 *image)
{
    free(image->rgba); // stb allocates with malloc, as orr_alloc does
    *image = (orr_image8){0};
}

// zlib at a low level instead of stb's own compressor: half the time (138 to 66 ms for a 1280x720 picture, on
// a busy machine), and files a sixth smaller
static unsigned char *deflate_png(unsigned char *data, int size, int *out_size, int quality)
{
    (void)quality; // stb's scale
    enum { LEVEL = 2 };
    uLongf bound = compressBound((uLong)size);
    unsigned char *out = malloc(bound); // stb frees it
    if (!out || compress2(out, &bound, data, (uLong)size, LEVEL) != Z_OK || bound > INT32_MAX) {
        free(out);
        return NULL;
    }
    *out_size = (int)bound;
    return out;
}

static void put_bytes(void *context, void *data, int size)
{
    orr_file_put(context, data, (size_t)size);
}

static bool is_opaque(const uint8_t *rgba, int64_t pixels)
{
    for (int64_t i = 0; i < pixels; i++) {
        if (rgba[4 * i + 3] != 255) {
            return false;
        }
    }
    return true;
}

orr_result orr_png_save(const char *path, const uint8_t *rgba, int width, int height, orr_error *error)
{
    int64_t pixels = (int64_t)width * height;
    int channels = 4;
    uint8_t *rgb = NULL;
    if (is_opaque(rgba, pixels)) {
        ORR_ALLOC(rgb, 3 * pixels, "a picture", error);
        for (int64_t i = 0; i < pixels; i++) {
            memcpy(rgb + 3 * i, rgba + 4 * i, 3);
        }
        channels = 3;
    }
    orr_file_writer writer;
    orr_result result = orr_file_begin(&writer, path, error);
    if (result == ORR_OK) {
        if (stbi_write_png_to_func(put_bytes, &writer, width, height, channels, rgb ? rgb : rgba,
                                   width * channels)) {
            result = orr_file_commit(&writer, error);
        } else {
            orr_file_abort(&writer);
            result =
                orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for the compressed picture", path);
        }
    }
    orr_free(rgb);
    return result;
}

orr_result orr_npy_save(const char *path, const float *values, int height, int width, int channels,
                        orr_error *error)
{
    // NumPy format 1.0: magic, version, header length, a Python dict padded so that data starts at a multiple
    // of 64
    char header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    char dict[118];
    int length =
        channels > 1
            ? snprintf(dict, sizeof dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }",
                       height, width, channels)
            : snprintf(dict, sizeof dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }",
                       height, width);
    memcpy(header + 10, dict, (size_t)length);
    header[127] = '\n';
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_file_put(&writer, header, sizeof header);
    orr_file_put(&writer, values, (size_t)height * (size_t)width * (size_t)channels * sizeof *values);
    return orr_file_commit(&writer, error);
}

static uint8_t quantise(float value)
{
    float v = value * 255.0f + 0.5f;
    v = v > 0.0f ? v : 0.0f; // NaN too
    return (uint8_t)(int)(v < 255.0f ? v : 255.0f);
}

void orr_image_quantise(const float *restrict rgba, int64_t pixels, uint8_t *restrict bytes)
{
    enum { BLOCK = 64 }; // a constant length, so that the compiler vectorises it
    int64_t count = 4 * pixels, whole = count - count % BLOCK;
    for (int64_t i = 0; i < whole; i += BLOCK) {
        for (int j = 0; j < BLOCK; j++) {
            bytes[i + j] = quantise(rgba[i + j]);
        }
    }
    for (int64_t i = whole; i < count; i++) {
        bytes[i] = quantise(rgba[i]);
    }
}
