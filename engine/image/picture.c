#define ORR_SCALAR
#include "engine/image/picture.h"

#include "engine/core/colour_formula.h"
#include "engine/core/file.h"
#include "engine/core/half.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/image/picture_exr.h"

#include <math.h>
#include <string.h>

struct orr_picture_file {
    orr_picture_pixels pixels;
};

// one pixel as stored
static void fetch(const orr_picture_pixels *p, int x, int y, float colour[3])
{
    size_t at = ((size_t)y * (size_t)p->width + (size_t)x) * (size_t)p->channels;
    for (int k = 0; k < 3; k++) {
        if (p->bytes == 1) {
            colour[k] = (float)((const uint8_t *)p->data)[at + (size_t)k] * (1.0f / 255.0f);
        } else if (p->bytes == 2) {
            colour[k] = orr_half_to_float(((const uint16_t *)p->data)[at + (size_t)k]);
        } else {
            colour[k] = ((const float *)p->data)[at + (size_t)k];
        }
    }
}

static orr_result check_finite(const orr_picture_pixels *p, const char *path, orr_error *error)
{
    for (int y = 0; y < p->height; y++) {
        for (int x = 0; x < p->width; x++) {
            float colour[3];
            fetch(p, x, y, colour);
            if (!isfinite(colour[0]) || !isfinite(colour[1]) || !isfinite(colour[2])) {
                return orr_fail(error, ORR_CODE_IMAGE_FILE,
                                "%s: pixel (%d, %d) from the top left: expected finite colours", path, x, y);
            }
        }
    }
    return ORR_OK;
}

orr_result orr_picture_load(const char *path, orr_picture_file **picture, orr_error *error)
{
    *picture = NULL;
    orr_picture_file *made = orr_alloc_zero(1, sizeof *made);
    if (!made) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    orr_result result;
    if (orr_path_has_ending(path, ".exr")) {
        result = orr_picture_read_exr(path, &made->pixels, error);
        if (result == ORR_OK) {
            result = check_finite(&made->pixels, path, error);
        }
    } else {
        orr_image8 image;
        result = orr_image8_load(path, &image, error);
        made->pixels = (orr_picture_pixels){image.width, image.height, 4, 1, image.rgba};
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
        orr_free(picture->pixels.data); // stb allocates with malloc, as orr_alloc does
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

static int clamp_index(float at, int count)
{
    return at > 0.0f ? (at < (float)(count - 1) ? (int)at : count - 1) : 0;
}

void orr_picture_sample(const orr_picture_file *picture, float x, float y, float colour[3])
{
    const orr_picture_pixels *p = &picture->pixels;
    float u = x * (float)p->width - 0.5f, v = y * (float)p->height - 0.5f;
    float left = floorf(u), top = floorf(v), across = u - left, down = v - top;
    for (int k = 0; k < 3; k++) {
        colour[k] = 0.0f;
    }
    for (int corner = 0; corner < 4; corner++) {
        int dx = corner & 1, dy = corner >> 1;
        float weight = (dx ? across : 1.0f - across) * (dy ? down : 1.0f - down), pixel[3];
        fetch(p, clamp_index(left + (float)dx, p->width), clamp_index(top + (float)dy, p->height), pixel);
        for (int k = 0; k < 3; k++) { // a neighbour of weight 0 may be NaN
            colour[k] += weight > 0.0f ? weight * pixel[k] : 0.0f;
        }
    }
    for (int k = 0; k < 3 && p->bytes > 1; k++) {
        colour[k] = linear_to_srgb(colour[k]);
    }
}
