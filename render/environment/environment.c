// Environments from latitude-longitude pictures.
#include "render/environment/maps.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/decode.h"
#include "engine/maths/half.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

#define LARGEST 65504.0f // of half floats

// ---- the picture ----

static orr_result check_size(int width, int height, const char *name, orr_error *error)
{
    bool good = height >= 1 && width == 2 * height && width <= ORR_ENVIRONMENT_SIDE_MAX;
    return good
               ? ORR_OK
               : orr_fail(error, ORR_CODE_IMAGE_FILE,
                          "%s: %d x %d pixels: expected a latitude-longitude picture, twice as wide as high, "
                          "at most %d wide",
                          name, width, height, ORR_ENVIRONMENT_SIDE_MAX);
}

static orr_result copy_pixels(const float *rgb, const char *name, orr_panorama *p, int64_t *clamped,
                              orr_error *error)
{
    const size_t count = 3 * (size_t)p->width * (size_t)p->height;
    ORR_ALLOC(p->rgb, count, "an environment", error);
    for (size_t i = 0; i < count; i++) {
        float value = rgb[i];
        if (!(value >= 0.0f)) {
            size_t pixel = i / 3;
            return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: pixel (%zu, %zu): %g: expected 0 or more", name,
                            pixel % (size_t)p->width, pixel / (size_t)p->width, (double)value);
        }
        *clamped += isinf(value);
        p->rgb[i] = isinf(value) ? LARGEST : value;
    }
    return ORR_OK;
}

static double luminance(const float rgb[3])
{
    return 0.2126 * (double)rgb[0] + 0.7152 * (double)rgb[1] + 0.0722 * (double)rgb[2];
}

// The height (sine of the latitude) of the upper edge of a row.
static double height_of(const orr_panorama *p, int row)
{
    return cos(pi * (double)row / (double)p->height);
}

static double solid_angle(const orr_panorama *p, int row)
{
    return 2.0 * pi / (double)p->width * (height_of(p, row) - height_of(p, row + 1));
}

// Sums of light by which pixels are drawn.
static orr_result sum_up(orr_panorama *p, orr_error *error)
{
    ORR_ALLOC(p->rows, p->height, "an environment", error);
    ORR_ALLOC(p->columns, (size_t)p->width * (size_t)p->height, "an environment", error);
    double all = 0.0;
    for (int y = 0; y < p->height; y++) {
        double row = 0.0, angle = solid_angle(p, y);
        for (int x = 0; x < p->width; x++) {
            size_t at = (size_t)y * (size_t)p->width + (size_t)x;
            row += luminance(p->rgb + 3 * at) * angle;
            p->columns[at] = (float)row;
        }
        all += row;
        p->rows[y] = all;
    }
    return ORR_OK;
}

// ---- maps ----

// Where a direction is in the picture [px].
static void find_pixel(const orr_panorama *p, const float d[3], double *x, double *y)
{
    double across = hypot((double)d[0], (double)d[2]);
    *x = (0.5 + atan2((double)d[0], -(double)d[2]) / (2.0 * pi)) * p->width;
    *y = (0.5 - atan2((double)d[1], across) / pi) * p->height;
}

// Bilinear between the middles of pixels; columns go around, rows end at the poles.
static void add_sample(const orr_panorama *p, const float direction[3], float weight, float sum[3])
{
    double x, y;
    find_pixel(p, direction, &x, &y);
    x -= 0.5, y -= 0.5;
    int left = (int)floor(x), top = (int)floor(y);
    float right = (float)(x - left), down = (float)(y - top);
    for (int i = 0; i < 4; i++) {
        int column = (left + i % 2 + p->width) % p->width, row = top + i / 2;
        row = row < 0 ? 0 : row >= p->height ? p->height - 1 : row;
        float part = weight * (i % 2 ? right : 1.0f - right) * (i / 2 ? down : 1.0f - down);
        const float *from = p->rgb + 3 * ((size_t)row * (size_t)p->width + (size_t)column);
        for (int k = 0; k < 3; k++) {
            sum[k] += part * from[k];
        }
    }
}

typedef struct flattening {
    const orr_panorama *panorama;
    float *rgb;
    int side;
} flattening;

// A row of the octahedral map: each texel the mean of four points of it.
static void flatten_row(void *context, int y, int worker)
{
    (void)worker;
    const flattening *f = context;
    for (int x = 0; x < f->side; x++) {
        float *sum = f->rgb + 3 * ((size_t)y * (size_t)f->side + (size_t)x), direction[3];
        memset(sum, 0, 3 * sizeof *sum);
        for (int i = 0; i < 4; i++) {
            orr_environment_direction(2 * f->side, 2 * x + i % 2, 2 * y + i / 2, direction);
            add_sample(f->panorama, direction, 0.25f, sum);
        }
    }
}

