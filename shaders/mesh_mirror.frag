// A pixel of an opaque mesh of a frame with mirrors or rays: as mesh.frag, and in a mirror what that shows;
// what the CPU has drawn of a surface that starts rays.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/mesh_surface.glsl"
#include "render/mirror/mirror_formula.h"

layout(location = 0) out vec4 colour_and_distance; // distance 0: only the backdrop
// height x width; of a mirror what it shows as its own camera sees it, premultiplied, display-referred; of
// surfaces that start rays their colour, alpha 0: unknown
layout(binding = 12, scalar) readonly buffer Shown { vec4 shown[]; };

vec4 with_mirrored(vec4 colour, uint what)
{
    if (what == 0u || what == TRACED) {
        return colour;
    }
    int column = int(mirror_column(lighting.size.x, picture_point.x));
    int row = int(mirror_row(lighting.size.y, picture_point.y));
    vec4 seen = shown[row * push.width + column];
    real3 sum = mirror_add(lighting.reflectances[what - 1u], real3_of(colour.rgb),
                           make_real4(seen.r, seen.g, seen.b, seen.a));
    return vec4(sum.x, sum.y, sum.z, colour.a);
}

void main()
{
    uint what = push.flags >> MIRROR_SHIFT & 7u;
    vec3 colour = hazy_colour(with_mirrored(clear_colour(), what)).rgb;
    if (what == TRACED) {
        vec4 traced = shown[int(gl_FragCoord.y) * push.width + int(gl_FragCoord.x)];
        colour = traced.a > 0.0 ? traced.rgb : colour;
    }
    colour_and_distance = vec4(colour, has_flag(BACKDROP) ? 0.0 : camera_position.z);
}
