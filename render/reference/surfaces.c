#define ORR_SCALAR
#include "render/reference/surfaces.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "render/cpu/rays/rays_formula.h"
#include "render/glass/glass_formula.h"
#include "render/mesh_formula.h"
#include "render/reference/glass.h"
#include "render/reference/picture.h"

#include <string.h>

static const surface_material *material_of(const surfaces *s, uint32_t triangle)
{
    return &s->materials[s->material_of[triangle]];
}

// ---- building ----

static real luminance(const float c[3])
{
    return 0.2126f * c[0] + 0.7152f * c[1] + 0.0722f * c[2];
}

static void add_materials(surfaces *s, int mesh)
{
    const orr_mesh *m = s->meshes[mesh].mesh;
    for (int i = 0; i < m->material_count; i++) {
        const orr_mesh_material *look = &m->materials[i];
        s->materials[s->material_count++] = (surface_material){
            .look = look,
            .mesh = mesh,
            .glow = luminance(look->emissive) + look->emission * luminance(look->base_colour)};
    }
}

static uint8_t flags_of(const orr_mesh_material *look)
{
    const bool sieved =
        look->blended || look->alpha_cutoff > 0.0f || look->no_shadow || orr_material_transmits(look);
    return (uint8_t)((orr_material_two_sided(look) ? ORR_TRIANGLE_TWO_SIDED : 0) |
                     (sieved ? ORR_TRIANGLE_SIEVED : 0));
}

static void add_triangles(surfaces *s, int mesh, int first_material, uint8_t *flags)
{
    const surface_mesh *at = &s->meshes[mesh];
    const orr_mesh *m = at->mesh;
    for (int p = 0; p < m->part_count; p++) {
        const orr_mesh_part *part = &m->parts[p];
        for (uint32_t i = part->first_index; i < part->first_index + part->index_count; i++) {
            size_t corner = 3 * (size_t)at->first + i;
            affine_apply_to_point(at->model, m->vertices[m->indices[i]].position, s->corners + 3 * corner);
            s->material_of[corner / 3] = (uint32_t)(first_material + part->material);
            flags[corner / 3] = flags_of(&m->materials[part->material]);
        }
    }
}

static orr_result fill(const orr_draw_mesh *meshes, surfaces *s, uint8_t *flags, orr_error *error)
{
    uint32_t first = 0;
    for (int i = 0; i < s->mesh_count; i++) {
        s->meshes[i].mesh = meshes[i].mesh;
        s->meshes[i].first = first;
        s->meshes[i].endless = meshes[i].endless;
        memcpy(s->meshes[i].model, meshes[i].model, sizeof meshes[i].model);
        first += (uint32_t)(meshes[i].mesh->index_count / 3);
        int first_material = s->material_count;
        add_materials(s, i);
        add_triangles(s, i, first_material, flags);
    }
    return orr_triangle_tree_build(s->corners, flags, s->triangle_count, &s->tree, error);
}

orr_result surfaces_build(orr_isa isa, const orr_draw_mesh *meshes, int count, surfaces *s, orr_error *error)
{
    *s = (surfaces){.walk = orr_triangle_walk_of(isa), .mesh_count = count};
    int64_t materials = 0;
    for (int i = 0; i < count; i++) {
        materials += meshes[i].mesh->material_count;
        s->triangle_count += meshes[i].mesh->index_count / 3;
    }
    picture_decode_table(s->linear);
    uint8_t *flags;
    ORR_ALLOC(flags, s->triangle_count, "flags of triangles", error);
    s->meshes = orr_alloc((size_t)count, sizeof *s->meshes);
    s->materials = orr_alloc((size_t)materials, sizeof *s->materials);
    s->material_of = orr_alloc_zero((size_t)s->triangle_count, sizeof *s->material_of);
    s->corners = orr_alloc((size_t)s->triangle_count, 9 * sizeof *s->corners);
    orr_result result = s->meshes && s->materials && s->material_of && s->corners
                            ? fill(meshes, s, flags, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld triangles",
                                       (long long)s->triangle_count);
    orr_free(flags);
    if (result != ORR_OK) {
        surfaces_free(s);
    }
    return result;
}

void surfaces_free(surfaces *s)
{
    orr_triangle_tree_free(&s->tree);
    orr_free(s->meshes);
    orr_free(s->materials);
    orr_free(s->material_of);
    orr_free(s->corners);
    *s = (surfaces){0};
}

