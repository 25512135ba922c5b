#define ORR_SCALAR
#include "render/reference/bsdf.h"

#include "render/formula_inputs.h"
#include "render/reference/glass.h"

static real mean3(real3 a)
{
    return (a.x + a.y + a.z) * (1.0f / 3.0f);
}

bsdf bsdf_lambert(real3 normal, real3 to_eye, real3 base)
{
    return (bsdf){.normal = normal, .to_eye = to_eye, .metal = {.diffuse = base, .alpha = 1.0f}};
}

bsdf bsdf_dielectric(real3 normal, real3 to_eye, real3 base, real metallic, real roughness, real3 f0,
                     real f90)
{
    const bsdf_integrals integrals = bsdf_integrals_at(&orr_bsdf_integrals, roughness, dot3(normal, to_eye));
    return (bsdf){.normal = normal,
                  .to_eye = to_eye,
                  .metal = bsdf_dielectric_of(base, metallic, roughness, integrals.highlight, f0, f90),
                  .glossy = true};
}

bsdf bsdf_metallic(real3 normal, real3 to_eye, real3 base, real metallic, real roughness)
{
    return bsdf_dielectric(normal, to_eye, base, metallic, roughness, make_real3(0.04f, 0.04f, 0.04f), 1.0f);
}

void bsdf_add_coat(bsdf *b, real3 plane, real3 normal, real coated, real roughness)
{
    const bsdf_integrals integrals =
        bsdf_integrals_at(&orr_bsdf_integrals, roughness, dot3(normal, b->to_eye));
    b->coated = coated;
    b->plane = plane;
    b->coat_normal = normal;
    b->coat = bsdf_coat_of(roughness, integrals.highlight);
    b->coat_albedo = bsdf_albedo(b->coat, integrals).x;
}

real bsdf_passes_coat(const bsdf *b)
{
    return b->coated > 0.0f ? 1.0f - b->coated * b->coat_albedo : 1.0f;
}

bsdf bsdf_neural(const neural_surface *network, const mesh_frame *frame, real3 to_eye, real3 tint)
{
    const neural_lobes lobes = neural_lobes_of(network);
    const real3 normal = mesh_out_of(*frame, lobes.normal), none = {0.0f, 0.0f, 0.0f};
    const real alpha = lobes.roughness * lobes.roughness;
    return (bsdf){.normal = dot3(normal, to_eye) > 0.0f ? normal : frame->normal,
                  .to_eye = to_eye,
                  .metal = {lobes.matte, lobes.mirrored, none, fmaxf(alpha, BSDF_ALPHA_MIN), 1.0f},
                  .glossy = true,
                  .coated = 1.0f,
                  .plane = frame->normal,
                  .coat_normal = frame->normal,
                  .coat = bsdf_coat_of(lobes.coat_roughness, 1.0f),
                  .coat_albedo = lobes.coat,
                  .network = network,
                  .frame = *frame,
                  .tint = tint};
}

// How often any direction above a network's surface is drawn, so that what its lobes leave out is found too.
#define ANY_SHARE 0.1f

// How often the coat is drawn, not what is below it.
static real coat_share(const bsdf *b)
{
    if (!(b->coated > 0.0f)) {
        return 0.0f;
    }
    const real above = b->coated * b->coat_albedo, below = mean3(b->metal.diffuse) + mean3(b->metal.f0);
    return fminf(fmaxf(above / (above + (1.0f - above) * below), 0.1f), 0.9f);
}

// How often the highlight is drawn, not the cosine.
static real gloss_share(const bsdf *b)
{
    real gloss = mean3(b->metal.f0), dull = mean3(b->metal.diffuse);
    real share = gloss + dull > 0.0f ? gloss / (gloss + dull) : 0.5f;
    return fminf(fmaxf(share, 0.1f), dull > 0.0f ? 0.9f : 1.0f);
}

// The density at which bsdf_draw_half_way finds the direction.
static real highlight_pdf(const bsdf_angles *a)
{
    const real shadow = 2.0f * a->eye / (a->eye + a->eye_root);
    return shadow * bsdf_peak(*a) / (4.0f * a->eye);
}

// Of what is below the coat.
static bsdf_value eval_below(const bsdf *b, real3 to_light)
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
    const real share = gloss_share(b);
    value.weight = bsdf_reflect(b->metal, a);
    value.pdf = share * highlight_pdf(&a) + (1.0f - share) * light / BSDF_PI;
    return value;
}

static real3 on_the_other_side(real3 plane, real3 direction)
{
    return add_scaled3(direction, plane, -2.0f * dot3(plane, direction));
}

