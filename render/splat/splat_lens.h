// The camera of a frame, as the projection of one layer of splats takes it.
#pragma once

#include "render/draw.h"

// splat_lens as plain floats, in the order of its members, for files without lanes
typedef struct splat_lens_values {
    float view[12];
    float eye[3];
    float focal[2], centre[2];
    float near_plane, far_plane;
    float slope_x[2], slope_y[2]; // low, high
    float width, height;
    float orthographic, antialias;
} splat_lens_values;

// splat_photo_lens as plain floats, in the order of its members
typedef struct splat_photo_values {
    float focal[2], centre[2];
    float radial[4], tangential[2];
    float fisheye_limit, reach;
} splat_photo_values;

// Of a lens that is distorted.
splat_photo_values orr_splat_photo_of(const orr_lens *lens);

// The eye is given in the layer's space, so that harmonics need no rotation.
orr_result orr_splat_lens_make(const orr_lens *lens, const orr_draw_splats *layer, splat_lens_values *values,
                               orr_error *error);

// The lens's clip plane in the layer's space: splats whose middle is behind it are not drawn. values: of the
// layer
void orr_splat_lens_clip(const orr_lens *lens, const splat_lens_values *values, float clip[4]);
