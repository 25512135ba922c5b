// Textures: procedural or read from images. A cube has six square faces, one below the other: +x, -x, +y, -y,
// +z,
// -z.
#include "physics/model/compile.h"

#include "engine/core/file.h"
#include "engine/image/image.h"
#include "engine/maths/rng.h"

#include <math.h>
#include <string.h>

enum { SIDE_MAX = 16384 };

typedef struct texel {
    uint8_t channels[4];
} texel;

static texel make_texel(const double rgb[3])
{
    texel made = {.channels[3] = 255};
    for (int c = 0; c < 3; c++) {
        made.channels[c] = (uint8_t)(255.0 * fmin(1.0, fmax(0.0, rgb[c])));
    }
    return made;
}

static void put(const texture_data *d, int row, int column, texel value)
{
    const size_t channels = (size_t)d->channels, at = (size_t)row * (size_t)d->width + (size_t)column;
    memcpy(d->pixels + at * channels, value.channels, channels);
}

// Between rgb2 at -1 and rgb1 at 1, as MuJoCo blends gradients: steepest in the middle.
static texel blend(const spec_texture *t, double position)
{
    double share = 0.5 + sqrt(0.5) * position / sqrt(1.0 + position * position), rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = share * t->rgb1[i] + (1.0 - share) * t->rgb2[i];
    }
    return make_texel(rgb);
}

static const double right_angle = 1.57079632679489661923;

// Where a gradient is: by the angle of elevation at a side of a cube,
static double position_at_side(double x, double y)
{
    return atan2(-y, sqrt(1.0 + x * x)) / right_angle;
}

// at the face above,
static double position_above(double x, double y)
{
    return atan2(1.0, sqrt(x * x + y * y)) / right_angle;
}

// and by the distance from the middle of a flat texture.
static double position_of_flat(double x, double y)
{
    return 1.0 - 2.0 * fmin(1.0, sqrt(x * x + y * y));
}

static double coordinate(int i, int count)
{
    return 2.0 * i / fmax(1.0, count - 1) - 1.0;
}

static void fill_gradient(const spec_texture *t, const texture_data *d)
{
    for (int row = 0; row < d->height; row++) {
        for (int column = 0; column < d->width; column++) {
            double x = coordinate(column, d->width), y = coordinate(row, d->height);
            put(d, row, column, blend(t, position_of_flat(x, y)));
        }
    }
}

// The four sides are alike; the faces above and below are their own mirror images along the diagonal, and
// complete each other. Arctangents are most of the time.
static void fill_gradient_cube(const spec_texture *t, const texture_data *d)
{
    const int side = d->width;
    for (int row = 0; row < side; row++) {
        for (int column = 0; column < side; column++) {
            double x = coordinate(column, side), y = coordinate(row, side);
            put(d, row, column, blend(t, position_at_side(x, y)));
            if (column <= row) {
                double position = position_above(x, y);
                texel above = blend(t, position), below = blend(t, -position);
                put(d, 2 * side + row, column, above);
                put(d, 2 * side + column, row, above);
                put(d, 3 * side + row, column, below);
                put(d, 3 * side + column, row, below);
            }
        }
    }
    static const int alike[] = {1, 4, 5};
    const size_t bytes = (size_t)side * (size_t)side * (size_t)d->channels;
    for (int i = 0; i < 3; i++) {
        memcpy(d->pixels + (size_t)alike[i] * bytes, d->pixels, bytes);
    }
}

static bool is_marked(const spec_texture *t, int row, int column, int side, int height, orr_rng *rng)
{
    switch ((spec_mark)t->mark) {
    case SPEC_MARK_EDGE:
        return row == 0 || column == 0 || row == height - 1 || column == side - 1;
    case SPEC_MARK_CROSS:
        return row == height / 2 || column == side / 2;
    case SPEC_MARK_RANDOM:
        return (double)orr_rng_next(rng) < t->random * 4294967296.0;
    case SPEC_MARK_NONE:
        break;
    }
    return false;
}

