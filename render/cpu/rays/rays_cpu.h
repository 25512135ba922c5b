// Lanes over pixels of smooth surfaces: each starts a ray, which is followed to what it meets and on from
// smooth surfaces there. Part of mesh_shade_cpu.c.
#pragma once

#include "render/cpu/mesh_surface_cpu.h"
#include "render/cpu/rays/frost_filter.h"
#include "render/cpu/rays/rays_glass_cpu.h"
#include "render/field_light/field_light_cpu.h"

enum {
    RAYS_DEPTH = 3,       // rays in a row at most
    RAYS_GLASS_DEPTH = 6, // where light goes through a surface of the list
    RAYS_FROST_DEPTH = 3, // of those through microfacets, of which a pixel has several
    KEY_SET = 1 << 30     // of each key, so that it is not 0
};

// What a surface shows: its own light, and a factor of what its ray finds.
typedef struct ray_surface {
    real3 light, factor; // linear
    real3 ambient;       // from everywhere, where the ray meets nothing
    real3 direction;     // of the ray
    real roughness;
    real passes; // where light goes through it, the part that is not reflected
    real3 shown; // an unlit surface's colour, linear
} ray_surface;

// A ray, from a surface of the list.
typedef struct ray_lanes {
    real3 position, outward, direction; // camera space; outward: on the side to which it leaves
    real3 miss;                         // light where it meets nothing
    real3 behind;                       // colour of the background there, linear; 0 where that is not seen
    real width, spread;                 // of the pixel's cone at its start; radians
    real3 absorption;                   // of the body where it is
    real clear;                         // 1: from the eye on it has only gone through surfaces; else 0
    real2 chance;                       // that draws its next microfacet (rays_chance)
    haze_path air;                      // how far it has come, where there is haze or fog
} ray_lanes;

// What rays find, linear.
typedef struct ray_finds {
    real3 light; // of surfaces and environments: exposure and the tone curve are still to come
    real3 shown; // colours that are as displayed: captured ones, of unlit surfaces, of the background
} ray_finds;

// Light of a surface of the metallic-roughness model without what the ray of its uppermost layer finds.
// m.occlusion: of all light from around; normal: of what is under a coat; most: of the share of the ray
LARGE_FN ray_surface ray_metal(const mesh_raster *raster, const mesh_surface *surface, light_metal m,
                               light_point point, real3 normal, real3 outward, real most)
{
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0)), one = make_real3(R(1.0), R(1.0), R(1.0));
    light_layer layers[2];
    ray_surface s;
    s.passes = R(0.0);
    s.shown = none;
    const int count = light_layers(raster, surface, m, point, normal, layers), top = count - 1;
    for (int k = 0; k < count; k++) {
        light_layer *layer = &layers[k];
        const real3 ambient = layer->sums.diffuse;
        real3 matte = ambient, mirrored = ambient;
        real share = R(0.0);
        if (surface->instance->environment > 0) {
            const environment_lanes e = environment_around(raster, surface);
            matte = add3(matte, environment_matte(&e, point.position, layer->normal));
            mirrored = add3(mirrored, mirrored_around(&e, point, layer->normal, layer->roughness));
        }
        if (k == top) {
            share = most * rays_share(layer->roughness);
            s.factor = bsdf_split(layer->metal, layer->integrals, none, one);
            if (orr_material_transmits(surface->material)) {
                // rays by Fresnel's law, the blurred environment by the table of integrals
                const float ior = surface->material->ior;
                const real cosine = max_(dot3(layer->normal, point.to_eye), R(0.0)),
                           ray = glass_fresnel(cosine, R(ior));
                s.factor = glass_mirrored(m, s.factor, ray);
                s.passes = R(1.0) - bsdf_mix(glass_albedo(layer->integrals, ior), ray, share);
            }
            s.factor = scale3(s.factor, share);
            s.ambient = ambient;
            s.direction = rays_mirror(layer->normal, outward, point.to_eye);
            s.roughness = layer->roughness;
        }
        layer->sums.diffuse = none;
        *layer = light_add_environment(*layer, m.occlusion, matte, scale3(mirrored, R(1.0) - share));
    }
    s.light = count == 2 ? light_of_layers(layers[0], layers[1], m)
                         : light_of_layer(layers[0], m.occlusion, m.emissive);
    s.factor = count == 2 ? scale3(s.factor, m.coated) : s.factor;
    return s;
}

