// Radiance pictures (.hdr): RGBE with flat or run-length encoded rows, from the top left. stb_image reads
// them too, but does not end on some that are cut short.
#include "engine/image/decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_MAX_BYTES = 128,
    RUN_WIDTH_MIN = 8, // rows of other widths are flat
    RUN_WIDTH_MAX = 32767,
    PIXELS_PER_BYTE = 32 // four runs of two bytes are 127 pixels
};

typedef struct hdr_reader {
    const uint8_t *at, *end;
} hdr_reader;

// The next line without its end; false where there is none, or a longer one.
static bool read_line(hdr_reader *r, char line[LINE_MAX_BYTES])
{
    size_t left = (size_t)(r->end - r->at);
    const uint8_t *stop = memchr(r->at, '\n', left < LINE_MAX_BYTES ? left : LINE_MAX_BYTES);
    if (!stop) {
        return false;
    }
    size_t length = (size_t)(stop - r->at);
    memcpy(line, r->at, length);
    line[length] = 0;
    r->at = stop + 1;
    return true;
}

// The number of at most 7 digits behind `name`; returns what follows it, or NULL.
static const char *read_side(const char *text, const char *name, int *side)
{
    size_t length = strlen(name);
    if (!text || strncmp(text, name, length) != 0) {
        return NULL;
    }
    size_t digits = strspn(text + length, "0123456789");
    if (digits == 0 || digits > 7) {
        return NULL;
    }
    *side = (int)strtol(text + length, NULL, 10);
    return text + length + digits;
}

// NULL, or what was expected.
static const char *read_header(hdr_reader *r, int size[2])
{
    char line[LINE_MAX_BYTES];
    bool rgbe = false;
    do {
        if (!read_line(r, line)) {
            return "a header of short lines, and an empty one behind it";
        }
        rgbe = rgbe || strcmp(line, "FORMAT=32-bit_rle_rgbe") == 0;
    } while (line[0]);
    if (!rgbe) {
        return "FORMAT=32-bit_rle_rgbe";
    }
    const char *rest = read_line(r, line) ? read_side(line, "-Y ", &size[1]) : NULL;
    rest = read_side(rest, " +X ", &size[0]);
    return rest && !*rest ? NULL : "-Y HEIGHT +X WIDTH";
}

static void set_pixel(float *colour, int red, int green, int blue, int exponent)
{
    float scale = exponent ? ldexpf(1.0f, exponent - 136) : 0.0f;
    colour[0] = (float)red * scale;
    colour[1] = (float)green * scale;
    colour[2] = (float)blue * scale;
}

// One channel of a row: counts up to 128 copy as many bytes, larger ones repeat one byte count - 128 times.
static bool read_runs(hdr_reader *r, uint8_t *row, int width)
{
    for (int x = 0; x < width;) {
        if (r->end - r->at < 2) {
            return false;
        }
        int code = *r->at++, count = code > 128 ? code - 128 : code;
        if (count == 0 || count > width - x) {
            return false;
        }
        if (code > 128) {
            memset(row + x, *r->at++, (size_t)count);
        } else {
            if (count > r->end - r->at) {
                return false;
            }
            memcpy(row + x, r->at, (size_t)count);
            r->at += count;
        }
        x += count;
    }
    return true;
}

static bool read_row(hdr_reader *r, float *colours, int width)
{
    uint8_t rows[4][RUN_WIDTH_MAX];
    const uint8_t *p = r->at;
    if (r->end - p < 4) {
        return false;
    }
    if (width < RUN_WIDTH_MIN || width > RUN_WIDTH_MAX || p[0] != 2 || p[1] != 2 || p[2] & 128) {
        if ((r->end - p) / 4 < width) {
            return false;
        }
        for (int x = 0; x < width; x++, p += 4) {
            set_pixel(colours + 3 * x, p[0], p[1], p[2], p[3]);
        }
        r->at = p;
        return true;
    }
    if (p[2] * 256 + p[3] != width) {
        return false;
    }
    r->at += 4;
    for (int k = 0; k < 4; k++) {
        if (!read_runs(r, rows[k], width)) {
            return false;
        }
    }
    for (int x = 0; x < width; x++) {
        set_pixel(colours + 3 * x, rows[0][x], rows[1][x], rows[2][x], rows[3][x]);
    }
    return true;
}

orr_result orr_decode_hdr(const orr_picture_source *source, orr_pixels *pixels, orr_error *error)
{
    hdr_reader r = {source->data, source->data + source->size};
    int size[2];
    const char *expected = read_header(&r, size);
    if (expected) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: header of a Radiance picture: expected %s",
                        source->name, expected);
    }
    ORR_TRY(
        orr_pixels_allocate(source, size[0], size[1], 3, ORR_PIXEL_FLOAT, PIXELS_PER_BYTE, pixels, error));
    for (int y = 0; y < pixels->height && !source->header_only; y++) {
        if (!read_row(&r, (float *)pixels->data + 3 * (int64_t)y * pixels->width, pixels->width)) {
            char reason[64];
            snprintf(reason, sizeof reason, "row %d of %d", y, pixels->height);
            return orr_picture_damaged(source, reason, error);
        }
    }
    return ORR_OK;
}
