// A lens as a part of keys of what is kept between frames: its numbers without padding, so that equal ones
// have equal bytes.
#pragma once

#include "engine/maths/camera.h"

#include <string.h>

typedef struct orr_kept_lens {
    float view[12], position[3], focal[2], centre[2], planes[2], slopes[4], clip[4];
    int32_t width, height, orthographic;
} orr_kept_lens;

// Of a lens that is not distorted.
static inline orr_kept_lens orr_kept_lens_of(const orr_lens *lens)
{
    orr_kept_lens key = {.planes = {lens->near_plane, lens->far_plane},
                         .width = lens->width,
                         .height = lens->height,
                         .orthographic = lens->orthographic};
    memcpy(key.view, lens->view, sizeof key.view);
    memcpy(key.position, lens->position, sizeof key.position);
    memcpy(key.focal, lens->focal, sizeof key.focal);
    memcpy(key.centre, lens->centre, sizeof key.centre);
    memcpy(key.slopes, lens->slope_low, sizeof lens->slope_low);
    memcpy(key.slopes + 2, lens->slope_high, sizeof lens->slope_high);
    memcpy(key.clip, lens->clip, sizeof key.clip);
    return key;
}
