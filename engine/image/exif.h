// What a camera has noted in a photo: the orientation in its EXIF data (JEITA CP-3451, tag 0x0112).
#pragma once

#include "engine/core/result.h"

#include <stddef.h>

// Where the first row and the first column of a stored picture are as seen: 1 .. 8 of the standard (1: top,
// left). 0: the bytes are no JPEG with EXIF data, or these do not say, or are damaged.
int orr_exif_orientation(const uint8_t *bytes, size_t size);
// Of a file; reads no more than its first 256 KiB.
int orr_exif_orientation_of(const char *path);
