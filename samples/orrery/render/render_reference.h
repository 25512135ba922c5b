// The pictures of orrery render --reference: path-traced, sample by sample.
#pragma once

#include "engine/core/result.h"

typedef struct reference_request {
    int samples; // per pixel
    uint32_t seed;
    bool linear;   // radiance instead of display colours
    bool progress; // is shown here: there is only one picture
} reference_request;

// Draws one view into the picture. After Ctrl-C it has as many samples as there was time for, at least one.
// *info: of the finished picture.
orr_result render_reference(const orr_scene *scene, const orr_world *world, const orr_view *view,
                            const reference_request *request, const orr_picture *picture,
                            orr_reference_info *info, orr_error *error);
