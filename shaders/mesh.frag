// A mesh's pixel: texture, light, and the distance along the camera's axis.
#version 460
#include "shaders/mesh.glsl"

layout(location = 0) in vec3 camera_position;
layout(location = 1) in vec3 camera_normal;
layout(location = 2) in vec2 texture_place;
layout(location = 3) in vec3 linear_colour;

layout(location = 0) out vec4 colour_and_distance;

layout(binding = 0) uniform sampler2D base_texture; // nearest level; sRGB, so that texels are linear and filtered so

// Trilinear, the level by the longer of the two steps that one pixel makes in the texture.
vec4 sample_texture()
{
    vec2 size = vec2(textureSize(base_texture, 0));
    vec2 across = dFdx(texture_place) * size;
    vec2 down = dFdy(texture_place) * size;
    float longest = clamp(max(dot(across, across), dot(down, down)), 1.0, 1e30);
    float level = min(0.5 * log2(longest), float(textureQueryLevels(base_texture) - 1));
    float fine = floor(level);
    return mix(textureLod(base_texture, texture_place, fine), textureLod(base_texture, texture_place, fine + 1.0),
               level - fine);
}

void main()
{
    vec4 texel = sample_texture();
    // the side that is seen faces the eye, which is at -z of the camera's space in an orthographic view
    vec3 outward = cross(dFdx(camera_position), dFdy(camera_position));
    vec3 to_surface = push.orthographic > 0.5 ? vec3(0.0, 0.0, 1.0) : camera_position;
    outward = dot(outward, to_surface) > 0.0 ? -outward : outward;
    if (push.alpha_cutoff > 0.0 && texel.a < push.alpha_cutoff) {
        discard;
    }
    vec3 base = push.base_colour * texel.rgb * linear_colour;
    real3 c = mesh_shade(push.sun, make_real3(base.r, base.g, base.b),
                         make_real3(camera_normal.x, camera_normal.y, camera_normal.z),
                         make_real3(outward.x, outward.y, outward.z));
    colour_and_distance = vec4(c.x, c.y, c.z, camera_position.z);
}