// What a ray from the surface finds that meets nothing: what is infinitely far away. Probes show what rays
// meet.
FN real3 ray_miss(const mesh_raster *raster, const mesh_surface *surface, const ray_surface *s)
{
    const ray_view *rays = &raster->rays;
    if (rays->far >= 0) {
        const environment_lanes e =
            environment_lanes_of(&raster->environments[rays->far], &raster->lighting.environments[rays->far]);
        const real3 towards = affine_direction(e.view.to_map, s->direction);
        return add3(s->ambient, environment_lookup(&e, towards, s->roughness));
    }
    const float *ambient = raster->lighting.ambient;
    return surface->instance->environment > 0
               ? add3(s->ambient, make_real3(R(ambient[0]), R(ambient[1]), R(ambient[2])))
               : s->ambient;
}

// From one vertex to another: of positions, or with k = 3 of normals. The mesh's space.
FN real3 vertex_step(const mesh_surface *surface, sint a, sint b, int k)
{
    const float *p = (const float *)surface->instance->mesh->vertices + k;
    a = a * I(9);
    b = b * I(9);
    return make_real3(real_gather(p, b) - real_gather(p, a), real_gather(p + 1, b) - real_gather(p + 1, a),
                      real_gather(p + 2, b) - real_gather(p + 2, a));
}

// How fast the normals turn over a triangle [1/length of the camera's space], along that of two sides where
// they do so most; below 0 where the surface is hollow for an eye, which is behind the triangle or not.
FN real curvature_of(const mesh_surface *surface, const lane_triangle *t, mask behind)
{
    const real3 ab = vertex_step(surface, t->a, t->b, 3), ac = vertex_step(surface, t->a, t->c, 3);
    const real by_ab = dot3(ab, ab) / max_(dot3(t->plane.ab, t->plane.ab), R(1e-30)),
               by_ac = dot3(ac, ac) / max_(dot3(t->plane.ac, t->plane.ac), R(1e-30));
    const mask first = by_ab > by_ac;
    const real turned = sel(first, dot3(ab, vertex_step(surface, t->a, t->b, 0)),
                            dot3(ac, vertex_step(surface, t->a, t->c, 0)));
    const real curvature = sqrt_(max_(by_ab, by_ac));
    return sel(behind, -curvature, curvature) * sel(turned < R(0.0), R(-1.0), R(1.0));
}

// A texture where a cone of a width meets the triangle.
LARGE_FN real4 ray_texel(const mesh_raster *raster, const mesh_texture *texture, const lane_triangle *t,
                         real2 w, real width)
{
    const float *p = texture->coordinates.first;
    const sint stride = I(texture->coordinates.stride);
    real uv[2], ab[2], ac[2];
    for (int i = 0; i < 2; i++) {
        const real a = real_gather(p + i, t->a * stride);
        ab[i] = real_gather(p + i, t->b * stride) - a;
        ac[i] = real_gather(p + i, t->c * stride) - a;
        uv[i] = fma_(w.x, ab[i], fma_(w.y, ac[i], a));
    }
    const real texels = abs_(ab[0] * ac[1] - ab[1] * ac[0]) *
                        R((float)texture->image->width * (float)texture->image->height),
               area = max_(length3(t->plane.normal), R(1e-30));
    const real density = texels / area;
    const texture_sampler how = texture_sampler_of(&texture->sampler);
    const real level =
        texture_level(rays_level(width, density, (float)(texture->level_count - 1)), how.nearest_mip);
    return sample_place(texture, raster->linear, texture_wrapped(uv[0], uv[1], how), level,
                        width * width * density > R(1.0));
}

