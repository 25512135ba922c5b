// The background: one colour, or a sky that changes with the height of the view. One text for CPU lanes,
// CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_SKY_FORMULA_H
#define ORR_SKY_FORMULA_H

#include "engine/maths/formula.h"

STRUCT(sky_view)
{
    uniform_real up_x, up_y, up_z;                 // in the camera's space, unit
    uniform_real inverse_focal_x, inverse_focal_y; // 0: orthographic, where all of the sky is one point
    uniform_real centre_x, centre_y;
    uniform_real high_red, high_green, high_blue; // straight up; display colours
    uniform_real level_red, level_green, level_blue;
    uniform_real low_red, low_green, low_blue; // straight down
}
END_STRUCT(sky_view)

// What a point of the picture [px] looks at, in the camera's space; not of length 1.
FN real3 sky_direction(sky_view s, real x, real y)
{
    return make_real3((x - R(s.centre_x)) * R(s.inverse_focal_x), (y - R(s.centre_y)) * R(s.inverse_focal_y),
                      R(1.0));
}

// Display colour at a point of the picture [px]: by the sine of the elevation, from level to high or low.
FN real3 sky_colour(sky_view s, real x, real y)
{
    real right = (x - R(s.centre_x)) * R(s.inverse_focal_x);
    real down = (y - R(s.centre_y)) * R(s.inverse_focal_y);
    real rise =
        (R(s.up_x) * right + R(s.up_y) * down + R(s.up_z)) / sqrt_(right * right + down * down + R(1.0));
    real above = max_(rise, R(0.0)), below = max_(-rise, R(0.0));
    return make_real3(
        R(s.level_red) + above * R(s.high_red - s.level_red) + below * R(s.low_red - s.level_red),
        R(s.level_green) + above * R(s.high_green - s.level_green) + below * R(s.low_green - s.level_green),
        R(s.level_blue) + above * R(s.high_blue - s.level_blue) + below * R(s.low_blue - s.level_blue));
}

#endif
