#define ORR_SCALAR
#include "engine/image/image.h"

#include "engine/core/file.h"
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "engine/image/decode.h"
#include "engine/image/quantise.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/half.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#pragma GCC diagnostic ignored "-Wunused-function" // of stb, a system header, at the end of this file
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_ZLIB_COMPRESS deflate_png
static unsigned char *deflate_png(unsigned char *data, int size, int *out_size, int quality);
#include <stb_image_write.h>

// ---- in ----

// Linear light, premultiplied, to bytes with straight alpha.
static void encode_pixel(const orr_pixels *pixels, size_t i, uint8_t rgba[4])
{
    float v[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    for (size_t k = 0; k < (size_t)pixels->channels; k++) {
        size_t at = i * (size_t)pixels->channels + k;
        v[k] = pixels->format == ORR_PIXEL_HALF ? orr_half_to_float(((const uint16_t *)pixels->data)[at])
                                                : ((const float *)pixels->data)[at];
    }
    for (int k = 0; k < 3; k++) {
        v[k] = linear_to_srgb(v[3] > 0.0f ? v[k] / v[3] : 0.0f);
    }
    orr_image_quantise(v, 1, rgba);
}

orr_result orr_image8_decode(const void *data, size_t size, const char *name, orr_image8 *image,
                             orr_error *error)
{
    *image = (orr_image8){0};
    const orr_picture_source source = {
        .data = data, .size = size, .name = name, .bytes_max = ORR_TEXTURE_BYTES_MAX, .eight_bits = true};
    orr_pixels pixels;
    ORR_TRY(orr_picture_decode(&source, &pixels, error));
    size_t count = (size_t)pixels.width * (size_t)pixels.height;
    uint8_t *rgba = pixels.data;
    if (pixels.format != ORR_PIXEL_BYTE) {
        rgba = orr_alloc(count, 4);
        for (size_t i = 0; rgba && i < count; i++) {
            encode_pixel(&pixels, i, rgba + 4 * i);
        }
        orr_free(pixels.data);
        if (!rgba) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory: %zu pixels", name, count);
        }
    }
    *image = (orr_image8){pixels.width, pixels.height, rgba};
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

static orr_result read_header(const void *data, size_t size, const char *name, orr_pixels *pixels,
                              orr_error *error)
{
    const orr_picture_source source = {
        .data = data, .size = size, .name = name, .bytes_max = ORR_TEXTURE_BYTES_MAX, .header_only = true};
    return orr_picture_decode(&source, pixels, error);
}

orr_result orr_image8_check(const void *data, size_t size, const char *name, orr_error *error)
{
    orr_pixels pixels;
    return read_header(data, size, name, &pixels, error);
}

orr_result orr_image8_size(const char *path, int *width, int *height, orr_error *error)
{
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_pixels pixels;
    orr_result result = read_header(bytes.data, bytes.size, path, &pixels, error);
    orr_free(bytes.data);
    *width = pixels.width;
    *height = pixels.height;
    return result;
}

void orr_image8_free(orr_image8 *image)
{
    orr_free(image->rgba);
    *image = (orr_image8){0};
}

// ---- out ----

// what deflate_png returned last: stb leaks it when it finds no memory for the file around it
static _Thread_local unsigned char *deflated;

// zlib at a low level instead of stb's own compressor: half the time (138 to 66 ms for a 1280x720 picture, on
// a busy machine), and files a sixth smaller
static unsigned char *deflate_png(unsigned char *data, int size, int *out_size, int quality)
{
    (void)quality; // stb's scale
    enum { LEVEL = 2 };
    uLongf bound = compressBound((uLong)size);
    unsigned char *out = deflated = malloc(bound); // stb frees it
    if (!out || compress2(out, &bound, data, (uLong)size, LEVEL) != Z_OK || bound > INT32_MAX) {
        free(out);
        deflated = NULL;
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
        deflated = NULL;
        if (stbi_write_png_to_func(put_bytes, &writer, width, height, channels, rgb ? rgb : rgba,
                                   width * channels)) {
            result = orr_file_commit(&writer, error);
        } else {
            free(deflated);
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

#define QUANTISE(isa) orr_quantise_values_##isa

void orr_image_quantise(const float *restrict rgba, int64_t pixels, uint8_t *restrict bytes)
{
    static orr_quantise_kernel *const kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(QUANTISE);
    const int64_t few = 64;
    orr_isa isa;
    if (pixels > few && orr_isa_choose(&isa, NULL) == ORR_OK) {
        kernels[isa](rgba, 4 * pixels, bytes);
        return;
    }
    for (int64_t i = 0; i < 4 * pixels; i++) {
        bytes[i] = orr_quantise(rgba[i]);
    }
}
