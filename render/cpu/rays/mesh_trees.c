#define ORR_SCALAR
#include "render/cpu/rays/mesh_trees.h"

#include "engine/core/memory.h"
#include "render/reference/picture.h"

#include <string.h>

static void free_tree(orr_mesh_tree *t)
{
    orr_triangle_tree_free(&t->tree);
    orr_free(t->part_of);
    orr_free(t->triangle_of);
    *t = (orr_mesh_tree){0};
}

void orr_mesh_trees_free(orr_mesh_trees *t)
{
    for (int i = 0; i < t->count; i++) {
        free_tree(&t->trees[i]);
    }
    orr_free(t->trees);
    orr_instances_free(&t->instances);
    *t = (orr_mesh_trees){0};
}

// ---- one mesh ----

// The triangles of a mesh that rays meet.
typedef struct triangles {
    float *corners; // count x 9
    uint8_t *flags;
    int32_t *part_of, *triangle_of;
    int64_t count;
} triangles;

static void free_triangles(triangles *t)
{
    orr_free(t->corners);
    orr_free(t->flags);
    orr_free(t->part_of);
    orr_free(t->triangle_of);
}

static orr_result take_triangles(const orr_mesh *mesh, triangles *t, orr_error *error)
{
    int64_t most = 0;
    for (int p = 0; p < mesh->part_count; p++) {
        most += mesh->parts[p].index_count / 3;
    }
    ORR_ALLOC(t->corners, 9 * most, "triangles that rays meet", error);
    ORR_ALLOC(t->flags, most, "triangles that rays meet", error);
    ORR_ALLOC(t->part_of, most, "triangles that rays meet", error);
    ORR_ALLOC(t->triangle_of, most, "triangles that rays meet", error);
    for (int p = 0; p < mesh->part_count; p++) {
        const orr_mesh_part *part = &mesh->parts[p];
        const orr_mesh_material *look = &mesh->materials[part->material];
        if (look->blended) {
            continue; // not seen by rays
        }
        const uint8_t flags = (uint8_t)((orr_material_two_sided(look) ? ORR_TRIANGLE_TWO_SIDED : 0) |
                                        (look->alpha_cutoff > 0.0f ? ORR_TRIANGLE_SIEVED : 0));
        for (uint32_t k = 0; k < part->index_count; k += 3, t->count++) {
            const uint32_t *index = mesh->indices + part->first_index + k;
            for (int c = 0; c < 3; c++) {
                memcpy(t->corners + 9 * t->count + 3 * c, mesh->vertices[index[c]].position,
                       3 * sizeof(float));
            }
            t->flags[t->count] = flags;
            t->part_of[t->count] = p;
            t->triangle_of[t->count] = (int32_t)((part->first_index + k) / 3);
        }
    }
    return ORR_OK;
}

// Are a tree's triangles those of a mesh, wherever their corners are?
static bool has_triangles(const orr_mesh_tree *t, const triangles *of)
{
    const size_t bytes = (size_t)of->count * sizeof(int32_t);
    return t->count == of->count && t->part_of && memcmp(t->part_of, of->part_of, bytes) == 0 &&
           memcmp(t->triangle_of, of->triangle_of, bytes) == 0;
}

// Makes a tree that of a mesh.
static orr_result make_tree(orr_mesh_tree *t, const orr_mesh *mesh, orr_error *error)
{
    triangles now = {0};
    orr_result result = take_triangles(mesh, &now, error);
    if (result == ORR_OK &&
        !(has_triangles(t, &now) && orr_triangle_tree_refit(&t->tree, now.corners, now.flags))) {
        free_tree(t);
        result = orr_triangle_tree_build(now.corners, now.flags, now.count, &t->tree, error);
        t->part_of = now.part_of;
        t->triangle_of = now.triangle_of;
        t->count = now.count;
        now.part_of = now.triangle_of = NULL;
    }
    free_triangles(&now);
    return result;
}

// ---- the list ----

static bool is_of(const orr_mesh_tree *t, const orr_draw_mesh *item)
{
    return t->mesh == item->mesh && t->key == item->key;
}

// Are they those of the list, where it has them?
static bool are_of(const orr_mesh_trees *t, const orr_draw_list *list)
{
    bool same = t->count == list->mesh_count && t->held && !list->no_reuse;
    for (int i = 0; i < list->mesh_count && same; i++) {
        same = is_of(&t->trees[i], &list->meshes[i]) &&
               memcmp(t->trees[i].model, list->meshes[i].model, sizeof t->trees[i].model) == 0;
    }
    return same;
}

