// Where splats begin when nothing but photos is known.
#pragma once

#include "render/training/splat_params.h"
#include "render/training/splat_photos.h"

// Random points that many photos see in nearly the same colour, of several candidates each; points that a
// photo shows transparent are nowhere. `images`: image_count indices of the photos to learn from. In Morton
// order. extent: how far the cameras are apart, which measures distances [scene units].
orr_result orr_splat_seeds_make(const orr_splat_photo *photos, const int *images, int image_count,
                                int64_t count, uint32_t seed, orr_jobs *jobs, orr_splat_seed *seeds,
                                orr_error *error);

// 1.1 times the largest distance of a camera from the middle of all.
float orr_splat_extent(const orr_splat_photo *photos, const int *images, int image_count);