// Of the coat as if there were no plane below it.
static bsdf_value eval_lobe_of_coat(const bsdf *b, real3 to_light)
{
    if (!(dot3(b->coat_normal, to_light) > 0.0f)) {
        return (bsdf_value){{0.0f, 0.0f, 0.0f}, 0.0f};
    }
    const bsdf_angles a = bsdf_angles_of(b->coat.alpha, b->coat_normal, b->to_eye, to_light);
    return (bsdf_value){bsdf_reflect(b->coat, a), highlight_pdf(&a)};
}

// What a bent coat sends into the surface leaves again, mirrored at its plane, as from the other side of the
// same groove: the coat reflects all that its albedo takes from what is below it (Schuessler et al. 2017,
// "Microfacet-based normal mapping for robust Monte Carlo path tracing", with one plane for the other side).
static bsdf_value eval_coat(const bsdf *b, real3 to_light)
{
    const bsdf_value straight = eval_lobe_of_coat(b, to_light),
                     again = eval_lobe_of_coat(b, on_the_other_side(b->plane, to_light));
    return dot3(b->plane, to_light) > 0.0f
               ? (bsdf_value){add3(straight.weight, again.weight), straight.pdf + again.pdf}
               : (bsdf_value){{0.0f, 0.0f, 0.0f}, 0.0f};
}

bsdf_value bsdf_eval(const bsdf *b, real3 to_light)
{
    if (b->glass) {
        return glass_eval(b, to_light);
    }
    bsdf_value value = eval_below(b, to_light);
    if (!(b->coated > 0.0f)) {
        return value;
    }
    const real share = coat_share(b);
    const bsdf_value coat = eval_coat(b, to_light);
    value.weight = bsdf_coat_over(value.weight, coat.weight, b->coated, b->coat_albedo);
    value.pdf = (1.0f - share) * value.pdf + share * coat.pdf;
    if (b->network) {
        const real above = dot3(b->frame.normal, to_light) > 0.0f ? 0.5f / BSDF_PI : 0.0f;
        value.weight = times3(b->tint, neural_reflect(b->network, mesh_into(b->frame, to_light)));
        value.pdf = bsdf_mix(value.pdf, above, ANY_SHARE);
    }
    return value;
}

real3 bsdf_mirror(real3 normal, real3 to_eye)
{
    return normalise3(sub3(scale3(normal, 2.0f * dot3(normal, to_eye)), to_eye));
}

real3 bsdf_draw_half_way(real3 normal, real3 to_eye, real alpha, real u, real v)
{
    const real angle = 2.0f * BSDF_PI * u;
    return bsdf_facet(normal, to_eye, alpha, make_real2(cosf(angle), sinf(angle)), v);
}

bsdf_value bsdf_draw(const bsdf *b, real u, real v, real choice, real3 *to_light)
{
    if (b->glass) {
        return glass_draw(b, u, v, choice, to_light);
    }
    const bsdf_value none = {{0.0f, 0.0f, 0.0f}, 0.0f};
    const real any = b->network ? ANY_SHARE : 0.0f, coat = coat_share(b);
    if (choice < any) {
        const real angle = 2.0f * BSDF_PI * u, ring = sqrtf(fmaxf(1.0f - v * v, 0.0f));
        *to_light = frame_out(b->frame.normal, make_real3(ring * cosf(angle), ring * sinf(angle), v));
        return bsdf_eval(b, *to_light);
    }
    choice = (choice - any) / (1.0f - any);
    const real below = (choice - coat) / (1.0f - coat); // of the rest, which of its lobes
    if (choice < coat) {
        real3 h = bsdf_draw_half_way(b->coat_normal, b->to_eye, b->coat.alpha, u, v);
        *to_light = bsdf_mirror(h, b->to_eye);
        if (!(dot3(b->coat_normal, *to_light) > 0.0f)) {
            return none; // a density that the other lobes do not have
        }
        if (dot3(b->plane, *to_light) < 0.0f) {
            *to_light = on_the_other_side(b->plane, *to_light);
        }
    } else if (b->glossy && below < gloss_share(b)) {
        real3 h = bsdf_draw_half_way(b->normal, b->to_eye, b->metal.alpha, u, v);
        *to_light = bsdf_mirror(h, b->to_eye);
        if (!(dot3(b->normal, *to_light) > 0.0f)) {
            return none;
        }
    } else {
        real angle = 2.0f * BSDF_PI * u, ring = sqrtf(v);
        *to_light = normalise3(frame_out(
            b->normal, make_real3(ring * cosf(angle), ring * sinf(angle), sqrtf(fmaxf(1.0f - v, 0.0f)))));
    }
    return bsdf_eval(b, *to_light);
}
