#define ORR_SCALAR
#include "render/cpu/rays/ray_trees.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "render/cpu/rays/rays_formula.h"
#include "render/reference/gaussians.h"
#include "render/reference/picture.h"
#include "render/reference/triangles.h"

#include <math.h>
#include <string.h>

// What the triangles follow from.
typedef struct held_mesh {
    const orr_mesh *mesh;
    uint64_t key;
    float model[12];
    int32_t first_surface;
} held_mesh;

struct orr_ray_trees {
    const orr_triangle_walk *walk;
    const orr_gaussian_walk *splat_walk;
    orr_triangle_tree triangles;
    held_mesh *meshes; // mesh_count
    int mesh_count, mesh_capacity;
    int32_t *surface_of, *mesh_of, *triangle_of; // of each triangle of the tree; the last within its mesh
    orr_draw_splats *layers;                     // layer_count
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
        orr_triangle_tree_free(&t->triangles);
        orr_gaussians_free(&t->splats);
        orr_free(t->meshes);
        orr_free(t->surface_of);
        orr_free(t->mesh_of);
        orr_free(t->triangle_of);
        orr_free(t->layers);
        orr_free(t);
    }
}

bool orr_ray_material_asks(const orr_mesh_material *m)
{
    const bool smooth = m->roughness < RAYS_ROUGHNESS || orr_material_texture(m, ORR_TEXTURE_SURFACE) >= 0 ||
                        orr_material_texture(m, ORR_TEXTURE_COAT) >= 0;
    return m->metallic_roughness && !m->unlit && !m->neural && !m->blended &&
           (smooth || orr_material_transmits(m));
}

