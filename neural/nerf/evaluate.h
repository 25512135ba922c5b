// How near a radiance field's pictures are to photos it was not trained on.
#pragma once

#include "neural/nerf/draw.h"

typedef struct orr_nerf_score {
    double psnr, ssim;
    int photos; // compared: 1, or the number of those in a mean; 0: stopped before the first
} orr_nerf_score;

// Asked between pieces of a picture, about ten times a second; where it returns true, evaluation ends.
typedef struct orr_nerf_stop {
    bool (*asked)(void *context);
    void *context;
} orr_nerf_stop;

// Draws the photos `images` (count indices into the capture) in full size and compares. As in the papers,
// photo and picture are on the same background, which is white, with display values: rgb alpha + 1 -
// alpha; the picture is rounded to bytes first, so that the score is that of the picture as a file.
// Pixels that a photo's mask leaves out count in neither figure. stop: nullable; scores: one per photo,
// nullable; mean: over the photos that were finished. ORR_ERROR_ARGUMENT when a photo is under 11 x 11
// (SSIM has no window).
orr_result orr_nerf_evaluate(orr_nerf_drawer *drawer, const orr_occupancy *grid, const orr_capture *capture,
                             const int *images, int count, orr_jobs *jobs, const orr_nerf_stop *stop,
                             orr_nerf_score *scores, orr_nerf_score *mean, orr_error *error);
