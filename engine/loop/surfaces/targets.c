#include "engine/loop/surfaces/targets.h"

#include "engine/core/memory.h"
#include "engine/loop/surfaces/textures.h"
#include "render/mesh_lay.h"

#include <math.h>
#include <string.h>

// ---- what has coordinates ----

static bool has_coordinates(const orr_layer_data *layer, const orr_robot_geom *geom, const orr_mesh *mesh)
{
    if (!orr_mesh_has_coordinates(mesh)) {
        return false;
    }
    const orr_model *m = geom && geom->part == ORR_ROBOT_GEOM ? layer->robot->model : NULL;
    const int material = m ? m->geom_matid[geom->geom] : -1;
    const int texture = material >= 0 ? m->mat_texid[material] : -1;
    return texture < 0 || m->tex_type[texture] != ORR_TEXTURE_CUBE; // a cube's are of six pictures
}

// The whole mesh says where a picture lies, and on coarser ones it lies there too.
static orr_result lay(const orr_mesh *whole, const float stride[2], const orr_mesh *mesh, orr_mesh **out,
                      orr_error *error)
{
    float centre[3], period[3], longest = 1e-9f;
    for (int k = 0; k < 3; k++) {
        const bool endless = k < 2 && stride[k] > 0.0f;
        centre[k] = endless ? 0.0f : 0.5f * (whole->low[k] + whole->high[k]);
        longest = endless ? longest : fmaxf(longest, whole->high[k] - whole->low[k]);
    }
    for (int k = 0; k < 3; k++) {
        period[k] = k < 2 && stride[k] > 0.0f ? stride[k] : longest;
    }
    return orr_mesh_lay(mesh, centre, period, out, error);
}

static orr_result lay_geom(const orr_layer_data *layer, const orr_robot_geom *geom, orr_mesh **laid,
                           orr_error *error)
{
    if (has_coordinates(layer, geom, geom->mesh)) {
        return ORR_OK;
    }
    for (int i = 0; i < SURFACE_MESHES; i++) {
        const orr_mesh *mesh = i == 0 ? geom->mesh : geom->coarse[i - 1];
        ORR_TRY(mesh && !laid[i] ? lay(geom->mesh, geom->stride, mesh, &laid[i], error) : ORR_OK);
    }
    return ORR_OK;
}

// ---- layers ----

varied_layer *varied_layers_of(const varied_layers *layers, const orr_layer_data *layer)
{
    for (int i = 0; i < layers->count; i++) {
        const orr_pool_id id = layers->list[i].id;
        if (id.slot == layer->id.slot && id.generation == layer->id.generation) {
            return &layers->list[i];
        }
    }
    return NULL;
}

static orr_result vary_layer(varied_layers *layers, const orr_layer_data *layer, varied_layer **out,
                             orr_error *error)
{
    *out = varied_layers_of(layers, layer);
    if (*out) {
        return ORR_OK;
    }
    const bool robot = layer->kind == ORR_LAYER_ROBOT;
    varied_layer *v = *out = &layers->list[layers->count++];
    *v = (varied_layer){.id = layer->id,
                        .count = robot ? layer->robot->geom_count : layer->mesh->material_count};
    ORR_ALLOC(v->target, v->count, "varied surfaces", error);
    memset(v->target, -1, (size_t)v->count * sizeof *v->target);
    v->laid_count = robot ? SURFACE_MESHES * v->count : 1;
    v->laid = orr_alloc_zero((size_t)v->laid_count, sizeof(orr_mesh *));
    return v->laid ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: varied surfaces");
}

static orr_result vary_mesh(const orr_layer_data *layer, varied_layer *v, int part, int target,
                            orr_error *error)
{
    static const float none[2] = {0.0f, 0.0f};
    if (part < 0 || part > v->count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "target %d: material %d of %s: expected 0 .. %d", target,
                        part - 1, layer->name, v->count - 1);
    }
    for (int i = 0; i < v->count; i++) {
        v->target[i] = part == 0 || part == i + 1 ? target : v->target[i];
    }
    if (v->laid[0] || has_coordinates(layer, NULL, layer->mesh)) {
        return ORR_OK;
    }
    v->bare = layer->soft != NULL;
    return v->bare ? ORR_OK : lay(layer->mesh, none, layer->mesh, &v->laid[0], error);
}

static bool is_named(const orr_model *m, orr_object kind, int id, const char *name)
{
    return !name || (id >= 0 && strcmp(orr_model_name(m, kind, id), name) == 0);
}

