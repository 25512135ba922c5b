// One thread's pixel of a surface: corners, weights, texture, light. The lanes' counterpart is
// cpu/mesh_shade_cpu.c.
#pragma once

#include "engine/device/cuda_kernel.h"
#include "render/appearance/neural_light_formula.h"
#include "render/appearance/neural_surface.h"
#include "render/cuda/cloud_shadow_device.h"
#include "render/cuda/environment_device.h"
#include "render/cuda/meshes/mesh_triangle_device.h"
#include "render/cuda/occlusion_device.h"
#include "render/cuda/shadow_device.h"
#include "render/glass/glass_film_inputs.h"
#include "render/mirror/mirror_formula.h"
#include "render/texture_formula.h"

// ---- texture ----

// Linear colour and alpha of a texel, by its number in the mip chain.
static __device__ real4 fetch_texel(const orr_cuda_mesh_texture *texture, const float *linear, int32_t number)
{
    uint32_t texel = __ldg(texture->texels + number);
    return make_real4(__ldg(linear + (texel & 255u)), __ldg(linear + (texel >> 8 & 255u)),
                      __ldg(linear + (texel >> 16 & 255u)), (float)(texel >> 24) * (1.0f / 255.0f));
}

// Within one level of the mip chain. is_small: as texture_is_small
static __device__ real4 sample_level(const orr_cuda_mesh_texture *texture, const float *linear, real2 uv,
                                     int32_t level, bool is_small)
{
    int32_t width = orr_mip_side(texture->width, level), height = orr_mip_side(texture->height, level);
    texture_square s =
        texture_around(uv, (float)width, (float)height, texture_sampler_of(&texture->sampler), is_small);
    int32_t first = texture->level_first[level];
    int32_t top = first + (int32_t)s.top * width, bottom = first + (int32_t)s.bottom * width;
    int32_t left = (int32_t)s.left, right = (int32_t)s.right;
    real4 sum = make_real4(0.0f, 0.0f, 0.0f, 0.0f);
    sum = texture_add(sum, s.left_top, fetch_texel(texture, linear, top + left));
    sum = texture_add(sum, s.right_top, fetch_texel(texture, linear, top + right));
    sum = texture_add(sum, s.left_bottom, fetch_texel(texture, linear, bottom + left));
    return texture_add(sum, s.right_bottom, fetch_texel(texture, linear, bottom + right));
}

// Between two levels of the mip chain.
static __device__ real4 sample_place(const orr_cuda_mesh_texture *texture, const float *linear, real2 uv,
                                     float level, bool is_small)
{
    const float whole = floor_(level), part = level - whole;
    const int32_t fine = (int32_t)whole, last = texture->level_count - 1;
    const real4 texel = sample_level(texture, linear, uv, fine, is_small);
    return part > 0.0f
               ? texture_mix(texel, sample_level(texture, linear, uv, min(fine + 1, last), is_small), part)
               : texel;
}

// A texture's coordinates at a corner, 0 .. 2, of a triangle.
static __device__ real2 coordinates_at(const orr_cuda_mesh_texture *texture, const shaded_triangle *t,
                                       int32_t corner)
{
    const float *at =
        texture->coordinates.first + (size_t)texture->coordinates.stride * (size_t)t->corners[corner];
    return make_real2(at[0], at[1]);
}

