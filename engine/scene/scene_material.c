// What becomes of materials of layers; those of meshes that are networks.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/scene/scene.h"
#include "render/appearance/neural_material.h"

#include <string.h>

int orr_layer_material_count(const orr_layer_data *layer)
{
    return layer->kind == ORR_LAYER_MESH    ? layer->mesh->material_count
           : layer->kind == ORR_LAYER_ROBOT ? (int)layer->robot->model->nmat
                                            : 0;
}

void orr_layer_forget_materials(orr_layer_data *layer)
{
    for (int i = 0; i < layer->material_count; i++) {
        orr_free(layer->materials[i].path);
        orr_free(layer->materials[i].own);
    }
    orr_free(layer->materials);
    layer->materials = NULL;
    layer->material_count = 0;
}

orr_result orr_layer_keep_materials(orr_layer_data *layer, orr_error *error)
{
    if (!layer->materials) {
        const int count = orr_layer_material_count(layer);
        layer->materials = orr_alloc_zero((size_t)count, sizeof *layer->materials);
        if (!layer->materials) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: materials of a layer");
        }
        layer->material_count = count;
    }
    return ORR_OK;
}

orr_result orr_layer_with_material(orr_scene *scene, orr_layer id, int material, orr_layer_data **layer,
                                   orr_error *error)
{
    ORR_TRY(orr_scene_check(scene, error));
    const int index = orr_scene_find(scene, id);
    if (index < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a material: expected a layer of the scene");
    }
    orr_layer_data *found = &scene->layers[index];
    if (found->kind != ORR_LAYER_MESH && found->kind != ORR_LAYER_ROBOT) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a material: expected a mesh or a robot", found->name);
    }
    const int count = orr_layer_material_count(found);
    if (count == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: material %d: expected a robot that has materials",
                        found->name, material);
    }
    if (material < 0 || material >= count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: material %d: expected 0 .. %d", found->name, material,
                        count - 1);
    }
    *layer = found;
    return ORR_OK;
}

void orr_layer_renew_keys(orr_scene *scene, orr_layer_data *layer)
{
    layer->key = *scene->context.next_key;
    *scene->context.next_key += (uint64_t)layer->key_count;
}

static orr_result load(const char *path, orr_neural_material **material, char **copy, orr_error *error)
{
    const size_t size = strlen(path) + 1;
    ORR_TRY(orr_neural_material_load(path, material, error));
    *copy = orr_alloc(size, 1);
    if (!*copy) {
        orr_neural_material_destroy(*material);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a path");
    }
    memcpy(*copy, path, size);
    return ORR_OK;
}

orr_result orr_scene_set_material(orr_scene *scene, orr_layer id, int material, const char *path,
                                  orr_error *error)
{
    ORR_ENTER;
    orr_neural_material *neural = NULL;
    char *copy = NULL;
    orr_layer_data *layer;
    ORR_TRY(orr_layer_with_material(scene, id, material, &layer, error));
    if (layer->kind != ORR_LAYER_MESH) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a network: expected a mesh", layer->name);
    }
    if (path && layer->materials && layer->materials[material].is_glass) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: material %d: expected no glass where it is a network",
                        layer->name, material);
    }
    ORR_TRY(orr_layer_keep_materials(layer, error));
    if (path) {
        ORR_TRY(load(path, &neural, &copy, error));
    }
    orr_mesh_material *look = &layer->mesh->materials[material];
    orr_neural_material_destroy(look->neural);
    orr_free(layer->materials[material].path);
    look->neural = neural;
    layer->materials[material].path = copy;
    orr_layer_renew_keys(scene, layer); // devices have its materials
    return ORR_OK;
}
