// The picture of a draw list by brute force in double precision: every splat at every pixel, straight from
// the files' values. Slow and simple; what every machine is compared with.
#pragma once

#include "render/draw.h"

// One layer as files hold it. The reference does not use packs.
typedef struct reference_layer {
    orr_splats_view splats;
    float model[12];
    bool antialias;
} reference_layer;

// What is not splats, given per pixel; all may be NULL.
typedef struct reference_planes {
    const float *mesh_depth;   // height x width, infinity where there is none
    const float *mesh_colour;  // 3 x height x width
    const float *field_depth;  // height x width, infinity where there is none
    const float *field_colour; // 4 x height x width: premultiplied colour, and alpha
} reference_planes;

// rgba: height x width x 4, depth: height x width, as orr_picture says. background: NULL: transparent.
void draw_reference(const orr_lens *lens, const reference_layer *layers, int layer_count,
                    const float *background, const reference_planes *planes, float *rgba, float *depth);