static orr_result make_maps(orr_jobs *jobs, const orr_panorama *panorama, orr_environment *e,
                            orr_error *error)
{
    flattening f = {.panorama = panorama, .side = e->sharp};
    ORR_ALLOC(f.rgb, 3 * (size_t)f.side * (size_t)f.side, "an environment", error);
    orr_jobs_for(jobs, f.side, flatten_row, &f);
    orr_result result = orr_environment_fill(jobs, f.rgb, e, error);
    orr_free(f.rgb);
    return result;
}

// ---- harmonics ----

// Integrals over a row of the picture, of the polynomials' parts that depend on the height y: exact, so that
// a picture of one colour has no harmonic but the first.
typedef struct row_integrals {
    double one, y, y_squared, ring, y_ring, ring_squared; // ring: distance from the axis
} row_integrals;

static double ring_integral(double y)
{
    double inside = fmax(1.0 - y * y, 0.0);
    return 0.5 * (y * sqrt(inside) + asin(fmin(fmax(y, -1.0), 1.0)));
}

static row_integrals integrate_row(double low, double high)
{
    row_integrals r = {
        .one = high - low,
        .y = 0.5 * (high * high - low * low),
        .y_squared = (high * high * high - low * low * low) / 3.0,
        .ring = ring_integral(high) - ring_integral(low),
        .y_ring = (pow(fmax(1.0 - low * low, 0.0), 1.5) - pow(fmax(1.0 - high * high, 0.0), 1.5)) / 3.0};
    r.ring_squared = r.one - r.y_squared;
    return r;
}

static void project(const orr_panorama *p, float harmonics[3][9])
{
    double sums[3][9] = {{0}};
    const double step = 2.0 * pi / p->width;
    // means over a pixel's width of the sine and cosine of the longitude, and of twice it
    const double narrow = sin(0.5 * step) / (0.5 * step), narrow2 = sin(step) / step;
    for (int row = 0; row < p->height; row++) {
        const row_integrals r = integrate_row(height_of(p, row + 1), height_of(p, row));
        for (int column = 0; column < p->width; column++) {
            double longitude = step * (column + 0.5) - pi;
            double x = narrow * sin(longitude), z = -narrow * cos(longitude);
            double xz = -0.5 * narrow2 * sin(2.0 * longitude);
            double zz = 0.5 * (1.0 + narrow2 * cos(2.0 * longitude));
            const double n[9] = {r.one,
                                 r.y,
                                 r.ring * z,
                                 r.ring * x,
                                 r.y_ring * x,
                                 r.y_ring * z,
                                 3.0 * r.ring_squared * zz - r.one,
                                 r.ring_squared * xz,
                                 r.ring_squared * (1.0 - zz) - r.y_squared};
            const float *rgb = p->rgb + 3 * ((size_t)row * (size_t)p->width + (size_t)column);
            for (int k = 0; k < 3; k++) {
                for (int i = 0; i < 9; i++) {
                    sums[k][i] += (double)rgb[k] * step * n[i];
                }
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 9; i++) {
            harmonics[k][i] = (float)(sums[k][i] * (double)orr_environment_harmonic(i));
        }
    }
}

// ---- making one ----

static int sharp_side(int height)
{
    int side = ORR_ENVIRONMENT_ROUGH;
    while (side < height && side < ORR_ENVIRONMENT_SHARP) {
        side *= 2;
    }
    return side;
}

static orr_result complete(orr_jobs *jobs, const float *rgb, const char *name, orr_environment *e,
                           int64_t *clamped, orr_error *error)
{
    orr_panorama *p = &e->panorama;
    ORR_TRY(copy_pixels(rgb, name, p, clamped, error));
    ORR_TRY(sum_up(p, error));
    project(p, e->harmonics);
    return make_maps(jobs, p, e, error);
}

orr_result orr_environment_create(orr_jobs *jobs, const float *rgb, int width, int height, const char *name,
                                  int64_t *clamped, orr_environment **environment, orr_error *error)
{
    int64_t own = 0;
    *environment = NULL;
    ORR_TRY(check_size(width, height, name, error));
    orr_environment *e;
    ORR_TRY(orr_environment_allocate(sharp_side(height), ORR_ENVIRONMENT_ROUGH, 0, &e, error));
    e->panorama = (orr_panorama){.width = width, .height = height};
    orr_result result = complete(jobs, rgb, name, e, &own, error);
    if (clamped) {
        *clamped = own;
    }
    if (result != ORR_OK) {
        orr_environment_destroy(e);
        return result;
    }
    *environment = e;
    return ORR_OK;
}

static float value_of(const orr_pixels *p, size_t index)
{
    if (p->format == ORR_PIXEL_FLOAT) {
        return ((const float *)p->data)[index];
    }
    return orr_half_to_float(((const uint16_t *)p->data)[index]);
}

static orr_result from_pixels(orr_jobs *jobs, const orr_pixels *p, const char *path, int64_t *clamped,
                              orr_environment **environment, orr_error *error)
{
    if (p->format != ORR_PIXEL_FLOAT && p->format != ORR_PIXEL_HALF) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%s: expected linear light: a .hdr or .exr picture",
                        path);
    }
    ORR_TRY(check_size(p->width, p->height, path, error));
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    float *rgb;
    ORR_ALLOC(rgb, 3 * pixels, "an environment", error);
    for (size_t i = 0; i < pixels; i++) {
        for (size_t k = 0; k < 3; k++) {
            float value = value_of(p, (size_t)p->channels * i + k);
            rgb[3 * i + k] = value < 0.0f ? 0.0f : value; // of lossy compression and sharp filters
        }
    }
    orr_result result =
        orr_environment_create(jobs, rgb, p->width, p->height, path, clamped, environment, error);
    orr_free(rgb);
    return result;
}

