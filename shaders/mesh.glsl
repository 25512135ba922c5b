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
    float emission, specular, shininess;
    float orthographic; // 1 or 0
    float backdrop;     // 1 or 0: unlit, without a distance
    uint order;         // of the part among the frame's
    int width;          // of the picture
}
push;
