#define ORR_SCALAR
#include "render/cpu/rays/ray_trees.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "render/cpu/rays/mesh_trees.h"
#include "render/cpu/rays/rays_formula.h"
#include "render/reference/gaussians.h"
#include "render/reference/picture.h"

#include <math.h>
#include <string.h>

struct orr_ray_trees {
    const orr_triangle_walk *walk;
    const orr_gaussian_walk *splat_walk;
    orr_mesh_trees meshes;
    orr_draw_splats *layers; // layer_count
    int layer_count, layer_capacity;
    orr_gaussians splats;
    float linear[256]; // of a byte of sRGB
};

orr_result orr_ray_trees_create(orr_ray_trees **trees, orr_error *error)
{
    *trees = orr_alloc_zero(1, sizeof **trees);
    if (!*trees) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: rays");
    }
    picture_decode_table((*trees)->linear);
    return ORR_OK;
}

void orr_ray_trees_destroy(orr_ray_trees *t)
{
    if (t) {
        orr_mesh_trees_free(&t->meshes);
        orr_gaussians_free(&t->splats);
        orr_free(t->layers);
        orr_free(t);
    }
}

bool orr_ray_material_asks(const orr_mesh_material *m)
{
    const bool smooth = m->roughness < RAYS_ROUGHNESS || orr_material_texture(m, ORR_TEXTURE_SURFACE) >= 0 ||
                        orr_material_texture(m, ORR_TEXTURE_SECOND_SURFACE) >= 0 ||
                        orr_material_texture(m, ORR_TEXTURE_COAT) >= 0;
    return m->metallic_roughness && !m->unlit && !m->neural && !m->blended &&
           (smooth || orr_material_transmits(m));
}

static bool passes_light(const orr_mesh_material *m)
{
    return orr_material_transmits(m) && !m->blended;
}

static bool is_frosted(const orr_mesh_material *m)
{
    return passes_light(m) && m->roughness > RAYS_SHARP;
}

static bool has_material(const orr_draw_list *list, bool (*is)(const orr_mesh_material *material))
{
    for (int i = 0; i < list->mesh_count; i++) {
        const orr_mesh *mesh = list->meshes[i].mesh;
        for (int k = 0; k < mesh->part_count; k++) {
            if (is(&mesh->materials[mesh->parts[k].material])) {
                return true;
            }
        }
    }
    return false;
}

bool orr_ray_list_asks(const orr_draw_list *list)
{
    return has_material(list, orr_ray_material_asks);
}

bool orr_ray_list_transmits(const orr_draw_list *list)
{
    return has_material(list, passes_light);
}

bool orr_ray_list_has_frost(const orr_draw_list *list)
{
    return has_material(list, is_frosted);
}

// ---- what it holds ----

static bool has_splats(const orr_ray_trees *t, const orr_draw_list *list)
{
    bool same = t->layer_count == list->splat_count && t->splat_walk;
    for (int i = 0; i < list->splat_count && same; i++) {
        const orr_draw_splats *held = &t->layers[i], *cloud = &list->splats[i];
        same = held->pack == cloud->pack && held->key == cloud->key && !cloud->deformation.piece_of &&
               !held->deformation.piece_of && memcmp(held->model, cloud->model, sizeof held->model) == 0;
    }
    return same && !list->no_reuse;
}

static orr_result hold_splats(orr_ray_trees *t, orr_isa isa, const orr_draw_list *list, orr_error *error)
{
    t->splat_walk = NULL;
    orr_gaussians_free(&t->splats);
    ORR_GROW(t->layers, t->layer_capacity, list->splat_count, "clouds that rays meet", error);
    t->layer_count = list->splat_count;
    for (int i = 0; i < list->splat_count; i++) {
        t->layers[i] = list->splats[i];
    }
    ORR_TRY(orr_gaussians_build(t->layers, t->layer_count, &t->splats, error));
    t->splat_walk = orr_gaussian_walk_of(isa);
    return ORR_OK;
}

orr_result orr_ray_trees_hold(orr_ray_trees *t, orr_isa isa, const orr_draw_list *list, orr_error *error)
{
    t->walk = orr_triangle_walk_of(isa);
    ORR_TRY(orr_mesh_trees_hold(&t->meshes, list, error));
    return has_splats(t, list) ? ORR_OK : hold_splats(t, isa, list, error);
}

// ---- rays ----

static bool stops(void *context, const orr_ray_hit *hit)
{
    const orr_ray_trees *t = context;
    return orr_mesh_trees_stop(&t->meshes, t->linear, hit);
}

static void meet_surface(const orr_ray_trees *t, const orr_ray *ray, orr_ray_met *met)
{
    orr_ray_hit hit;
    *met = (orr_ray_met){.surface = ORR_RAY_NOTHING, .distance = ray->far_end};
    const orr_ray_sieve sieve = {stops, (void *)t};
    if (t->walk->nearest_instance(&t->meshes.instances, ray, true, &sieve, &hit)) {
        const orr_mesh_tree *tree = &t->meshes.trees[hit.instance];
        met->surface = tree->first_surface + tree->part_of[hit.triangle];
        met->triangle = tree->triangle_of[hit.triangle];
        met->b = hit.b;
        met->c = hit.c;
        met->distance = hit.distance;
    }
}

void orr_ray_trees_meet(const orr_ray_trees *t, orr_field_rays *fields, orr_ray *rays, int count,
                        orr_ray_met *met, orr_field_seen *seen)
{
    assert(count <= ORR_FIELD_RAYS);
    for (int i = 0; i < count; i++) {
        meet_surface(t, &rays[i], &met[i]);
        rays[i].far_end = met[i].distance;
    }
    memset(seen, 0, (size_t)count * sizeof *seen);
    if (fields) {
        orr_field_rays_meet(fields, rays, count, seen);
    }
}

void orr_ray_trees_veil(const orr_ray_trees *t, const orr_ray *rays, int count, const orr_field_seen *seen,
                        orr_ray_met *met)
{
    for (int i = 0; i < count; i++) {
        const orr_veil veil = orr_field_rays_veil(&t->splats, t->splat_walk, &rays[i], &seen[i]);
        orr_veil_light(&veil, met[i].veil);
        met[i].passes = veil.passes;
    }
}
