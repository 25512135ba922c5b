// A texel of a shadow map: the depth of an opaque mesh along the light's axis.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/mesh_surface.glsl"

layout(location = 0) out float depth;

void main()
{
    find_point();
    solid_texel();
    depth = camera_position.z;
}
