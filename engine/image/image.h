// Images on disk: 8-bit pictures in, PNG, EXR and NPY out (written whole or not at all).
#pragma once

#include "engine/core/result.h"

// height x width x 4, rows from the top.
typedef struct orr_image8 {
    int width, height;
    uint8_t *rgba; // straight alpha, as stored in the file
} orr_image8;

// A picture of any format that decode.h lists, from memory; `name` is for messages. At most 1 GiB of
// pixels. 16 bits become 8, and linear light (EXR, HDR) display colours. Free with orr_image8_free.
orr_result orr_image8_decode(const void *data, size_t size, const char *name, orr_image8 *image,
                             orr_error *error);
orr_result orr_image8_load(const char *path, orr_image8 *image, orr_error *error);
// Is it a picture of such a format? Of its header alone: what follows may be damaged.
orr_result orr_image8_check(const void *data, size_t size, const char *name, orr_error *error);
// Only its size, from the file's header.
orr_result orr_image8_size(const char *path, int *width, int *height, orr_error *error);
void orr_image8_free(orr_image8 *image);

// rgb only when every alpha is 255.
orr_result orr_png_save(const char *path, const uint8_t *rgba, int width, int height, orr_error *error);
// height x width x channels, 1 .. 4: Z; X and Y; X, Y and Z; R, G, B and A. float32, ZIP compression.
orr_result orr_exr_save(const char *path, const float *values, int width, int height, int channels,
                        orr_error *error);
// float32, little endian, C order, shape height x width [x channels when channels > 1].
orr_result orr_npy_save(const char *path, const float *values, int height, int width, int channels,
                        orr_error *error);

// Premultiplied floats to display bytes over an opaque background: round(255 v), clamped; NaN becomes 0.
void orr_image_quantise(const float *rgba, int64_t pixels, uint8_t *bytes);
