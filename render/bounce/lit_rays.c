#define ORR_SCALAR
#include "render/bounce/lit_rays.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "render/formula_inputs.h"
#include "render/reference/picture.h"

#include <string.h>

enum {
    PASSES = 4,       // surfaces without shadows that a ray to a lamp goes through at most
    TEXELS_ACROSS = 8 // of the mip level in which colours are looked up: rays are few, and far apart
};

orr_result orr_lit_rays_hold(orr_lit_rays *r, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                             orr_error *error)
{
    static const float world[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    if (!r->lights) {
        ORR_ALLOC(r->lights, 1, "lights that rays meet", error);
        picture_decode_table(r->linear);
    }
    r->walk = orr_triangle_walk_of(isa);
    r->list = *list;
    r->list.environment_count = 0;
    memcpy(r->list.lens.view, world, sizeof world);
    orr_draw_light_up(&r->list, r->lights);
    if (list->mesh_count > 0) {
        ORR_TRY(orr_lit_shadows_hold(&r->shadows, jobs, isa, &r->list, error));
    }
    return orr_mesh_trees_hold(&r->trees, list, error);
}

void orr_lit_rays_free(orr_lit_rays *r)
{
    orr_mesh_trees_free(&r->trees);
    orr_lit_shadows_free(&r->shadows);
    orr_free(r->lights);
    *r = (orr_lit_rays){0};
}

static bool stops(void *context, const orr_ray_hit *hit)
{
    const orr_lit_rays *r = context;
    return orr_mesh_trees_stop(&r->trees, r->linear, hit);
}

static bool nearest(const orr_lit_rays *r, const orr_ray *ray, orr_ray_hit *hit)
{
    const orr_ray_sieve sieve = {stops, (void *)r};
    return r->walk->nearest_instance(&r->trees.instances, ray, false, &sieve, hit);
}

static const orr_mesh_material *material_of(const orr_mesh_tree *tree, uint32_t triangle)
{
    return &tree->mesh->materials[tree->mesh->parts[tree->part_of[triangle]].material];
}

// ---- lamps ----

// Does no mesh that casts shadows keep light off a point, from so far in a direction?
static bool arrives(const orr_lit_rays *r, const float from[3], real3 towards, float distance)
{
    orr_ray ray = {{from[0], from[1], from[2]}, {towards.x, towards.y, towards.z}, 0.0f, distance};
    orr_ray_hit hit;
    for (int i = 0; i < PASSES && nearest(r, &ray, &hit); i++) {
        if (!material_of(&r->trees.trees[hit.instance], hit.triangle)->no_shadow) {
            return false;
        }
        ray.near_end = hit.distance * (1.0f + 1e-5f) + 1e-7f;
    }
    return true;
}

static bool casts_shadows(const orr_draw_list *list, const orr_draw_lighting *lights, int i)
{
    const int lamp = i - (lights->count - list->light_count); // the sun is before them
    return list->shadows && (lamp < 0 || list->lights[lamp].casts_shadows);
}

// To a lamp, or to a point of its rectangle; how far it is, 1: the length of *towards.
static float look_towards(const orr_light_values *lamp, const light_incidence *i, const float at[3],
                          const float chance[2], real3 *towards)
{
    *towards = i->to_light;
    if (lamp->directional > 0.5f) {
        return INFINITY;
    }
    const float a = 2.0f * chance[0] - 1.0f, b = 2.0f * chance[1] - 1.0f;
    float d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = lamp->position[k] - at[k] + (lamp->area > 0.5f ? a * lamp->right[k] + b * lamp->up[k] : 0.0f);
    }
    *towards = make_real3(d[0], d[1], d[2]);
    return 1.0f - 1e-4f;
}

