// Colour of a mesh in a pixel: texture and light.
#include "render/texture_formula.h"
#include "shaders/cloud_table.glsl"
#include "shaders/light.glsl"
#include "shaders/mesh.glsl"
#include "shaders/neural.glsl"

layout(location = 0) in vec3 centre_position;
layout(location = 1) in vec3 centre_normal;
layout(location = 2) in vec2 centre_texture;
layout(location = 3) in vec4 centre_colour;
layout(location = 4) in vec2 centre_second; // coordinates
// Are textures of the material laid on by two pairs of coordinates?
layout(constant_id = 6) const bool SECOND_UV = false;
// The point that is shaded: the middle of the samples that the triangle covers, which is the pixel's centre
// if it covers all.
vec3 camera_position, camera_normal;
vec4 linear_colour; // of the vertices, with their alpha
vec2 texture_coordinates, second_coordinates;
vec2 picture_point; // the same in the picture [px]

// What is linear in the picture, at a distance from the pixel's centre [px].
vec4 moved(vec4 at_centre, vec2 by)
{
    return at_centre + dFdx(at_centre) * by.x + dFdy(at_centre) * by.y;
}

// From the centre's values, and not interpolated at a centroid, where llvmpipe divides by the centre's w.
void find_point()
{
    const vec2 samples[4] =
        vec2[](vec2(-0.125, -0.375), vec2(0.375, -0.125), vec2(-0.375, 0.125), vec2(0.125, 0.375));
    vec2 by = vec2(0.0);
    float count = 0.0;
    for (int i = 0; i < 4; i++) {
        if (has_flag(SAMPLED) && (gl_SampleMaskIn[0] >> i & 1) != 0) {
            by += samples[i];
            count += 1.0;
        }
    }
    by /= max(count, 1.0);
    picture_point = gl_FragCoord.xy + by;
    float inverse = gl_FragCoord.w;
    vec4 position = moved(vec4(centre_position * inverse, inverse), by);
    vec4 normal = moved(vec4(centre_normal * inverse, centre_texture.x * inverse), by);
    vec4 colour = moved(centre_colour * inverse, by);
    vec4 row = moved(vec4(centre_texture.y, SECOND_UV ? centre_second : vec2(0.0), 0.0) * inverse, by);
    camera_position = centre_position;
    camera_normal = centre_normal;
    texture_coordinates = centre_texture;
    second_coordinates = centre_second;
    linear_colour = centre_colour;
    if (count > 0.0 && count < 4.0) {
        float w = 1.0 / position.w;
        camera_position = position.xyz * w;
        camera_normal = normal.xyz * w;
        texture_coordinates = vec2(normal.w, row.x) * w;
        second_coordinates = row.yz * w;
        linear_colour = clamp(colour * w, 0.0, 1.0);
    }
}

// with the material's own sampler, of the nearest level; sRGB, so that texels are linear and filtered so
layout(binding = 0) uniform sampler2D base_texture;
layout(binding = 1, scalar) readonly buffer Lighting
{
    frame_light lighting;
};
layout(binding = 2) uniform sampler2D shadow_maps;
layout(binding = 3) uniform sampler2D surface_texture;      // as base_texture; white where there is none
layout(binding = 4) uniform sampler2D emissive_texture;     // likewise
layout(binding = 5) uniform sampler2D normal_texture;       // likewise
layout(binding = 6) uniform sampler2D coat_texture;         // likewise
layout(binding = 15) uniform sampler2D coat_normal_texture; // likewise
layout(binding = 16) uniform sampler2D second_surface_texture; // likewise; SECOND_UV alone
// Is some light a rectangle? Without them the text of lights is shorter.
layout(constant_id = 4) const bool AREAS = false;
// Has the frame cascades of shadow maps? Without them the text of the lookup is shorter.
layout(constant_id = 3) const bool CASCADED = false;
#include "shaders/shadows.glsl"
layout(binding = 7, scalar) readonly buffer Environments { uint environment_texels[]; };
#include "shaders/environments.glsl"
#include "shaders/captured_shadow.glsl"
layout(binding = 11, scalar) readonly buffer Clouds
{
    cloud_table table;
    float texels[];
}
clouds;
#include "shaders/cloud_lookup.glsl"
#ifdef FILMS
#include "render/glass/glass_film_formula.h"
// of all materials of the mesh; at the place of the weights, which glass has not
layout(binding = 10, scalar) readonly buffer Looks { glass_look looks[]; };
#endif

