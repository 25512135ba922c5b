// The bilateral grids of photos (picture_grid_map.h): what a camera does to colours in parts of its
// picture, such as local tone mapping and vignettes, learned beside the splats.
#pragma once

#include "engine/core/result.h"
#include "render/training/picture/picture_grid_map.h"

typedef struct orr_photo_grid {
    float value[ORR_GRID];
    float moments[2][ORR_GRID]; // Adam's
} orr_photo_grid;

// Every map is the identity, without moments.
void orr_photo_grid_begin(orr_photo_grid *grid);
// Adam's, of step number `steps` from 1.
float orr_photo_grid_correction(int64_t steps);
// A step of Adam, number `steps` from 1. gradient: ORR_GRID, of the loss without the grid's variation, which
// is added; what is not finite is no gradient. Returns what the variation adds to the loss.
double orr_photo_grid_step(orr_photo_grid *grid, float *gradient, int64_t steps, float rate);
// Splats and grids could drift together: the mean of all maps of all these grids becomes the identity again.
void orr_photo_grids_centre(orr_photo_grid *grids, const int *images, int count);