// What a white matte surface reflects of all lamps.
static real3 light_of_lamps(const orr_lit_rays *r, const orr_lit_hit *hit, const float from[3],
                            const float chance[2])
{
    const real3 position = make_real3(hit->position[0], hit->position[1], hit->position[2]),
                normal = make_real3(hit->normal[0], hit->normal[1], hit->normal[2]);
    const light_point point = {position, normal, normal};
    light_sums sums = light_begin(0.0f, 0.0f, 0.0f, 0.0f, 1.0f);
    for (int i = 0; i < r->lights->count; i++) {
        const orr_light_values *lamp = &r->lights->lights[i];
        const light_source source = light_of(lamp);
        const light_incidence incident = light_incident(source, position);
        const light_sums lit = light_add(sums, source, incident, point, 1.0f, 0.0f, 0.0f);
        const real3 added = sub3(lit.diffuse, sums.diffuse);
        if (!(added.x + added.y + added.z > 0.0f)) {
            continue;
        }
        real3 towards;
        const float distance = look_towards(lamp, &incident, from, chance, &towards);
        float left = 1.0f;
        if (casts_shadows(&r->list, r->lights, i)) {
            left = arrives(r, from, towards, distance)
                       ? orr_lit_shadows_left(&r->shadows, i, hit->position, hit->normal)
                       : 0.0f;
        }
        sums = left == 1.0f ? lit : light_add(sums, source, incident, point, left, 0.0f, 0.0f);
    }
    return sums.diffuse;
}

// ---- surfaces ----

// The colour of a texture around a point, in a level of few texels.
static real4 colour_around(const orr_lit_rays *r, const orr_mesh *mesh, const orr_image8 *texture,
                           const orr_texture_sampler *sampler, real u, real v)
{
    int32_t first[ORR_MIP_LEVELS];
    const int levels = orr_mesh_texture_levels(mesh, texture, first);
    int level = 0;
    while (level + 1 < levels && orr_mip_side(texture->width, level) > TEXELS_ACROSS) {
        level++;
    }
    const orr_image8 coarse = {.rgba = texture->rgba + 4 * (size_t)first[level],
                               .width = orr_mip_side(texture->width, level),
                               .height = orr_mip_side(texture->height, level)};
    return picture_sample(r->linear, &coarse, sampler, u, v);
}

// A texture of the material where a ray meets it; white where there is none.
static real3 texel_at(const orr_lit_rays *r, const orr_mesh_tree *tree, const orr_ray_hit *hit,
                      orr_texture_use use)
{
    const orr_mesh *mesh = tree->mesh;
    const orr_mesh_material *look = material_of(tree, hit->triangle);
    const int texture = orr_material_texture(look, use);
    if (texture < 0) {
        return make_real3(1.0f, 1.0f, 1.0f);
    }
    const uint32_t *index = mesh->indices + 3 * (size_t)tree->triangle_of[hit->triangle];
    const orr_mesh_coordinates at = orr_mesh_coordinates_of(mesh, look, use);
    float uv[2];
    for (size_t k = 0; k < 2; k++) {
        uv[k] = (1.0f - hit->b - hit->c) * at.first[(size_t)at.stride * index[0] + k] +
                hit->b * at.first[(size_t)at.stride * index[1] + k] +
                hit->c * at.first[(size_t)at.stride * index[2] + k];
    }
    const real4 texel = colour_around(r, mesh, &mesh->textures[texture], &look->samplers[use], uv[0], uv[1]);
    return make_real3(texel.x, texel.y, texel.z);
}

// What the surface reflects, and what it emits.
static void find_colours(const orr_lit_rays *r, const orr_mesh_tree *tree, const orr_ray_hit *hit,
                         float base[3], float emitted[3])
{
    const orr_mesh *mesh = tree->mesh;
    const orr_mesh_material *look = material_of(tree, hit->triangle);
    const uint32_t *index = mesh->indices + 3 * (size_t)tree->triangle_of[hit->triangle];
    const float weights[3] = {1.0f - hit->b - hit->c, hit->b, hit->c};
    const real3 colour = texel_at(r, tree, hit, ORR_TEXTURE_BASE),
                shine = texel_at(r, tree, hit, ORR_TEXTURE_EMISSIVE);
    const float texel[3] = {colour.x, colour.y, colour.z}, glow[3] = {shine.x, shine.y, shine.z};
    for (int k = 0; k < 3; k++) {
        float tint = 0.0f;
        for (int c = 0; c < 3; c++) {
            tint += weights[c] * r->linear[mesh->vertices[index[c]].colour[k]];
        }
        base[k] = look->base_colour[k] * texel[k] * tint;
        emitted[k] = look->unlit ? base[k] : look->emissive[k] * glow[k] + look->emission * base[k];
    }
}