orr_result orr_environment_load(orr_jobs *jobs, const char *path, int64_t *clamped,
                                orr_environment **environment, orr_error *error)
{
    orr_bytes bytes;
    orr_pixels pixels = {0};
    *environment = NULL;
    ORR_TRY(orr_file_read(path, &bytes, error));
    const orr_picture_source source = {
        .data = bytes.data, .size = bytes.size, .name = path, .bytes_max = ORR_PICTURE_BYTES_MAX};
    orr_result result = orr_picture_decode(&source, &pixels, error);
    orr_free(bytes.data);
    if (result == ORR_OK) {
        result = from_pixels(jobs, &pixels, path, clamped, environment, error);
    }
    orr_free(pixels.data);
    return result;
}

void orr_environment_destroy(orr_environment *environment)
{
    if (!environment) {
        return;
    }
    orr_free(environment->texels);
    orr_free(environment->panorama.rgb);
    orr_free(environment->panorama.rows);
    orr_free(environment->panorama.columns);
    orr_free(environment);
}

// ---- paths ----

static float density(const orr_panorama *p, const float rgb[3])
{
    double all = p->rows[p->height - 1];
    return all > 0.0 ? (float)(luminance(rgb) / all) : 0.0f;
}

void orr_panorama_look(const orr_panorama *p, const float direction[3], float rgb[3], float *pdf)
{
    double x, y;
    find_pixel(p, direction, &x, &y);
    int column = (int)x % p->width, row = (int)y < p->height ? (int)y : p->height - 1;
    const float *from = p->rgb + 3 * ((size_t)row * (size_t)p->width + (size_t)column);
    memcpy(rgb, from, 3 * sizeof *rgb);
    *pdf = density(p, from);
}

void orr_panorama_draw(const orr_panorama *p, double choice, float u, float v, float direction[3],
                       float rgb[3], float *pdf)
{
    double wanted = choice * p->rows[p->height - 1];
    int low = 0, high = p->height - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (p->rows[middle] <= wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const int row = low;
    const float *columns = p->columns + (size_t)row * (size_t)p->width;
    double in_row = wanted - (row > 0 ? p->rows[row - 1] : 0.0);
    low = 0, high = p->width - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if ((double)columns[middle] <= in_row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // uniform in height and longitude, which is uniform in solid angle
    double top = height_of(p, row), y = top + (double)v * (height_of(p, row + 1) - top);
    double longitude = 2.0 * pi * (((double)low + (double)u) / p->width - 0.5),
           ring = sqrt(fmax(1.0 - y * y, 0.0));
    const float *from = p->rgb + 3 * ((size_t)row * (size_t)p->width + (size_t)low);
    direction[0] = (float)(ring * sin(longitude));
    direction[1] = (float)y;
    direction[2] = (float)(-ring * cos(longitude));
    memcpy(rgb, from, 3 * sizeof *rgb);
    *pdf = density(p, from);
}
