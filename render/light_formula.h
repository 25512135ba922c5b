// How a surface is lit: Lambert's cosine law and Blinn's highlights (1977), or the metallic-roughness model
// of bsdf_formula.h, with any number of lights, with the attenuation and the cones of OpenGL's fixed
// functions or the shape of a rectangle, in linear light; the result is encoded for display because pictures
// are display-referred. Shadows: shadow_formula.h. One text for CPU lanes, CUDA and GLSL (see
// engine/maths/formula.h).
#ifndef ORR_LIGHT_FORMULA_H
#define ORR_LIGHT_FORMULA_H

#include "engine/maths/colour_formula.h"
#include "engine/maths/vector_formula.h"
#include "render/area_light_formula.h"
#include "render/bsdf_formula.h"
#include "render/tone_formula.h"

// A light in the camera's space.
STRUCT(light_source)
{
    uniform_real x, y, z;                     // position; of a directional light: unit vector towards it
    uniform_real directional;                 // 1 or 0
    uniform_real axis_x, axis_y, axis_z;      // direction of the beam, unit
    uniform_real cutoff;                      // cosine of the cone's half angle
    uniform_real exponent;                    // of the cosine to the axis
    uniform_real constant, linear, quadratic; // attenuation
    uniform_real ambient_red, ambient_green, ambient_blue; // linear radiance of a white surface
    uniform_real diffuse_red, diffuse_green, diffuse_blue;
    uniform_real specular_red, specular_green, specular_blue;
    uniform_real inverse_range; // 1 / the distance at which it ends; 0: nowhere
    uniform_real cone_scale,
        cone_offset; // the cone fades with the square of scale cosine + offset; 0, 1: not
    // 1: it is a rectangle around the position, of these half edges, that shines to the side of its axis; its
    // colours are its radiance, and its attenuation makes it the point that it is from afar. 0: it is none
    uniform_real area;
    uniform_real right_x, right_y, right_z, up_x, up_y, up_z;
}
END_STRUCT(light_source)

// What is lit: a point of a surface, in the camera's space.
STRUCT(light_point)
{
    real3 position;
    real3 normal; // unit, on the side that is seen
    real3 to_eye; // unit
}
END_STRUCT(light_point)

// What has fallen on a point so far, linear.
STRUCT(light_sums)
{
    real3 diffuse;   // times the base colour
    real3 highlight; // times the material's specular factor
    real open;       // the part of ambient light that arrives
}
END_STRUCT(light_sums)

FN real3 light_add_colour(real3 sum, real weight, uniform_real red, uniform_real green, uniform_real blue)
{
    return make_real3(fma_(weight, R(red), sum.x), fma_(weight, R(green), sum.y),
                      fma_(weight, R(blue), sum.z));
}

FN real light_power(real base, uniform_real exponent)
{
    real power = R(1.0);
    if (exponent > 0.0f) {
        power = pow_(max_(base, R(1e-6)), R(exponent));
    }
    return power;
}

// Light at a point, from one light.
STRUCT(light_incidence)
{
    real3 to_light; // unit
    real strength;
}
END_STRUCT(light_incidence)

// How glTF's punctual lights end at their range and at the rim of their cone (KHR_lights_punctual): 1 .. 0.
FN real light_fade(light_source l, real distance, real cosine)
{
    real part = distance * R(l.inverse_range);
    real ends = max_(R(1.0) - part * part * part * part, R(0.0));
    real cone = min_(max_(cosine * R(l.cone_scale) + R(l.cone_offset), R(0.0)), R(1.0));
    return ends * cone * cone;
}

FN light_incidence light_incident(light_source l, real3 p)
{
    light_incidence i;
    i.to_light = make_real3(R(l.x), R(l.y), R(l.z));
    i.strength = R(1.0);
    if (l.directional < 0.5f) {
        real3 v = sub3(i.to_light, p);
        real distance = sqrt_(max_(dot3(v, v), R(1e-20)));
        i.to_light = scale3(v, R(1.0) / distance);
        real cosine = -dot3(i.to_light, make_real3(R(l.axis_x), R(l.axis_y), R(l.axis_z)));
        real divisor = max_(R(l.constant) + distance * (R(l.linear) + distance * R(l.quadratic)), R(1e-6));
        i.strength = sel(cosine < R(l.cutoff), R(0.0), light_power(cosine, l.exponent)) / divisor;
        i.strength = i.strength * light_fade(l, distance, cosine);
    }
    return i;
}

// ---- rectangles ----

FN real3 light_half_right(light_source l)
{
    return make_real3(R(l.right_x), R(l.right_y), R(l.right_z));
}

FN real3 light_half_up(light_source l)
{
    return make_real3(R(l.up_x), R(l.up_y), R(l.up_z));
}