// ---- what is at a point ----

// Where on its mesh a ray has met a triangle.
typedef struct place {
    const orr_mesh_vertex *a, *b, *c;
    const uint32_t *index; // of a, b, c
    const surface_mesh *mesh;
    const surface_material *material;
    real2 weights;
} place;

static place place_of(const surfaces *s, const orr_ray_hit *hit)
{
    place p = {.material = material_of(s, hit->triangle), .weights = {hit->b, hit->c}};
    p.mesh = &s->meshes[p.material->mesh];
    const orr_mesh *mesh = p.mesh->mesh;
    const uint32_t *index = mesh->indices + 3 * (size_t)(hit->triangle - p.mesh->first);
    p.index = index;
    p.a = &mesh->vertices[index[0]];
    p.b = &mesh->vertices[index[1]];
    p.c = &mesh->vertices[index[2]];
    return p;
}

static real between(const place *p, real a, real b, real c)
{
    return a + p->weights.x * (b - a) + p->weights.y * (c - a);
}

// Coordinates of a texture at a corner, 0 .. 2.
static const float *coordinates_at(const place *p, orr_texture_use use, int corner)
{
    const orr_mesh_coordinates at = orr_mesh_coordinates_of(p->mesh->mesh, p->material->look, use);
    return at.first + (size_t)at.stride * p->index[corner];
}

// As the texture of a use is laid on.
static real4 picture_at(const surfaces *s, const place *p, const orr_image8 *picture, orr_texture_use use,
                        const orr_texture_sampler *sampler)
{
    const float *a = coordinates_at(p, use, 0), *b = coordinates_at(p, use, 1),
                *c = coordinates_at(p, use, 2);
    return picture_sample(s->linear, picture, sampler, between(p, a[0], b[0], c[0]),
                          between(p, a[1], b[1], c[1]));
}

static mesh_tangents tangents_at(const surfaces *s, const place *p, uint32_t triangle, orr_texture_use use)
{
    const float *corner = s->corners + 9 * (size_t)triangle;
    const float *a = coordinates_at(p, use, 0), *b = coordinates_at(p, use, 1),
                *c = coordinates_at(p, use, 2);
    return mesh_tangents_of(sub3(of_three(corner + 3), of_three(corner)),
                            sub3(of_three(corner + 6), of_three(corner)),
                            make_real2(b[0] - a[0], b[1] - a[1]), make_real2(c[0] - a[0], c[1] - a[1]));
}

// A texture of the material; white where there is none.
static real4 texture_at(const surfaces *s, const place *p, orr_texture_use use)
{
    const orr_mesh_material *look = p->material->look;
    const int index = orr_material_texture(look, use);
    return index < 0 ? make_real4(1.0f, 1.0f, 1.0f, 1.0f)
                     : picture_at(s, p, &p->mesh->mesh->textures[index], use, &look->samplers[use]);
}

// Base colour, and alpha with that of vertex colours.
static real4 colour_at(const surfaces *s, const place *p)
{
    const float *factor = p->material->look->base_colour;
    const real4 texel = texture_at(s, p, ORR_TEXTURE_BASE);
    const real alpha = between(p, p->a->colour[3], p->b->colour[3], p->c->colour[3]) / 255.0f;
    return make_real4(texel.x * factor[0], texel.y * factor[1], texel.z * factor[2],
                      texel.w * factor[3] * alpha);
}

static real vertex_colour(const surfaces *s, const place *p, int k)
{
    return between(p, s->linear[p->a->colour[k]], s->linear[p->b->colour[k]], s->linear[p->c->colour[k]]);
}

static real3 turned_to(real3 n, real3 side)
{
    return dot3(n, side) < 0.0f ? scale3(n, -1.0f) : n;
}

// What a texture of normals makes of the normal n, the plane's where that is seen from behind. point: whose
// `raw` and `plane` are known
static real3 bent_normal(const surfaces *s, const place *p, orr_texture_use use, real3 n, uint32_t triangle,
                         real3 direction, const surface_point *point)
{
    if (orr_material_texture(p->material->look, use) >= 0) {
        const real4 texel = texture_at(s, p, use);
        n = mesh_bend(n, point->raw, tangents_at(s, p, triangle, use), make_real3(texel.x, texel.y, texel.z));
    }
    return dot3(n, direction) < 0.0f ? n : point->plane;
}

