#include "neural/nerf/evaluate.h"

#include "engine/core/memory.h"
#include "engine/image/metrics.h"
#include "neural/fields/draw.h"

#include <math.h>

enum { TILES_PER_PIECE = 64 };

typedef struct evaluation {
    float *rgba, *seen, *expected; // of the largest photo
} evaluation;

// Both pictures over white. Where the mask leaves out, they become equal; returns how many pixels are left.
static int64_t over_white(const orr_capture_image *image, const evaluation *e)
{
    int64_t pixels = (int64_t)image->width * image->height, kept = 0;
    for (int64_t i = 0; i < pixels; i++) {
        bool counts = !image->mask || image->mask[i];
        kept += counts;
        orr_capture_over_white(image, i, e->expected + 3 * i);
        for (int c = 0; c < 3; c++) {
            float value = e->rgba[4 * i + c] + 1.0f - e->rgba[4 * i + 3];
            e->seen[3 * i + c] =
                counts ? roundf(255.0f * fminf(fmaxf(value, 0.0f), 1.0f)) / 255.0f : e->expected[3 * i + c];
        }
    }
    return kept;
}

// false: stopped
static bool draw(orr_nerf_drawer *drawer, const orr_occupancy *grid, orr_nerf_draw_desc *desc, orr_jobs *jobs,
                 const orr_nerf_stop *stop)
{
    int tiles = orr_field_tile_count(desc->camera.width, desc->camera.height);
    int piece = TILES_PER_PIECE * orr_jobs_workers(jobs);
    for (int first = 0; first < tiles; first += piece) {
        if (stop && stop->asked(stop->context)) {
            return false;
        }
        desc->first_tile = first;
        desc->tile_count = tiles - first < piece ? tiles - first : piece;
        orr_nerf_draw(drawer, grid, desc);
    }
    return true;
}

static orr_result evaluate(orr_nerf_drawer *drawer, const orr_occupancy *grid, const orr_capture *capture,
                           const orr_capture_image *image, orr_jobs *jobs, const orr_nerf_stop *stop,
                           const evaluation *e, orr_nerf_score *score, orr_error *error)
{
    *score = (orr_nerf_score){0};
    orr_nerf_draw_desc desc = {.camera = orr_ray_camera_of_image(image, capture->to_unit), .rgba = e->rgba};
    if (!draw(drawer, grid, &desc, jobs, stop)) {
        return ORR_OK;
    }
    int64_t pixels = (int64_t)image->width * image->height, kept = over_white(image, e);
    score->photos = 1;
    // differences are 0 where the mask leaves out: they are in the mean of all, not in that of the rest
    score->psnr = orr_psnr(e->seen, e->expected, pixels * 3);
    if (kept < pixels) {
        score->psnr += 10.0 * log10((double)kept / (double)pixels);
    }
    return orr_ssim(e->seen, e->expected, image->mask, image->width, image->height, 3, jobs, &score->ssim,
                    error);
}

orr_result orr_nerf_evaluate(orr_nerf_drawer *drawer, const orr_occupancy *grid, const orr_capture *capture,
                             const int *images, int count, orr_jobs *jobs, const orr_nerf_stop *stop,
                             orr_nerf_score *scores, orr_nerf_score *mean, orr_error *error)
{
    size_t largest = 0;
    for (int i = 0; i < count; i++) {
        const orr_capture_image *image = &capture->images[images[i]];
        size_t pixels = (size_t)image->width * (size_t)image->height;
        largest = pixels > largest ? pixels : largest;
    }
    evaluation e = {.rgba = orr_alloc(largest, 4 * sizeof(float)),
                    .seen = orr_alloc(largest, 3 * sizeof(float)),
                    .expected = orr_alloc(largest, 3 * sizeof(float))};
    orr_result result = ORR_OK;
    if (!e.rgba || !e.seen || !e.expected) {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %zu pixels", largest);
    }
    orr_nerf_score sum = {0};
    for (int i = 0; i < count && result == ORR_OK; i++) {
        orr_nerf_score score;
        result = evaluate(drawer, grid, capture, &capture->images[images[i]], jobs, stop, &e, &score, error);
        if (scores) {
            scores[i] = score;
        }
        sum.psnr += score.psnr;
        sum.ssim += score.ssim;
        sum.photos += score.photos;
    }
    *mean = sum;
    if (sum.photos > 0) {
        mean->psnr /= sum.photos;
        mean->ssim /= sum.photos;
    }
    orr_free(e.rgba);
    orr_free(e.seen);
    orr_free(e.expected);
    return result;
}