// From a point to the middle of a rectangle.
FN real3 light_to_middle(light_source l, real3 p)
{
    return sub3(make_real3(R(l.x), R(l.y), R(l.z)), p);
}

// How a rectangle ends at its range, as seen from a point; 0 behind it.
FN real light_area_fade(light_source l, real3 p)
{
    real3 middle = light_to_middle(l, p);
    real front = -dot3(middle, make_real3(R(l.axis_x), R(l.axis_y), R(l.axis_z)));
    return sel(front > R(0.0), light_fade(l, length3(middle), R(1.0)), R(0.0));
}

// What a matte surface with this normal receives of a rectangle, of one as large as the sky.
FN real light_area_matte(light_source l, real3 p, real3 normal)
{
    real3 right = light_half_right(l), up = light_half_up(l);
    real3 corner = sub3(sub3(light_to_middle(l, p), right), up);
    return light_area_fade(l, p) *
           area_form_factor(corner, scale3(right, R(2.0)), scale3(up, R(2.0)), normal);
}

// What a surface of the metallic-roughness model mirrors of it, of one as large as the sky. The lobe around
// the mirrored direction is a cosine's after a linear map (area_lobe_of).
FN real light_area_mirrored(light_source l, light_point p, real3 normal, real alpha)
{
    area_lobe lobe = area_lobe_of(normal, p.to_eye, alpha);
    real3 right = area_into_lobe(lobe, light_half_right(l)), up = area_into_lobe(lobe, light_half_up(l));
    real3 corner = sub3(sub3(area_into_lobe(lobe, light_to_middle(l, p.position)), right), up);
    return light_area_fade(l, p.position) * area_form_factor(corner, scale3(right, R(2.0)),
                                                             scale3(up, R(2.0)),
                                                             make_real3(R(0.0), R(0.0), R(1.0)));
}

// The highlight that all its points make together: each cos^exponent of the angle between the normal and
// what is half-way to the eye, of a lamp without extent. Their sum over all directions is
// 8 pi / (exponent + 2) times the cosine to the eye, and the lobe nearly that of the metallic-roughness model
// whose alpha^2 is 2 / (exponent + 2) (Walter et al. 2007).
FN real light_area_gloss(light_source l, light_point p, uniform_real exponent)
{
    real share = R(2.0f / (exponent + 2.0f));
    real faces = max_(dot3(p.normal, p.to_eye), R(0.0));
    return R(4.0) * share * faces * light_area_mirrored(l, p, p.normal, sqrt_(share));
}

// The part of a rectangle that shadows leave, of what is found for its middle: a surface that faces away from
// that, and sees another part of the rectangle, would be in its own shadow.
FN real light_area_visible(real visible, real3 to_middle, real3 normal)
{
    real faces = min_(max_(R(10.0) * dot3(to_middle, normal), R(0.0)), R(1.0));
    return fma_(faces, visible - R(1.0), R(1.0));
}

// ---- surfaces ----

#define LIGHT_FAINT 22.18f // 2 ln 2^16

// Blinn's highlight: cos^exponent of the angle between the normal and what is half-way to the eye, where the
// surface faces the light. 0 where it is surely less than 2^-16, which even on black is a twentieth of a
// byte: there, which is nearly everywhere, no power is taken. cos^e is at most exp(e (cos^2 - 1) / 2).
FN real light_gloss(real3 to_light, real facing, light_point p, uniform_real exponent)
{
    real3 between = add3(to_light, p.to_eye);
    real along = dot3(between, p.normal), squared = dot3(between, between), gloss = R(0.0);
    mask seen = R(exponent) * along * along > R(exponent - LIGHT_FAINT) * squared;
    seen = and_(seen, facing > R(0.0));
    if (some_(seen)) {
        gloss = sel(seen, light_power(along / sqrt_(max_(squared, R(1e-30))), exponent), R(0.0));
    }
    return gloss;
}

// What reaches every point of a surface: of ambient light the part `open`, and as much more as the surface
// emits of its base colour.
FN light_sums light_begin(uniform_real red, uniform_real green, uniform_real blue, uniform_real emission,
                          real open)
{
    light_sums sums;
    sums.diffuse =
        light_add_colour(make_real3(R(emission), R(emission), R(emission)), open, red, green, blue);
    sums.open = open;
    sums.highlight = make_real3(R(0.0), R(0.0), R(0.0));
    return sums;
}

