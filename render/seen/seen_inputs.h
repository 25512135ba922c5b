// What seen_formula.h takes of a camera; for lanes, kernels and plain C with ORR_SCALAR.
#pragma once

#include "engine/maths/camera.h"
#include "render/seen/seen_formula.h"

FN seen_lens seen_lens_of(const orr_lens *lens)
{
    seen_lens s;
    s.focal_x = lens->focal[0];
    s.focal_y = lens->focal[1];
    s.centre_x = lens->centre[0];
    s.centre_y = lens->centre[1];
    s.near_plane = lens->near_plane;
    s.orthographic = lens->orthographic ? 1.0f : 0.0f;
    return s;
}