// Is the material a network? Each shader has one of the two kinds alone, so that it compiles faster.
layout(constant_id = 0) const bool NETWORK = false;
// Is only what is in front of a clip plane drawn? Of frames with mirrors alone.
layout(constant_id = 1) const bool CLIPPED = false;
// Do clouds cast shadows?
layout(constant_id = 2) const bool CLOUDED = false;
// Do surfaces keep light from all around off others? Then this is what shaders/occlusion.comp has found.
layout(constant_id = 5) const bool OCCLUDED = false;
layout(binding = 14, scalar) readonly buffer Occlusion { vec3 occlusion_map[]; };
#include "shaders/occlusion_lookup.glsl"

real2 real2_of(vec2 v)
{
    return make_real2(v.x, v.y);
}

real3 real3_of(vec3 v)
{
    return make_real3(v.x, v.y, v.z);
}

real4 sample_level(sampler2D from, vec2 at, float level)
{
    vec4 texel = textureLod(from, at, level);
    return make_real4(texel.r, texel.g, texel.b, texel.a);
}

// Between two levels of the mip chain. least: the sampler magnifies at level 0 alone; a bit above, it reduces
real4 sample_place(sampler2D from, vec2 at, float level, float least)
{
    float fine = floor(level);
    return texture_mix(sample_level(from, at, max(fine, least)), sample_level(from, at, fine + 1.0),
                       level - fine);
}

bool use_has(uint shift, uint use)
{
    return (push.flags >> (shift + use) & 1u) != 0u;
}

// centre: the texture's coordinates in the middle of the pixel; at: in the point that is shaded
real4 sample_laid(sampler2D from, vec2 centre, vec2 at, float nearest_mip)
{
    vec2 size = vec2(textureSize(from, 0));
    texture_footprint f =
        texture_cover(real2_of(dFdx(centre) * size), real2_of(dFdy(centre) * size),
                      float(textureQueryLevels(from) - 1));
    vec2 axis = vec2(f.axis.x, f.axis.y) / size;
    float least = texture_is_small(f) ? 0.125 : 0.0;
    float level = texture_level(f.level, nearest_mip);
    real4 sum = sample_place(from, at, level, least);
    // a bound that the compiler does not know: unrolled, the many places take it seconds
    int sides = min(int(ceil(f.sides)), TEXTURE_SIDES);
    for (int k = 1; k <= sides; k++) {
        float weight = texture_weight(f, float(k));
        vec2 away = texture_place(weight, float(k)) * axis;
        sum = texture_add(sum, weight, sample_place(from, at - away, level, least));
        sum = texture_add(sum, weight, sample_place(from, at + away, level, least));
    }
    return texture_add(make_real4(0.0, 0.0, 0.0, 0.0), 1.0 / (1.0 + 2.0 * f.sides), sum);
}

// As the texture of a use is laid on.
real4 sample_texture(sampler2D from, uint use)
{
    bool second = SECOND_UV && use_has(SECOND_SHIFT, use);
    return sample_laid(from, second ? centre_second : centre_texture,
                       second ? second_coordinates : texture_coordinates,
                       use_has(NEAREST_SHIFT, use) ? 1.0 : 0.0);
}

real4 sample_latents(sampler2D from)
{
    return sample_laid(from, centre_texture, texture_coordinates, 0.0);
}

// Of the triangle, along the texture of a use.
mesh_tangents tangents_of(uint use)
{
    vec2 at = SECOND_UV && use_has(SECOND_SHIFT, use) ? centre_second : centre_texture;
    return mesh_tangents_of(real3_of(dFdx(centre_position)), real3_of(dFdy(centre_position)),
                            real2_of(dFdx(at)), real2_of(dFdy(at)));
}

real3 sample_factor(sampler2D from, uint use)
{
    real4 texel = sample_texture(from, use);
    return make_real3(texel.x, texel.y, texel.z);
}

// The part of light `light` that reaches the point past the meshes, what is captured and clouds.
float visible_part(int light, light_incidence incidence, light_point p)
{
    int caster = lighting.caster_of[light];
    if ((caster < 0 && !CLOUDED) || dot3(incidence.to_light, p.normal) <= 0.0) {
        return 1.0;
    }
    float visible = 1.0;
    if (caster >= 0) {
        visible = shadow_lookup(caster, p.position, p.normal);
        if (lighting.captured[caster].size > 0.5) {
            visible *= captured_shadow_lookup(lighting.captured[caster], lighting.captured_firsts[caster],
                                              p.position, p.normal);
        }
    }
    if (CLOUDED) {
        visible *= cloud_shadow_lookup(light, p.position, -1);
    }
    return visible;
}

