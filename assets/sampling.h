// Points spread over a shape with even gaps, each with the disc that it becomes.
#pragma once

#include "assets/shape.h"

typedef struct surface_sample {
    real3 position, normal;
    real3 tangent; // unit, along the first of the two sizes
    float size[2]; // standard deviations along tangent and normal x tangent
    int material;
} surface_sample;

// About `target` samples, in an order that keeps neighbours together; free with orr_free.
orr_result sample_surface(const shape_mesh *s, int target, surface_sample **samples, int *count,
                          orr_error *error);