// Adds one light, of which the part `visible` (0 .. 1) reaches the point; its ambient light as begun.
// specular, shininess: of the material, 0 .. 1; of a dull one (specular 0) and of a light without a
// specular colour there are no highlights to sum.
FN light_sums light_add(light_sums sums, light_source l, light_incidence i, light_point p, real visible,
                        uniform_real specular, uniform_real shininess)
{
    real facing = dot3(i.to_light, p.normal);
    sums.diffuse = light_add_colour(sums.diffuse, i.strength * sums.open, l.ambient_red, l.ambient_green,
                                    l.ambient_blue);
    real arrives, gloss = R(0.0);
    uniform_real glossy = specular * (l.specular_red + l.specular_green + l.specular_blue);
    if (l.area > 0.5f) {
        visible = light_area_visible(visible, i.to_light, p.normal);
        arrives = visible * light_area_matte(l, p.position, p.normal);
        if (glossy > 0.0f) {
            gloss = visible * light_area_gloss(l, p, 128.0f * shininess);
        }
    } else {
        i.strength = i.strength * visible;
        arrives = i.strength * max_(facing, R(0.0));
        if (glossy > 0.0f) {
            gloss = i.strength * light_gloss(i.to_light, facing, p, 128.0f * shininess);
        }
    }
    sums.diffuse = light_add_colour(sums.diffuse, arrives, l.diffuse_red, l.diffuse_green, l.diffuse_blue);
    if (glossy > 0.0f) {
        sums.highlight =
            light_add_colour(sums.highlight, gloss, l.specular_red, l.specular_green, l.specular_blue);
    }
    return sums;
}

// A pixel of the metallic-roughness model.
STRUCT(light_metal)
{
    real3 base, emissive;                // linear
    real metallic, roughness, occlusion; // 0 .. 1; occlusion: the part of ambient light that arrives
    real coated, coat_roughness;         // 0 .. 1; coated: the part of it that is under a clear coat
    real3 coat_normal;                   // unit
    real transmission;                   // 0 .. 1: a factor of the material's
    real3 f0;                            // of what is no metal, as bsdf_dielectric_of takes them
    real f90;
}
END_STRUCT(light_metal)

// The material's factors with the texels of its textures; (1, 1, 1) where there is none. surface: occlusion,
// roughness, metallic. Without a coat, and all of the material's transmission.
FN light_metal light_metal_of(real3 base, uniform_real metallic, uniform_real roughness, uniform_real red,
                              uniform_real green, uniform_real blue, real3 surface, real3 emissive)
{
    light_metal m;
    m.base = base;
    m.metallic = metallic * surface.z;
    m.roughness = roughness * surface.y;
    m.occlusion = surface.x;
    m.emissive = make_real3(red * emissive.x, green * emissive.y, blue * emissive.z);
    m.coated = R(0.0);
    m.coat_roughness = R(0.0);
    m.coat_normal = make_real3(R(0.0), R(0.0), R(0.0));
    m.transmission = R(1.0);
    m.f0 = make_real3(R(0.04), R(0.04), R(0.04));
    m.f90 = R(1.0);
    return m;
}

// The same under a clear coat. texel: of its texture, how much is coated, and the coat's roughness; normal:
// the point's, or what a texture has made of it, which counts where it faces the eye: a coat seen from behind
// would mirror all, and hide what is below it
FN light_metal light_set_coat(light_metal m, real3 texel, light_point p, real3 normal)
{
    m.coated = texel.x;
    m.coat_roughness = texel.y;
    m.coat_normal = select3(dot3(normal, p.to_eye) > R(0.0), normal, p.normal);
    return m;
}

// The same of a material that says how bright its highlights are.
FN light_metal light_set_highlight(light_metal m, uniform_real red, uniform_real green, uniform_real blue,
                                   uniform_real grazing)
{
    m.f0 = make_real3(R(red), R(green), R(blue));
    m.f90 = R(grazing);
    return m;
}

// The same to a surface of the metallic-roughness model: `diffuse` sums up ambient light alone, `highlight`
// what is reflected of the rest. The lights' colours are those of a white matte surface that faces them.
// normal: unit, that of p or what a texture has made of it; light from behind p's does not arrive. s: of the
// surface's roughness and the angle to the eye.
FN light_sums light_add_metal(light_sums sums, light_source l, light_incidence i, light_point p, real3 normal,
                              real visible, bsdf_metal m, bsdf_integrals s)
{
    sums.diffuse = light_add_colour(sums.diffuse, i.strength, l.ambient_red, l.ambient_green, l.ambient_blue);
    if (l.area > 0.5f) {
        visible = light_area_visible(visible, i.to_light, p.normal);
        real matte = visible * light_area_matte(l, p.position, normal);
        real mirrored = visible * light_area_mirrored(l, p, normal, m.alpha);
        real3 of_white =
            bsdf_split(m, s, make_real3(matte, matte, matte), make_real3(mirrored, mirrored, mirrored));
        sums.highlight.x = fma_(of_white.x, R(l.diffuse_red), sums.highlight.x);
        sums.highlight.y = fma_(of_white.y, R(l.diffuse_green), sums.highlight.y);
        sums.highlight.z = fma_(of_white.z, R(l.diffuse_blue), sums.highlight.z);
        return sums;
    }
    real weight = i.strength * visible * R(BSDF_PI);
    weight = sel(dot3(i.to_light, p.normal) > R(0.0), weight, R(0.0));
    real3 reflected = bsdf_reflect(m, bsdf_angles_of(m.alpha, normal, p.to_eye, i.to_light));
    sums.highlight.x = fma_(weight * reflected.x, R(l.diffuse_red), sums.highlight.x);
    sums.highlight.y = fma_(weight * reflected.y, R(l.diffuse_green), sums.highlight.y);
    sums.highlight.z = fma_(weight * reflected.z, R(l.diffuse_blue), sums.highlight.z);
    return sums;
}

