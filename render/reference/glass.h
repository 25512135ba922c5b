// Surfaces that light goes through, for paths: smooth and rough ones, thin ones and those of closed bodies
// (render/glass/glass_formula.h).
#pragma once

#include "render/reference/bsdf.h"

struct glass {
    real3 plane; // normal of the flat triangle; this and bsdf.normal are on the side of the eye
    real3 tint;  // a factor of the light that goes through
    real eta;    // index of refraction beyond the surface by that on the side of the eye
    real alpha;  // squared roughness
    bool thin;   // light goes straight through
    bool smooth; // it reflects and refracts to one direction each
};

// Up to this roughness a surface counts as smooth; below this difference of the indices light goes straight
// on.
#define GLASS_SMOOTH 0.03f
#define GLASS_SAME 1e-3f
static inline bool glass_is_smooth(real roughness, real ior)
{
    return roughness <= GLASS_SMOOTH || fabsf(ior - 1.0f) < GLASS_SAME;
}

// The density by which a direction is drawn that no lamp's draw finds.
#define GLASS_SURE 1e30f

// normal, plane: unit, on the side of to_eye; ior: of the body; entering: the eye is outside of it, as it is
// for a thin one. *glass is what the result refers to.
bsdf bsdf_glass(glass *g, real3 normal, real3 plane, real3 to_eye, real3 tint, real ior, real roughness,
                bool thin, bool entering);

// As bsdf_eval and bsdf_draw, for both sides of the surface. Of a smooth one glass_eval says what it reflects
// of lamps without extent, and glass_draw gives the weight per density GLASS_SURE.
bsdf_value glass_eval(const bsdf *b, real3 to_light);
bsdf_value glass_draw(const bsdf *b, real u, real v, real choice, real3 *to_light);

// Whether light from there can arrive: the flat triangle and the normal agree on its side.
bool glass_faces(const bsdf *b, real3 to_light);
