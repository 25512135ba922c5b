// Similarity of a picture and a reference: PSNR and SSIM.
#pragma once

#include "engine/core/jobs.h"

// 10 log10(1 / mean squared difference) of values in 0 .. 1; infinity when they are equal.
double orr_psnr(const float *a, const float *b, int64_t count);

// Structural similarity (Wang et al. 2004) of pictures height x width x channels, values in 0 .. 1: Gaussian
// window of 11 x 11 with sigma 1.5, K1 0.01, K2 0.03, population covariance, mean over channels and pixels
// whose whole window is in the picture. That is scikit-image's structural_similarity with
// gaussian_weights, sigma 1.5, use_sample_covariance False, data_range 1. ORR_ERROR_ARGUMENT under 11 x 11.
// mask: height x width, pixels at 0 are left out of the mean, which is 1 when none is left; NULL: all count.
orr_result orr_ssim(const float *a, const float *b, const uint8_t *mask, int width, int height, int channels,
                    orr_jobs *jobs, double *ssim, orr_error *error);