// The normal of the triangle on the side of the ray's start; false: that is its back.
static bool find_normal(const orr_mesh_tree *tree, uint32_t triangle, const float direction[3],
                        float normal[3])
{
    const orr_mesh *mesh = tree->mesh;
    const uint32_t *index = mesh->indices + 3 * (size_t)tree->triangle_of[triangle];
    float corner[3][3];
    for (int c = 0; c < 3; c++) {
        affine_apply_to_point(tree->model, mesh->vertices[index[c]].position, corner[c]);
    }
    const real3 a = make_real3(corner[0][0], corner[0][1], corner[0][2]),
                ab = sub3(make_real3(corner[1][0], corner[1][1], corner[1][2]), a),
                ac = sub3(make_real3(corner[2][0], corner[2][1], corner[2][2]), a);
    const real3 front = normalise3(cross3(ab, ac));
    const bool seen = front.x * direction[0] + front.y * direction[1] + front.z * direction[2] < 0.0f;
    const float side = seen ? 1.0f : -1.0f;
    normal[0] = side * front.x, normal[1] = side * front.y, normal[2] = side * front.z;
    return seen;
}

void orr_lit_rays_meet(const orr_lit_rays *r, const orr_ray *ray, const uint8_t *passed,
                       const float chance[2], orr_lit_hit *hit)
{
    orr_ray_hit met;
    orr_ray on = *ray;
    *hit = (orr_lit_hit){.mesh = -1};
    do {
        if (!nearest(r, &on, &met)) {
            return;
        }
        on.near_end = met.distance * (1.0f + 1e-5f) + 1e-7f;
    } while (passed && passed[met.instance]);
    const orr_mesh_tree *tree = &r->trees.trees[met.instance];
    const orr_mesh_material *look = material_of(tree, met.triangle);
    hit->mesh = (int32_t)met.instance;
    hit->lit_by = r->list.meshes[met.instance].environment;
    hit->distance = met.distance;
    const bool front = find_normal(tree, met.triangle, ray->direction, hit->normal);
    float far = 0.0f, from[3];
    for (int k = 0; k < 3; k++) {
        hit->position[k] = ray->origin[k] + met.distance * ray->direction[k];
        far = fmaxf(far, fabsf(hit->position[k]));
    }
    for (int k = 0; k < 3; k++) { // off the triangle, so that it is not met again
        from[k] = hit->position[k] + (1e-5f * far + 1e-6f) * hit->normal[k];
    }
    float emitted[3];
    find_colours(r, tree, &met, hit->base, emitted);
    const bool shown = front || orr_material_two_sided(look);
    const real3 lamps =
        shown && !look->unlit ? light_of_lamps(r, hit, from, chance) : make_real3(0.0f, 0.0f, 0.0f);
    const float sums[3] = {lamps.x, lamps.y, lamps.z};
    for (int k = 0; k < 3; k++) {
        const float base = isfinite(hit->base[k]) ? hit->base[k] : 0.0f, light = emitted[k] + base * sums[k];
        hit->light[k] = shown && isfinite(light) ? light : 0.0f;
        hit->base[k] = shown && !look->unlit ? base : 0.0f;
    }
    const bool dark = !front && !(hit->light[0] + hit->light[1] + hit->light[2] > 0.0f);
    hit->dark_back = !dark ? 0 : orr_material_two_sided(look) ? ORR_BACK_OF_TWO_SIDES : ORR_BACK_OF_BODY;
}
