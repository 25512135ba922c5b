// Small pictures of every format and depth that the engine reads, made from first principles where the format
// is simple, and by the encoders of its library otherwise; with the colours they hold.
#pragma once

#include "engine/core/result.h"

#include <stddef.h>

typedef struct picture_sample {
    const char *format; // "png"
    char name[40];      // "grey 1 interlaced"
    uint8_t *data;
    size_t size;
    int width, height;
    float *rgba;   // expected, height x width x 4: display colours, straight alpha
    int tolerance; // of a byte
    bool deep;     // 16 bits per channel
    bool linear;   // rgba is linear light
    size_t needed; // bytes without which the picture is not whole
} picture_sample;

enum { PICTURE_SAMPLES_MAX = 80 };

// How many; formats that this build cannot write are left out. `path` is free for a file that is removed
// again. Ends the program when memory is out.
int picture_samples_make(picture_sample samples[PICTURE_SAMPLES_MAX], const char *path);
void picture_samples_free(picture_sample *samples, int count);

// The sizes of a PNG become others, with the header's checksum.
void picture_sample_resize_png(uint8_t *png, uint32_t width, uint32_t height);