// Takes the trees whose meshes are still there: to their new places in the list. Searching goes on where the
// last one was, so that lists from which some meshes are left out are walked once.
static void take_kept(orr_mesh_trees *from, const orr_draw_list *list, orr_mesh_tree *to)
{
    int at = 0;
    for (int i = 0; i < list->mesh_count; i++) {
        for (int tried = 0; tried < from->count; tried++, at++) {
            at = at < from->count ? at : 0;
            if (is_of(&from->trees[at], &list->meshes[i])) {
                to[i] = from->trees[at];
                from->trees[at++] = (orr_mesh_tree){0};
                break;
            }
        }
    }
    // what is left at its place is perhaps the same mesh, bent
    for (int i = 0; i < list->mesh_count && i < from->count; i++) {
        if (!to[i].mesh) {
            to[i] = from->trees[i];
            from->trees[i] = (orr_mesh_tree){0};
        }
    }
}

static orr_result make_trees(orr_mesh_trees *t, const orr_draw_list *list, orr_error *error)
{
    int32_t surfaces = 0;
    for (int i = 0; i < list->mesh_count; i++) {
        const orr_draw_mesh *item = &list->meshes[i];
        orr_mesh_tree *tree = &t->trees[i];
        ORR_TRY(is_of(tree, item) ? ORR_OK : make_tree(tree, item->mesh, error));
        tree->mesh = item->mesh;
        tree->key = item->key;
        tree->first_surface = surfaces;
        memcpy(tree->model, item->model, sizeof tree->model);
        surfaces += item->mesh->part_count;
    }
    return ORR_OK;
}

static orr_result place_trees(orr_mesh_trees *t, orr_error *error)
{
    const orr_triangle_tree **trees = orr_alloc((size_t)t->count, sizeof *trees);
    float(*models)[12] = orr_alloc((size_t)t->count, sizeof *models);
    orr_result result = trees && models
                            ? ORR_OK
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: meshes that rays meet");
    for (int i = 0; i < t->count && result == ORR_OK; i++) {
        trees[i] = &t->trees[i].tree;
        memcpy(models[i], t->trees[i].model, sizeof models[i]);
    }
    if (result == ORR_OK) {
        result = orr_instances_build(trees, (const float(*)[12])models, t->count, &t->instances, error);
    }
    orr_free(trees);
    orr_free(models);
    return result;
}

orr_result orr_mesh_trees_hold(orr_mesh_trees *t, const orr_draw_list *list, orr_error *error)
{
    if (are_of(t, list)) {
        return ORR_OK;
    }
    orr_mesh_trees next = {.count = list->mesh_count};
    next.trees = orr_alloc_zero((size_t)list->mesh_count, sizeof *next.trees);
    orr_result result = next.trees ? ORR_OK
                                   : orr_fail(error, ORR_CODE_OUT_OF_MEMORY,
                                              "out of memory: %d meshes that rays meet", list->mesh_count);
    if (result == ORR_OK) {
        if (!list->no_reuse) {
            take_kept(t, list, next.trees);
        }
        result = make_trees(&next, list, error);
    }
    orr_mesh_trees_free(t);
    result = result == ORR_OK ? place_trees(&next, error) : result;
    if (result != ORR_OK) {
        orr_mesh_trees_free(&next);
        return result;
    }
    *t = next;
    t->held = true;
    return ORR_OK;
}

// ---- holes ----

bool orr_mesh_trees_stop(const orr_mesh_trees *trees, const float linear[256], const orr_ray_hit *hit)
{
    const orr_mesh_tree *tree = &trees->trees[hit->instance];
    const orr_mesh *mesh = tree->mesh;
    const uint32_t *index = mesh->indices + 3 * (size_t)tree->triangle_of[hit->triangle];
    const orr_mesh_vertex *a = &mesh->vertices[index[0]], *b = &mesh->vertices[index[1]],
                          *c = &mesh->vertices[index[2]];
    const orr_mesh_material *look = &mesh->materials[mesh->parts[tree->part_of[hit->triangle]].material];
    const int texture = orr_material_texture(look, ORR_TEXTURE_BASE);
    const real corners[3] = {a->colour[3], b->colour[3], c->colour[3]};
    real alpha = look->base_colour[3] / 255.0f *
                 (corners[0] + hit->b * (corners[1] - corners[0]) + hit->c * (corners[2] - corners[0]));
    if (texture >= 0) {
        real uv[2];
        for (int k = 0; k < 2; k++) {
            uv[k] = a->uv[k] + hit->b * (b->uv[k] - a->uv[k]) + hit->c * (c->uv[k] - a->uv[k]);
        }
        alpha *=
            picture_sample(linear, &mesh->textures[texture], &look->samplers[ORR_TEXTURE_BASE], uv[0], uv[1])
                .w;
    }
    return alpha >= look->alpha_cutoff;
}
