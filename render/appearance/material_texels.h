// A material of a mesh, texel by texel, as what its network learns from: the layers that the path tracer
// scatters by, a mip chain of their means, and how they reflect.
#pragma once

#include "render/appearance/neural_formula.h"
#include "render/mesh.h"
#include "render/reference/bsdf.h"

enum { MATERIAL_VALUES = 11, MATERIAL_FLOATS = MATERIAL_VALUES + 4 };

// Where components are means, the normal is shorter than 1.
typedef struct material_texel {
    float base[3]; // linear
    float metallic, roughness;
    float normal[3]; // in the surface's space
    float coated, coat_roughness;
    float occlusion;
    float f0[3], f90; // of what is no metal (bsdf_dielectric_of); the same in all texels: no value to learn
} material_texel;
_Static_assert(sizeof(material_texel) == MATERIAL_FLOATS * sizeof(float), "values in a row");

typedef struct material_texels {
    int width, height, levels;
    int32_t first[ORR_MIP_LEVELS]; // texel at which a level begins
    material_texel *texels;
} material_texels;

// The material with this index of a mesh, which must be of the metallic-roughness model; as large as the
// largest of its textures, and at most `side` texels wide and high. With mip chains or without.
orr_result material_texels_make(const orr_mesh *mesh, int material, int side, material_texels *texels,
                                orr_error *error);
void material_texels_free(material_texels *texels);
// A texel of level 0, by its place.
const material_texel *material_texel_at(const material_texels *texels, int column, int row);

// How the path tracer scatters there. to_eye: unit, in the surface's space, above it
bsdf material_bsdf(const material_texel *texel, real3 to_eye);
// How light from everywhere is reflected.
neural_lobes material_lobes(const material_texel *texel, real3 to_eye);
