// Lanes over lit points of one surface. Part of mesh_raster_cpu.c.
#pragma once

#include "render/cpu/environment_cpu.h"
#include "render/cpu/mesh_raster_stages.h"
#include "render/cpu/occlusion_cpu.h"
#include "render/cpu/shadow_cpu.h"

// For what is large and called from many places: inlined there it took three quarters of the compiler's time,
// and pictures took as long.
#define LARGE_FN static __attribute__((noinline, unused))

FN sint int_gather(const void *p, sint index)
{
    return (sint)real_gather(p, index);
}

// The part of light `light` that reaches the points past the meshes.
LARGE_FN real visible_part(const mesh_raster *raster, int light, light_incidence incidence, light_point p)
{
    int caster = raster->shadows ? raster->shadows->plan.light_of[light] : -1;
    if (caster < 0 || !any(dot3(incidence.to_light, p.normal) > R(0.0))) {
        return R(1.0);
    }
    return shadow_lookup(raster->shadows, caster, p.position, p.normal);
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

// One of the layers that a surface reflects by: what is under its coat, or the coat.
typedef struct metal_layer {
    bsdf_integrals integrals;
    bsdf_metal metal;
    real3 normal;
    real roughness;
    light_sums sums;
} metal_layer;

// Adds what the layer reflects of the environment around it.
FN void add_environment(const mesh_raster *raster, const mesh_surface *surface, light_point point,
                        real occlusion, metal_layer *layer)
{
    const environment_lanes e = environment_around(raster, surface);
    real3 mirror = environment_mirror(layer->normal, point.to_eye, layer->roughness);
    real3 towards = environment_towards(e.view, point.position, mirror);
    layer->sums = light_add_environment(layer->sums, layer->metal, layer->integrals, occlusion,
                                        environment_diffuse(e.view, layer->normal),
                                        environment_lookup(&e, towards, layer->roughness));
}

// Display colour of a surface of the metallic-roughness model by all lights. normal: of what is under a coat,
// which has that of `point`.
FN real3 light_up_metal(const mesh_raster *raster, const mesh_surface *surface, light_metal m,
                        light_point point, real3 normal)
{
    const orr_draw_lighting *lighting = &raster->lighting;
    const int layer_count = surface->textures[ORR_TEXTURE_COAT].image ? 2 : 1;
    m.occlusion = m.occlusion * open_part(raster, point);
    metal_layer layers[2] = {{.normal = normal, .roughness = m.roughness},
                             {.normal = point.normal, .roughness = m.coat_roughness}};
    for (int k = 0; k < layer_count; k++) {
        metal_layer *l = &layers[k];
        l->integrals = bsdf_integrals_at(&lighting->integrals, l->roughness, dot3(l->normal, point.to_eye));
        l->metal = k == 0 ? bsdf_metal_of(m.base, m.metallic, m.roughness, l->integrals.highlight)
                          : bsdf_coat_of(m.coat_roughness, l->integrals.highlight);
        l->sums = begin_light(raster, surface, 0.0f, R(1.0)); // m.occlusion is the rest
    }
    for (int i = 0; i < lighting->count; i++) {
        light_source light = light_of(&lighting->lights[i]);
        light_incidence incidence = light_incident(light, point.position);
        const real visible = visible_part(raster, i, incidence, point);
        for (int k = 0; k < layer_count; k++) {
            metal_layer *l = &layers[k];
            l->sums =
                light_add_metal(l->sums, light, incidence, point, l->normal, visible, l->metal, l->integrals);
        }
    }
    real3 light[2], albedo[2];
    for (int k = 0; k < layer_count; k++) {
        if (surface->instance->environment > 0) {
            add_environment(raster, surface, point, m.occlusion, &layers[k]);
        }
        if (k == 0) {
            layers[k].sums.highlight = add3(layers[k].sums.highlight, m.emissive);
        }
        albedo[k] = bsdf_albedo(layers[k].metal, layers[k].integrals);
        light[k] = light_reflected(layers[k].sums, albedo[k], m.occlusion);
    }
    real3 sum = light[0];
    if (layer_count == 2) {
        sum = bsdf_coat_over(sum, light[1], m.coated, albedo[1].x);
    }
    return light_shade_metal(tone_of(lighting), sum);
}

// The same of any other surface.
FN real3 light_up(const mesh_raster *raster, const mesh_surface *surface, real3 base_colour,
                  light_point point)
{
    const orr_mesh_material *material = surface->material;
    if (material->unlit) {
        return light_display(base_colour);
    }
    const orr_draw_lighting *lighting = &raster->lighting;
    light_sums sums = begin_light(raster, surface, material->emission, open_part(raster, point));
    if (surface->instance->environment > 0) {
        const environment_lanes e = environment_around(raster, surface);
        sums.diffuse = add_scaled3(sums.diffuse, environment_diffuse(e.view, point.normal), sums.open);
    }
    for (int i = 0; i < lighting->count; i++) {
        light_source light = light_of(&lighting->lights[i]);
        light_incidence incidence = light_incident(light, point.position);
        real visible = visible_part(raster, i, incidence, point);
        sums = light_add(sums, light, incidence, point, visible, material->specular, material->shininess);
    }
    return light_shade(tone_of(lighting), base_colour, sums, material->specular, material->emissive[0],
                       material->emissive[1], material->emissive[2]);
}