// A texture at the pixel centre x, y [px]. w: weights there
static __device__ real4 sample_texture(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_texture *texture,
                                       const shaded_triangle *t, real2 w, float x, float y)
{
    const mesh_view view = mesh_view_of(&s->lens);
    real2 w_across = mesh_weights(view, t->plane, x + 1.0f, y),
          w_down = mesh_weights(view, t->plane, x, y + 1.0f);
    const float size[2] = {(float)texture->width, (float)texture->height};
    const texture_sampler how = texture_sampler_of(&texture->sampler);
    const real2 at_a = coordinates_at(texture, t, 0), at_b = coordinates_at(texture, t, 1),
                at_c = coordinates_at(texture, t, 2);
    float uv[2], across[2], down[2];
    for (int i = 0; i < 2; i++) {
        const float a = i ? at_a.y : at_a.x, b = i ? at_b.y : at_b.x, c = i ? at_c.y : at_c.x;
        across[i] = mesh_texture_step(w, w_across, a, b, c, size[i]);
        down[i] = mesh_texture_step(w, w_down, a, b, c, size[i]);
        uv[i] = texture_centre(mesh_interpolate(w, a, b, c), i ? how.wrap_v : how.wrap_u);
    }
    const texture_footprint f = texture_cover(make_real2(across[0], across[1]), make_real2(down[0], down[1]),
                                              (float)(texture->level_count - 1));
    const float x_step = f.axis.x * (1.0f / size[0]), y_step = f.axis.y * (1.0f / size[1]);
    const bool is_small = texture_is_small(f);
    const float level = texture_level(f.level, how.nearest_mip);
    real4 sum = sample_place(texture, s->linear, texture_settled(uv[0], uv[1], how), level, is_small);
    for (int k = 1; k <= TEXTURE_SIDES && f.sides > (float)(k - 1); k++) {
        const float weight = texture_weight(f, (float)k), place = texture_place(weight, (float)k);
        for (int side = -1; side <= 1; side += 2) {
            const float away = place * (float)side;
            const real2 at = texture_wrapped(fma_(away, x_step, uv[0]), fma_(away, y_step, uv[1]), how);
            sum = texture_add(sum, weight, sample_place(texture, s->linear, at, level, is_small));
        }
    }
    return texture_add(make_real4(0.0f, 0.0f, 0.0f, 0.0f), 1.0f / (1.0f + 2.0f * f.sides), sum);
}

// Does the surface end where haze does? Not for lights.
static __device__ bool is_ended(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface)
{
    return s->instances[surface->instance].endless && !s->only_casters &&
           s->lighting->haze.reach_over_height > 0.0f;
}

// The interpolated alpha of vertex colours.
static __device__ float vertex_alpha(const shaded_triangle *t, real2 w)
{
    return mesh_interpolate(w, (float)t->a->colour[3], (float)t->b->colour[3], (float)t->c->colour[3]) *
           (1.0f / 255.0f);
}

// Has the surface no hole there? x, y: [px]
static __device__ bool is_solid_at(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface,
                                   uint32_t triangle, float x, float y)
{
    const orr_cuda_mesh_texture *base = &surface->textures[ORR_TEXTURE_BASE];
    float alpha = surface->material.base_colour[3];
    if (surface->material.alpha_cutoff > 0.0f) {
        const shaded_triangle t = find_triangle(s, surface, triangle);
        const real2 w = mesh_weights(mesh_view_of(&s->lens), t.plane, x, y);
        alpha = alpha * vertex_alpha(&t, mesh_weights_inside(w));
        alpha = base->texels ? alpha * sample_texture(s, base, &t, w, x, y).w : alpha;
    }
    return mesh_is_solid(alpha, surface->material.alpha_cutoff) &&
           (!is_ended(s, surface) || haze_leaves(haze_of(s->lighting), x, y));
}

// ---- light ----

// Vertex colours, decoded and interpolated, times `colour`.
static __device__ real3 times_vertex_colour(const float *linear, const shaded_triangle *t, real2 w,
                                            real3 colour)
{
    float rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = mesh_interpolate(w, __ldg(linear + t->a->colour[i]), __ldg(linear + t->b->colour[i]),
                                  __ldg(linear + t->c->colour[i]));
    }
    return make_real3(colour.x * rgb[0], colour.y * rgb[1], colour.z * rgb[2]);
}

// The part of light `light` that reaches the point past the meshes, what is captured and clouds.
static __device__ float visible_part(const orr_cuda_mesh_scene *s, int32_t light, light_incidence incidence,
                                     light_point p)
{
    int32_t caster = s->shadow_maps ? s->shadows->light_of[light] : -1;
    if ((caster < 0 && !s->clouds.table) || !(dot3(incidence.to_light, p.normal) > 0.0f)) {
        return 1.0f;
    }
    float visible =
        caster >= 0 ? shadow_lookup(s->shadows, s->shadow_maps, caster, p.position, p.normal) : 1.0f;
    if (caster >= 0 && s->captured_depths && s->shadows->captured[caster].size > 0.0f) {
        visible *= shadow_lookup_in(s->captured_depths + s->shadows->captured_firsts[caster],
                                    shadow_view_of(&s->shadows->captured[caster]), p.position, p.normal);
    }
    return s->clouds.table ? visible * cloud_shadow_lookup(&s->clouds, light, p.position, -1) : visible;
}

