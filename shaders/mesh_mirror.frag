// A pixel of an opaque mesh of a frame with mirrors: as mesh.frag, and in a mirror what that shows.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/mesh_surface.glsl"
#include "render/mirror/mirror_formula.h"

layout(location = 0) out vec4 colour_and_distance; // distance 0: only the backdrop
// what the mirror shows as its own camera sees it: height x width, premultiplied, display-referred
layout(binding = 12, scalar) readonly buffer Mirrored { vec4 mirrored[]; };

vec4 with_mirrored(vec4 colour)
{
    int mirror = int(push.flags >> MIRROR_SHIFT & 7u) - 1;
    if (mirror < 0) {
        return colour;
    }
    int column = int(mirror_column(lighting.size.x, picture_point.x));
    int row = int(mirror_row(lighting.size.y, picture_point.y));
    vec4 seen = mirrored[row * push.width + column];
    real3 sum = mirror_add(lighting.reflectances[mirror], real3_of(colour.rgb),
                           make_real4(seen.r, seen.g, seen.b, seen.a));
    return vec4(sum.x, sum.y, sum.z, colour.a);
}

void main()
{
    vec3 colour = hazy_colour(with_mirrored(clear_colour())).rgb;
    colour_and_distance = vec4(colour, has_flag(BACKDROP) ? 0.0 : camera_position.z);
}
