// Lanes over the pixels of one surface: corners, weights, texture, light. Part of mesh_raster_cpu.c.
#pragma once

#include "render/cpu/environment_cpu.h"
#include "render/cpu/mesh_raster_stages.h"
#include "render/cpu/mirror_cpu.h"
#include "render/cpu/occlusion_cpu.h"
#include "render/cpu/shadow_cpu.h"
#include "render/texture_formula.h"

// The lanes' triangles; all of one surface.
typedef struct lane_triangle {
    sint a, b, c; // vertices
    mesh_triangle plane;
} lane_triangle;

// For what is large and called from many places: inlined there it took three quarters of the compiler's time,
// and pictures took as long.
#define LARGE_FN static __attribute__((noinline, unused))

FN sint int_gather(const void *p, sint index)
{
    return (sint)real_gather(p, index);
}

// A member of vertices as the camera sees them, by its offset in mesh_point [bytes].
FN real point_member(const mesh_instance *instance, sint vertex, size_t offset)
{
    return real_gather((const float *)((const char *)instance->points + offset),
                       vertex * I(sizeof(mesh_point) / 4));
}

FN real3 gather_position(const mesh_instance *instance, sint vertex)
{
    return make_real3(point_member(instance, vertex, offsetof(mesh_point, x)),
                      point_member(instance, vertex, offsetof(mesh_point, y)),
                      point_member(instance, vertex, offsetof(mesh_point, z)));
}

FN lane_triangle gather_triangle(const mesh_surface *surface, sint triangle)
{
    const mesh_instance *instance = surface->instance;
    lane_triangle t;
    sint first = triangle * I(3);
    t.a = int_gather(instance->mesh->indices, first);
    t.b = int_gather(instance->mesh->indices, first + I(1));
    t.c = int_gather(instance->mesh->indices, first + I(2));
    t.plane = mesh_triangle_of(gather_position(instance, t.a), gather_position(instance, t.b),
                               gather_position(instance, t.c));
    return t;
}

// Member `k` (in floats) of the three vertices, interpolated.
FN real interpolate(const orr_mesh_vertex *vertices, const lane_triangle *t, real2 w, int k)
{
    const float *p = (const float *)vertices + k;
    return mesh_interpolate(w, real_gather(p, t->a * I(9)), real_gather(p, t->b * I(9)),
                            real_gather(p, t->c * I(9)));
}

// In the camera's space, of any length, on the side that the file says.
FN real3 interpolated_normal(const mesh_surface *surface, const lane_triangle *t, real2 w)
{
    const orr_mesh_vertex *vertices = surface->instance->mesh->vertices;
    const real3 normal = make_real3(interpolate(vertices, t, w, 3), interpolate(vertices, t, w, 4),
                                    interpolate(vertices, t, w, 5));
    return affine_direction(affine_of(surface->instance->to_camera), normal);
}

// ---- texture ----

// Linear colour and alpha of texels, by their number in the mip chain.
FN real4 fetch_texel(const mesh_texture *texture, const float *linear, sint number)
{
    sint texel = int_gather(texture->image->rgba, number);
    return (real4){real_gather(linear, texel & I(255)), real_gather(linear, (texel >> 8) & I(255)),
                   real_gather(linear, (texel >> 16) & I(255)),
                   to_real((texel >> 24) & I(255)) * R(1.0 / 255.0)};
}

// Bilinear within one level of the mip chain.
FN real4 sample_level(const mesh_texture *texture, const float *linear, real2 uv, sint level)
{
    sint width = I(texture->image->width) >> level, height = I(texture->image->height) >> level;
    width = sel_int(width > I(1), width, I(1));
    height = sel_int(height > I(1), height, I(1));
    texture_square s = texture_around(uv, to_real(width), to_real(height));
    sint first = int_gather(texture->level_first, level);
    sint top = first + to_int(s.top) * width, bottom = first + to_int(s.bottom) * width;
    sint left = to_int(s.left), right = to_int(s.right);
    real4 sum = {R(0.0), R(0.0), R(0.0), R(0.0)};
    sum = texture_add(sum, s.left_top, fetch_texel(texture, linear, top + left));
    sum = texture_add(sum, s.right_top, fetch_texel(texture, linear, top + right));
    sum = texture_add(sum, s.left_bottom, fetch_texel(texture, linear, bottom + left));
    return texture_add(sum, s.right_bottom, fetch_texel(texture, linear, bottom + right));
}

// Between two levels of the mip chain.
FN real4 sample_place(const mesh_texture *texture, const float *linear, real2 uv, real level)
{
    real whole = floor_(level), part = level - whole;
    sint fine = to_int(whole);
    real4 texel = sample_level(texture, linear, uv, fine);
    if (any(part > R(0.0))) {
        sint last = I(texture->level_count - 1);
        sint coarse = sel_int(fine < last, fine + I(1), last);
        texel = texture_mix(texel, sample_level(texture, linear, uv, coarse), part);
    }
    return texel;
}

