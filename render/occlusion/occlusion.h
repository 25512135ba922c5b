// The ambient occlusion of a frame (occlusion_formula.h): what machines take from the draw list for it.
#pragma once

#include "render/draw.h"

// occlusion_view of occlusion_formula.h as plain floats, for files without lanes.
typedef struct orr_occlusion_values {
    float focal[2], centre[2];
    float width, height;
    float orthographic;
    float radius; // 0: nothing is occluded
    float strength;
    float up[3];
} orr_occlusion_values;

static inline orr_occlusion_values orr_occlusion_of(const orr_draw_list *list)
{
    const orr_lens *lens = &list->lens;
    orr_occlusion_values values = {.focal = {lens->focal[0], lens->focal[1]},
                                   .centre = {lens->centre[0], lens->centre[1]},
                                   .width = (float)lens->width,
                                   .height = (float)lens->height,
                                   .orthographic = lens->orthographic ? 1.0f : 0.0f,
                                   .radius = list->occlusion.strength > 0.0f ? list->occlusion.radius : 0.0f,
                                   .strength = list->occlusion.strength};
    affine_apply_to_direction(lens->view, list->occlusion.up, values.up);
    return values;
}
