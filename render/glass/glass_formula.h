// Light at a surface that it goes through: how much is reflected, where the rest goes, what a body absorbs,
// and rough surfaces (Walter et al. 2007, "Microfacet models for refraction through rough surfaces").
//
// Light is counted divided by the square of the index of refraction where it is. That does not change where
// it is refracted, and lamps and splats inside of glass are as bright as outside.
//
// eta: the index of refraction beyond the surface, by that on the side of the eye. All directions are unit
// vectors and point away from the surface. One text for CPU lanes, CUDA and GLSL (see
// engine/maths/formula.h).
#ifndef ORR_GLASS_FORMULA_H
#define ORR_GLASS_FORMULA_H

#include "render/bsdf_formula.h"

// eta times the cosine of the refracted direction, squared; not above 0: all light is reflected. cosine: of
// the eye to the normal
FN real glass_beyond(real cosine, real eta)
{
    return fma_(cosine, cosine, fma_(eta, eta, R(-1.0)));
}

// The part of unpolarised light that a smooth surface reflects (Fresnel). cosine: 0 .. 1
FN real glass_fresnel(real cosine, real eta)
{
    real squared = glass_beyond(cosine, eta), beyond = sqrt_(max_(squared, R(1e-20)));
    real across = (cosine - beyond) / (cosine + beyond),
         along = fma_(eta * eta, cosine, -beyond) / fma_(eta * eta, cosine, beyond);
    return sel(squared > R(0.0), R(0.5) * fma_(across, across, along * along), R(1.0));
}

// The refracted direction (Snell); where all light is reflected, one along the surface. normal: on the side
// of the eye
FN real3 glass_refract(real3 normal, real3 to_eye, real eta)
{
    real cosine = dot3(normal, to_eye), beyond = sqrt_(max_(glass_beyond(cosine, eta), R(0.0)));
    return unit3(sub3(scale3(normal, cosine - beyond), to_eye));
}

// A direction that is to leave to one side of a flat triangle, and that interpolated or bent normals have
// sent to the other: it leaves along the triangle. outward: the triangle's normal on that side
FN real3 glass_leave(real3 direction, real3 outward)
{
    real below = max_(R(1e-3) - dot3(direction, outward), R(0.0));
    return unit3(add_scaled3(direction, outward, below));
}

FN real glass_absorb_channel(real absorption, real length)
{
    return exp2_(absorption * length * R(-1.44269504f));
}

// The part of light that is left after a length of the inside of a body (Beer).
FN real3 glass_absorb(real3 absorption, real length)
{
    return make_real3(glass_absorb_channel(absorption.x, length), glass_absorb_channel(absorption.y, length),
                      glass_absorb_channel(absorption.z, length));
}

// A layer of the metallic-roughness model without the part of its matte light that goes through, and with
// highlights by its index of refraction. base, metallic: of the surface; highlight: of bsdf_integrals
FN bsdf_metal glass_layer(bsdf_metal layer, real3 base, real metallic, real transmission, uniform_real ior,
                          real highlight)
{
    real straight = R((ior - 1.0f) / (ior + 1.0f)), lost = R(1.0) / highlight - R(1.0),
         part = straight * straight * (R(1.0) - metallic);
    layer.diffuse = scale3(layer.diffuse, R(1.0) - transmission);
    layer.f0 = add_scaled3(make_real3(part, part, part), base, metallic);
    layer.f90 = R(1.0);
    layer.gain = add_scaled3(make_real3(R(1.0), R(1.0), R(1.0)), layer.f0, lost);
    return layer;
}

// The part of light from everywhere that the highlights of one without a metallic part reflect.
FN real glass_albedo(bsdf_integrals s, uniform_real ior)
{
    real straight = R((ior - 1.0f) / (ior + 1.0f)), f0 = straight * straight;
    real gain = fma_(f0, R(1.0) / s.highlight - R(1.0), R(1.0));
    return bsdf_split_channel(s, R(0.0), f0, R(1.0), gain, R(0.0), R(1.0));
}

// ---- rough surfaces ----

// Light that a rough surface sends to the eye from one direction.
STRUCT(glass_light)
{
    real weight; // its part that arrives, times the cosine to it [1/sr]
    real pdf;    // of that direction, drawn by a visible normal of the microfacets and then by Fresnel's part
}
END_STRUCT(glass_light)

// The part of microfacets that is seen from one side (Smith). root: of bsdf_root
FN real glass_seen(real cosine, real root)
{
    return R(2.0) * cosine / (cosine + root);
}

// From the side of the eye. a: towards the light; reflected: Fresnel's part at the microfacets that do it
FN glass_light glass_reflected(bsdf_angles a, real reflected)
{
    real light = max_(a.light, R(0.0)), part = reflected * bsdf_peak(a);
    glass_light l;
    l.weight = part * light * R(0.5) / max_(fma_(light, a.eye_root, a.eye * a.light_root), R(1e-12));
    l.pdf = part * glass_seen(a.eye, a.eye_root) / (R(4.0) * a.eye);
    return l;
}

// The normal of the microfacets that refract light from one direction to the eye; normal: on its side.
FN real3 glass_between(real3 normal, real3 to_eye, real3 to_light, real eta)
{
    real3 between = unit3(add_scaled3(to_eye, to_light, eta));
    return scale3(between, sel(dot3(between, normal) < R(0.0), R(-1.0), R(1.0)));
}

// From the other side. eta: not 1
FN glass_light glass_refracted(real alpha, real3 normal, real3 to_eye, real3 to_light, real eta)
{
    real3 between = glass_between(normal, to_eye, to_light, eta), off = cross3(normal, between);
    real eye = dot3(to_eye, between), light = dot3(to_light, between);
    bsdf_angles a;
    a.alpha = alpha;
    a.eye = max_(dot3(normal, to_eye), R(1e-4));
    a.light = max_(-dot3(normal, to_light), R(1e-4));
    a.height = max_(dot3(normal, between), R(0.0));
    a.sine_squared = dot3(off, off);
    a.fresnel = R(0.0);
    a.eye_root = bsdf_root(alpha, a.eye);
    a.light_root = bsdf_root(alpha, a.light);
    real sum = fma_(eta, light, eye);
    // the density of directions to the light, by that of the microfacets' normals
    real spread = eta * eta * abs_(light) / max_(sum * sum, R(1e-20));
    real part = (R(1.0) - glass_fresnel(max_(eye, R(0.0)), eta)) * bsdf_peak(a) * spread *
                glass_seen(a.eye, a.eye_root) * eye / a.eye;
    mask crosses = and_(eye > R(0.0), light < R(0.0));
    glass_light l;
    l.pdf = sel(crosses, part, R(0.0));
    l.weight = l.pdf * glass_seen(a.light, a.light_root);
    return l;
}

#endif