static void fill_face(const spec_texture *t, const texture_data *d, int face, int height)
{
    const texel colours[2] = {make_texel(t->rgb1), make_texel(t->rgb2)};
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < d->width; column++) {
            bool other = false;
            if (t->builtin == SPEC_BUILTIN_CHECKER) { // neighbours match
                other = ((row < height / 2) != (column < d->width / 2)) != (face >= 4);
            } else if (t->builtin == SPEC_BUILTIN_FLAT) {
                other = face == 3; // the face below
            }
            put(d, face * height + row, column, colours[other]);
        }
    }
}

static void mark_face(const spec_texture *t, const texture_data *d, int face, int height, orr_rng *rng)
{
    const texel mark = make_texel(t->markrgb);
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < d->width; column++) {
            if (is_marked(t, row, column, d->width, height, rng)) {
                put(d, face * height + row, column, mark);
            }
        }
    }
}

static orr_result take_pixels(const spec_texture *t, texture_data *d, orr_error *error)
{
    if (d->width < 1 || d->height < 1 || d->width > SIDE_MAX || d->height > 6 * SIDE_MAX) {
        return spec_fail(&t->head, error, "width and height: expected 1 to %d", SIDE_MAX);
    }
    d->pixels = orr_alloc_zero((size_t)d->width * (size_t)d->height, (size_t)d->channels);
    return d->pixels ? ORR_OK : spec_memory_fail(error);
}

static orr_result make_builtin(const spec_texture *t, texture_data *d, orr_error *error)
{
    bool cube = t->type != ORR_TEXTURE_2D;
    d->width = t->width;
    d->height = cube ? (t->width <= SIDE_MAX ? 6 * t->width : 0) : t->height;
    ORR_TRY(take_pixels(t, d, error));
    const int faces = cube ? 6 : 1, height = d->height / faces;
    if (t->builtin == SPEC_BUILTIN_GRADIENT) {
        (cube ? fill_gradient_cube : fill_gradient)(t, d);
    }
    orr_rng rng = {.seed = 42};
    for (int face = 0; face < faces; face++) {
        if (t->builtin != SPEC_BUILTIN_GRADIENT) {
            fill_face(t, d, face, height);
        }
        if (t->mark != SPEC_MARK_NONE) {
            mark_face(t, d, face, height, &rng);
        }
    }
    return ORR_OK;
}

// A part of an image as a face, flipped where hflip or vflip is set.
static void copy_face(const spec_texture *t, const texture_data *d, int face, int side,
                      const orr_image8 *image, int left, int top)
{
    for (int row = 0; row < side; row++) {
        for (int column = 0; column < d->width; column++) {
            int from_row = top + (t->vflip ? side - 1 - row : row),
                from_column = left + (t->hflip ? d->width - 1 - column : column);
            const uint8_t *from =
                image->rgba + 4 * ((size_t)from_row * (size_t)image->width + (size_t)from_column);
            uint8_t *to = d->pixels + ((size_t)(face * side + row) * (size_t)d->width + (size_t)column) *
                                          (size_t)d->channels;
            memcpy(to, from, (size_t)d->channels);
        }
    }
}

// Does a PNG file declare its colours as sRGB (chunk sRGB, before the pixels)?
static bool is_tagged_srgb(const char *file)
{
    orr_bytes file_bytes;
    if (orr_file_read(file, &file_bytes, NULL) != ORR_OK) {
        return false;
    }
    const uint8_t *bytes = file_bytes.data;
    size_t size = file_bytes.size;
    bool tagged = false;
    size_t at = 8; // the signature
    while (!tagged && at + 8 <= size && memcmp(bytes + at + 4, "IDAT", 4) != 0) {
        const uint8_t *b = bytes + at;
        size_t length = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
        tagged = size >= 8 && memcmp(bytes, "\x89PNG", 4) == 0 && memcmp(b + 4, "sRGB", 4) == 0;
        at = length < size - at ? at + length + 12 : size;
    }
    orr_free(file_bytes.data);
    return tagged;
}