static bool passes_light(const orr_mesh_material *m)
{
    return orr_material_transmits(m) && !m->blended;
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

// ---- what it holds ----

static bool has_meshes(const orr_ray_trees *t, const orr_draw_list *list)
{
    bool same = t->mesh_count == list->mesh_count && t->walk;
    for (int i = 0; i < list->mesh_count && same; i++) {
        const held_mesh *held = &t->meshes[i];
        const orr_draw_mesh *mesh = &list->meshes[i];
        same = held->mesh == mesh->mesh && held->key == mesh->key &&
               memcmp(held->model, mesh->model, sizeof held->model) == 0;
    }
    return same && !list->no_reuse;
}

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

// corners: 9 floats each
static int64_t take_triangles(orr_ray_trees *t, const orr_draw_list *list, float *corners, uint8_t *flags)
{
    int64_t count = 0;
    int32_t surface = 0;
    for (int i = 0; i < list->mesh_count; i++) {
        const orr_draw_mesh *item = &list->meshes[i];
        const orr_mesh *mesh = item->mesh;
        for (int p = 0; p < mesh->part_count; p++, surface++) {
            const orr_mesh_part *part = &mesh->parts[p];
            const orr_mesh_material *look = &mesh->materials[part->material];
            if (look->blended) {
                continue; // not seen by rays
            }
            for (uint32_t k = 0; k < part->index_count; k += 3, count++) {
                const uint32_t *index = mesh->indices + part->first_index + k;
                for (int c = 0; c < 3; c++) {
                    affine_apply_to_point(item->model, mesh->vertices[index[c]].position,
                                          corners + 9 * count + 3 * c);
                }
                flags[count] = (uint8_t)((orr_material_two_sided(look) ? ORR_TRIANGLE_TWO_SIDED : 0) |
                                         (look->alpha_cutoff > 0.0f ? ORR_TRIANGLE_SIEVED : 0));
                t->surface_of[count] = surface;
                t->mesh_of[count] = i;
                t->triangle_of[count] = (int32_t)((part->first_index + k) / 3);
            }
        }
    }
    return count;
}

static orr_result hold_meshes(orr_ray_trees *t, orr_isa isa, const orr_draw_list *list, orr_error *error)
{
    int64_t most = 0;
    for (int i = 0; i < list->mesh_count; i++) {
        for (int k = 0; k < list->meshes[i].mesh->part_count; k++) {
            most += list->meshes[i].mesh->parts[k].index_count / 3;
        }
    }
    t->walk = NULL; // holds none until all is done
    orr_triangle_tree_free(&t->triangles);
    ORR_GROW(t->meshes, t->mesh_capacity, list->mesh_count, "meshes that rays meet", error);
    t->mesh_count = list->mesh_count;
    int32_t surfaces = 0;
    for (int i = 0; i < list->mesh_count; i++) {
        const orr_draw_mesh *mesh = &list->meshes[i];
        t->meshes[i] = (held_mesh){.mesh = mesh->mesh, .key = mesh->key, .first_surface = surfaces};
        surfaces += mesh->mesh->part_count;
        memcpy(t->meshes[i].model, mesh->model, sizeof mesh->model);
    }
    orr_free(t->surface_of);
    orr_free(t->mesh_of);
    orr_free(t->triangle_of);
    t->surface_of = orr_alloc((size_t)most, sizeof *t->surface_of);
    t->mesh_of = orr_alloc((size_t)most, sizeof *t->mesh_of);
    t->triangle_of = orr_alloc((size_t)most, sizeof *t->triangle_of);
    float *corners = orr_alloc((size_t)most, 9 * sizeof *corners);
    uint8_t *flags = orr_alloc((size_t)most, sizeof *flags);
    orr_result result = t->surface_of && t->mesh_of && t->triangle_of && corners && flags
                            ? orr_triangle_tree_build(corners, flags, take_triangles(t, list, corners, flags),
                                                      &t->triangles, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY,
                                       "out of memory: %lld triangles that rays meet", (long long)most);
    orr_free(corners);
    orr_free(flags);
    t->walk = result == ORR_OK ? orr_triangle_walk_of(isa) : NULL;
    return result;
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
    ORR_TRY(has_meshes(t, list) ? ORR_OK : hold_meshes(t, isa, list, error));
    return has_splats(t, list) ? ORR_OK : hold_splats(t, isa, list, error);
}

// ---- rays ----

// Has the texture no hole there?
static bool stops(void *context, const orr_ray_hit *hit)
{
    const orr_ray_trees *t = context;
    const orr_mesh *mesh = t->meshes[t->mesh_of[hit->triangle]].mesh;
    const uint32_t *index = mesh->indices + 3 * (size_t)t->triangle_of[hit->triangle];
    const orr_mesh_vertex *a = &mesh->vertices[index[0]], *b = &mesh->vertices[index[1]],
                          *c = &mesh->vertices[index[2]];
    const int part = t->surface_of[hit->triangle] - t->meshes[t->mesh_of[hit->triangle]].first_surface;
    const orr_mesh_material *look = &mesh->materials[mesh->parts[part].material];
    const int texture = orr_material_texture(look, ORR_TEXTURE_BASE);
    real alpha = look->base_colour[3];
    if (texture >= 0) {
        real uv[2];
        for (int k = 0; k < 2; k++) {
            uv[k] =
                texture_repeat(a->uv[k] + hit->b * (b->uv[k] - a->uv[k]) + hit->c * (c->uv[k] - a->uv[k]));
        }
        alpha *= picture_sample(t->linear, &mesh->textures[texture], make_real2(uv[0], uv[1])).w;
    }
    return alpha >= look->alpha_cutoff;
}

static void meet_surface(const orr_ray_trees *t, const orr_ray *ray, orr_ray_met *met)
{
    orr_ray_hit hit;
    *met = (orr_ray_met){.surface = ORR_RAY_NOTHING, .distance = ray->far_end};
    if (t->walk->nearest(&t->triangles, ray, true, &(orr_ray_sieve){stops, (void *)t}, &hit)) {
        met->surface = t->surface_of[hit.triangle];
        met->triangle = t->triangle_of[hit.triangle];
        met->b = hit.b;
        met->c = hit.c;
        met->distance = hit.distance;
    }
}

void orr_ray_trees_meet(const orr_ray_trees *t, orr_field_rays *fields, const orr_ray *rays, int count,
                        orr_ray_met *met)
{
    assert(count <= ORR_FIELD_RAYS);
    orr_ray until[ORR_FIELD_RAYS] = {0};
    orr_field_seen seen[ORR_FIELD_RAYS] = {0};
    for (int i = 0; i < count; i++) {
        meet_surface(t, &rays[i], &met[i]);
        until[i] = rays[i];
        until[i].far_end = met[i].distance;
    }
    if (fields) {
        orr_field_rays_meet(fields, until, count, seen);
    }
    for (int i = 0; i < count; i++) {
        const orr_veil veil = orr_field_rays_veil(&t->splats, t->splat_walk, &until[i], &seen[i]);
        orr_veil_light(&veil, met[i].veil);
        met[i].passes = veil.passes;
    }
}
