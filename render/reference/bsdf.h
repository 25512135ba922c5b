// How a surface scatters light, for paths: by Lambert's law, or as render/bsdf_formula.h says; and directions
// that are drawn accordingly.
#pragma once

#include "render/appearance/neural_surface.h"
#include "render/bsdf_formula.h"
#include "render/mesh_formula.h"

#include <stddef.h>

typedef struct glass glass; // render/reference/glass.h

typedef struct bsdf {
    real3 normal;     // unit, on the side of to_eye
    real3 to_eye;     // unit
    bsdf_metal metal; // where it is not glossy, of this the albedo alone
    bool glossy;      // false: Lambert's law alone
    // the clear coat over it
    real coated; // the part that is under it; 0: none, and the rest is not set
    real3 plane; // normal of the flat triangle, on the side of to_eye
    real3 coat_normal;
    bsdf_metal coat;
    real coat_albedo; // what it reflects of light from everywhere
    // a network that says how light is reflected, whose lobes stand above, to be drawn from; NULL: none
    const neural_surface *network;
    mesh_frame frame; // of its directions
    real3 tint;       // a factor of what it reflects
    // that light goes through, in place of all but normal and to_eye; NULL: opaque
    const glass *glass;
} bsdf;

typedef struct bsdf_value {
    real3 weight; // reflectance times cosine [1/sr]
    real pdf;     // of bsdf_draw [1/sr]; 0: the direction is not drawn
} bsdf_value;

// metallic, roughness: 0 .. 1
bsdf bsdf_lambert(real3 normal, real3 to_eye, real3 base);
bsdf bsdf_metallic(real3 normal, real3 to_eye, real3 base, real metallic, real roughness);
// The same of which the part that is no metal reflects so much by highlights (bsdf_dielectric_of).
bsdf bsdf_dielectric(real3 normal, real3 to_eye, real3 base, real metallic, real roughness, real3 f0,
                     real f90);
// Puts a clear coat over the part `coated` of a metallic surface. plane, normal: of the triangle and of the
// coat, unit, on the side of to_eye
void bsdf_add_coat(bsdf *b, real3 plane, real3 normal, real coated, real roughness);
// A surface whose material is a network. It is borrowed; frame: whose normal is on the side of to_eye
bsdf bsdf_neural(const neural_surface *network, const mesh_frame *frame, real3 to_eye, real3 tint);
// The part of what comes from below the coat, as light that the surface emits, that is seen.
real bsdf_passes_coat(const bsdf *b);
bsdf_value bsdf_eval(const bsdf *b, real3 to_light);
// Draws a direction from three numbers in [0, 1). Returns its value; pdf 0: none.
bsdf_value bsdf_draw(const bsdf *b, real u, real v, real choice, real3 *to_light);

// A normal of the microfacets that the eye sees, drawn from two numbers in [0, 1).
real3 bsdf_draw_half_way(real3 normal, real3 to_eye, real alpha, real u, real v);

// The one direction of which a mirror shows the light; normal, to_eye: unit.
real3 bsdf_mirror(real3 normal, real3 to_eye);

// Two unit vectors at right angles to a unit vector and to each other.
static inline void frame_around(real3 n, real3 *across, real3 *along)
{
    *across = across3(n);
    *along = cross3(n, *across);
}

// local.x across + local.y along + local.z n
static inline real3 frame_out(real3 n, real3 local)
{
    real3 across, along;
    frame_around(n, &across, &along);
    return add_scaled3(add_scaled3(scale3(across, local.x), along, local.y), n, local.z);
}
