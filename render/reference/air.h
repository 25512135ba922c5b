// Haze and fog before what the camera sees (haze_formula.h). They mix display colours, which the light of one
// sample has not: what is behind them is summed up first and mixed when the picture is made.
#pragma once

#include "engine/maths/vector_formula.h"
#include "render/backdrop/haze_formula.h"
#include "render/draw.h"

// The samples of one pixel that are behind air.
typedef struct air_sums {
    double rgb[3];   // their light, linear, each times what of its display colour passes
    double passes;   // what passes
    double added[3]; // display colours of the air
    double share;    // their number, each times what splats and fields before it let through
} air_sums;

// Is there haze or fog?
bool air_is_there(haze_view v);
// What is on a ray from the camera up to a surface. position, direction: in the camera's space, the latter
// unit; axis: depth for each unit of length
haze_air air_before(haze_view v, real3 position, real3 direction, real axis, real distance);
// light: what of a sample reaches the camera past splats and fields, as if there were no air; part: what
// those let through
void air_add(air_sums *sums, haze_air air, real3 light, real part);
// Linear light of them all, to be divided by the number of all samples. Exact where the air is the same in
// the whole pixel; where it is not, its mean is before the mean of the light.
void air_light(const air_sums *sums, double rgb[3]);
