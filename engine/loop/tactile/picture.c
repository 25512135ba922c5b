// What the camera of a GelSight-like sensor sees of a gel's heights, by Taxim's table of colours (Si and
// Yuan, arXiv 2109.04027), as TacSL draws it: the height is blurred, its slope chooses a polynomial in the
// place.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/engine.h"

#include <math.h>
#include <string.h>

enum { CHANNELS = 3, TERMS = 6 }; // of a polynomial: x^2, y^2, x y, x, y, 1

static const float pi = 3.14159265358979f;
static const float grey = 128.0f; // of a flat gel, where there is no background

typedef struct picture_job {
    orr_tactile_colours colours;
    const float *heights;
    uint8_t *rgb;
    float *scratch; // workers x 2 x rows x columns
} picture_job;

// The index of a sample up to two beyond the border: mirrored about the outermost of three or more.
static int mirrored(int i, int count)
{
    return i < 0 ? -i : i >= count ? 2 * (count - 1) - i : i;
}

static float blurred(const float *from, int count, ptrdiff_t stride, int i)
{
    static const float weight[3] = {6.0f / 16.0f, 4.0f / 16.0f, 1.0f / 16.0f}; // binomial
    float sum = weight[0] * from[i * stride];
    for (int k = 1; k < 3; k++) {
        sum += weight[k] * (from[mirrored(i - k, count) * stride] + from[mirrored(i + k, count) * stride]);
    }
    return sum;
}

// Five by five, along rows and then along columns.
static void blur(const float *from, int rows, int columns, float *across, float *to)
{
    for (int y = 0; y < rows; y++) {
        const float *row = from + (ptrdiff_t)y * columns;
        for (int x = 0; x < columns; x++) {
            across[(ptrdiff_t)y * columns + x] = blurred(row, columns, 1, x);
        }
    }
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < columns; x++) {
            to[(ptrdiff_t)y * columns + x] = blurred(across + x, rows, columns, y);
        }
    }
}

// The slope at a taxel, without a unit: half of what its neighbours differ by. The outermost taxels have that
// of the taxel beside them.
static void slope_at(const float *heights, const orr_tactile_colours *c, int y, int x, float *down,
                     float *across)
{
    const float scale = 0.5f / (float)c->pixel;
    y = y == 0 ? 1 : y == c->rows - 1 ? y - 1 : y;
    x = x == 0 ? 1 : x == c->columns - 1 ? x - 1 : x;
    const float *at = heights + (ptrdiff_t)y * c->columns + x;
    *down = scale * (at[c->columns] - at[-c->columns]);
    *across = scale * (at[1] - at[-1]);
}

// What is added to the background, of each channel, by the table or without one.
static void from_table(const orr_tactile_colours *c, int y, int x, float down, float across,
                       float change[CHANNELS])
{
    const float magnitude = atanf(sqrtf(down * down + across * across)), direction = atan2f(down, across);
    const int last = c->bins - 1;
    const int steep = (int)(magnitude / (0.5f * pi) * (float)last);
    const int turn = (int)((direction + pi) / (2.0f * pi) * (float)last);
    // rounding may go one too far
    const ptrdiff_t bin = (ptrdiff_t)(steep < last ? steep : last) * c->bins + (turn < last ? turn : last);
    const float px = (float)x, py = (float)y;
    for (int channel = 0; channel < CHANNELS; channel++) {
        const float *k = c->table + (bin * CHANNELS + channel) * TERMS;
        change[channel] = k[0] * px * px + k[1] * py * py + k[2] * px * py + k[3] * px + k[4] * py + k[5];
    }
}

