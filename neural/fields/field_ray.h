// Rays through a field that are no picture's, and what they show.
#pragma once

#include "neural/capture/ray_camera.h"

typedef struct orr_field_ray {
    orr_camera_ray ray;          // ray.depth: length in the world per distance in the field
    float near_depth, far_depth; // between which it is followed, in the world's lengths from its origin
} orr_field_ray;

typedef struct orr_field_seen {
    float rgba[4]; // premultiplied display colours
    float depth;   // alpha-weighted mean, in the world's lengths; it means something where alpha > 0
} orr_field_seen;
