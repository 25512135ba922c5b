#define ORR_SCALAR
#include "render/reference/glass.h"

#include "render/glass/glass_formula.h"

bsdf bsdf_glass(glass *g, real3 normal, real3 plane, real3 to_eye, real3 tint, real ior, real roughness,
                bool thin, bool entering)
{
    const bool same = fabsf(ior - 1.0f) < GLASS_SAME;
    *g = (glass){.plane = plane,
                 .tint = tint,
                 .eta = entering || thin ? ior : 1.0f / ior,
                 .alpha = fmaxf(roughness * roughness, BSDF_ALPHA_MIN),
                 .thin = thin || same,
                 .smooth = glass_is_smooth(roughness, ior)};
    return (bsdf){.normal = normal, .to_eye = to_eye, .glossy = true, .glass = g};
}

bool glass_faces(const bsdf *b, real3 to_light)
{
    return dot3(b->normal, to_light) * dot3(b->glass->plane, to_light) > 0.0f;
}

// The direction on the other side of the surface.
static real3 mirrored_through(const bsdf *b, real3 direction)
{
    return add_scaled3(direction, b->normal, -2.0f * dot3(b->normal, direction));
}

bsdf_value glass_eval(const bsdf *b, real3 to_light)
{
    const glass *g = b->glass;
    const bool above = dot3(b->normal, to_light) > 0.0f;
    if (above || g->thin) {
        // what goes through a thin surface is scattered as what it reflects, to the other side
        const real3 from = above ? to_light : mirrored_through(b, to_light);
        const bsdf_angles a = bsdf_angles_of(g->alpha, b->normal, b->to_eye, from);
        const real cosine = fmaxf(dot3(b->to_eye, normalise3(add3(from, b->to_eye))), 0.0f);
        const real reflected = glass_fresnel(cosine, g->eta);
        const glass_light l = glass_reflected(a, above ? reflected : 1.0f - reflected);
        const real3 white = {1.0f, 1.0f, 1.0f};
        return (bsdf_value){scale3(above ? white : g->tint, l.weight), l.pdf};
    }
    const glass_light l = glass_refracted(g->alpha, b->normal, b->to_eye, to_light, g->eta);
    return (bsdf_value){scale3(g->tint, l.weight), l.pdf};
}

// Through the microfacet, to the other side of the surface.
static real3 passed(const bsdf *b, real3 facet)
{
    const glass *g = b->glass;
    if (!g->thin) {
        return glass_refract(facet, b->to_eye, g->eta);
    }
    return mirrored_through(b, bsdf_mirror(facet, b->to_eye));
}

bsdf_value glass_draw(const bsdf *b, real u, real v, real choice, real3 *to_light)
{
    const glass *g = b->glass;
    const real3 facet = g->smooth ? b->normal : bsdf_draw_half_way(b->normal, b->to_eye, g->alpha, u, v);
    const real reflected = glass_fresnel(fmaxf(dot3(facet, b->to_eye), 0.0f), g->eta);
    const bool reflects = choice < reflected;
    *to_light = reflects ? bsdf_mirror(facet, b->to_eye) : passed(b, facet);
    if (!g->smooth) {
        const bsdf_value none = {{0.0f, 0.0f, 0.0f}, 0.0f};
        return glass_faces(b, *to_light) && (dot3(b->normal, *to_light) > 0.0f) == reflects
                   ? glass_eval(b, *to_light)
                   : none;
    }
    *to_light = glass_leave(*to_light, scale3(g->plane, reflects ? 1.0f : -1.0f));
    const real3 white = {1.0f, 1.0f, 1.0f};
    return (bsdf_value){scale3(reflects ? white : g->tint, GLASS_SURE), GLASS_SURE};
}
