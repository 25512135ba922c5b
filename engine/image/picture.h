// Pictures for training, in memory as they are stored: 8 bits per channel for PNG and JPEG, half or single
// precision for EXR. Values become floats one sample at a time.
#pragma once

#include "engine/core/result.h"

typedef struct orr_picture_file orr_picture_file;

// .png .jpg .bmp .tga; .exr with channels R, G, B or Y, taken for linear light, finite. Alpha is left out.
orr_result orr_picture_load(const char *path, orr_picture_file **picture, orr_error *error);
void orr_picture_destroy(orr_picture_file *picture); // NULL is allowed
int orr_picture_width(const orr_picture_file *picture);
int orr_picture_height(const orr_picture_file *picture);
// The display colour at (x, y) in 0 .. 1, rows from the top: bilinear between the middles of pixels.
void orr_picture_sample(const orr_picture_file *picture, float x, float y, float colour[3]);
