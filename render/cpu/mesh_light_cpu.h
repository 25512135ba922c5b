// Lanes over lit points of one surface. Part of mesh_shade_cpu.c.
#pragma once

#include "render/cloud_shadow/cloud_shadow_cpu.h"
#include "render/cpu/environment_cpu.h"
#include "render/cpu/mesh_raster_stages.h"
#include "render/cpu/occlusion_cpu.h"
#include "render/cpu/shadow_cpu.h"
#include "render/glass/glass_film_inputs.h"

// For what is large and called from many places: inlined there it took three quarters of the compiler's time,
// and pictures took as long.
#define LARGE_FN static __attribute__((noinline, unused))

FN sint int_gather(const void *p, sint index)
{
    return (sint)real_gather(p, index);
}

// The part of light `light` that reaches the points past the meshes, what is captured and clouds.
LARGE_FN real visible_part(const mesh_raster *raster, int light, light_incidence incidence, light_point p)
{
    const orr_cloud_shadows *clouds = raster->picture.clouds;
    int caster = raster->shadows ? raster->shadows->plan.light_of[light] : -1;
    const bool clouded = clouds && clouds->count > 0;
    if ((caster < 0 && !clouded) || !any(dot3(incidence.to_light, p.normal) > R(0.0))) {
        return R(1.0);
    }
    real visible = caster < 0 ? R(1.0) : shadow_lookup(raster->shadows, caster, p.position, p.normal);
    if (caster >= 0 && raster->shadows->captured) {
        visible = visible * shadow_lookup_captured(raster->shadows, caster, p.position, p.normal);
    }
    return clouded ? visible * cloud_shadow_lookup(clouds, light, p.position, R(-1.0)) : visible;
}

FN real bsdf_read(const float *entries, bsdf_place p)
{
    sint first = to_int(p.first);
    return bsdf_mix(bsdf_mix(real_gather(entries, first), real_gather(entries, first + I(1)), p.right),
                    bsdf_mix(real_gather(entries, first + I(BSDF_TABLE)),
                             real_gather(entries, first + I(BSDF_TABLE + 1)), p.right),
                    p.down);
}

FN bsdf_integrals bsdf_integrals_at(const orr_bsdf_table *table, real roughness, real cosine)
{
    const bsdf_place p = bsdf_find(roughness, cosine);
    sint column = to_int(p.column);
    bsdf_integrals s;
    s.highlight = bsdf_read(table->highlight, p);
    s.grazing = bsdf_read(table->grazing, p);
    s.dull = bsdf_mix(real_gather(table->dull, column), real_gather(table->dull, column + I(1)), p.right);
    return s;
}

// With what the material says of its highlights.
FN light_metal with_highlight(light_metal m, const orr_mesh_material *material)
{
    const float *f0 = material->highlight;
    return material->has_highlight ? light_set_highlight(m, f0[0], f0[1], f0[2], material->highlight_grazing)
                                   : m;
}

// The part of light from all around that reaches the points past the meshes.
FN real open_part(const mesh_raster *raster, light_point p)
{
    const orr_occlusion_map *map = raster->picture.occlusion;
    return map && map->depth ? occlusion_lookup(map, p.position, p.normal) : R(1.0);
}

// Ambient light and what the surface emits of its base colour; an environment takes the place of the former.
FN light_sums begin_light(const mesh_raster *raster, const mesh_surface *surface, float emission, real open)
{
    const float *ambient = raster->lighting.ambient;
    return surface->instance->environment > 0
               ? light_begin(0.0f, 0.0f, 0.0f, emission, open)
               : light_begin(ambient[0], ambient[1], ambient[2], emission, open);
}

FN environment_lanes environment_around(const mesh_raster *raster, const mesh_surface *surface)
{
    const int i = surface->instance->environment - 1;
    return environment_lanes_of(&raster->environments[i], &raster->lighting.environments[i]);
}

// What a white matte surface reflects of an environment.
LARGE_FN real3 environment_matte(const environment_lanes *e, real3 position, real3 normal)
{
    const real3 diffuse = environment_diffuse(e->view, normal);
    if (e->view.points_x < 2.0f) {
        return diffuse;
    }
    const environment_cell c = environment_find_cell(e->view, position, normal);
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    const bool x = any(c.squares.x > R(1e-6)), y = any(c.squares.y > R(1e-6)), z = any(c.squares.z > R(1e-6));
    real3 sum = none;
    real weights = R(0.0);
    for (int i = 0; i < 8; i++) {
        const environment_corner k =
            environment_corner_of(e->view, c, (float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2));
        if (!any(k.weight > R(0.0))) { // behind all of the points
            continue;
        }
        sum = environment_add_corner(sum, c, k, x ? environment_texel(e->texels, to_int(k.x)) : none,
                                     y ? environment_texel(e->texels, to_int(k.y)) : none,
                                     z ? environment_texel(e->texels, to_int(k.z)) : none);
        weights = weights + k.weight;
    }
    return environment_with_grid(e->view, diffuse, sum, weights);
}

// Radiance of an environment around the mirrored direction, blurred by a roughness.
FN real3 mirrored_around(const environment_lanes *e, light_point point, real3 normal, real roughness)
{
    real3 mirror = environment_mirror(normal, point.to_eye, roughness);
    return environment_lookup(e, environment_towards(e->view, point.position, mirror), roughness);
}

