// The background as light that comes through glass from where nothing is. One text for CPU lanes, CUDA and
// GLSL (see engine/maths/formula.h).
#ifndef ORR_GLASS_SKY_FORMULA_H
#define ORR_GLASS_SKY_FORMULA_H

#include "engine/maths/vector_formula.h"
#include "render/backdrop/sky_formula.h"

// Display colour. direction: unit, in the space of the view's `up`; any, also behind the camera
FN real3 glass_sky(sky_view s, real3 direction)
{
    real rise = dot3(make_real3(R(s.up_x), R(s.up_y), R(s.up_z)), direction);
    // as a camera sees it whose right is up, at the point of its picture that rises so
    s.up_x = 1.0f;
    s.up_y = 0.0f;
    s.up_z = 0.0f;
    s.inverse_focal_x = 1.0f;
    s.inverse_focal_y = 1.0f;
    s.centre_x = 0.0f;
    s.centre_y = 0.0f;
    return sky_colour(s, rise / sqrt_(max_(fma_(-rise, rise, R(1.0)), R(1e-10))), R(0.0));
}

#endif