// Visuals of a URDF have no material of the model.
static bool is_meant(const orr_model *m, const orr_robot_geom *geom, const char *name, const char *material)
{
    return geom->part == ORR_ROBOT_VISUAL
               ? !material && (!name || strcmp(geom->visual->name, name) == 0)
               : geom->part == ORR_ROBOT_GEOM && is_named(m, ORR_OBJECT_GEOM, geom->geom, name) &&
                     is_named(m, ORR_OBJECT_MATERIAL, m->geom_matid[geom->geom], material);
}

// Gives the geoms that are named to the target; returns how many there are, those that show nothing included.
static orr_result vary_robot(varied_layers *layers, const orr_layer_data *layer, const orr_eyes_target *t,
                             int target, int *found, orr_error *error)
{
    const orr_model *m = layer->robot->model;
    const char *name = varied_name(layer, t->geom), *material = varied_name(layer, t->material);
    *found = 0;
    for (int i = 0; i < m->ngeom; i++) {
        *found += is_named(m, ORR_OBJECT_GEOM, i, name) &&
                  is_named(m, ORR_OBJECT_MATERIAL, m->geom_matid[i], material);
    }
    for (int i = 0; i < layer->robot->geom_count; i++) {
        const orr_robot_geom *geom = &layer->robot->geoms[i];
        *found += geom->part == ORR_ROBOT_VISUAL && is_meant(m, geom, name, material);
    }
    if (*found == 0) {
        return ORR_OK;
    }
    varied_layer *v;
    ORR_TRY(vary_layer(layers, layer, &v, error));
    for (int i = 0; i < v->count; i++) {
        const orr_robot_geom *geom = &layer->robot->geoms[i];
        if (is_meant(m, geom, name, material)) {
            v->target[i] = target;
            ORR_TRY(lay_geom(layer, geom, v->laid + SURFACE_MESHES * i, error));
        }
    }
    return ORR_OK;
}

static orr_result vary(const orr_world *world, const orr_eyes_target *t, int target, varied_layers *layers,
                       orr_error *error)
{
    const orr_scene *scene = world->scene;
    const bool any = t->layer.slot == 0 && t->layer.generation == 0;
    const int named = any ? -1 : orr_scene_find(scene, t->layer);
    ORR_TRY(any || named >= 0 ? ORR_OK : orr_scene_stale(t->layer, error));
    if (named >= 0 && scene->layers[named].kind == ORR_LAYER_MESH) {
        varied_layer *v;
        ORR_TRY(vary_layer(layers, &scene->layers[named], &v, error));
        return vary_mesh(&scene->layers[named], v, t->part, target, error);
    }
    int found = 0;
    for (int i = any ? 0 : named; i < (any ? scene->layer_count : named + 1) && found == 0; i++) {
        if (scene->layers[i].kind == ORR_LAYER_ROBOT) {
            ORR_TRY(vary_robot(layers, &scene->layers[i], t, target, &found, error));
        }
    }
    if (found == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "target %d: expected %s%s%s%s%s%s", target,
                        t->geom || t->material ? "a robot with" : "a robot or a mesh",
                        t->geom ? " geom " : "", t->geom ? t->geom : "", t->geom && t->material ? " of" : "",
                        t->material ? " material " : "", t->material ? t->material : "");
    }
    return ORR_OK;
}

// How much a picture needs, if all of them differ.
static void count_all(const orr_scene *scene, varied_layer *v)
{
    const orr_layer id = {v->id.slot, v->id.generation};
    const orr_layer_data *layer = &scene->layers[orr_scene_find(scene, id)];
    for (int i = 0; i < v->count && layer->kind == ORR_LAYER_ROBOT; i++) {
        const orr_mesh *mesh = layer->robot->geoms[i].mesh;
        v->materials += mesh->material_count;
        v->textures += mesh->texture_count + mesh->material_count;
    }
    if (layer->kind == ORR_LAYER_MESH) {
        v->materials = v->count;
        v->textures = v->count + layer->mesh->texture_count;
    }
}

orr_result varied_layers_find(const orr_world *world, const orr_eyes_surfaces_desc *desc,
                              varied_layers *layers, orr_error *error)
{
    layers->list = orr_alloc_zero((size_t)world->scene->layer_count + 1, sizeof *layers->list);
    if (!layers->list) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: varied surfaces");
    }
    for (int i = 0; i < desc->target_count; i++) {
        ORR_TRY(vary(world, &desc->targets[i], i, layers, error));
    }
    for (int i = 0; i < layers->count; i++) {
        count_all(world->scene, &layers->list[i]);
    }
    return ORR_OK;
}

void varied_layers_clear(varied_layers *layers)
{
    for (int i = 0; i < layers->count; i++) {
        varied_layer *v = &layers->list[i];
        for (int k = 0; v->laid && k < v->laid_count; k++) {
            orr_mesh_destroy(v->laid[k]);
        }
        orr_free(v->laid);
        orr_free(v->target);
    }
    orr_free(layers->list);
}