// An entry of the table of integrals: entries i and i + 1 of a row and of the next one, mixed.
#define BSDF_READ(member, p)                                                                                 \
    bsdf_mix(bsdf_mix(lighting.integrals.member[int(p.first)], lighting.integrals.member[int(p.first) + 1],  \
                      p.right),                                                                              \
             bsdf_mix(lighting.integrals.member[int(p.first) + BSDF_TABLE],                                  \
                      lighting.integrals.member[int(p.first) + BSDF_TABLE + 1], p.right),                    \
             p.down)

bsdf_integrals bsdf_integrals_at(float roughness, float cosine)
{
    bsdf_place p = bsdf_find(roughness, cosine);
    int column = int(p.column);
    bsdf_integrals s;
    s.highlight = BSDF_READ(highlight, p);
    s.grazing = BSDF_READ(grazing, p);
    s.dull = bsdf_mix(lighting.integrals.dull[column], lighting.integrals.dull[column + 1], p.right);
    return s;
}

// Which environment lights the surface, of those of the frame; -1: none.
int environment_index()
{
    return int(push.flags >> ENVIRONMENT_SHIFT & 7u) - 1;
}

// Ambient light and what the surface emits of its base colour; an environment takes the place of the former.
light_sums begin_light(float emission, float open)
{
    vec3 ambient = environment_index() >= 0 ? vec3(0.0) : lighting.ambient;
    return light_begin(ambient.r, ambient.g, ambient.b, emission, open);
}

// Radiance of an environment around the mirrored direction, blurred by a roughness.
real3 mirrored_around(environment_view v, light_point point, real3 normal, float roughness)
{
    real3 mirror = environment_mirror(normal, point.to_eye, roughness);
    return environment_lookup(v, environment_towards(v, point.position, mirror), roughness);
}

// A surface of the metallic-roughness model: what is under its coat, and the coat if it has one.
struct metal_surface {
    light_metal material;
    light_layer layers[2];
    int layer_count;
};

// normal: of what is under a coat
metal_surface metal_begin(light_metal m, light_point point, real3 normal)
{
    metal_surface s;
    light_sums begun = begin_light(0.0, 1.0); // m.occlusion is the rest
    s.material = m;
    s.layer_count = has_flag(COATED) ? 2 : 1;
    s.layers[0] =
        light_base_layer(m, bsdf_integrals_at(m.roughness, dot3(normal, point.to_eye)), normal, begun);
#ifdef FILMS
    if (has_flag(FILM)) {
        glass_look look = looks[int(push.emission)];
        s.layers[0].metal =
            glass_layer(s.layers[0].metal, m.base, m.metallic, m.transmission * look.transmission, look.ior,
                        s.layers[0].integrals.highlight);
    }
#endif
    if (s.layer_count == 2) {
        s.layers[1] = light_coat_layer(
            m, bsdf_integrals_at(m.coat_roughness, dot3(m.coat_normal, point.to_eye)), begun);
    }
    return s;
}

// Linear light of the surface, with that of its environment.
real3 metal_light(metal_surface s, light_point point)
{
    for (int k = 0; k < s.layer_count && environment_index() >= 0; k++) {
        environment_view v = lighting.environments[environment_index()];
        light_layer layer = s.layers[k];
        real3 matte = environment_matte(v, point.position, layer.normal);
        s.layers[k] = light_add_environment(layer, s.material.occlusion, matte,
                                            mirrored_around(v, point, layer.normal, layer.roughness));
    }
    if (s.layer_count == 2) {
        return light_of_layers(s.layers[0], s.layers[1], s.material);
    }
    return light_of_layer(s.layers[0], s.material.occlusion, s.material.emissive);
}

#ifdef FILMS
// Straight display colour and alpha of glass that is drawn as a film; alpha: that its material says
vec4 film_colour(metal_surface s, light_point point, float alpha)
{
    light_layer layer = s.layers[0];
    real3 matte = make_real3(0.0, 0.0, 0.0), mirrored = matte, behind = layer.sums.diffuse;
    if (environment_index() >= 0) {
        environment_view v = lighting.environments[environment_index()];
        matte = environment_matte(v, point.position, layer.normal);
        mirrored = mirrored_around(v, point, layer.normal, layer.roughness);
        behind = add3(behind, environment_matte(v, point.position, scale3(layer.normal, -1.0)));
    }
    glass_film film =
        glass_film_of(layer, s.material, looks[int(push.emission)], point.to_eye, matte, mirrored);
    real4 over = glass_film_over(film, lighting.tone, behind);
    return vec4(over.x, over.y, over.z, has_flag(WHOLE) ? over.w : over.w * alpha);
}
#endif