static orr_result load_picture(const spec_texture *t, texture_data *d, const char *file, orr_image8 *image,
                               orr_error *error)
{
    orr_error reason;
    if (orr_image8_load(file, image, &reason) != ORR_OK) {
        return spec_fail(&t->head, error, "file: %.300s", reason.message);
    }
    if (t->colour_space == ORR_COLOUR_AUTO && is_tagged_srgb(file)) {
        d->colour_space = ORR_COLOUR_SRGB;
    }
    return ORR_OK;
}

// One file: a 2d texture, one face for all sides, or a grid of faces (gridlayout).
static orr_result copy_picture(const spec_texture *t, texture_data *d, const orr_image8 *image,
                               orr_error *error)
{
    bool cube = t->type != ORR_TEXTURE_2D;
    int rows = t->gridsize[0], columns = t->gridsize[1];
    if (!cube) {
        d->width = image->width, d->height = image->height;
        ORR_TRY(take_pixels(t, d, error));
        copy_face(t, d, 0, d->height, image, 0, 0);
        return ORR_OK;
    }
    if (rows < 1 || columns < 1 || (int64_t)rows * columns > 12 ||
        strlen(t->gridlayout) < (size_t)rows * (size_t)columns ||
        image->width / columns != image->height / rows || image->width % columns || image->height % rows) {
        return spec_fail(&t->head, error,
                         "expected a picture of square faces, up to 12, and a letter of gridlayout for each");
    }
    int side = image->width / columns;
    d->width = side, d->height = 6 * side;
    ORR_TRY(take_pixels(t, d, error));
    if (rows * columns == 1) {
        for (int face = 0; face < 6; face++) {
            copy_face(t, d, face, side, image, 0, 0);
        }
        return ORR_OK;
    }
    for (int i = 0; i < rows * columns; i++) {
        static const char letters[] = "RLUDFB";
        const char *face = strchr(letters, t->gridlayout[i]);
        if (face && *face) {
            copy_face(t, d, (int)(face - letters), side, image, i % columns * side, i / columns * side);
        } else if (t->gridlayout[i] != '.') {
            return spec_fail(&t->head, error, "gridlayout: expected letters of RLUDFB and points");
        }
    }
    return ORR_OK;
}

static orr_result read_sides(const spec_texture *t, texture_data *d, orr_error *error)
{
    for (int face = 0; face < 6; face++) {
        orr_image8 image;
        if (!t->side[face]) {
            continue;
        }
        ORR_TRY(load_picture(t, d, t->side[face], &image, error));
        orr_result result = ORR_OK;
        if (!d->pixels) {
            d->width = image.width;
            d->height = image.width <= SIDE_MAX ? 6 * image.width : 0;
            result = take_pixels(t, d, error);
        }
        if (result == ORR_OK && (image.width != d->width || image.height != d->width)) {
            result = spec_fail(&t->head, error, "expected square pictures of one size");
        }
        if (result == ORR_OK) {
            copy_face(t, d, face, d->width, &image, 0, 0);
        }
        orr_image8_free(&image);
        ORR_TRY(result);
    }
    return d->pixels ? ORR_OK : spec_fail(&t->head, error, "expected builtin or a file");
}

orr_result texture_build(const spec_texture *t, texture_data *d, orr_error *error)
{
    if (t->nchannel < 1 || t->nchannel > 4) {
        return spec_fail(&t->head, error, "nchannel: expected 1 to 4");
    }
    d->channels = t->nchannel;
    d->colour_space = t->colour_space == ORR_COLOUR_AUTO ? ORR_COLOUR_LINEAR : t->colour_space;
    if (t->builtin != SPEC_BUILTIN_NONE) {
        return make_builtin(t, d, error);
    }
    if (!t->file) {
        return t->type == ORR_TEXTURE_2D ? spec_fail(&t->head, error, "expected builtin or a file")
                                         : read_sides(t, d, error);
    }
    orr_image8 image;
    ORR_TRY(load_picture(t, d, t->file, &image, error));
    orr_result result = copy_picture(t, d, &image, error);
    orr_image8_free(&image);
    return result;
}