FN real4 ray_factors(const mesh_raster *raster, const mesh_surface *surface, orr_texture_use use,
                     const lane_triangle *t, real2 w, real width)
{
    if (!surface->textures[use].image) {
        return make_real4(R(1.0), R(1.0), R(1.0), R(1.0));
    }
    return ray_texel(raster, &surface->textures[use], t, w, width);
}

// As sample_surface.
FN real4 ray_surface_factors(const mesh_raster *raster, const mesh_surface *surface, const lane_triangle *t,
                             real2 w, real width)
{
    const real4 first = ray_factors(raster, surface, ORR_TEXTURE_SURFACE, t, w, width);
    if (!surface->textures[ORR_TEXTURE_SECOND_SURFACE].image) {
        return first;
    }
    return times_texel(first, ray_factors(raster, surface, ORR_TEXTURE_SECOND_SURFACE, t, w, width));
}

FN real3 ray_factor(const mesh_raster *raster, const mesh_surface *surface, orr_texture_use use,
                    const lane_triangle *t, real2 w, real width)
{
    const real4 texel = ray_factors(raster, surface, use, t, w, width);
    return make_real3(texel.x, texel.y, texel.z);
}

// As bent_normal.
FN real3 ray_normal(const mesh_raster *raster, const mesh_surface *surface, orr_texture_use use, real3 seen,
                    real3 normal, const lane_triangle *t, real2 w, real width)
{
    return surface->textures[use].image ? mesh_bend(seen, normal, tangents_of(&surface->textures[use], t),
                                                    ray_factor(raster, surface, use, t, w, width))
                                        : seen;
}

// What a ray from the surface finds that meets nothing; the background is seen by rays that have only gone
// through surfaces.
FN ray_finds ray_end(const mesh_raster *raster, const mesh_surface *surface, const ray_surface *s, real clear)
{
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    const ray_finds miss = {ray_miss(raster, surface, s), none};
    if (!raster->rays.shows_sky) {
        return miss;
    }
    const real3 sky = glass_sky(sky_view_of(&raster->rays.sky), s->direction);
    const real3 light = make_real3(srgb_to_linear(sky.x), srgb_to_linear(sky.y), srgb_to_linear(sky.z));
    const mask seen = clear > R(0.5);
    return (ray_finds){select3(seen, none, miss.light), select3(seen, light, none)};
}

// Makes a surface that light goes through, and that mirrors the environment alone, one that shows what is
// behind it; returns its weight among rays through other microfacets. behind: lanes that look at its
// triangles' backs; to: with the side of the eye, the absorption where the eye is, and the spread at the
// surface
LARGE_FN real ray_through(const mesh_raster *raster, const mesh_surface *surface, light_metal m, mask behind,
                          light_point point, real3 normal, real curvature, ray_surface *s, ray_lanes *to)
{
    const orr_mesh_material *look = surface->material;
    const mask inside = look->closed ? behind : R(0.0) > R(1.0);
    const glass_ray g =
        glass_on(look, m, inside, s->passes, normal, to->outward, point.to_eye, to->absorption, to->chance);
    const mask rough = m.roughness > R(RAYS_SHARP);
    // from inside, the light of the surface is what it does not let through
    s->light =
        select3(inside, scale3(s->light, fma_(-m.transmission, R(look->transmission), R(1.0))), s->light);
    s->roughness = sel(rough, rays_share_roughness(m.roughness), m.roughness);
    s->factor = g.factor;
    if (any(inside)) { // of what is reflected there no ray is followed
        s->direction = g.mirrored;
        const ray_finds mirrored = ray_end(raster, surface, s, to->clear);
        s->light = add3(s->light, scale3(mirrored.light, g.inner));
        s->shown = add3(s->shown, scale3(mirrored.shown, g.inner));
    }
    s->direction = g.direction;
    const ray_finds end = ray_end(raster, surface, s, to->clear);
    to->miss = end.light;
    to->behind = end.shown;
    to->direction = g.direction;
    to->outward = g.outward;
    to->absorption = g.absorption;
    to->spread = look->closed ? rays_spread_through(to->spread, curvature, to->width, g.eta) : to->spread;
    const real turned = look->closed ? abs_(R(1.0) - R(1.0) / g.eta) : R(2.0);
    to->spread = sel(rough, rays_spread_rough(abs_(to->spread), turned, m.roughness), to->spread);
    to->width = sel(rough, abs_(to->width), to->width);
    const real2 next = rays_next_chance(to->chance);
    to->chance = make_real2(sel(rough, next.x, to->chance.x), sel(rough, next.y, to->chance.y));
    return g.weight;
}