// Radiance in a direction of the map's space, blurred as a surface of that roughness mirrors it.
static __device__ real3 environment_lookup(environment_view v, const uint32_t *texels, real3 towards,
                                           float roughness)
{
    environment_place p = environment_find_levels(v, towards, roughness);
    real3 light =
        environment_mix(environment_bilinear(texels, p.fine), environment_bilinear(texels, p.coarse), p.part);
    return scale3(light, v.strength);
}

// What a white matte surface reflects of an environment.
static __device__ real3 environment_matte(environment_view v, const uint32_t *texels, real3 position,
                                          real3 normal)
{
    const real3 diffuse = environment_diffuse(v, normal);
    if (v.points_x < 2.0f) {
        return diffuse;
    }
    const environment_cell c = environment_find_cell(v, position, normal);
    real3 sum = make_real3(0.0f, 0.0f, 0.0f);
    float weights = 0.0f;
    for (int32_t i = 0; i < 8; i++) {
        const environment_corner k =
            environment_corner_of(v, c, (float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2));
        sum = environment_add_corner(sum, c, k, environment_texel(texels, (int32_t)k.x),
                                     environment_texel(texels, (int32_t)k.y),
                                     environment_texel(texels, (int32_t)k.z));
        weights += k.weight;
    }
    return environment_with_grid(v, diffuse, sum, weights);
}

// The part of light from all around that reaches the point past the meshes.
static __device__ float open_part(const orr_cuda_mesh_scene *s, light_point p)
{
    return s->occlusion.depth ? occlusion_lookup(&s->occlusion, p.position, p.normal) : 1.0f;
}

// Ambient light and what the surface emits of its base colour; an environment takes the place of the former.
static __device__ light_sums begin_light(const orr_cuda_mesh_scene *s, int32_t environment, float emission,
                                         float open)
{
    const float *ambient = s->lighting->ambient;
    return environment > 0 ? light_begin(0.0f, 0.0f, 0.0f, emission, open)
                           : light_begin(ambient[0], ambient[1], ambient[2], emission, open);
}

// Radiance of an environment around the mirrored direction, blurred by a roughness.
static __device__ real3 mirrored_around(const orr_cuda_mesh_scene *s, environment_view v, light_point point,
                                        real3 normal, float roughness)
{
    real3 mirror = environment_mirror(normal, point.to_eye, roughness);
    return environment_lookup(v, s->environment_texels, environment_towards(v, point.position, mirror),
                              roughness);
}

// Display colour of a surface of the metallic-roughness model by all lights. normal: of what is under a coat
static __device__ real3 light_up_metal(const orr_cuda_mesh_scene *s, int32_t environment, light_metal m,
                                       light_point point, real3 normal, bool coated)
{
    const orr_draw_lighting *lighting = s->lighting;
    const orr_bsdf_table *table = &lighting->integrals;
    const int32_t layer_count = coated ? 2 : 1;
    light_layer layers[2];
    m.occlusion = m.occlusion * open_part(s, point);
    const light_sums begun = begin_light(s, environment, 0.0f, 1.0f); // m.occlusion is the rest
    layers[0] =
        light_base_layer(m, bsdf_integrals_at(table, m.roughness, dot3(normal, point.to_eye)), normal, begun);
    if (coated) {
        layers[1] = light_coat_layer(
            m, bsdf_integrals_at(table, m.coat_roughness, dot3(m.coat_normal, point.to_eye)), begun);
    }
    for (int32_t i = 0; i < lighting->count; i++) {
        light_source light = light_of(&lighting->lights[i]);
        light_incidence incidence = light_incident(light, point.position);
        const float visible = visible_part(s, i, incidence, point);
        for (int32_t k = 0; k < layer_count; k++) {
            layers[k] = light_add_to_layer(layers[k], light, incidence, point, visible);
        }
    }
    for (int32_t k = 0; k < layer_count && environment > 0; k++) {
        const environment_view v = environment_of(&lighting->environments[environment - 1]);
        layers[k] = light_add_environment(
            layers[k], m.occlusion,
            environment_matte(v, s->environment_texels, point.position, layers[k].normal),
            mirrored_around(s, v, point, layers[k].normal, layers[k].roughness));
    }
    return light_shade(tone_of(lighting), coated ? light_of_layers(layers[0], layers[1], m)
                                                 : light_of_layer(layers[0], m.occlusion, m.emissive));
}

