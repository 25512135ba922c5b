#define ORR_SCALAR
#include "render/reference/bsdf.h"

#include "render/formula_inputs.h"

static real mean3(real3 a)
{
    return (a.x + a.y + a.z) * (1.0f / 3.0f);
}

bsdf bsdf_lambert(real3 normal, real3 to_eye, real3 base)
{
    return (bsdf){.normal = normal, .to_eye = to_eye, .metal = {.diffuse = base, .alpha = 1.0f}};
}

bsdf bsdf_metallic(real3 normal, real3 to_eye, real3 base, real metallic, real roughness)
{
    const bsdf_integrals integrals = bsdf_integrals_at(&orr_bsdf_integrals, roughness, dot3(normal, to_eye));
    return (bsdf){.normal = normal,
                  .to_eye = to_eye,
                  .metal = bsdf_metal_of(base, metallic, roughness, integrals.highlight),
                  .glossy = true};
}

// How often the highlight is drawn, not the cosine.
static real gloss_share(const bsdf *b)
{
    real gloss = mean3(b->metal.f0), dull = mean3(b->metal.diffuse);
    real share = gloss + dull > 0.0f ? gloss / (gloss + dull) : 0.5f;
    return fminf(fmaxf(share, 0.1f), dull > 0.0f ? 0.9f : 1.0f);
}

bsdf_value bsdf_eval(const bsdf *b, real3 to_light)
{
    bsdf_value value = {{0.0f, 0.0f, 0.0f}, 0.0f};
    real light = dot3(b->normal, to_light);
    if (!(light > 0.0f)) {
        return value;
    }
    if (!b->glossy) {
        value.pdf = light / BSDF_PI;
        value.weight = scale3(b->metal.diffuse, value.pdf);
        return value;
    }
    const bsdf_angles a = bsdf_angles_of(b->metal.alpha, b->normal, b->to_eye, to_light);
    real share = gloss_share(b), shadow = 2.0f * a.eye / (a.eye + a.eye_root);
    value.weight = bsdf_reflect(b->metal, a);
    value.pdf = share * shadow * bsdf_peak(a) / (4.0f * a.eye) + (1.0f - share) * light / BSDF_PI;
    return value;
}

real3 bsdf_mirror(real3 normal, real3 to_eye)
{
    return normalise3(sub3(scale3(normal, 2.0f * dot3(normal, to_eye)), to_eye));
}

// A visible normal of the microfacets, by the spherical cap of Dupuy and Benyoub (2023).
static real3 draw_half_way(const bsdf *b, real u, real v)
{
    real3 across, along;
    frame_around(b->normal, &across, &along);
    real3 eye = normalise3(make_real3(b->metal.alpha * dot3(b->to_eye, across),
                                      b->metal.alpha * dot3(b->to_eye, along), dot3(b->to_eye, b->normal)));
    real angle = 2.0f * BSDF_PI * u, z = (1.0f - v) * (1.0f + eye.z) - eye.z;
    real ring = sqrtf(fmaxf(1.0f - z * z, 0.0f));
    real3 h = make_real3(ring * cosf(angle) + eye.x, ring * sinf(angle) + eye.y, z + eye.z);
    return frame_out(b->normal,
                     normalise3(make_real3(b->metal.alpha * h.x, b->metal.alpha * h.y, fmaxf(h.z, 1e-9f))));
}

bsdf_value bsdf_draw(const bsdf *b, real u, real v, real choice, real3 *to_light)
{
    if (b->glossy && choice < gloss_share(b)) {
        real3 h = draw_half_way(b, u, v);
        *to_light = bsdf_mirror(h, b->to_eye);
    } else {
        real angle = 2.0f * BSDF_PI * u, ring = sqrtf(v);
        *to_light = normalise3(frame_out(
            b->normal, make_real3(ring * cosf(angle), ring * sinf(angle), sqrtf(fmaxf(1.0f - v, 0.0f)))));
    }
    return bsdf_eval(b, *to_light);
}
