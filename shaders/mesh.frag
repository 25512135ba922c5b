// A pixel of an opaque mesh: its colour, and the distance along the camera's axis.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/mesh_surface.glsl"

layout(location = 0) out vec4 colour_and_distance; // distance 0: only the backdrop

void main()
{
    vec3 colour = hazy_colour(clear_colour()).rgb;
    colour_and_distance = vec4(colour, has_flag(BACKDROP) ? 0.0 : camera_position.z);
}
