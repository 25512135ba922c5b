// Glass that is drawn without rays: a film over what is behind it, which shows where it is, not refracted.
// One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_GLASS_FILM_FORMULA_H
#define ORR_GLASS_FILM_FORMULA_H

#include "render/cpu/rays/rays_formula.h"
#include "render/light_formula.h"

#define GLASS_FILM_BEHIND 0.5f // light that what is behind is taken for at least, by 1 / the exposure

// What is the same for all pixels of a material.
STRUCT(glass_look)
{
    uniform_real transmission, ior;
    uniform_real closed;                             // 1: the front of a body, for both of its faces; 0: thin
    uniform_real absorbed_x, absorbed_y, absorbed_z; // absorption of a body's inside, by 1 / its thickness
}
END_STRUCT(glass_look)

// A film in a pixel, as linear light.
STRUCT(glass_film)
{
    real3 light;  // its own: what it reflects and emits
    real3 passes; // the part of what is behind that shows
}
END_STRUCT(glass_film)

// Its own light has all that such a surface reflects: of lamps by the layer's sums; of light from around by
// Fresnel's law where it is smooth, as rays have it, and by the table of integrals where it is rough. What is
// not reflected goes through, the part of its matte light that `transmission` says. layer: of glass_layer,
// lit by the lamps; m.occlusion: of all light from around; matte, mirrored: what an environment adds to that
FN glass_film glass_film_of(light_layer layer, light_metal m, glass_look look, real3 to_eye, real3 matte,
                            real3 mirrored)
{
    real3 none = make_real3(R(0.0), R(0.0), R(0.0)), one = make_real3(R(1.0), R(1.0), R(1.0));
    real share = rays_share(layer.roughness);
    real smooth_part = glass_fresnel(max_(dot3(layer.normal, to_eye), R(0.0)), R(look.ior));
    real reflected = bsdf_mix(glass_albedo(layer.integrals, look.ior), smooth_part, share);
    real3 split = bsdf_split(layer.metal, layer.integrals, none, one);
    // metals reflect as they do where nothing goes through
    real3 mirrors =
        make_real3(bsdf_mix(reflected, split.x, m.metallic), bsdf_mix(reflected, split.y, m.metallic),
                   bsdf_mix(reflected, split.z, m.metallic));
    matte = add3(matte, layer.sums.diffuse);
    mirrored = add3(mirrored, layer.sums.diffuse);
    real3 around = add3(bsdf_split(layer.metal, layer.integrals, matte, none), times3(mirrors, mirrored));
    // a second face lets through the same part, but reflects nothing: all that entered leaves
    real part = (R(1.0) - m.metallic) * m.transmission * R(look.transmission);
    real3 tint = scale3(m.base, part);
    real3 inside =
        glass_absorb(make_real3(R(look.absorbed_x), R(look.absorbed_y), R(look.absorbed_z)), R(1.0));
    real3 beyond = times3(tint, inside);
    glass_film f;
    f.light = add3(add_scaled3(layer.sums.highlight, around, m.occlusion), m.emissive);
    f.passes = scale3(tint, R(1.0) - reflected);
    f.passes = times3(f.passes, add_scaled3(scale3(one, R(1.0f - look.closed)), beyond, R(look.closed)));
    return f;
}

FN real glass_film_slope(real over, real alone, real behind)
{
    return (over - alone) / max_(behind, R(1e-6));
}

// As a layer over display colours: straight colour, and alpha. Display colours are not linear in light, so
// that no layer is right over everything: it is over black, and over as much light as `behind` and
// GLASS_FILM_BEHIND, the larger. Tinted glass has the mean alpha of its three channels, and a colour that is
// right over `behind` unless it would be negative.
FN real4 glass_film_over(glass_film f, tone_curve tone, real3 behind)
{
    real least = R(GLASS_FILM_BEHIND / tone.exposure);
    behind = make_real3(max_(behind.x, least), max_(behind.y, least), max_(behind.z, least));
    real3 alone = light_shade(tone, f.light), bare = light_shade(tone, behind);
    real3 over = light_shade(tone, add3(f.light, times3(f.passes, behind)));
    real shows = (glass_film_slope(over.x, alone.x, bare.x) + glass_film_slope(over.y, alone.y, bare.y) +
                  glass_film_slope(over.z, alone.z, bare.z)) *
                 R(1.0f / 3.0f);
    shows = min_(max_(shows, R(0.0)), R(1.0));
    real alpha = R(1.0) - shows, straight = R(1.0) / max_(alpha, R(1e-6));
    return make_real4(straight * max_(fma_(-shows, bare.x, over.x), R(0.0)),
                      straight * max_(fma_(-shows, bare.y, over.y), R(0.0)),
                      straight * max_(fma_(-shows, bare.z, over.z), R(0.0)), alpha);
}

#endif
