// Push constants of the shaders that draw meshes.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_scalar_block_layout : require
#include "render/mesh_formula.h"

layout(push_constant, scalar) uniform Push
{
    affine to_camera;
    vec2 scale, offset; // of the camera's x and y to the picture's -1 .. 1
    vec2 depth;         // slope and start of the depth buffer's values: greater is nearer
    vec4 base_colour;
    float alpha_cutoff; // 0: no holes
    float emission; // FILM: which of the mesh's materials it is; HIGHLIGHT: four bytes, roots of reflectances
    vec2 gloss; // specular factor and shininess; METAL: metallic and roughness
    vec3 emissive;
    uint flags; // of those below
    uint order; // of the part among the frame's
    int width;  // of the picture
}
push;

const uint ORTHOGRAPHIC = 1u;
const uint BACKDROP = 2u; // unlit, without a distance
const uint UNLIT = 4u;
const uint METAL = 8u; // of the metallic-roughness model
const uint BENT = 16u; // has a texture of normals
const uint SAMPLED = 32u; // drawn with four samples of each pixel
const uint COATED = 64u; // has a texture of a clear coat
const uint ENDS = 128u; // endless, where there is haze; not for lights
const uint FILM = 256u; // glass that is drawn as a film
const uint WHOLE = 512u; // of which alpha counts nothing
const uint HIGHLIGHT = 1024u; // says how bright its highlights are
const uint COAT_BENT = 2048u; // has a texture of normals of its clear coat
const uint MIRROR_SHIFT = 12u; // three bits: 1 + the index of the mirror; 0: it is none; or
const uint TRACED = 5u; // the surface starts rays, whose light the CPU has found
const uint ENVIRONMENT_SHIFT = 15u; // three bits: 1 + the index of the mesh's environment; 0: none
// a bit for each use of textures, as orr_texture_use numbers them: laid on by second coordinates; of the
// nearest level
const uint SECOND_SHIFT = 18u, NEAREST_SHIFT = 25u;
const uint BASE = 0u, SURFACE = 1u, EMISSIVE = 2u, NORMAL = 3u, COAT = 4u, COAT_NORMAL = 5u;
const uint SECOND_SURFACE = 6u;

bool has_flag(uint flag)
{
    return (push.flags & flag) != 0u;
}