// Straight display colour and alpha of glass that is drawn as a film; without a coat.
static __device__ real4 light_up_film(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface,
                                      light_metal m, light_point point, real3 normal)
{
    const orr_draw_lighting *lighting = s->lighting;
    const int32_t environment = s->instances[surface->instance].environment;
    const glass_look look = glass_look_of(&surface->look);
    const bsdf_integrals integrals =
        bsdf_integrals_at(&lighting->integrals, m.roughness, dot3(normal, point.to_eye));
    light_layer layer = light_base_layer(m, integrals, normal, begin_light(s, environment, 0.0f, 1.0f));
    layer.metal = glass_layer(layer.metal, m.base, m.metallic, m.transmission * look.transmission, look.ior,
                              integrals.highlight);
    m.occlusion = m.occlusion * open_part(s, point);
    for (int32_t i = 0; i < lighting->count; i++) {
        light_source light = light_of(&lighting->lights[i]);
        light_incidence incidence = light_incident(light, point.position);
        layer = light_add_to_layer(layer, light, incidence, point, visible_part(s, i, incidence, point));
    }
    const real3 none = make_real3(0.0f, 0.0f, 0.0f);
    real3 matte = none, mirrored = none, behind = layer.sums.diffuse;
    if (environment > 0) {
        const environment_view v = environment_of(&lighting->environments[environment - 1]);
        matte = environment_matte(v, s->environment_texels, point.position, normal);
        mirrored = mirrored_around(s, v, point, normal, m.roughness);
        behind =
            add3(behind, environment_matte(v, s->environment_texels, point.position, scale3(normal, -1.0f)));
    }
    const glass_film film = glass_film_of(layer, m, look, point.to_eye, matte, mirrored);
    return glass_film_over(film, tone_of(lighting), behind);
}

// Display colour of any other surface.
static __device__ real3 light_up(const orr_cuda_mesh_scene *s, int32_t environment,
                                 const orr_mesh_material *material, real3 base_colour, light_point point)
{
    if (material->unlit) {
        return light_display(base_colour);
    }
    const orr_draw_lighting *lighting = s->lighting;
    light_sums sums = begin_light(s, environment, material->emission, open_part(s, point));
    if (environment > 0) {
        const environment_view v = environment_of(&lighting->environments[environment - 1]);
        sums.diffuse =
            add_scaled3(sums.diffuse,
                        environment_matte(v, s->environment_texels, point.position, point.normal), sums.open);
    }
    for (int32_t i = 0; i < lighting->count; i++) {
        light_source light = light_of(&lighting->lights[i]);
        light_incidence incidence = light_incident(light, point.position);
        float visible = visible_part(s, i, incidence, point);
        sums = light_add(sums, light, incidence, point, visible, material->specular, material->shininess);
    }
    return light_shade(tone_of(lighting),
                       light_of_sums(base_colour, sums, material->specular, material->emissive[0],
                                     material->emissive[1], material->emissive[2]));
}

// The texel of a factor; white where there is no texture.
static __device__ real4 sample_factors(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_texture *texture,
                                       const shaded_triangle *t, real2 w, float x, float y)
{
    return texture->texels ? sample_texture(s, texture, t, w, x, y) : make_real4(1.0f, 1.0f, 1.0f, 1.0f);
}

static __device__ real3 sample_factor(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_texture *texture,
                                      const shaded_triangle *t, real2 w, float x, float y)
{
    real4 texel = sample_factors(s, texture, t, w, x, y);
    return make_real3(texel.x, texel.y, texel.z);
}

// Factors of occlusion, roughness, metallic and transmission.
static __device__ real4 sample_surface(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_texture *textures,
                                       const shaded_triangle *t, real2 w, float x, float y)
{
    const real4 a = sample_factors(s, &textures[ORR_TEXTURE_SURFACE], t, w, x, y),
                b = sample_factors(s, &textures[ORR_TEXTURE_SECOND_SURFACE], t, w, x, y);
    return make_real4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}

