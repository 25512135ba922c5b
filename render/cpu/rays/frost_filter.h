// Pixels of frosted glass follow a few rays each, into other directions than their neighbours
// (rays_tile_shift). Together those of a square of pixels are spread evenly: their mean has the light of all.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/memory.h"

// In a picture's keys of what rays meet: the pixel is frosted, and of this surface of the raster. Not -1,
// which is beyond the picture, nor a key.
static inline int32_t orr_frost_key(int surface)
{
    return -2 - surface;
}

static inline bool orr_frost_is_key(int32_t key)
{
    return key < -1;
}

// Each pixel of frosted glass becomes the mean of those in the square around it that show the same surface,
// of their linear light; of rows that do not show it straight above or below the pixel none. met: keys,
// height x width; rgb: planes of display colours, 3 x height x width; frosted: becomes such planes, of the
// arena, with these pixels alone
orr_result orr_frost_filter(orr_jobs *jobs, orr_arena *arena, int width, int height, const int32_t *met,
                            float *rgb, float **frosted, orr_error *error);
