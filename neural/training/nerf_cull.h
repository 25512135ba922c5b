// What the photos of a capture say about empty space before any training: cells outside every picture, and
// cells that some picture shows as transparent throughout.
#pragma once

#include "neural/capture/ray_camera.h"
#include "neural/fields/occupancy.h"

// Culls those cells of the grid. cameras: one per image to learn from.
orr_result orr_nerf_cull_unseen(orr_occupancy *grid, orr_jobs *jobs, const orr_capture *capture,
                                const int *images, int image_count, const orr_ray_camera *cameras,
                                orr_error *error);
