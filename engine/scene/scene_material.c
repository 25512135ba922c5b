// Materials of mesh layers that are networks.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/scene/scene.h"
#include "render/appearance/neural_material.h"

#include <string.h>

void orr_layer_forget_materials(orr_layer_data *layer)
{
    for (int i = 0; i < layer->material_count; i++) {
        orr_free(layer->material_paths[i]);
    }
    orr_free(layer->material_paths);
    layer->material_paths = NULL;
    layer->material_count = 0;
}

static orr_result reserve_paths(orr_layer_data *layer, orr_error *error)
{
    if (!layer->material_paths) {
        layer->material_paths = orr_alloc_zero((size_t)layer->mesh->material_count, sizeof(char *));
        if (!layer->material_paths) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: materials of a layer");
        }
        layer->material_count = layer->mesh->material_count;
    }
    return ORR_OK;
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
    ORR_TRY(orr_scene_check(scene, error));
    const int index = orr_scene_find(scene, id);
    if (index < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a material: expected a layer of the scene");
    }
    orr_layer_data *layer = &scene->layers[index];
    if (layer->kind != ORR_LAYER_MESH) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a material: expected a mesh", layer->name);
    }
    if (material < 0 || material >= layer->mesh->material_count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: material %d: expected 0 .. %d", layer->name, material,
                        layer->mesh->material_count - 1);
    }
    ORR_TRY(reserve_paths(layer, error));
    if (path) {
        ORR_TRY(load(path, &neural, &copy, error));
    }
    orr_mesh_material *look = &layer->mesh->materials[material];
    orr_neural_material_destroy(look->neural);
    orr_free(layer->material_paths[material]);
    look->neural = neural;
    layer->material_paths[material] = copy;
    layer->key = (*scene->context.next_key)++; // devices have its materials
    return ORR_OK;
}
