// How alike two pictures are.
#pragma once

#include "engine/core/result.h"

// Peak signal-to-noise ratio [dB] of `count` values in 0 .. 1; 200 when they are equal.
double orr_psnr(const float *a, const float *b, int64_t count);
// Structural similarity (Wang et al. 2004): windows of 11 x 11 with a Gaussian of 1.5 pixels, values in 0 .. 1, the mean
// over whole windows and channels. height x width x channels; a picture smaller than a window gives 1 when both are
// equal, otherwise 0.
orr_result orr_ssim(const float *a, const float *b, int width, int height, int channels, double *ssim,
                    orr_error *error);