// The interpolated normal on the side of the plane's that is seen, and what textures make of it; the plane's
// where they are seen from behind only because they are interpolated or bent.
static void find_normals(const surfaces *s, const place *p, uint32_t triangle, real3 direction,
                         surface_point *point)
{
    float normal[3], turned[3];
    for (int k = 0; k < 3; k++) {
        normal[k] = between(p, p->a->normal[k], p->b->normal[k], p->c->normal[k]);
    }
    affine_apply_to_direction(p->mesh->model, normal, turned);
    real3 n = of_three(turned);
    real squared = dot3(n, n);
    if (!(squared > 1e-20f) || !isfinite(squared)) {
        point->smooth = point->normal = point->coat_normal = point->raw = point->plane;
        return;
    }
    const real3 raw = n;
    point->raw = raw;
    n = turned_to(normalise3(n), point->plane);
    point->smooth = dot3(n, direction) < 0.0f ? n : point->plane;
    point->normal = bent_normal(s, p, ORR_TEXTURE_NORMAL, n, triangle, direction, point);
    point->coat_normal = bent_normal(s, p, ORR_TEXTURE_COAT_NORMAL, n, triangle, direction, point);
}

// What a network is given of the point, where the material is one.
static void find_network(const surfaces *s, const place *p, uint32_t triangle, surface_point *point)
{
    const orr_neural_material *neural = p->material->look->neural;
    if (neural) {
        point->frame =
            mesh_frame_of(point->smooth, point->raw, tangents_at(s, p, triangle, ORR_TEXTURE_BASE));
        for (int i = 0; i < 2; i++) {
            point->latents[i] =
                picture_at(s, p, &neural->latents[i], ORR_TEXTURE_BASE, &(orr_texture_sampler){0});
        }
    }
}

// What of the surface is under a clear coat.
static void find_coat(const surfaces *s, const place *p, surface_point *point)
{
    const orr_mesh_material *look = p->material->look;
    if (orr_material_texture(look, ORR_TEXTURE_COAT) >= 0 && !look->unlit && !look->neural) {
        const real4 texel = texture_at(s, p, ORR_TEXTURE_COAT);
        point->coated = texel.x;
        point->coat_roughness = texel.y;
    }
}

// What a point that is not unlit emits in a direction, past its coat.
static real3 emitted(const surfaces *s, const place *p, const surface_point *point, real3 direction)
{
    const orr_mesh_material *look = p->material->look;
    const real4 texel = texture_at(s, p, ORR_TEXTURE_EMISSIVE);
    const real3 emissive =
        make_real3(look->emissive[0] * texel.x, look->emissive[1] * texel.y, look->emissive[2] * texel.z);
    const real3 light = add3(emissive, scale3(point->base, look->emission));
    if (!(point->coated > 0.0f)) {
        return light;
    }
    bsdf b = bsdf_lambert(point->normal, scale3(direction, -1.0f), point->base);
    bsdf_add_coat(&b, point->plane, point->coat_normal, point->coated, point->coat_roughness);
    return scale3(light, bsdf_passes_coat(&b));
}

surface_point surfaces_look(const surfaces *s, const orr_ray_hit *hit, real3 direction)
{
    const place at = place_of(s, hit);
    const orr_mesh_material *look = at.material->look;
    const float *corner = s->corners + 9 * (size_t)hit->triangle;
    real3 a = of_three(corner), ab = sub3(of_three(corner + 3), a), ac = sub3(of_three(corner + 6), a);
    surface_point p = {.material = look, .glow = at.material->glow};
    p.position = add_scaled3(add_scaled3(a, ab, hit->b), ac, hit->c);
    real3 front = normalise3(cross3(ab, ac));
    p.front = dot3(front, direction) < 0.0f;
    p.plane = p.front ? front : scale3(front, -1.0f);
    find_normals(s, &at, hit->triangle, direction, &p);
    real4 colour = colour_at(s, &at);
    p.tint = make_real3(vertex_colour(s, &at, 0), vertex_colour(s, &at, 1), vertex_colour(s, &at, 2));
    p.base = make_real3(colour.x * p.tint.x, colour.y * p.tint.y, colour.z * p.tint.z);
    const real4 surface = texture_at(s, &at, ORR_TEXTURE_SURFACE),
                second = texture_at(s, &at, ORR_TEXTURE_SECOND_SURFACE);
    p.metallic = look->metallic * (surface.z * second.z);
    p.roughness = look->roughness * (surface.y * second.y);
    p.transmission = look->transmission * (surface.w * second.w);
    find_coat(s, &at, &p);
    find_network(s, &at, hit->triangle, &p);
    if (look->unlit) {
        p.light = p.base;
    } else if (p.front || look->two_sided) {
        p.light = emitted(s, &at, &p, direction);
    }
    return p;
}