static __device__ mesh_tangents tangents_of(const orr_cuda_mesh_texture *texture, const shaded_triangle *t)
{
    const real2 a = coordinates_at(texture, t, 0), b = coordinates_at(texture, t, 1),
                c = coordinates_at(texture, t, 2);
    return mesh_tangents_of(t->plane.ab, t->plane.ac, make_real2(b.x - a.x, b.y - a.y),
                            make_real2(c.x - a.x, c.y - a.y));
}

// The normal by a texture of normals, if there is one; seen, normal: as mesh_bend takes them.
static __device__ real3 bent_normal(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_texture *texture,
                                    real3 seen, real3 normal, const shaded_triangle *t, real2 w, float x,
                                    float y)
{
    return texture->texels
               ? mesh_bend(seen, normal, tangents_of(texture, t), sample_factor(s, texture, t, w, x, y))
               : seen;
}

// Display colour of a surface whose material is a network. tint: a factor of what it reflects; emissive:
// linear
static __device__ real3 light_up_neural(const orr_cuda_mesh_scene *s, int32_t environment,
                                        const neural_surface *network, mesh_frame frame, light_point point,
                                        real3 tint, real3 emissive)
{
    const orr_draw_lighting *lighting = s->lighting;
    const neural_lobes lobes = neural_lobes_of(network);
    const real3 bent = mesh_out_of(frame, lobes.normal);
    const float occlusion = lobes.occlusion * open_part(s, point);
    light_sums sums = begin_light(s, environment, 0.0f, 1.0f);
    for (int32_t i = 0; i < lighting->count; i++) {
        const light_source light = light_of(&lighting->lights[i]);
        const light_incidence incidence = light_incident(light, point.position);
        real3 reflected = make_real3(0.0f, 0.0f, 0.0f);
        if (light.area < 0.5f) {
            reflected = neural_reflect(network, mesh_into(frame, incidence.to_light));
        }
        sums = neural_add_light(sums, light, incidence, point, bent, visible_part(s, i, incidence, point),
                                lobes, reflected);
    }
    if (environment > 0) {
        const environment_view v = environment_of(&lighting->environments[environment - 1]);
        sums = neural_add_environment(sums, lobes, occlusion,
                                      environment_matte(v, s->environment_texels, point.position, bent),
                                      mirrored_around(s, v, point, bent, lobes.roughness),
                                      mirrored_around(s, v, point, point.normal, lobes.coat_roughness));
    }
    const real3 light = light_reflected(sums, neural_albedo(lobes), occlusion);
    return light_shade(tone_of(lighting), add3(times3(light, tint), emissive));
}

static __device__ real3 shade_neural(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface,
                                     light_point point, real3 normal, const shaded_triangle *t, real2 w,
                                     float x, float y, real3 tint)
{
    const mesh_frame frame = mesh_frame_of(point.normal, normal, tangents_of(&surface->latents[0], t));
    const neural_surface network = neural_surface_of(
        surface->neural, sample_texture(s, &surface->latents[0], t, w, x, y),
        sample_texture(s, &surface->latents[1], t, w, x, y), mesh_into(frame, point.to_eye));
    const real3 factor = sample_factor(s, &surface->textures[ORR_TEXTURE_EMISSIVE], t, w, x, y);
    const float *emissive = surface->material.emissive;
    return light_up_neural(
        s, s->instances[surface->instance].environment, &network, frame, point, tint,
        make_real3(factor.x * emissive[0], factor.y * emissive[1], factor.z * emissive[2]));
}

// Light of what a mirror shows at the pixel that holds x, y [px], added to its surface's display colour.
static __device__ real3 mirror_shade(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface,
                                     real3 colour, float x, float y)
{
    const size_t row = (size_t)mirror_row((float)s->lens.height, y),
                 column = (size_t)mirror_column((float)s->lens.width, x);
    const float *rgba = surface->mirror + 4 * (row * (size_t)s->lens.width + column);
    return mirror_add(surface->material.reflectance, colour, make_real4(rgba[0], rgba[1], rgba[2], rgba[3]));
}

// What the CPU has drawn of a surface that starts rays, in the pixel that holds x, y [px]. false: nothing
static __device__ bool take_traced(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface,
                                   float x, float y, real3 *colour)
{
    if (!surface->traced || !s->traced) {
        return false;
    }
    const float *rgba = s->traced + 4 * ((size_t)y * (size_t)s->lens.width + (size_t)x);
    *colour = make_real3(rgba[0], rgba[1], rgba[2]);
    return rgba[3] > 0.0f;
}

