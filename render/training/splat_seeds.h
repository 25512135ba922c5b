// Where splats begin: at the points of the capture, and at points that photos agree on.
#pragma once

#include "render/training/splat_params.h"
#include "render/training/splat_photos.h"
#include "render/training/splat_points.h"

// Positions and colours of at most `most` points, drawn at random where there are more, none of them at a
// camera, be its photo learned from or not; the distance goes by orr_splat_extent. Returns how many they are.
int64_t orr_splat_seeds_take(const orr_splat_points *points, const orr_splat_photo *photos, int photo_count,
                             float extent, int64_t most, uint32_t seed, orr_splat_seed *seeds);
// Positions and colours of random points that many photos see in nearly the same colour, of several
// candidates each; points that a photo shows transparent are nowhere. `images`: image_count indices of the
// photos to learn from.
void orr_splat_seeds_draw(const orr_splat_photo *photos, const int *images, int image_count, int64_t count,
                          uint32_t seed, orr_jobs *jobs, orr_splat_seed *seeds);
// Morton order, and scales by the distances to the nearest three.
orr_result orr_splat_seeds_finish(orr_splat_seed *seeds, int64_t count, orr_jobs *jobs, orr_error *error);

// 1.1 times the largest distance of a camera from the middle of all: what distances are measured by.
float orr_splat_extent(const orr_splat_photo *photos, const int *images, int image_count);