// A surface whose material is a network.
struct network_surface {
    neural_surface network;
    neural_lobes lobes;
    mesh_frame frame;
    real3 bent; // normal that the network has learned
    light_sums sums;
};

network_surface network_begin(neural_surface network, mesh_frame frame, float open)
{
    network_surface s;
    s.network = network;
    s.frame = frame;
    s.lobes = neural_lobes_of(network);
    s.lobes.occlusion *= open;
    s.bent = mesh_out_of(frame, s.lobes.normal);
    s.sums = begin_light(0.0, 1.0); // the lobes' occlusion is the rest
    return s;
}

light_sums network_add(network_surface s, light_source light, light_incidence incidence, light_point point,
                       float visible)
{
    real3 reflected = make_real3(0.0, 0.0, 0.0);
    if (light.area < 0.5) {
        reflected = neural_reflect(s.network, mesh_into(s.frame, incidence.to_light));
    }
    return neural_add_light(s.sums, light, incidence, point, s.bent, visible, s.lobes, reflected);
}

// Linear light of the surface, with that of its environment.
real3 network_light(network_surface s, light_point point)
{
    if (environment_index() >= 0) {
        environment_view v = lighting.environments[environment_index()];
        s.sums = neural_add_environment(s.sums, s.lobes, s.lobes.occlusion,
                                        environment_matte(v, point.position, s.bent),
                                        mirrored_around(v, point, s.bent, s.lobes.roughness),
                                        mirrored_around(v, point, point.normal, s.lobes.coat_roughness));
    }
    return light_reflected(s.sums, neural_albedo(s.lobes), s.lobes.occlusion);
}

// Sums of any other surface before its lights.
light_sums plain_begin(light_point point, float open)
{
    light_sums sums = begin_light(push.emission, open);
    if (environment_index() >= 0) {
        environment_view v = lighting.environments[environment_index()];
        sums.diffuse = add_scaled3(sums.diffuse, environment_matte(v, point.position, point.normal), open);
    }
    return sums;
}

bool is_behind_clip_plane()
{
    return CLIPPED && clip_height(lighting.clip, real3_of(camera_position)) < 0.0;
}

// The texture's colour, and alpha times the material's. Discards holes, and what is behind the clip plane.
real4 solid_texel()
{
    real4 texel = sample_texture(base_texture, BASE);
    texel.w *= push.base_colour.a * linear_colour.a;
    bool ended = has_flag(ENDS) && lighting.haze.reach_over_height > 0.0 &&
                 !haze_leaves(lighting.haze, picture_point.x, picture_point.y);
    if (ended || is_behind_clip_plane() ||
        (push.alpha_cutoff > 0.0 && !mesh_is_solid(texel.w, push.alpha_cutoff))) {
        discard;
    }
    return texel;
}