// The surface where rays meet its triangles, and the ray that leaves there, its miss included. to: whose
// width is the cone's there
LARGE_FN ray_surface ray_hit(const mesh_raster *raster, const mesh_surface *surface, sint triangle, real2 w,
                             real3 direction, ray_lanes *to)
{
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    const orr_mesh_material *look = surface->material;
    const lane_triangle t = gather_triangle(surface, triangle);
    const real3 raw = interpolated_normal(surface, &t, w);
    // as seen by an eye at the start of the ray
    light_point point = mesh_light_point(0.0f, direction, raw, direction, t.plane.normal);
    point.position = mesh_position(t.plane, w);
    to->position = point.position;
    const mask behind = dot3(t.plane.normal, direction) > R(0.0);
    const real arrived = to->spread, curvature = curvature_of(surface, &t, behind);
    to->outward = mesh_direction(mesh_flip(behind, t.plane.normal));
    to->spread = rays_spread(to->spread, curvature, to->width);
    const real3 texel = ray_factor(raster, surface, ORR_TEXTURE_BASE, &t, w, to->width);
    real3 base = make_real3(texel.x * R(look->base_colour[0]), texel.y * R(look->base_colour[1]),
                            texel.z * R(look->base_colour[2]));
    base = times_vertex_colour(raster, surface->instance->mesh->vertices, &t, w, base);
    if (look->unlit) {
        return (ray_surface){none, none, none, none, R(1.0), R(0.0), base};
    }
    if (!look->metallic_roughness || look->neural) {
        return (ray_surface){
            light_up_linear(raster, surface, base, point, R(1.0)), none, none, none, R(1.0), R(0.0), none};
    }
    const real4 factors = ray_surface_factors(raster, surface, &t, w, to->width);
    light_metal m =
        light_metal_of(base, look->metallic, look->roughness, look->emissive[0], look->emissive[1],
                       look->emissive[2], make_real3(factors.x, factors.y, factors.z),
                       ray_factor(raster, surface, ORR_TEXTURE_EMISSIVE, &t, w, to->width));
    m.transmission = factors.w;
    m = with_highlight(m, look);
    if (surface->textures[ORR_TEXTURE_COAT].image) {
        m = light_set_coat(
            m, ray_factor(raster, surface, ORR_TEXTURE_COAT, &t, w, to->width), point,
            ray_normal(raster, surface, ORR_TEXTURE_COAT_NORMAL, point.normal, raw, &t, w, to->width));
    }
    const real3 normal = ray_normal(raster, surface, ORR_TEXTURE_NORMAL, point.normal, raw, &t, w, to->width);
    const bool goes_through = orr_material_transmits(look);
    ray_surface s = ray_metal(raster, surface, m, point, normal, to->outward, R(goes_through ? 0.0f : 1.0f));
    if (goes_through) {
        to->spread = arrived;
        ray_through(raster, surface, m, behind, point, normal, curvature, &s, to);
        return s;
    }
    to->direction = s.direction;
    to->clear = R(0.0);
    to->behind = none;
    to->miss = ray_miss(raster, surface, &s);
    return s;
}

