// Lanes over points of surfaces that light goes through: where it goes on, and how much of it. Part of
// mesh_shade_cpu.c.
#pragma once

#include "render/cpu/mesh_surface_cpu.h"
#include "render/cpu/rays/rays_formula.h"
#include "render/glass/glass_sky_formula.h"

// The ray that goes on from a surface, and a factor of what it finds.
typedef struct glass_ray {
    real3 factor, direction, outward; // outward: the flat triangle's normal on the side to which it leaves
    real3 absorption;                 // of where it then is
    real eta;                         // as in glass_formula.h
    real weight;    // of the ray among those through other microfacets; 1: of a smooth surface
    real inner;     // a factor of what a body reflects inside, where it lets light out
    real3 mirrored; // from where that comes
} glass_ray;

// The index of refraction beyond, by that on the side of the eye.
FN real glass_eta(const orr_mesh_material *look, mask inside)
{
    return look->closed ? sel(inside, R(1.0f / look->ior), R(look->ior)) : R(look->ior);
}

// What is reflected of light from the mirrored direction: by metals as bsdf_split says, else `reflected`.
FN real3 glass_mirrored(light_metal m, real3 split, real reflected)
{
    return make_real3(fma_(m.metallic, split.x - reflected, reflected),
                      fma_(m.metallic, split.y - reflected, reflected),
                      fma_(m.metallic, split.z - reflected, reflected));
}

// The part of the light from a direction that a microfacet lets through to the eye: by Fresnel's law, less
// what other microfacets stop (Walter et al. 2007).
FN real glass_facet_weight(real3 normal, real3 facet, real3 to_eye, real3 direction, real eta, real alpha)
{
    const real beyond = max_(-dot3(normal, direction), R(0.0)),
               reflected = glass_fresnel(max_(dot3(facet, to_eye), R(0.0)), eta);
    return (R(1.0) - reflected) * glass_seen(beyond, bsdf_root(alpha, beyond));
}

// Where light goes on through a surface, where it is rough by the microfacet that `chance` draws. inside: the
// eye is in its body; passes: the part that is not reflected outside; normal: on the side of the eye;
// absorption: of where the eye is
FN glass_ray glass_on(const orr_mesh_material *look, light_metal m, mask inside, real passes, real3 normal,
                      real3 outward, real3 to_eye, real3 absorption, real2 chance)
{
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    const real eta = glass_eta(look, inside);
    normal = select3(dot3(normal, to_eye) > R(0.0), normal, outward);
    const mask rough = m.roughness > R(RAYS_SHARP);
    const real3 facet =
        any(rough) ? select3(rough, rays_facet(normal, to_eye, m.roughness, chance), normal) : normal;
    const real cosine = dot3(facet, to_eye),
               part = (R(1.0) - m.metallic) * m.transmission * R(look->transmission);
    const mask all = and_(inside, not_(glass_beyond(cosine, eta) > R(0.0)));
    const real inner = sel(or_(all, not_(inside)), R(0.0), glass_fresnel(cosine, eta));
    passes = sel(inside, R(1.0) - inner, passes);
    glass_ray g;
    g.eta = eta;
    g.outward = select3(all, outward, scale3(outward, R(-1.0)));
    g.factor = select3(all, make_real3(part, part, part), scale3(m.base, part * passes));
    g.absorption = absorption;
    if (look->closed) {
        const float *a = look->absorption;
        g.absorption = select3(inside, select3(all, absorption, none), make_real3(R(a[0]), R(a[1]), R(a[2])));
    }
    const real3 mirror = sub3(scale3(facet, R(2.0) * cosine), to_eye);
    g.mirrored = glass_leave(mirror, outward);
    g.inner = part * inner;
    real3 beyond;
    if (look->closed) {
        beyond = glass_refract(facet, to_eye, eta);
    } else { // scattered as what is reflected, to the other side
        beyond = add_scaled3(mirror, normal, R(-2.0) * dot3(normal, mirror));
        beyond = select3(rough, beyond, scale3(to_eye, R(-1.0)));
    }
    const real weight = glass_facet_weight(normal, facet, to_eye, beyond, eta, m.roughness * m.roughness);
    // where all is reflected inside, what other microfacets stop is left out
    g.weight = sel(and_(rough, not_(all)), sel(inside, R(1.0), weight), R(1.0));
    g.direction = glass_leave(select3(all, mirror, beyond), g.outward);
    return g;
}
