// The picture of a draw list by brute force in double precision: every splat at every pixel, straight from the files'
// values. Slow and simple; what every machine is held against.
#pragma once

#include "render/draw.h"

// One layer as files hold it. The reference does not use packs.
typedef struct reference_layer {
    orr_splats_view splats;
    float model[12];
    bool antialias;
} reference_layer;

// rgba: height x width x 4, depth: height x width, as orr_picture says. Meshes are planes given per pixel: mesh_depth
// (height x width, infinity where there is none) and mesh_colour (3 x height x width), both NULL without meshes.
void draw_reference(const orr_lens *lens, const reference_layer *layers, int layer_count,
                    const float *background, const float *mesh_depth, const float *mesh_colour, float *rgba,
                    float *depth);
