// Height fields: samples of 0 .. 1 from an image, from MuJoCo's binary format or from numbers in the model.
#include "physics/model/compile.h"

#include "engine/core/file.h"
#include "engine/image/image.h"

#include <math.h>
#include <string.h>

enum { SIDE_MAX = 16384 };

static bool are_sides(int rows, int columns)
{
    return rows >= 2 && columns >= 2 && rows <= SIDE_MAX && columns <= SIDE_MAX;
}

static orr_result take_samples(const spec_hfield *hfield, hfield_data *d, int rows, int columns,
                               orr_error *error)
{
    if (!are_sides(rows, columns)) {
        return spec_fail(&hfield->head, error, "expected 2 to %d rows and columns", SIDE_MAX);
    }
    d->rows = rows, d->columns = columns;
    d->samples = orr_alloc_zero((size_t)rows * (size_t)columns, sizeof *d->samples);
    return d->samples ? ORR_OK : spec_memory_fail(error);
}

static orr_result read_picture(const spec_hfield *hfield, const orr_bytes *bytes, hfield_data *d,
                               orr_error *error)
{
    orr_image8 image;
    orr_error reason;
    if (orr_image8_decode(bytes->data, bytes->size, hfield->file, &image, &reason) != ORR_OK) {
        return spec_fail(&hfield->head, error, "file: %.300s", reason.message);
    }
    orr_result result = take_samples(hfield, d, image.height, image.width, error);
    for (int row = 0; result == ORR_OK && row < d->rows; row++) {
        for (int column = 0; column < d->columns; column++) { // row 0 of an image is its top: the greatest y
            d->samples[(d->rows - 1 - row) * d->columns + column] =
                (float)image.rgba[4 * ((size_t)row * (size_t)d->columns + (size_t)column)];
        }
    }
    orr_image8_free(&image);
    return result;
}

// Two int32 (rows, columns) and that many floats.
static orr_result read_binary(const spec_hfield *hfield, const orr_bytes *bytes, hfield_data *d,
                              orr_error *error)
{
    int32_t sides[2] = {0, 0};
    if (bytes->size >= sizeof sides) {
        memcpy(sides, bytes->data, sizeof sides);
    }
    size_t size = (size_t)sides[0] * (size_t)sides[1] * sizeof(float);
    if (are_sides(sides[0], sides[1]) && bytes->size != sizeof sides + size) {
        return spec_fail(&hfield->head, error, "file: expected %zu bytes of %d x %d samples",
                         sizeof sides + size, sides[0], sides[1]);
    }
    ORR_TRY(take_samples(hfield, d, sides[0], sides[1], error));
    memcpy(d->samples, bytes->data + sizeof sides, size);
    return ORR_OK;
}

static orr_result read_numbers(const spec_hfield *hfield, hfield_data *d, orr_error *error)
{
    ORR_TRY(take_samples(hfield, d, hfield->nrow, hfield->ncol, error));
    if (hfield->elevation.count == 0) {
        return ORR_OK;
    }
    if (hfield->elevation.count != d->rows * d->columns) {
        return spec_fail(&hfield->head, error, "elevation: expected nrow x ncol numbers");
    }
    for (int i = 0; i < hfield->elevation.count; i++) { // the first row has the greatest y
        d->samples[(d->rows - 1 - i / d->columns) * d->columns + i % d->columns] =
            (float)hfield->elevation.values[i];
    }
    return ORR_OK;
}

static orr_result normalise(const spec_hfield *hfield, hfield_data *d, orr_error *error)
{
    int count = d->rows * d->columns;
    float low = d->samples[0], high = d->samples[0];
    for (int i = 0; i < count; i++) {
        if (!isfinite(d->samples[i])) {
            return spec_fail(&hfield->head, error, "expected finite samples");
        }
        low = fminf(low, d->samples[i]);
        high = fmaxf(high, d->samples[i]);
    }
    for (int i = 0; i < count; i++) {
        d->samples[i] = high > low ? (d->samples[i] - low) / (high - low) : 0.0f;
    }
    return ORR_OK;
}

orr_result hfield_build(const spec_hfield *hfield, hfield_data *d, orr_error *error)
{
    for (int i = 0; i < 4; i++) {
        if (!(hfield->size[i] > 0.0)) {
            return spec_fail(&hfield->head, error, "size: expected 4 positive numbers");
        }
    }
    if (!hfield->file) {
        ORR_TRY(read_numbers(hfield, d, error));
        return normalise(hfield, d, error);
    }
    orr_bytes bytes;
    orr_error reason;
    if (orr_file_read(hfield->file, &bytes, &reason) != ORR_OK) {
        return spec_fail(&hfield->head, error, "file: %.300s", reason.message);
    }
    bool picture = orr_path_has_ending(hfield->file, ".png");
    orr_result result =
        picture ? read_picture(hfield, &bytes, d, error) : read_binary(hfield, &bytes, d, error);
    orr_free(bytes.data);
    return result == ORR_OK ? normalise(hfield, d, error) : result;
}

// A box as high as the base and half of the surface's height.
void hfield_half_size(const double extent[4], double half[3])
{
    half[0] = extent[0];
    half[1] = extent[1];
    half[2] = 0.25 * extent[2] + 0.5 * extent[3];
}