// A texture at the pixel centres x, y [px]. w: weights there
LARGE_FN real4 sample_texture(const mesh_raster *raster, const mesh_surface *surface, orr_texture_use use,
                              const lane_triangle *t, real2 w, real x, real y)
{
    const orr_mesh_vertex *vertices = surface->instance->mesh->vertices;
    const mesh_texture *texture = &surface->textures[use];
    const mesh_view view = mesh_view_of(&raster->lens);
    real2 w_across = mesh_weights(view, t->plane, x + R(1.0), y),
          w_down = mesh_weights(view, t->plane, x, y + R(1.0));
    real uv[2], across[2], down[2];
    const float size[2] = {(float)texture->image->width, (float)texture->image->height};
    for (int i = 0; i < 2; i++) {
        const float *p = (const float *)vertices + 6 + i;
        real a = real_gather(p, t->a * I(9)), b = real_gather(p, t->b * I(9)),
             c = real_gather(p, t->c * I(9));
        across[i] = mesh_texture_step(w, w_across, a, b, c, size[i]);
        down[i] = mesh_texture_step(w, w_down, a, b, c, size[i]);
        uv[i] = texture_repeat(mesh_interpolate(w, a, b, c));
    }
    const texture_footprint f = texture_cover(make_real2(across[0], across[1]), make_real2(down[0], down[1]),
                                              (float)(texture->level_count - 1));
    const real x_step = f.axis.x * R(1.0f / size[0]), y_step = f.axis.y * R(1.0f / size[1]);
    real4 sum = sample_place(texture, raster->linear, make_real2(uv[0], uv[1]), f.level);
    for (int k = 1; k <= TEXTURE_SIDES && any(f.sides > R(k - 1)); k++) {
        const real weight = texture_weight(f, (float)k), place = texture_place(weight, (float)k);
        for (int side = -1; side <= 1; side += 2) {
            const real away = place * R(side);
            const real2 at = make_real2(texture_repeat(fma_(away, x_step, uv[0])),
                                        texture_repeat(fma_(away, y_step, uv[1])));
            sum = texture_add(sum, weight, sample_place(texture, raster->linear, at, f.level));
        }
    }
    const real4 none = {R(0.0), R(0.0), R(0.0), R(0.0)};
    return texture_add(none, R(1.0) / (R(1.0) + R(2.0) * f.sides), sum);
}

// Where the surface has no hole. x, y: [px]
FN mask solid_at(const mesh_raster *raster, const mesh_surface *surface, sint triangle, real x, real y)
{
    real alpha = R(surface->material->base_colour[3]);
    if (surface->textures[ORR_TEXTURE_BASE].image) {
        lane_triangle t = gather_triangle(surface, triangle);
        real2 w = mesh_weights(mesh_view_of(&raster->lens), t.plane, x, y);
        alpha = alpha * sample_texture(raster, surface, ORR_TEXTURE_BASE, &t, w, x, y).w;
    }
    return mesh_is_solid(alpha, surface->material->alpha_cutoff);
}

// ---- light ----

// Vertex colours, decoded and interpolated, times `colour`.
FN real3 times_vertex_colour(const mesh_raster *raster, const orr_mesh_vertex *vertices,
                             const lane_triangle *t, real2 w, real3 colour)
{
    const float *p = (const float *)vertices + 8;
    sint a = int_gather(p, t->a * I(9)), b = int_gather(p, t->b * I(9)), c = int_gather(p, t->c * I(9));
    if (all((a & b & c) == I(-1))) {
        return colour;
    }
    real rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = mesh_interpolate(w, real_gather(raster->linear, (a >> (8 * i)) & I(255)),
                                  real_gather(raster->linear, (b >> (8 * i)) & I(255)),
                                  real_gather(raster->linear, (c >> (8 * i)) & I(255)));
    }
    return make_real3(colour.x * rgb[0], colour.y * rgb[1], colour.z * rgb[2]);
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
        albedo[k] = bsdf_albedo(layers[k].metal, layers[k].integrals);
        light[k] = light_reflected(layers[k].sums, albedo[k], m.occlusion);
    }
    real3 sum = add3(light[0], m.emissive);
    if (layer_count == 2) {
        sum = bsdf_coat_over(sum, light[1], m.coated, albedo[1].x);
    }
    return light_shade_metal(tone_of(lighting), sum);
}

// The texel of a factor; white where there is no texture.
FN real3 sample_factor(const mesh_raster *raster, const mesh_surface *surface, orr_texture_use use,
                       const lane_triangle *t, real2 w, real x, real y)
{
    if (!surface->textures[use].image) {
        return make_real3(R(1.0), R(1.0), R(1.0));
    }
    real4 texel = sample_texture(raster, surface, use, t, w, x, y);
    return make_real3(texel.x, texel.y, texel.z);
}