// What the lanes' rays meet first.
typedef struct ray_meets {
    sint surface, triangle; // -1: nothing
    real2 weights;
    real distance, passes;
    real3 veil;
} ray_meets;

FN real largest_of(real3 a)
{
    return max_(abs_(a.x), max_(abs_(a.y), abs_(a.z)));
}

// What fields show on the lanes' rays, in the light of lamps that were not there, too. start, direction: of
// the rays, in the camera's space; lane_of: the lane of each of `count` rays
LARGE_FN void light_fields(const mesh_raster *raster, real3 start, real3 direction, const orr_ray *rays,
                           const int *lane_of, int count, orr_field_seen *seen)
{
    const orr_field_light_job *job = &raster->rays.lit;
    float normals[ORR_FIELD_RAYS][4], in[9][ORR_LANES] = {{0}}, out[3][ORR_LANES];
    orr_field_rays_normals(raster->rays.fields, rays, count, seen, normals);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 4; k++) {
            in[k][lane_of[i]] = normals[i][k];
            in[4 + k][lane_of[i]] = seen[i].rgba[k];
        }
        in[8][lane_of[i]] = seen[i].depth;
    }
    const real alpha = real_load(in[7]);
    field_point point = {.known = real_load(in[3]), .lit = alpha >= R(CAPTURED_ALPHA)};
    if (!any(point.lit)) {
        return;
    }
    point.normal = affine_direction(affine_of(raster->lens.view),
                                    make_real3(real_load(in[0]), real_load(in[1]), real_load(in[2])));
    point.position = add_scaled3(start, direction, sel(point.lit, real_load(in[8]), R(0.0)));
    const real3 light = field_light_on(job, &point);
    const real lights[3] = {light.x, light.y, light.z}, safe = sel(point.lit, alpha, R(1.0));
    for (int k = 0; k < 3; k++) {
        const real colour = real_load(in[4 + k]);
        const real shown = captured_channel(colour, safe, lights[k], R(1.0f / job->lamps->lamps.white[k]));
        real_store(out[k], sel(lights[k] > R(0.0), shown, colour));
        for (int i = 0; i < count; i++) {
            seen[i].rgba[k] = out[k][lane_of[i]];
        }
    }
}

LARGE_FN ray_meets meet_rays(const mesh_raster *raster, mask wanted, const ray_lanes *from)
{
    const affine to_world = affine_of(raster->rays.to_world);
    const real step =
        rays_step(max_(largest_of(from->position), largest_of(affine_point(to_world, from->position))));
    const real3 start = add_scaled3(from->position, from->outward, step),
                origin = affine_point(to_world, start),
                direction = affine_direction(to_world, from->direction);
    _Static_assert(ORR_LANES <= ORR_FIELD_RAYS, "the rays of all lanes together");
    float in[6][ORR_LANES], out[7][ORR_LANES];
    int32_t surface[ORR_LANES], triangle[ORR_LANES];
    orr_ray asked[ORR_LANES];
    orr_ray_met found[ORR_LANES];
    orr_field_seen seen[ORR_LANES];
    int lane_of[ORR_LANES], count = 0;
    const real rows[6] = {origin.x, origin.y, origin.z, direction.x, direction.y, direction.z};
    for (int k = 0; k < 6; k++) {
        real_store(in[k], rows[k]);
    }
    const uint32_t bits = mask_bits(wanted);
    for (int i = 0; i < ORR_LANES; i++) {
        if (bits >> i & 1u) {
            lane_of[count] = i;
            asked[count++] =
                (orr_ray){{in[0][i], in[1][i], in[2][i]}, {in[3][i], in[4][i], in[5][i]}, 0.0f, INFINITY};
        }
    }
    orr_ray_trees_meet(raster->rays.trees, raster->rays.fields, asked, count, found, seen);
    if (raster->rays.lit.lamps) {
        light_fields(raster, start, from->direction, asked, lane_of, count, seen);
    }
    orr_ray_trees_veil(raster->rays.trees, asked, count, seen, found);
    count = 0;
    for (int i = 0; i < ORR_LANES; i++) {
        const orr_ray_met nothing = {.surface = ORR_RAY_NOTHING, .passes = 1.0f},
                          met = bits >> i & 1u ? found[count++] : nothing;
        surface[i] = met.surface;
        triangle[i] = met.triangle;
        const float values[7] = {met.b,       met.c,       met.distance, met.passes,
                                 met.veil[0], met.veil[1], met.veil[2]};
        for (int k = 0; k < 7; k++) {
            out[k][i] = values[k];
        }
    }
    return (ray_meets){sint_load(surface),
                       sint_load(triangle),
                       make_real2(real_load(out[0]), real_load(out[1])),
                       real_load(out[2]),
                       real_load(out[3]),
                       make_real3(real_load(out[4]), real_load(out[5]), real_load(out[6]))};
}

