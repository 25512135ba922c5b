#define _GNU_SOURCE // memfd_create
#include "engine/image/decode_exr.h"

#include "orr_features.h"

#if ORR_HAVE_EXR
#include "engine/core/memory.h"
#include "engine/maths/half.h"

#include <ImfCRgbaFile.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// A file in memory with the picture's bytes; -1: there is no memory for it.
static int open_in_memory(const orr_picture_source *source)
{
    int file = memfd_create("picture.exr", MFD_CLOEXEC);
    for (size_t at = 0; file >= 0 && at < source->size;) {
        ssize_t count = write(file, source->data + at, source->size - at);
        if (count > 0) {
            at += (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            close(file);
            file = -1;
        }
    }
    return file;
}

static void take_pixel(const ImfRgba *from, const orr_pixels *pixels, int64_t index)
{
    const uint16_t values[4] = {from->r, from->g, from->b, from->a};
    int64_t at = index * pixels->channels;
    for (int k = 0; k < pixels->channels; k++) {
        if (pixels->format == ORR_PIXEL_HALF) {
            ((uint16_t *)pixels->data)[at + k] = values[k];
        } else {
            float value = orr_half_to_float(values[k]);
            ((float *)pixels->data)[at + k] = isinf(value) ? copysignf(65504.0f, value) : value;
        }
    }
}

// Did it read all of them?
static bool read_pixels(const char *path, int left, int top, ImfRgba *rgba, const orr_pixels *pixels)
{
    ImfInputFile *file = ImfOpenInputFile(path);
    if (!file) {
        return false;
    }
    // the library adds the places of its pixels, which begin with the window
    uintptr_t origin =
        (uintptr_t)rgba - sizeof *rgba * ((uintptr_t)left + (uintptr_t)top * (uintptr_t)pixels->width);
    bool good = ImfInputSetFrameBuffer(file, (ImfRgba *)origin, 1, (size_t)pixels->width) &&
                ImfInputReadPixels(file, top, top + pixels->height - 1);
    ImfCloseInputFile(file);
    return good;
}

orr_result orr_decode_exr_rgba(const orr_picture_source *source, int left, int top, orr_pixels *pixels,
                               orr_error *error)
{
    int64_t count = (int64_t)pixels->width * pixels->height;
    char path[64];
    ImfRgba *rgba = orr_alloc((size_t)count, sizeof *rgba);
    int file = rgba ? open_in_memory(source) : -1;
    if (file < 0) {
        orr_free(rgba);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", source->name);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    bool good = read_pixels(path, left, top, rgba, pixels);
    close(file);
    for (int64_t i = 0; good && i < count; i++) {
        take_pixel(&rgba[i], pixels, i);
    }
    orr_free(rgba);
    // its own message is one for all threads
    return good ? ORR_OK : orr_picture_damaged(source, "OpenEXR cannot read its pixels", error);
}

#endif
