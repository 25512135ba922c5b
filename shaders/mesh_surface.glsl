// What a mesh shows in a pixel: texture and light.
#include "shaders/mesh.glsl"

layout(location = 0) in vec3 camera_position;
layout(location = 1) in vec3 camera_normal;
layout(location = 2) in vec2 texture_place;
layout(location = 3) in vec3 linear_colour;

layout(binding = 0) uniform sampler2D base_texture; // nearest level; sRGB, so that texels are linear and filtered so
layout(binding = 1, scalar) readonly buffer Lighting
{
    vec3 ambient;
    int count;
    mesh_light lights[];
}
lighting;

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

real3 light_up(real3 base, real3 p, real3 normal)
{
    vec3 everywhere = lighting.ambient + push.emission;
    real3 diffuse = make_real3(everywhere.r, everywhere.g, everywhere.b);
    real3 highlight = make_real3(0.0, 0.0, 0.0);
    real3 to_eye = push.orthographic > 0.5 ? make_real3(0.0, 0.0, -1.0) : normalised3(make_real3(-p.x, -p.y, -p.z));
    for (int i = 0; i < lighting.count; i++) {
        mesh_light light = lighting.lights[i];
        mesh_incidence from;
        if (light.directional > 0.5) {
            from = mesh_from_afar(light);
        } else {
            from = mesh_from_lamp(light, p);
        }
        diffuse = mesh_add_diffuse(diffuse, light, from, normal);
        if (push.specular > 0.0) {
            highlight = mesh_add_highlight(highlight, light, from, normal, to_eye, 128.0 * push.shininess);
        }
    }
    return mesh_shade(base, diffuse, highlight, push.specular);
}

// Display colour, and how opaque it is. Ends holes.
vec4 surface_colour()
{
    vec4 texel = sample_texture();
    // the side that is seen faces the eye, which is at -z of the camera's space in an orthographic view
    vec3 outward = cross(dFdx(camera_position), dFdy(camera_position));
    vec3 to_surface = push.orthographic > 0.5 ? vec3(0.0, 0.0, 1.0) : camera_position;
    outward = dot(outward, to_surface) > 0.0 ? -outward : outward;
    if (push.alpha_cutoff > 0.0 && texel.a < push.alpha_cutoff) {
        discard;
    }
    vec3 base = push.base_colour.rgb * texel.rgb * linear_colour;
    float alpha = push.base_colour.a * texel.a;
    if (push.backdrop > 0.5) {
        return vec4(linear_to_srgb(base.r), linear_to_srgb(base.g), linear_to_srgb(base.b), alpha);
    }
    real3 normal = mesh_seen_normal(make_real3(camera_normal.x, camera_normal.y, camera_normal.z),
                                    make_real3(outward.x, outward.y, outward.z));
    real3 c = light_up(make_real3(base.r, base.g, base.b),
                       make_real3(camera_position.x, camera_position.y, camera_position.z), normal);
    return vec4(c.x, c.y, c.z, alpha);
}