FN ray_lanes select_rays(mask m, const ray_lanes *a, const ray_lanes *b)
{
    return (ray_lanes){select3(m, a->position, b->position),
                       select3(m, a->outward, b->outward),
                       select3(m, a->direction, b->direction),
                       select3(m, a->miss, b->miss),
                       select3(m, a->behind, b->behind),
                       sel(m, a->width, b->width),
                       sel(m, a->spread, b->spread),
                       select3(m, a->absorption, b->absorption),
                       sel(m, a->clear, b->clear),
                       make_real2(sel(m, a->chance.x, b->chance.x), sel(m, a->chance.y, b->chance.y)),
                       {sel(m, a->air.depth, b->air.depth), sel(m, a->air.way, b->air.way),
                        sel(m, a->air.axis, b->air.axis)}};
}

// Is there haze or fog before what rays meet?
FN bool has_air(const mesh_raster *raster)
{
    const orr_haze_values *haze = &raster->lighting.haze;
    return haze->reach_over_height > 0.0f || haze->fog_inverse_width > 0.0f;
}

// What rays meet, without endless planes beyond their ends.
LARGE_FN sint leave_ends(const mesh_raster *raster, mask wanted, const ray_lanes *from, sint surface)
{
    const mask kept =
        haze_path_leaves(haze_of(&raster->lighting), from->air, from->position, from->direction);
    mask left = and_(wanted, and_(surface >= I(0), not_(kept)));
    while (any(left)) { // once per surface
        const int32_t number = surface[__builtin_ctz(mask_bits(left))];
        const mask same = left & (surface == I(number));
        const bool ends = raster->surfaces[raster->rays.first_surface + number].instance->ends;
        surface = ends ? sel_int(same, I(ORR_RAY_NOTHING), surface) : surface;
        left &= ~same;
    }
    return surface;
}

// Light and colours behind air, which mixes display colours, as where they are seen directly: where there is
// some, all of it becomes `shown`.
LARGE_FN void put_behind(const mesh_raster *raster, mask of, haze_air air, real3 *light, real3 *shown)
{
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0)),
                seen = haze_behind(air,
                                   light_display(add3(tone_map(tone_of(&raster->lighting), *light), *shown)));
    const mask hazy = and_(of, air.passes < R(1.0));
    *light = select3(hazy, none, *light);
    *shown = select3(hazy, make_real3(srgb_to_linear(seen.x), srgb_to_linear(seen.y), srgb_to_linear(seen.z)),
                     *shown);
}

// A key of the surfaces that rays meet, from that of those before.
FN sint next_key(sint key, sint surface)
{
    return ((key & I(0x1ffffff)) << 5) ^ (surface + I(1 - ORR_RAY_NOTHING));
}

