#include "neural/nerf/evaluate.h"

#include "engine/core/memory.h"
#include "engine/image/metrics.h"

#include <math.h>

typedef struct evaluation {
    float *rgba, *seen, *expected; // of the largest photo
} evaluation;

static void over_white(const orr_capture_image *image, const evaluation *e)
{
    int64_t pixels = (int64_t)image->width * image->height;
    for (int64_t i = 0; i < pixels; i++) {
        orr_capture_over_white(image, i, e->expected + 3 * i);
        for (int c = 0; c < 3; c++) {
            float value = e->rgba[4 * i + c] + 1.0f - e->rgba[4 * i + 3];
            e->seen[3 * i + c] = roundf(255.0f * fminf(fmaxf(value, 0.0f), 1.0f)) / 255.0f;
        }
    }
}

static orr_result evaluate(orr_nerf_drawer *drawer, const orr_occupancy *grid, const orr_capture *capture,
                           const orr_capture_image *image, orr_jobs *jobs, const evaluation *e,
                           orr_nerf_score *score, orr_error *error)
{
    orr_nerf_draw_desc desc = {.camera = orr_ray_camera_of_image(image, capture->to_unit), .rgba = e->rgba};
    orr_nerf_draw(drawer, grid, &desc);
    over_white(image, e);
    score->psnr = orr_psnr(e->seen, e->expected, (int64_t)image->width * image->height * 3);
    return orr_ssim(e->seen, e->expected, image->width, image->height, 3, jobs, &score->ssim, error);
}

orr_result orr_nerf_evaluate(orr_nerf_drawer *drawer, const orr_occupancy *grid, const orr_capture *capture,
                             const int *images, int count, orr_jobs *jobs, orr_nerf_score *scores,
                             orr_nerf_score *mean, orr_error *error)
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
    *mean = (orr_nerf_score){0.0, 0.0};
    for (int i = 0; i < count && result == ORR_OK; i++) {
        orr_nerf_score score;
        result = evaluate(drawer, grid, capture, &capture->images[images[i]], jobs, &e, &score, error);
        if (result == ORR_OK) {
            mean->psnr += score.psnr / count;
            mean->ssim += score.ssim / count;
            if (scores) {
                scores[i] = score;
            }
        }
    }
    orr_free(e.rgba);
    orr_free(e.seen);
    orr_free(e.expected);
    return result;
}
