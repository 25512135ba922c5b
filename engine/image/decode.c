#include "engine/image/decode.h"

#include "engine/core/memory.h"

#include <string.h>

static const int64_t BYTES_FREE = INT64_C(256) << 20; // of pixels out of any file, however small

static const struct signature {
    size_t offset, size;
    const char *bytes;
    orr_result (*decode)(const orr_picture_source *source, orr_pixels *pixels, orr_error *error);
} signatures[] = {
    {0, 8, "\x89PNG\r\n\x1a\n", orr_decode_png},
    {0, 3, "\xff\xd8\xff", orr_decode_jpeg},
    {8, 4, "WEBP", orr_decode_webp}, // behind "RIFF" and a length
    {0, 4, "\x76\x2f\x31\x01", orr_decode_exr},
    {0, 2, "#?", orr_decode_hdr},
};

size_t orr_pixel_bytes(const orr_pixels *pixels)
{
    static const size_t bytes[] = {
        [ORR_PIXEL_BYTE] = 1, [ORR_PIXEL_SHORT] = 2, [ORR_PIXEL_HALF] = 2, [ORR_PIXEL_FLOAT] = 4};
    return (size_t)pixels->channels * bytes[pixels->format];
}

orr_result orr_picture_damaged(const orr_picture_source *source, const char *reason, orr_error *error)
{
    return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: damaged picture: %s", source->name, reason);
}

orr_result orr_pixels_allocate(const orr_picture_source *source, int64_t width, int64_t height, int channels,
                               orr_pixel_format format, int64_t pixels_per_byte, orr_pixels *pixels,
                               orr_error *error)
{
    if (width < 1 || width > ORR_PICTURE_SIDE_MAX || height < 1 || height > ORR_PICTURE_SIDE_MAX) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: %lld x %lld pixels: expected sides of 1 to %d",
                        source->name, (long long)width, (long long)height, ORR_PICTURE_SIDE_MAX);
    }
    *pixels = (orr_pixels){(int)width, (int)height, channels, format, NULL};
    int64_t count = width * height, bytes = count * (int64_t)orr_pixel_bytes(pixels);
    if (bytes > source->bytes_max) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE, "%s: %lld x %lld pixels: expected at most %lld MiB",
                        source->name, (long long)width, (long long)height,
                        (long long)source->bytes_max >> 20);
    }
    if (bytes > BYTES_FREE && count / pixels_per_byte > (int64_t)source->size) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE,
                        "%s: %lld x %lld pixels: expected more than %zu bytes", source->name,
                        (long long)width, (long long)height, source->size);
    }
    if (source->header_only) {
        return ORR_OK;
    }
    pixels->data = orr_alloc((size_t)count, orr_pixel_bytes(pixels));
    return pixels->data ? ORR_OK
                        : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory: %zu bytes",
                                   source->name, (size_t)count * orr_pixel_bytes(pixels));
}

orr_result orr_picture_decode(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    *pixels = (orr_pixels){0};
    orr_result (*decode)(const orr_picture_source *, orr_pixels *, orr_error *) = orr_decode_stb;
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        const struct signature *s = &signatures[i];
        if (source->size >= s->offset + s->size && memcmp(source->data + s->offset, s->bytes, s->size) == 0) {
            decode = s->decode;
            break;
        }
    }
    orr_result result = decode(source, pixels, error);
    if (result != ORR_OK) {
        orr_free(pixels->data);
        *pixels = (orr_pixels){0};
    }
    return result;
}
