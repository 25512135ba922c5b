// Haze and fog before what the camera sees (haze_formula.h). They mix display colours, which the light of one
// sample has not: what is behind them is summed up first and mixed when the picture is made.
#pragma once

#include "engine/maths/vector_formula.h"
#include "render/backdrop/haze_formula.h"
#include "render/draw.h"

// Samples of one pixel that are behind air.
typedef struct air_sums {
    double rgb[3];   // their light, linear, each times what of its display colour passes
    double share[3]; // their number, each times what of their light reaches the eye as if there were no air
    // of the air, each times the mean of its share
    double passes;
    double added[3]; // display colours
    double weight;   // of all
} air_sums;

// The samples of a pixel by the air that is before them alike.
enum {
    AIR_SEEN,      // behind what is up to the first surface
    AIR_REFRACTED, // behind that, smooth glass, and what is beyond; its light is a part of the first's
    AIR_REFLECTED, // likewise of what the first surface of glass reflects
    AIR_GROUPS
};

// Is there haze or fog?
bool air_is_there(haze_view v);
// What is on a ray from the camera up to a surface. position, direction: in the camera's space, the latter
// unit; axis: depth for each unit of length
haze_air air_before(haze_view v, real3 position, real3 direction, real axis, real distance);
// What is behind two airs one after the other.
haze_air air_join(haze_air before, haze_air behind);
// light: what of a sample reaches the camera, as if there were no air; share: of light that comes from there
void air_add(air_sums *sums, haze_air air, real3 light, real3 share);
// Linear light of them all, to be divided by the number of all samples. Exact where the air is the same in
// the whole pixel; where it is not, its mean is before the mean of the light.
void air_light(const air_sums *sums, double rgb[3]);