// One of the layers that such a surface reflects by: what is under its coat, or the coat.
STRUCT(light_layer)
{
    bsdf_metal metal;
    bsdf_integrals integrals; // of its roughness and the angle to the eye
    real3 normal;
    real roughness;
    light_sums sums;
}
END_STRUCT(light_layer)

// What is under the coat, or not coated; integrals: as light_layer says
FN light_layer light_base_layer(light_metal m, bsdf_integrals integrals, real3 normal, light_sums begun)
{
    light_layer layer;
    layer.metal = bsdf_dielectric_of(m.base, m.metallic, m.roughness, integrals.highlight, m.f0, m.f90);
    layer.integrals = integrals;
    layer.normal = normal;
    layer.roughness = m.roughness;
    layer.sums = begun;
    return layer;
}

FN light_layer light_coat_layer(light_metal m, bsdf_integrals integrals, light_sums begun)
{
    light_layer layer;
    layer.metal = bsdf_coat_of(m.coat_roughness, integrals.highlight);
    layer.integrals = integrals;
    layer.normal = m.coat_normal;
    layer.roughness = m.coat_roughness;
    layer.sums = begun;
    return layer;
}

FN light_layer light_add_to_layer(light_layer layer, light_source l, light_incidence i, light_point p,
                                  real visible)
{
    layer.sums = light_add_metal(layer.sums, l, i, p, layer.normal, visible, layer.metal, layer.integrals);
    return layer;
}

// Adds what the layer reflects of an environment. matte: of environment_diffuse; mirrored: of its maps
FN light_layer light_add_environment(light_layer layer, real occlusion, real3 matte, real3 mirrored)
{
    real3 reflected = bsdf_split(layer.metal, layer.integrals, matte, mirrored);
    layer.sums.highlight = add_scaled3(layer.sums.highlight, reflected, occlusion);
    return layer;
}

// Display colour of a surface without light: its base colour, linear.
FN real3 light_display(real3 colour)
{
    return make_real3(linear_to_srgb(colour.x), linear_to_srgb(colour.y), linear_to_srgb(colour.z));
}

// Linear light of a surface by all that has fallen on it, and by the linear colour that it emits itself.
FN real3 light_of_sums(real3 base_colour, light_sums sums, uniform_real specular, uniform_real red,
                       uniform_real green, uniform_real blue)
{
    return make_real3(fma_(base_colour.x, sums.diffuse.x, R(specular) * sums.highlight.x + R(red)),
                      fma_(base_colour.y, sums.diffuse.y, R(specular) * sums.highlight.y + R(green)),
                      fma_(base_colour.z, sums.diffuse.z, R(specular) * sums.highlight.z + R(blue)));
}

// Linear light of a surface; albedo: the part of light from everywhere that it reflects, as ambient light is.
FN real3 light_reflected(light_sums sums, real3 albedo, real occlusion)
{
    albedo = scale3(albedo, occlusion);
    return make_real3(fma_(albedo.x, sums.diffuse.x, sums.highlight.x),
                      fma_(albedo.y, sums.diffuse.y, sums.highlight.y),
                      fma_(albedo.z, sums.diffuse.z, sums.highlight.z));
}

// Linear light of a layer, and of one whose base emits `emissive`.
FN real3 light_of_layer(light_layer layer, real occlusion, real3 emissive)
{
    layer.sums.highlight = add3(layer.sums.highlight, emissive);
    return light_reflected(layer.sums, bsdf_albedo(layer.metal, layer.integrals), occlusion);
}

// The same of what is below a clear coat and the coat.
FN real3 light_of_layers(light_layer below, light_layer coat, light_metal m)
{
    real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    return bsdf_coat_over(light_of_layer(below, m.occlusion, m.emissive),
                          light_of_layer(coat, m.occlusion, none), m.coated,
                          bsdf_albedo(coat.metal, coat.integrals).x);
}

// Display colour of linear light.
FN real3 light_shade(tone_curve tone, real3 light)
{
    return light_display(tone_map(tone, light));
}

#endif
