// How near a radiance field's pictures are to photos it was not trained on.
#pragma once

#include "neural/nerf/draw.h"

typedef struct orr_nerf_score {
    double psnr, ssim;
} orr_nerf_score;

// Draws the photos `images` (count indices into the capture) in full size and compares. As in the papers,
// photo and picture are on the same background, which is white, with display values: rgb alpha + 1 - alpha;
// the picture is rounded to bytes first, so that the score is that of the picture as a file. scores: one per
// photo, nullable; mean: over the photos. ORR_ERROR_ARGUMENT when a photo is under 11 x 11 (SSIM has no
// window).
orr_result orr_nerf_evaluate(orr_nerf_drawer *drawer, const orr_occupancy *grid, const orr_capture *capture,
                             const int *images, int count, orr_jobs *jobs, orr_nerf_score *scores,
                             orr_nerf_score *mean, orr_error *error);
