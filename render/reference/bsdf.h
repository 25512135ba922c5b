// How a surface scatters light: Lambert's law, and the metallic-roughness model of glTF 2.0 (appendix B). Its
// highlights are those of Trowbridge and Reitz ("GGX") with Smith's height-correlated shadowing; what rough
// ones lose, because light is scattered only once, is given back in their own colour (Turquin 2019).
#pragma once

#include "engine/core/vector_formula.h"

#include <stddef.h>

#define BSDF_PI 3.14159265358979f

typedef struct bsdf {
    real3 normal;  // unit, on the side of to_eye
    real3 to_eye;  // unit
    real3 diffuse; // albedo
    real3 f0;      // reflectance of highlights seen straight; 0: there are none
    real3 gain;    // of highlights, for the light that they lose
    real alpha;    // squared roughness, at least BSDF_ALPHA_MIN
    bool glossy;   // false: Lambert's law alone
} bsdf;

#define BSDF_ALPHA_MIN 1e-3f // smoother ones are drawn like this: their peak still fits into a float

typedef struct bsdf_value {
    real3 weight; // reflectance times cosine [1/sr]
    real pdf;     // of bsdf_draw [1/sr]; 0: the direction is not drawn
} bsdf_value;

enum { BSDF_TABLE = 24 };

// The part of light from everywhere that a highlight of f0 = 1 reflects: [roughness][cosine to the eye], both
// from 0 to 1.
typedef struct bsdf_table {
    float reflected[BSDF_TABLE][BSDF_TABLE];
} bsdf_table;

void bsdf_table_fill(bsdf_table *table);
float bsdf_table_at(const bsdf_table *table, real roughness, real cosine);

// metallic, roughness: 0 .. 1. table NULL: no gain.
bsdf bsdf_lambert(real3 normal, real3 to_eye, real3 base);
bsdf bsdf_metallic(const bsdf_table *table, real3 normal, real3 to_eye, real3 base, real metallic,
                   real roughness);
bsdf_value bsdf_eval(const bsdf *b, real3 to_light);
// Draws a direction from three numbers in [0, 1). Returns its value; pdf 0: none.
bsdf_value bsdf_draw(const bsdf *b, real u, real v, real choice, real3 *to_light);

// Two unit vectors at right angles to a unit vector and to each other (Duff et al. 2017).
static inline void frame_around(real3 n, real3 *across, real3 *along)
{
    real sign = n.z < 0.0f ? -1.0f : 1.0f;
    real a = -1.0f / (sign + n.z), b = n.x * n.y * a;
    *across = make_real3(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *along = make_real3(b, sign + n.y * n.y * a, -n.y);
}

// local.x across + local.y along + local.z n
static inline real3 frame_out(real3 n, real3 local)
{
    real3 across, along;
    frame_around(n, &across, &along);
    return add_scaled3(add_scaled3(scale3(across, local.x), along, local.y), n, local.z);
}
