// Haze and fog before what the camera sees (haze_formula.h). They mix display colours, which the light of one
// sample has not: what is behind them is summed up first and mixed when the picture is made.
#pragma once

#include "engine/maths/vector_formula.h"
#include "render/backdrop/haze_formula.h"

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
    AIR_REFRACTED, // behind that, glass, and what is beyond; its light is a part of the first's
    AIR_REFLECTED, // likewise of what the first surface, of glass or a mirror, reflects
    AIR_GROUPS
};

// What one sample sees behind air.
typedef struct air_sample {
    haze_air air; // up to the first surface
    real3 behind; // linear: what of that surface's light passes splats and fields
    real part;    // that those let through; 0: nothing is behind air
    // of what that surface shows by glass or as a mirror, `group` of AIR_GROUPS; AIR_SEEN: nothing
    int group;
    haze_air air_beyond;
    real3 beyond, share; // linear, likewise; what of light from there passes the first air, splats and fields
} air_sample;

// What passes air of a sample's light. clear: its light that is not behind air
real3 air_passed(real3 clear, const air_sample *s);
// pixel: groups sums, one, or AIR_GROUPS where there is glass
void air_add(air_sums *pixel, const air_sample *s);
// Linear light of all samples, to be divided by their number. Exact where the air is the same in the whole
// pixel; where it is not, its mean is before the mean of the light.
void air_light(const air_sums *pixel, int groups, double rgb[3]);
