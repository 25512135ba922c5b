// Lanes over the pixels of surfaces: their colours. Compiled once per instruction set.
#include "engine/core/isa.h"
#include "render/cpu/mesh_surface_cpu.h"
#include "render/cpu/mirror_cpu.h"
#include "render/cpu/rays/rays_cpu.h"

// Display colour of a surface whose material is a network. tint: a factor of what it reflects
LARGE_FN real3 shade_neural(const mesh_raster *raster, const mesh_surface *surface, light_point point,
                            real3 normal, const lane_triangle *t, real2 w, real x, real y, real3 tint)
{
    const mesh_frame frame = mesh_frame_of(point.normal, normal, tangents_of(&surface->latents[0], t));
    const neural_surface network = neural_surface_of(
        &surface->material->neural->weights, sample_texture(raster, &surface->latents[0], t, w, x, y),
        sample_texture(raster, &surface->latents[1], t, w, x, y), mesh_into(frame, point.to_eye));
    const real3 factor = sample_factor(raster, surface, ORR_TEXTURE_EMISSIVE, t, w, x, y);
    const float *emissive = surface->material->emissive;
    return light_up_neural(
        raster, surface, &network, frame, point, tint,
        make_real3(factor.x * emissive[0], factor.y * emissive[1], factor.z * emissive[2]));
}

// Display colour and alpha of a surface of the metallic-roughness model. at: the pixel centres [px]; part,
// met: as shade_pixels takes them
LARGE_FN real4 shade_metal(const mesh_raster *raster, const mesh_surface *surface, mask shown, real4 base,
                           light_point point, real3 normal, const lane_triangle *t, real2 at, real part,
                           sint *met)
{
    const orr_mesh_material *material = surface->material;
    const float *emissive = material->emissive;
    const real2 w = mesh_weights(mesh_view_of(&raster->lens), t->plane, at.x, at.y);
    const real4 factors = sample_surface(raster, surface, t, w, at.x, at.y);
    light_metal m =
        light_metal_of(make_real3(base.x, base.y, base.z), material->metallic, material->roughness,
                       emissive[0], emissive[1], emissive[2], make_real3(factors.x, factors.y, factors.z),
                       sample_factor(raster, surface, ORR_TEXTURE_EMISSIVE, t, w, at.x, at.y));
    m.transmission = factors.w;
    m = with_highlight(m, material);
    if (surface->textures[ORR_TEXTURE_COAT].image) {
        m = light_set_coat(
            m, sample_factor(raster, surface, ORR_TEXTURE_COAT, t, w, at.x, at.y), point,
            bent_normal(raster, surface, ORR_TEXTURE_COAT_NORMAL, point.normal, normal, t, w, at.x, at.y));
    }
    normal = bent_normal(raster, surface, ORR_TEXTURE_NORMAL, point.normal, normal, t, w, at.x, at.y);
    if (surface->film) {
        real4 film = light_up_film(raster, surface, m, point, normal);
        const real covers = material->blended ? base.w : R(1.0);
        film.w = sel(mesh_is_solid(base.w, material->alpha_cutoff), film.w * covers, R(0.0));
        return film;
    }
    const real3 colour = surface->traced
                             ? trace_metal(raster, surface, shown, m, point, normal, t, at, part, met)
                             : light_up_metal(raster, surface, m, point, normal);
    return (real4){colour.x, colour.y, colour.z, base.w};
}

// Display colour of triangles of the surface at the pixel centres x, y [px], and their alpha there; shown:
// the pixels that are looked at; part: as in shade_points; met: becomes the key of what the rays meet that
// start there, if any do.
FN real4 shade_pixels(const mesh_raster *raster, const mesh_surface *surface, mask shown,
                      const lane_triangle *t, real x, real y, real part, sint *met)
{
    const orr_mesh_vertex *vertices = surface->instance->mesh->vertices;
    const mesh_view view = mesh_view_of(&raster->lens);
    real2 exact = mesh_weights(view, t->plane, x, y), w = mesh_weights_inside(exact);
    const float *factor = surface->material->base_colour;
    real3 colour = make_real3(R(factor[0]), R(factor[1]), R(factor[2]));
    real alpha = R(factor[3]) * vertex_alpha(vertices, t, w);
    if (surface->textures[ORR_TEXTURE_BASE].image) {
        real4 texel = sample_texture(raster, &surface->textures[ORR_TEXTURE_BASE], t, exact, x, y);
        colour = make_real3(colour.x * texel.x, colour.y * texel.y, colour.z * texel.z);
        alpha = alpha * texel.w;
    }
    if (surface->instance->backdrop) {
        colour = haze_over(haze_of(&raster->lighting), light_display(colour), x, y, R(0.0), 1.0f);
        return (real4){colour.x, colour.y, colour.z, alpha};
    }
    real3 tint = times_vertex_colour(raster, vertices, t, w, make_real3(R(1.0), R(1.0), R(1.0)));
    colour = make_real3(colour.x * tint.x, colour.y * tint.y, colour.z * tint.z);
    real3 normal = interpolated_normal(surface, t, w);
    light_point point =
        mesh_light_point(view.orthographic, mesh_position(t->plane, w), normal, t->plane.a, t->plane.normal);
    const orr_mesh_material *material = surface->material;
    if (material->neural && !material->unlit) {
        colour = shade_neural(raster, surface, point, normal, t, exact, x, y, tint);
    } else if (material->metallic_roughness && !material->unlit) {
        const real4 shaded = shade_metal(raster, surface, shown, (real4){colour.x, colour.y, colour.z, alpha},
                                         point, normal, t, make_real2(x, y), part, met);
        colour = make_real3(shaded.x, shaded.y, shaded.z);
        alpha = shaded.w;
    } else {
        colour = light_up(raster, surface, colour, point);
    }
    if (surface->mirror) {
        colour = mirror_shade(raster, surface, colour, x, y);
    }
    const haze_view haze = haze_of(&raster->lighting);
    colour = haze_over(haze, colour, x, y, point.position.z, 0.0f);
    if (surface->instance->ends && surface->blended) { // of others it has been asked before
        alpha = sel(haze_leaves(haze, x, y), alpha, R(0.0));
    }
    return (real4){colour.x, colour.y, colour.z, alpha};
}

void ORR_ISA_NAME(orr_mesh_shade)(const mesh_raster *raster, const shade_points *at, shade_last *last,
                                  real4 *shaded)
{
    real4 colour = {R(0.0), R(0.0), R(0.0), R(0.0)};
    mask left = at->id >= I(0);
    sint safe = sel_int(left, at->id, I(0)), met = I(0);
    while (any(left)) { // once per surface, which is nearly always once
        mask same = left;
        if (!all(at->id == I(last->id))) {
            same = same_surface(raster, left, safe, &last->surface);
            last->triangle = triangles_at(raster, last->surface, same, safe, at->x, at->y);
            last->id = last->triangle.one ? safe[__builtin_ctz(mask_bits(same))] : -1;
        }
        sint key = I(0);
        real4 c = {R(ORR_NOT_TRACED), R(ORR_NOT_TRACED), R(ORR_NOT_TRACED), R(1.0)};
        if (!raster->only_traced || last->surface->traced) {
            c = shade_pixels(raster, last->surface, same, &last->triangle, at->x, at->y, at->part, &key);
        }
        met = sel_int(same, key, met);
        colour = (real4){sel(same, c.x, colour.x), sel(same, c.y, colour.y), sel(same, c.z, colour.z),
                         sel(same, c.w, colour.w)};
        left &= ~same;
    }
    *shaded = colour;
    if (at->met) {
        *at->met = met;
    }
}