// What the lanes' rays find. through: a factor of it that is known, below 1/100 of which rays end; depth_max:
// rays in a row; key: of what they meet, goes on
LARGE_FN ray_finds ray_light(const mesh_raster *raster, mask wanted, ray_lanes at, real3 through,
                             int depth_max, sint *key)
{
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    real3 light = none, shown = none;
    const bool glass = raster->rays.glass, hazy = has_air(raster);
    const haze_view haze = haze_of(&raster->lighting);
    haze_air air = {R(1.0), none};
    for (int depth = 0; depth < depth_max; depth++) {
        wanted = and_(wanted, largest_of(through) > R(0.01));
        if (!any(wanted)) {
            break;
        }
        ray_meets met = meet_rays(raster, wanted, &at);
        if (hazy) {
            met.surface = leave_ends(raster, wanted, &at, met.surface);
            const mask missed = met.surface < I(0);
            air = haze_along(haze, at.air, at.position, at.direction, met.distance, missed);
            put_behind(raster, and_(wanted, missed), air, &at.miss, &at.behind);
        }
        shown = add3(shown, times3(through, met.veil));
        through = scale3(through, met.passes);
        if (glass) {
            const real length = sel(met.surface >= I(0), met.distance, R(0.0));
            through = times3(through, glass_absorb(at.absorption, length));
        }
        at.width = fma_(at.spread, met.distance, at.width);
        *key = sel_int(wanted, next_key(*key, met.surface), *key);
        mask left = and_(wanted, met.surface >= I(0));
        while (any(left)) { // once per surface
            const uint32_t lane = (uint32_t)__builtin_ctz(mask_bits(left));
            const mask same = left & (met.surface == I(met.surface[lane]));
            ray_lanes next = at;
            next.miss = next.behind = none;
            ray_surface s =
                ray_hit(raster, &raster->surfaces[raster->rays.first_surface + met.surface[lane]],
                        sel_int(same, met.triangle, I(met.triangle[lane])), met.weights, at.direction, &next);
            if (hazy) {
                put_behind(raster, same, air, &s.light, &s.shown);
                s.factor = scale3(s.factor, air.passes);
                next.air = haze_path_on(haze, at.air, at.direction, met.distance);
            }
            light = select3(same, add3(light, times3(through, s.light)), light);
            shown = select3(same, add3(shown, times3(through, s.shown)), shown);
            through = select3(same, times3(through, s.factor), through);
            at = select_rays(same, &next, &at);
            left &= ~same;
        }
        wanted = and_(wanted, met.surface >= I(0));
    }
    // of all that ended in nothing, or were not followed on
    light = add3(light, times3(through, at.miss));
    return (ray_finds){light, add3(shown, times3(through, at.behind))};
}

// Is its frost alike everywhere, so that its pixels may be averaged (frost_filter.h)? What textures show
// would be blurred.
FN bool is_even(const mesh_raster *raster, const mesh_surface *surface)
{
    bool even = raster->met != NULL;
    for (int use = 0; use < ORR_TEXTURE_USES; use++) {
        even = even && !surface->textures[use].image;
    }
    return even;
}

// What is seen through a surface, from its other side: by one ray, or by several where it is rough.
// behind, normal: as of ray_through; on: at the surface, on the side of the eye; key: as of ray_light, where
// one ray is followed
LARGE_FN ray_finds find_beyond(const mesh_raster *raster, const mesh_surface *surface, mask same, mask behind,
                               light_metal m, light_point point, real3 normal, real curvature,
                               const ray_surface *s, const ray_lanes *on, sint *key)
{
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    ray_finds sum = {none, none};
    real weights = R(0.0);
    mask wanted = same;
    real count = rays_count(m.roughness, surface->material->closed ? 1.0f : 0.0f);
    if (is_even(raster, surface)) { // with those of the pixels around it there are enough
        count = sel(count > R(1.0), R(0.5) * count, count);
    }
    for (int k = 0; k < RAYS_FACETS && any(wanted); k++) {
        ray_lanes to = *on;
        ray_surface beyond = {none, none, s->ambient, s->direction, s->roughness, s->passes, none};
        to.chance = rays_chance(on->chance, (float)k, count);
        const real weight = sel(
            wanted, ray_through(raster, surface, m, behind, point, normal, curvature, &beyond, &to), R(0.0));
        const mask rough = and_(wanted, m.roughness > R(RAYS_SHARP));
        const int depth_max = any(rough) ? RAYS_FROST_DEPTH : RAYS_GLASS_DEPTH;
        sint met = *key;
        const ray_finds found = ray_light(raster, wanted, to, beyond.factor, depth_max, &met);
        *key = sel_int(and_(wanted, not_(rough)), met, *key);
        sum.light =
            select3(wanted, add_scaled3(sum.light, add3(beyond.light, found.light), weight), sum.light);
        sum.shown =
            select3(wanted, add_scaled3(sum.shown, add3(beyond.shown, found.shown), weight), sum.shown);
        weights = weights + weight;
        wanted = and_(wanted, count > R(k + 1));
    }
    const real mean = R(1.0) / max_(weights, R(1e-6));
    return (ray_finds){scale3(sum.light, mean), scale3(sum.shown, mean)};
}

