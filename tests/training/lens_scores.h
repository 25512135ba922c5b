// Pictures of a training's splats beside other photos than those that it learned from: with their lens's
// distortion, without it, or by another camera at the same poses.
#pragma once

#include "render/training/splat_trainer.h"

typedef struct lens_score {
    double psnr, ssim; // means over the photos
} lens_score;

// images: `count` of `photos`, which has as many as the capture that the trainer has
lens_score score_beside(orr_splat_trainer *trainer, const orr_capture *photos, orr_splat_lenses lenses,
                        const int *images, int count);