// The normal by the surface's texture of normals, if it has one; seen, normal: as mesh_bend takes them.
FN real3 bent_normal(const mesh_raster *raster, const mesh_surface *surface, real3 seen, real3 normal,
                     const lane_triangle *t, real2 w, real x, real y)
{
    if (!surface->textures[ORR_TEXTURE_NORMAL].image) {
        return seen;
    }
    const float *u = surface->instance->mesh->vertices[0].uv, *v = u + 1;
    real u_a = real_gather(u, t->a * I(9)), v_a = real_gather(v, t->a * I(9));
    real2 uv_ab = make_real2(real_gather(u, t->b * I(9)) - u_a, real_gather(v, t->b * I(9)) - v_a);
    real2 uv_ac = make_real2(real_gather(u, t->c * I(9)) - u_a, real_gather(v, t->c * I(9)) - v_a);
    return mesh_bend(seen, normal, mesh_tangents_of(t->plane.ab, t->plane.ac, uv_ab, uv_ac),
                     sample_factor(raster, surface, ORR_TEXTURE_NORMAL, t, w, x, y));
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

// Display colour of the surface's triangles at the pixel centres x, y [px], and their alpha there.
FN real4 shade_pixels(const mesh_raster *raster, const mesh_surface *surface, sint triangle, real x, real y)
{
    const orr_mesh_vertex *vertices = surface->instance->mesh->vertices;
    const mesh_view view = mesh_view_of(&raster->lens);
    lane_triangle t = gather_triangle(surface, triangle);
    real2 exact = mesh_weights(view, t.plane, x, y), w = mesh_weights_inside(exact);
    const float *factor = surface->material->base_colour;
    real3 colour = make_real3(R(factor[0]), R(factor[1]), R(factor[2]));
    real alpha = R(factor[3]);
    if (surface->textures[ORR_TEXTURE_BASE].image) {
        real4 texel = sample_texture(raster, surface, ORR_TEXTURE_BASE, &t, exact, x, y);
        colour = make_real3(colour.x * texel.x, colour.y * texel.y, colour.z * texel.z);
        alpha = alpha * texel.w;
    }
    if (surface->instance->backdrop) {
        colour = light_display(colour);
        return (real4){colour.x, colour.y, colour.z, alpha};
    }
    colour = times_vertex_colour(raster, vertices, &t, w, colour);
    real3 normal = interpolated_normal(surface, &t, w);
    light_point point =
        mesh_light_point(view.orthographic, mesh_position(t.plane, w), normal, t.plane.a, t.plane.normal);
    const orr_mesh_material *material = surface->material;
    if (material->metallic_roughness && !material->unlit) {
        const float *emissive = material->emissive;
        light_metal m =
            light_metal_of(colour, material->metallic, material->roughness, emissive[0], emissive[1],
                           emissive[2], sample_factor(raster, surface, ORR_TEXTURE_SURFACE, &t, exact, x, y),
                           sample_factor(raster, surface, ORR_TEXTURE_EMISSIVE, &t, exact, x, y));
        if (surface->textures[ORR_TEXTURE_COAT].image) {
            const real3 coat = sample_factor(raster, surface, ORR_TEXTURE_COAT, &t, exact, x, y);
            m.coated = coat.x;
            m.coat_roughness = coat.y;
        }
        colour = light_up_metal(raster, surface, m, point,
                                bent_normal(raster, surface, point.normal, normal, &t, exact, x, y));
    } else {
        colour = light_up(raster, surface, colour, point);
    }
    if (surface->mirror) {
        colour = mirror_add(raster, surface, colour, x, y);
    }
    return (real4){colour.x, colour.y, colour.z, alpha};
}

// Member of the lanes' records, at word `offset` of the struct.
FN sint record_member(const mesh_raster *raster, sint id, size_t offset)
{
    return int_gather((const char *)raster->records + offset, id * I(sizeof(mesh_record) / 4));
}

// Those of `left` that are of the same surface as the first of them; *surface becomes it.
FN mask same_surface(const mesh_raster *raster, mask left, sint id, const mesh_surface **surface)
{
    const int number = raster->records[id[__builtin_ctz(mask_bits(left))]].surface;
    *surface = &raster->surfaces[number];
    return left & (record_member(raster, id, offsetof(mesh_record, surface)) == I(number));
}

// Triangles of the lanes' records; in the lanes beyond `same` one of the others.
FN sint triangles_of(const mesh_raster *raster, mask same, sint id)
{
    const sint first = I(id[__builtin_ctz(mask_bits(same))]);
    return record_member(raster, sel_int(same, id, first), offsetof(mesh_record, triangle));
}

// Colour and alpha of the pixels whose records are `id`; 0 where there is none. x, y: [px]
FN real4 shade_records(const mesh_raster *raster, sint id, real x, real y)
{
    real4 colour = {R(0.0), R(0.0), R(0.0), R(0.0)};
    mask left = id >= I(0);
    sint safe = sel_int(left, id, I(0));
    while (any(left)) { // once per surface, which is nearly always once
        const mesh_surface *surface;
        const mask same = same_surface(raster, left, safe, &surface);
        real4 c = shade_pixels(raster, surface, triangles_of(raster, same, safe), x, y);
        colour = (real4){sel(same, c.x, colour.x), sel(same, c.y, colour.y), sel(same, c.z, colour.z),
                         sel(same, c.w, colour.w)};
        left &= ~same;
    }
    return colour;
}