// The layers of a surface of the metallic-roughness model, lit by all lights, without environments; how many:
// the coat is the second. normal: of what is under a coat
FN int light_layers(const mesh_raster *raster, const mesh_surface *surface, light_metal m, light_point point,
                    real3 normal, light_layer layers[2])
{
    const orr_draw_lighting *lighting = &raster->lighting;
    const orr_bsdf_table *table = &lighting->integrals;
    const int layer_count = surface->textures[ORR_TEXTURE_COAT].image && !surface->film ? 2 : 1;
    const light_sums begun = begin_light(raster, surface, 0.0f, R(1.0)); // m.occlusion is the rest
    layers[0] =
        light_base_layer(m, bsdf_integrals_at(table, m.roughness, dot3(normal, point.to_eye)), normal, begun);
    if ((surface->traced || surface->film) && orr_material_transmits(surface->material)) {
        const orr_mesh_material *look = surface->material;
        layers[0].metal =
            glass_layer(layers[0].metal, m.base, m.metallic, m.transmission * R(look->transmission),
                        look->ior, layers[0].integrals.highlight);
    }
    if (layer_count == 2) {
        layers[1] = light_coat_layer(
            m, bsdf_integrals_at(table, m.coat_roughness, dot3(m.coat_normal, point.to_eye)), begun);
    }
    for (int i = 0; i < lighting->count; i++) {
        light_source light = light_of(&lighting->lights[i]);
        light_incidence incidence = light_incident(light, point.position);
        const real visible = visible_part(raster, i, incidence, point);
        for (int k = 0; k < layer_count; k++) {
            layers[k] = light_add_to_layer(layers[k], light, incidence, point, visible);
        }
    }
    return layer_count;
}

// Display colour of a surface of the metallic-roughness model by all lights. normal: as of light_layers
FN real3 light_up_metal(const mesh_raster *raster, const mesh_surface *surface, light_metal m,
                        light_point point, real3 normal)
{
    light_layer layers[2];
    m.occlusion = m.occlusion * open_part(raster, point);
    const int layer_count = light_layers(raster, surface, m, point, normal, layers);
    for (int k = 0; k < layer_count && surface->instance->environment > 0; k++) {
        const environment_lanes e = environment_around(raster, surface);
        layers[k] = light_add_environment(layers[k], m.occlusion,
                                          environment_matte(&e, point.position, layers[k].normal),
                                          mirrored_around(&e, point, layers[k].normal, layers[k].roughness));
    }
    return light_shade(tone_of(&raster->lighting), layer_count == 2
                                                       ? light_of_layers(layers[0], layers[1], m)
                                                       : light_of_layer(layers[0], m.occlusion, m.emissive));
}

// Straight display colour and alpha of glass that is drawn as a film. normal: as of light_layers
LARGE_FN real4 light_up_film(const mesh_raster *raster, const mesh_surface *surface, light_metal m,
                             light_point point, real3 normal)
{
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    light_layer layers[2];
    m.occlusion = m.occlusion * open_part(raster, point);
    light_layers(raster, surface, m, point, normal, layers);
    real3 matte = none, mirrored = none, behind = layers[0].sums.diffuse;
    if (surface->instance->environment > 0) {
        const environment_lanes e = environment_around(raster, surface);
        matte = environment_matte(&e, point.position, normal);
        mirrored = mirrored_around(&e, point, normal, m.roughness);
        behind = add3(behind, environment_matte(&e, point.position, scale3(normal, R(-1.0))));
    }
    const glass_film film =
        glass_film_of(layers[0], m, glass_look_of(&surface->look), point.to_eye, matte, mirrored);
    return glass_film_over(film, tone_of(&raster->lighting), behind);
}

// Linear light of any other surface. open: the part of light from all around that reaches the points
FN real3 light_up_linear(const mesh_raster *raster, const mesh_surface *surface, real3 base_colour,
                         light_point point, real open)
{
    const orr_mesh_material *material = surface->material;
    if (material->unlit) {
        return base_colour;
    }
    const orr_draw_lighting *lighting = &raster->lighting;
    light_sums sums = begin_light(raster, surface, material->emission, open);
    if (surface->instance->environment > 0) {
        const environment_lanes e = environment_around(raster, surface);
        sums.diffuse =
            add_scaled3(sums.diffuse, environment_matte(&e, point.position, point.normal), sums.open);
    }
    for (int i = 0; i < lighting->count; i++) {
        light_source light = light_of(&lighting->lights[i]);
        light_incidence incidence = light_incident(light, point.position);
        real visible = visible_part(raster, i, incidence, point);
        sums = light_add(sums, light, incidence, point, visible, material->specular, material->shininess);
    }
    return light_of_sums(base_colour, sums, material->specular, material->emissive[0], material->emissive[1],
                         material->emissive[2]);
}

// Its display colour.
FN real3 light_up(const mesh_raster *raster, const mesh_surface *surface, real3 base_colour,
                  light_point point)
{
    if (surface->material->unlit) {
        return light_display(base_colour);
    }
    return light_shade(tone_of(&raster->lighting),
                       light_up_linear(raster, surface, base_colour, point, open_part(raster, point)));
}
