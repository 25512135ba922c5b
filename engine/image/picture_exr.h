// The pixels of pictures, and their reader for OpenEXR.
#pragma once

#include "engine/core/result.h"

typedef struct orr_picture_pixels {
    int width, height;
    int channels; // per pixel, 3 or 4; the first three are red, green, blue
    int bytes;    // per channel: 1 (display), 2 (half, linear), 4 (float, linear)
    void *data;   // owned
} orr_picture_pixels;

// ORR_ERROR_UNSUPPORTED in a build without OpenEXR.
orr_result orr_picture_read_exr(const char *path, orr_picture_pixels *pixels, orr_error *error);
