// Pictures from bytes, the one entrance to all decoders. What a picture is, its first bytes say, not its
// name. PNG: libspng; JPEG: libjpeg-turbo; WebP: libwebp; EXR: OpenEXR; HDR: our own; BMP, TGA and GIF,
// and PNG and JPEG in a build without their libraries: stb_image.
#pragma once

#include "engine/core/result.h"

#include <stddef.h>

typedef enum orr_pixel_format {
    ORR_PIXEL_BYTE,  // display values, 255 is 1
    ORR_PIXEL_SHORT, // display values, 65535 is 1
    ORR_PIXEL_HALF,  // linear light, premultiplied
    ORR_PIXEL_FLOAT  // likewise
} orr_pixel_format;

typedef struct orr_pixels {
    int width, height;
    int channels; // per pixel, 3 or 4: red, green, blue, alpha. ORR_PIXEL_BYTE and _SHORT have 4
    orr_pixel_format format;
    void *data; // rows from the top; owned: orr_free
} orr_pixels;

// A picture in memory and what its decoder is asked for.
typedef struct orr_picture_source {
    const uint8_t *data;
    size_t size;
    const char *name;  // for messages
    int64_t bytes_max; // of the pixels in memory
    bool eight_bits;   // 16 bits per channel become 8
    bool header_only;  // width and height are enough; `data` stays NULL
} orr_picture_source;

enum {
    ORR_PICTURE_SIDE_MAX = 1 << 16,
    ORR_TEXTURE_BYTES_MAX = 1 << 30 // of textures and photos
};
#define ORR_PICTURE_BYTES_MAX (INT64_C(4) << 30)

// Decodes the whole picture, the first of an animated GIF, or fails; a file that ends early fails. Sides
// are 1 to 65536 pixels. Size and expansion are checked before memory is allocated: for more than 256 MiB
// of pixels a file must have as many bytes as its format needs for that many pixels at the least, for
// WebP and EXR one in 4096. EXIF orientation is not applied: poses of photos are of the stored rows.
orr_result orr_picture_decode(const orr_picture_source *source, orr_pixels *pixels, orr_error *error);

// For decoders: checks the size that a header gives, and allocates the pixels unless header_only is set. A
// byte of the file codes at most `pixels_per_byte`.
orr_result orr_pixels_allocate(const orr_picture_source *source, int64_t width, int64_t height, int channels,
                               orr_pixel_format format, int64_t pixels_per_byte, orr_pixels *pixels,
                               orr_error *error);
size_t orr_pixel_bytes(const orr_pixels *pixels); // of one pixel
orr_result orr_picture_damaged(const orr_picture_source *source, const char *reason, orr_error *error);

// One of the formats each; on failure orr_picture_decode frees the pixels.
orr_result orr_decode_png(const orr_picture_source *source, orr_pixels *pixels, orr_error *error);
orr_result orr_decode_jpeg(const orr_picture_source *source, orr_pixels *pixels, orr_error *error);
orr_result orr_decode_webp(const orr_picture_source *source, orr_pixels *pixels, orr_error *error);
orr_result orr_decode_exr(const orr_picture_source *source, orr_pixels *pixels, orr_error *error);
orr_result orr_decode_hdr(const orr_picture_source *source, orr_pixels *pixels, orr_error *error);
orr_result orr_decode_stb(const orr_picture_source *source, orr_pixels *pixels, orr_error *error);