// A matte gel under a lamp of each colour, 120 degrees apart around the pad and 45 degrees above it, less
// what it is where the gel is flat. Red shines along the columns, from the last one.
static void from_lamps(float down, float across, float change[CHANNELS])
{
    static const float towards[CHANNELS][2] = {{1.0f, 0.0f}, {-0.5f, 0.8660254f}, {-0.5f, -0.8660254f}};
    const float length = sqrtf(1.0f + across * across + down * down); // of the normal (-across, -down, 1)
    for (int channel = 0; channel < CHANNELS; channel++) {
        const float facing = 1.0f - across * towards[channel][0] - down * towards[channel][1];
        change[channel] = grey * (fmaxf(facing / length, 0.0f) - 1.0f);
    }
}

static void draw_picture(void *context, int index, int worker)
{
    const picture_job *job = context;
    const orr_tactile_colours *c = &job->colours;
    const ptrdiff_t taxels = (ptrdiff_t)c->rows * c->columns;
    float *across = job->scratch + worker * 2 * taxels, *smooth = across + taxels;
    uint8_t *rgb = job->rgb + index * taxels * CHANNELS;
    blur(job->heights + index * taxels, c->rows, c->columns, across, smooth);
    for (int y = 0; y < c->rows; y++) {
        for (int x = 0; x < c->columns; x++) {
            float fall, run, change[CHANNELS];
            slope_at(smooth, c, y, x, &fall, &run);
            if (c->table) {
                from_table(c, y, x, fall, run, change);
            } else {
                from_lamps(fall, run, change);
            }
            for (int k = 0; k < CHANNELS; k++) {
                const ptrdiff_t i = ((ptrdiff_t)y * c->columns + x) * CHANNELS + k;
                const float from = c->background ? c->background[i] : grey;
                rgb[i] = (uint8_t)(fminf(fmaxf(from + change[k], 0.0f), 255.0f) + 0.5f);
            }
        }
    }
}

static orr_result check_numbers(const float *values, int64_t count, const char *what, orr_error *error)
{
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: number %lld is %g: expected finite numbers", what,
                            (long long)i, (double)values[i]);
        }
    }
    return ORR_OK;
}

static orr_result check(const orr_tactile_colours *c, int count, const float *heights, orr_error *error)
{
    if (c->rows < 3 || c->columns < 3 || c->rows > 1024 || c->columns > 1024 || count < 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%d tactile pictures of %d x %d taxels: expected 1 or more of 3 to 1024 of each",
                        count, c->rows, c->columns);
    }
    if (!(c->pixel > 0.0) || !isfinite(c->pixel)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a pixel of %g m: expected more than 0", c->pixel);
    }
    if ((c->table != NULL) != (c->bins != 0) || (c->table && (c->bins < 2 || c->bins > 1024))) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s of %d bins: expected a table of 2 to 1024 bins a side, or neither",
                        c->table ? "a table" : "no table", c->bins);
    }
    const int64_t taxels = (int64_t)c->rows * c->columns;
    ORR_TRY(check_numbers(heights, count * taxels, "heights", error));
    if (c->table) {
        ORR_TRY(check_numbers(c->table, (int64_t)c->bins * c->bins * CHANNELS * TERMS, "table", error));
    }
    return c->background ? check_numbers(c->background, taxels * CHANNELS, "background", error) : ORR_OK;
}

orr_result orr_tactile_pictures_sized(const orr_engine *engine, const orr_tactile_colours *colours,
                                      size_t colours_size, int count, const float *heights, uint8_t *rgb,
                                      orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_engine_check(engine, error));
    ORR_REQUIRE(colours, error);
    ORR_REQUIRE(heights, error);
    ORR_REQUIRE(rgb, error);
    picture_job job = {.heights = heights, .rgb = rgb};
    ORR_TRY(orr_sized_read(&job.colours, sizeof job.colours, colours, colours_size, "orr_tactile_colours",
                           error));
    ORR_TRY(check(&job.colours, count, heights, error));
    ORR_ALLOC(job.scratch,
              (int64_t)orr_jobs_workers(engine->jobs) * 2 * job.colours.rows * job.colours.columns,
              "tactile pictures", error);
    orr_jobs_for(engine->jobs, count, draw_picture, &job);
    orr_free(job.scratch);
    return ORR_OK;
}