static bool is_mirror(const orr_mesh_material *look, real metallic, real roughness)
{
    return look->metallic_roughness && !look->neural && metallic >= 1.0f && roughness <= (real)RAYS_SHARP;
}

bool surface_mirrors(const surface_point *p)
{
    return is_mirror(p->material, p->metallic, p->roughness) && !(p->coated > 0.0f);
}

bool surfaces_lead_on(const surfaces *s)
{
    bool any = false;
    for (int i = 0; i < s->material_count; i++) {
        const orr_mesh_material *look = s->materials[i].look;
        const bool textured = orr_material_texture(look, ORR_TEXTURE_SURFACE) >= 0 ||
                              orr_material_texture(look, ORR_TEXTURE_SECOND_SURFACE) >= 0;
        any |= orr_material_transmits(look) ||
               is_mirror(look, look->metallic, textured ? 0.0f : look->roughness);
    }
    return any;
}

bool surfaces_endless(const surfaces *s, const orr_ray_hit *hit)
{
    return s->meshes[material_of(s, hit->triangle)->mesh].endless;
}

real3 surface_leave(const surface_point *p, real3 direction)
{
    real far = fmaxf(fabsf(p->position.x), fmaxf(fabsf(p->position.y), fabsf(p->position.z)));
    real step = 4e-6f * far + 1e-7f;
    return add_scaled3(p->position, p->plane, dot3(p->plane, direction) < 0.0f ? -step : step);
}

// ---- rays ----

// Light goes on straight through a smooth surface of glass, less what that reflects. What rough glass lets
// through is found by scattering.
static bool goes_through(const surfaces *s, const orr_ray_hit *hit, surface_glass *left)
{
    const surface_point p = surfaces_look(s, hit, left->direction);
    const orr_mesh_material *look = p.material;
    if (!glass_is_smooth(p.roughness, look->ior)) {
        return false;
    }
    const real cosine = fmaxf(-dot3(p.normal, left->direction), 0.0f);
    const real part = p.transmission * (1.0f - p.metallic) * (1.0f - glass_fresnel(cosine, look->ior));
    left->passes = times3(left->passes, scale3(p.base, part));
    if (look->closed) {
        const real3 absorption = of_three(look->absorption);
        left->depth = add_scaled3(left->depth, absorption, p.front ? -hit->distance : hit->distance);
        left->inside = add_scaled3(left->inside, absorption, p.front ? 1.0f : -1.0f);
    }
    return true;
}

static bool stops(void *context, const orr_ray_hit *hit)
{
    const surface_sieve *sieve = context;
    const place at = place_of(sieve->surfaces, hit);
    const orr_mesh_material *look = at.material->look;
    if (sieve->to_lamp && look->no_shadow) {
        return false;
    }
    real alpha = colour_at(sieve->surfaces, &at).w;
    const bool met =
        alpha >= look->alpha_cutoff && (!look->blended || orr_rng_uniform(sieve->random) < alpha);
    return met && !(sieve->glass && orr_material_transmits(look) &&
                    goes_through(sieve->surfaces, hit, sieve->glass));
}

bool surfaces_nearest(const surface_sieve *sieve, const orr_ray *ray, bool heed_sides, orr_ray_hit *hit)
{
    const surfaces *s = sieve->surfaces;
    return s->walk->nearest(&s->tree, ray, heed_sides, &(orr_ray_sieve){stops, (void *)sieve}, hit);
}

bool surfaces_any(const surface_sieve *sieve, const orr_ray *ray)
{
    const surfaces *s = sieve->surfaces;
    return s->walk->any(&s->tree, ray, &(orr_ray_sieve){stops, (void *)sieve});
}