// Display colour of a surface whose pixels start rays. m.occlusion: that of its texture; `same`: pixels that
// show it; pixel_at: their centres [px]; pixel_part: of a pixel's width, that the rays are wide; met: becomes
// a key of what they meet; 0 where several are drawn
LARGE_FN real3 trace_metal(const mesh_raster *raster, const mesh_surface *surface, mask same, light_metal m,
                           light_point point, real3 normal, const lane_triangle *t, real2 pixel_at,
                           real pixel_part, sint *met)
{
    const orr_lens *lens = &raster->lens;
    const real pixel = pixel_part * R(0.5f * (1.0f / lens->focal[0] + 1.0f / lens->focal[1]));
    const real3 plane = t->plane.normal;
    const mask behind = dot3(plane, point.to_eye) < R(0.0);
    const real3 outward = mesh_direction(mesh_flip(behind, plane));
    m.occlusion = m.occlusion * open_part(raster, point);
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    const ray_surface s = ray_metal(raster, surface, m, point, normal, outward, R(1.0));
    const bool even = is_even(raster, surface);
    const real2 shift = even ? rays_tile_shift(pixel_at.x, pixel_at.y) : rays_shift(pixel_at.x, pixel_at.y);
    ray_lanes at = {.position = point.position,
                    .outward = outward,
                    .direction = s.direction,
                    .miss = ray_miss(raster, surface, &s),
                    .behind = none,
                    .width = pixel,
                    .spread = R(0.0),
                    .absorption = none,
                    .clear = R(0.0),
                    .chance = shift,
                    .air = haze_path_to(haze_of(&raster->lighting), point.position)};
    if (!lens->orthographic) {
        at.width = pixel * point.position.z;
        at.spread = pixel;
    }
    const real curvature = curvature_of(surface, t, behind);
    ray_lanes on = at; // of a surface that light goes through
    on.clear = R(1.0);
    at.spread = rays_spread(at.spread, curvature, at.width);
    *met = I(1);
    const ray_finds mirrored =
        ray_light(raster, same, at, s.factor, raster->rays.glass ? RAYS_GLASS_DEPTH : RAYS_DEPTH, met);
    real3 light = add3(s.light, mirrored.light), shown = mirrored.shown;
    if (orr_material_transmits(surface->material)) {
        const ray_finds beyond =
            find_beyond(raster, surface, same, behind, m, point, normal, curvature, &s, &on, met);
        const int32_t frost = even ? orr_frost_key((int)(surface - raster->surfaces)) : 0;
        *met = sel_int(m.roughness > R(RAYS_SHARP), I(frost), *met | I(KEY_SET));
        light = add3(light, beyond.light);
        shown = add3(shown, beyond.shown);
    }
    *met = orr_material_transmits(surface->material) ? *met : *met | I(KEY_SET);
    return light_display(add3(tone_map(tone_of(&raster->lighting), light), shown));
}
