#define ORR_SCALAR
#include "engine/image/picture.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/decode.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/half.h"

#include <math.h>
#include <string.h>

struct orr_picture_file {
    orr_pixels pixels;
    bool opaque;
};

// The first `count` channels of one pixel, as stored.
static void fetch(const orr_pixels *p, int x, int y, int count, float *values)
{
    size_t at = ((size_t)y * (size_t)p->width + (size_t)x) * (size_t)p->channels;
    for (int k = 0; k < count; k++) {
        switch (p->format) {
        case ORR_PIXEL_BYTE:
            values[k] = (float)((const uint8_t *)p->data)[at + (size_t)k] * (1.0f / 255.0f);
            break;
        case ORR_PIXEL_SHORT:
            values[k] = (float)((const uint16_t *)p->data)[at + (size_t)k] * (1.0f / 65535.0f);
            break;
        case ORR_PIXEL_HALF:
            values[k] = orr_half_to_float(((const uint16_t *)p->data)[at + (size_t)k]);
            break;
        case ORR_PIXEL_FLOAT:
            values[k] = ((const float *)p->data)[at + (size_t)k];
        }
    }
}

static bool is_linear(const orr_pixels *p)
{
    return p->format == ORR_PIXEL_HALF || p->format == ORR_PIXEL_FLOAT;
}

static orr_result check_pixels(orr_picture_file *picture, const char *path, orr_error *error)
{
    const orr_pixels *p = &picture->pixels;
    picture->opaque = true;
    for (int y = 0; y < p->height; y++) {
        for (int x = 0; x < p->width; x++) {
            float v[4] = {0.0f, 0.0f, 0.0f, 1.0f};
            fetch(p, x, y, p->channels, v);
            if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2])) {
                return orr_fail(error, ORR_CODE_IMAGE_FILE,
                                "%s: pixel (%d, %d) from the top left: expected finite colours", path, x, y);
            }
            picture->opaque = picture->opaque && v[3] >= 1.0f;
        }
    }
    return ORR_OK;
}

orr_result orr_picture_load(const char *path, orr_picture_file **picture, orr_error *error)
{
    *picture = NULL;
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_picture_file *made = orr_alloc_zero(1, sizeof *made);
    orr_result result = ORR_OK;
    if (made) {
        const orr_picture_source source = {
            .data = bytes.data, .size = bytes.size, .name = path, .bytes_max = ORR_PICTURE_BYTES_MAX};
        result = orr_picture_decode(&source, &made->pixels, error);
    } else {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    orr_free(bytes.data);
    if (result == ORR_OK) {
        result = check_pixels(made, path, error);
    }
    if (result != ORR_OK) {
        orr_picture_destroy(made);
        return result;
    }
    *picture = made;
    return ORR_OK;
}

void orr_picture_destroy(orr_picture_file *picture)
{
    if (picture) {
        orr_free(picture->pixels.data);
        orr_free(picture);
    }
}

int orr_picture_width(const orr_picture_file *picture)
{
    return picture->pixels.width;
}

int orr_picture_height(const orr_picture_file *picture)
{
    return picture->pixels.height;
}

bool orr_picture_opaque(const orr_picture_file *picture)
{
    return picture->opaque;
}

static int clamp_index(float at, int count)
{
    return at > 0.0f ? (at < (float)(count - 1) ? (int)at : count - 1) : 0;
}

void orr_picture_sample(const orr_picture_file *picture, float x, float y, float colour[3])
{
    const orr_pixels *p = &picture->pixels;
    float u = x * (float)p->width - 0.5f, v = y * (float)p->height - 0.5f;
    float left = floorf(u), top = floorf(v), across = u - left, down = v - top;
    for (int k = 0; k < 3; k++) {
        colour[k] = 0.0f;
    }
    for (int corner = 0; corner < 4; corner++) {
        int dx = corner & 1, dy = corner >> 1;
        float weight = (dx ? across : 1.0f - across) * (dy ? down : 1.0f - down), pixel[3];
        fetch(p, clamp_index(left + (float)dx, p->width), clamp_index(top + (float)dy, p->height), 3, pixel);
        for (int k = 0; k < 3; k++) { // a neighbour of weight 0 may be NaN
            colour[k] += weight > 0.0f ? weight * pixel[k] : 0.0f;
        }
    }
    for (int k = 0; k < 3 && is_linear(p); k++) {
        colour[k] = linear_to_srgb(colour[k]);
    }
}