// Display colour of a record at the pixel centre x, y [px], and its alpha there.
static __device__ real4 shade_record(const orr_cuda_mesh_scene *s, const mesh_record *record, float x,
                                     float y)
{
    const orr_cuda_mesh_surface *surface = &s->surfaces[record->surface];
    const mesh_view view = mesh_view_of(&s->lens);
    shaded_triangle t = find_triangle(s, surface, record->triangle);
    real2 exact = mesh_weights(view, t.plane, x, y), w = mesh_weights_inside(exact);
    const float *factor = surface->material.base_colour;
    real3 colour = make_real3(factor[0], factor[1], factor[2]);
    float alpha = factor[3] * vertex_alpha(&t, w);
    const orr_cuda_mesh_texture *base = &surface->textures[ORR_TEXTURE_BASE];
    if (base->texels) {
        real4 texel = sample_texture(s, base, &t, exact, x, y);
        colour = make_real3(colour.x * texel.x, colour.y * texel.y, colour.z * texel.z);
        alpha = alpha * texel.w;
    }
    real3 traced;
    if (take_traced(s, surface, x, y, &traced)) {
        return make_real4(traced.x, traced.y, traced.z, alpha);
    }
    const haze_view haze = haze_of(s->lighting);
    if (s->instances[surface->instance].backdrop) {
        colour = haze_over(haze, light_display(colour), x, y, 0.0f, 1.0f);
    } else {
        const real3 tint = times_vertex_colour(s->linear, &t, w, make_real3(1.0f, 1.0f, 1.0f));
        colour = make_real3(colour.x * tint.x, colour.y * tint.y, colour.z * tint.z);
        real3 normal = normal_at(s, surface, &t, w);
        light_point point =
            mesh_light_point(view.orthographic, mesh_position(t.plane, w), normal, t.plane.a, t.plane.normal);
        const orr_mesh_material *material = &surface->material;
        const int32_t environment = s->instances[surface->instance].environment;
        if (surface->neural && !material->unlit) {
            colour = shade_neural(s, surface, point, normal, &t, exact, x, y, tint);
        } else if (material->metallic_roughness && !material->unlit) {
            const float *emissive = material->emissive;
            const orr_cuda_mesh_texture *textures = surface->textures;
            const real4 factors = sample_surface(s, textures, &t, exact, x, y);
            light_metal m =
                light_metal_of(colour, material->metallic, material->roughness, emissive[0], emissive[1],
                               emissive[2], make_real3(factors.x, factors.y, factors.z),
                               sample_factor(s, &textures[ORR_TEXTURE_EMISSIVE], &t, exact, x, y));
            m.transmission = factors.w;
            if (material->has_highlight) {
                const float *f0 = material->highlight;
                m = light_set_highlight(m, f0[0], f0[1], f0[2], material->highlight_grazing);
            }
            const bool coated = textures[ORR_TEXTURE_COAT].texels != NULL && !surface->film;
            if (coated) {
                m = light_set_coat(m, sample_factor(s, &textures[ORR_TEXTURE_COAT], &t, exact, x, y), point,
                                   bent_normal(s, &textures[ORR_TEXTURE_COAT_NORMAL], point.normal, normal,
                                               &t, exact, x, y));
            }
            normal = bent_normal(s, &textures[ORR_TEXTURE_NORMAL], point.normal, normal, &t, exact, x, y);
            if (surface->film) {
                const real4 film = light_up_film(s, surface, m, point, normal);
                const float covers = material->blended ? alpha : 1.0f;
                colour = make_real3(film.x, film.y, film.z);
                alpha = mesh_is_solid(alpha, material->alpha_cutoff) ? film.w * covers : 0.0f;
            } else {
                colour = light_up_metal(s, environment, m, point, normal, coated);
            }
        } else {
            colour = light_up(s, environment, material, colour, point);
        }
        if (surface->mirror) {
            colour = mirror_shade(s, surface, colour, x, y);
        }
        colour = haze_over(haze, colour, x, y, point.position.z, 0.0f);
        alpha = is_ended(s, surface) && !haze_leaves(haze, x, y) ? 0.0f : alpha;
    }
    return make_real4(colour.x, colour.y, colour.z, alpha);
}
