// Normals, optical flow and segmentation of the views that a command draws (orr_eyes_pictures), for numbered
// files.
#pragma once

#include "engine/orrery.h"

// Zero is without either. Owns all that it points to.
typedef struct surface_pictures {
    orr_output *normals, *flow, *segmentation; // NULL: not written
    orr_eyes *eyes;
    int width, height; // of the pictures so far
    float *values;     // width x height x 7: normals, flow, segmentation
    int32_t *names;    // width x height x 2
} surface_pictures;

// Draws what the view shows of the world as it is now, on the CPU, and writes it as picture `index`; pictures
// follow one another, and flow is since the one before. ORR_ERROR_ARGUMENT: another size than before.
orr_result surface_pictures_put(surface_pictures *pictures, const orr_world *world, const orr_view *view,
                                int64_t index, orr_error *error);
void surface_pictures_close(surface_pictures *pictures);