// Display colour, before there is haze over it, and alpha. Discards what solid_texel does.
vec4 clear_colour()
{
    find_point();
    real3 plane_normal = real3_of(cross(dFdx(centre_position), dFdy(centre_position)));
    mesh_tangents tangents = tangents_of(NORMAL), coat_tangents = tangents_of(COAT_NORMAL),
                  base_tangents = tangents_of(BASE);
    bool metal = !NETWORK && has_flag(METAL) && !has_flag(UNLIT);
    real4 latents[2];
    real4 surface; // before anything is discarded, because of their derivatives
    real3 emissive, texel_normal, coat, texel_coat_normal;
    if (metal) {
        surface = sample_texture(surface_texture, SURFACE);
        if (SECOND_UV) {
            real4 second = sample_texture(second_surface_texture, SECOND_SURFACE);
            surface = make_real4(surface.x * second.x, surface.y * second.y, surface.z * second.z,
                                 surface.w * second.w);
        }
        emissive = sample_factor(emissive_texture, EMISSIVE);
        texel_normal = sample_factor(normal_texture, NORMAL);
        if (has_flag(COATED)) {
            coat = sample_factor(coat_texture, COAT);
            if (has_flag(COAT_BENT)) {
                texel_coat_normal = sample_factor(coat_normal_texture, COAT_NORMAL);
            }
        }
    }
    if (NETWORK) {
        latents[0] = sample_latents(low_latents);
        latents[1] = sample_latents(high_latents);
        emissive = sample_factor(emissive_texture, EMISSIVE);
    }
    real4 texel = solid_texel();
    real3 colour = real3_of(push.base_colour.rgb * vec3(texel.x, texel.y, texel.z));
    if (!has_flag(BACKDROP)) {
        colour =
            make_real3(colour.x * linear_colour.r, colour.y * linear_colour.g, colour.z * linear_colour.b);
    }
    if (!has_flag(BACKDROP) && !has_flag(UNLIT)) {
        real3 position = real3_of(camera_position);
        light_point point = mesh_light_point(has_flag(ORTHOGRAPHIC) ? 1.0 : 0.0, position,
                                             real3_of(camera_normal), position, plane_normal);
        metal_surface of_metal;
        network_surface of_network;
        light_sums sums;
        float open = 1.0; // the part of light from all around that arrives
        if (OCCLUDED) {
            open = occlusion_lookup(point.position, point.normal);
        }
        if (NETWORK) {
            mesh_frame frame = mesh_frame_of(point.normal, real3_of(camera_normal), base_tangents);
            of_network = network_begin(
                neural_surface_of(latents[0], latents[1], mesh_into(frame, point.to_eye)), frame, open);
        } else if (metal) {
            real3 bent = point.normal;
            if (has_flag(BENT)) {
                bent = mesh_bend(bent, real3_of(camera_normal), tangents, texel_normal);
            }
            light_metal m =
                light_metal_of(colour, push.gloss.x, push.gloss.y, push.emissive.r, push.emissive.g,
                               push.emissive.b, make_real3(surface.x, surface.y, surface.z), emissive);
            m.transmission = surface.w;
            if (has_flag(HIGHLIGHT)) {
                vec4 root = unpackUnorm4x8(floatBitsToUint(push.emission));
                root *= root;
                m = light_set_highlight(m, root.r, root.g, root.b, root.a);
            }
            if (has_flag(COATED)) {
                real3 coat_bent = point.normal;
                if (has_flag(COAT_BENT)) {
                    coat_bent =
                        mesh_bend(coat_bent, real3_of(camera_normal), coat_tangents, texel_coat_normal);
                }
                m = light_set_coat(m, coat, point, coat_bent);
            }
            m.occlusion *= open;
            of_metal = metal_begin(m, point, bent);
        } else {
            sums = plain_begin(point, open);
        }
        for (int i = 0; i < lighting.count; i++) { // one loop for all kinds: shadows are most of its text
            light_source light = lighting.lights[i];
            light.area = AREAS ? light.area : 0.0;
            light_incidence incidence = light_incident(light, point.position);
            float visible = visible_part(i, incidence, point);
            if (NETWORK) {
                of_network.sums = network_add(of_network, light, incidence, point, visible);
            } else if (metal) {
                for (int k = 0; k < of_metal.layer_count; k++) {
                    of_metal.layers[k] =
                        light_add_to_layer(of_metal.layers[k], light, incidence, point, visible);
                }
            } else {
                sums = light_add(sums, light, incidence, point, visible, push.gloss.x, push.gloss.y);
            }
        }
        if (NETWORK) { // a tint by the vertices' colours alone
            colour = add3(times3(network_light(of_network, point), real3_of(linear_colour.rgb)),
                          times3(emissive, real3_of(push.emissive)));
        } else if (metal) {
#ifdef FILMS
            if (has_flag(FILM)) {
                return film_colour(of_metal, point, texel.w);
            }
#endif
            colour = metal_light(of_metal, point);
        } else {
            colour =
                light_of_sums(colour, sums, push.gloss.x, push.emissive.r, push.emissive.g, push.emissive.b);
        }
        colour = tone_map(lighting.tone, colour);
    }
    colour = light_display(colour);
    return vec4(colour.x, colour.y, colour.z, texel.w);
}

// The same seen through haze.
vec4 hazy_colour(vec4 clear)
{
    real3 colour = haze_over(lighting.haze, real3_of(clear.rgb), picture_point.x, picture_point.y,
                             camera_position.z, has_flag(BACKDROP) ? 1.0 : 0.0);
    return vec4(colour.x, colour.y, colour.z, clear.a);
}
