#define ORR_SCALAR
#include "render/cpu/rays/frost_filter.h"

#include "engine/maths/colour_formula.h"
#include "render/cpu/rays/rays_formula.h"

#include <string.h>

enum { REACH = RAYS_TILE / 2, ROWS = 16 }; // pixels to each side; of a job

// Of the pixels beside one in its row that show the same surface.
typedef struct row_sum {
    float rgb[3]; // linear
    float count;
} row_sum;

typedef struct filter {
    int width, height;
    const int32_t *met;
    float *rgb;
    float *linear; // 3 x height x width, of frosted pixels; at last display colours again
    row_sum *sums; // height x width, likewise
} filter;

static void linear_row(const filter *f, size_t first)
{
    const size_t plane = (size_t)f->width * (size_t)f->height;
    for (size_t i = first; i < first + (size_t)f->width; i++) {
        for (size_t k = 0; k < 3 && orr_frost_is_key(f->met[i]); k++) {
            f->linear[k * plane + i] = srgb_to_linear(f->rgb[k * plane + i]);
        }
    }
}

static row_sum sum_across(const filter *f, size_t row, int x)
{
    const size_t plane = (size_t)f->width * (size_t)f->height;
    const int first = x < REACH ? 0 : x - REACH, last = x + REACH < f->width ? x + REACH : f->width - 1;
    row_sum sum = {0};
    for (int i = first; i <= last; i++) {
        const size_t at = row + (size_t)i;
        if (f->met[at] == f->met[row + (size_t)x]) {
            for (size_t k = 0; k < 3; k++) {
                sum.rgb[k] += f->linear[k * plane + at];
            }
            sum.count += 1.0f;
        }
    }
    return sum;
}

static void across_job(void *context, int i, int worker)
{
    (void)worker;
    const filter *f = context;
    for (int y = ROWS * i; y < ROWS * (i + 1) && y < f->height; y++) {
        const size_t row = (size_t)y * (size_t)f->width;
        linear_row(f, row);
        for (int x = 0; x < f->width; x++) {
            if (orr_frost_is_key(f->met[row + (size_t)x])) {
                f->sums[row + (size_t)x] = sum_across(f, row, x);
            }
        }
    }
}

static void put_mean(const filter *f, int x, int y)
{
    const size_t plane = (size_t)f->width * (size_t)f->height, at = (size_t)y * (size_t)f->width + (size_t)x;
    const int first = y < REACH ? 0 : y - REACH, last = y + REACH < f->height ? y + REACH : f->height - 1;
    row_sum sum = {0};
    for (int i = first; i <= last; i++) {
        const size_t there = (size_t)i * (size_t)f->width + (size_t)x;
        if (f->met[there] == f->met[at]) {
            for (int k = 0; k < 3; k++) {
                sum.rgb[k] += f->sums[there].rgb[k];
            }
            sum.count += f->sums[there].count;
        }
    }
    for (size_t k = 0; k < 3; k++) {
        f->rgb[k * plane + at] = f->linear[k * plane + at] = linear_to_srgb(sum.rgb[k] / sum.count);
    }
}

static void down_job(void *context, int i, int worker)
{
    (void)worker;
    const filter *f = context;
    for (int y = ROWS * i; y < ROWS * (i + 1) && y < f->height; y++) {
        for (int x = 0; x < f->width; x++) {
            if (orr_frost_is_key(f->met[(size_t)y * (size_t)f->width + (size_t)x])) {
                put_mean(f, x, y);
            }
        }
    }
}

orr_result orr_frost_filter(orr_jobs *jobs, orr_arena *arena, int width, int height, const int32_t *met,
                            float *rgb, float **frosted, orr_error *error)
{
    const size_t pixels = (size_t)width * (size_t)height;
    filter f = {.width = width, .height = height, .met = met, .rgb = rgb};
    f.linear = orr_arena_take(arena, 3 * pixels, sizeof *f.linear);
    f.sums = orr_arena_take(arena, pixels, sizeof *f.sums);
    if (!f.linear || !f.sums) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d x %d pixels", width, height);
    }
    orr_jobs_for(jobs, orr_blocks(height, ROWS), across_job, &f);
    orr_jobs_for(jobs, orr_blocks(height, ROWS), down_job, &f);
    *frosted = f.linear;
    return ORR_OK;
}
