// Pictures for training, in memory as they are stored: 8 or 16 bits per channel, half or single precision.
// Values become floats one sample at a time.
#pragma once

#include "engine/core/result.h"

typedef struct orr_picture_file orr_picture_file;

// Any format that decode.h lists, at most 4 GiB of pixels. EXR and HDR are linear light and finite.
orr_result orr_picture_load(const char *path, orr_picture_file **picture, orr_error *error);
void orr_picture_destroy(orr_picture_file *picture); // NULL is allowed
int orr_picture_width(const orr_picture_file *picture);
int orr_picture_height(const orr_picture_file *picture);
bool orr_picture_opaque(const orr_picture_file *picture); // false: samples leave its alpha out
// The display colour at (x, y) in 0 .. 1, rows from the top: bilinear between the middles of pixels. As
// stored: without alpha, and above 1 where linear light is.
void orr_picture_sample(const orr_picture_file *picture, float x, float y, float colour[3]);
