// Meshes, camera files and scene files.
#include "samples/orrery/info/info.h"

#include "engine/scene/camera_file.h"
#include "engine/scene/scene.h"
#include "render/mesh.h"

#include <stdio.h>

orr_result info_mesh(const char *path, cJSON *json, orr_error *error)
{
    orr_mesh *mesh;
    ORR_TRY(orr_mesh_load(path, &mesh, error));
    if (json) {
        cJSON_AddStringToObject(json, "kind", "mesh");
        cJSON_AddNumberToObject(json, "triangles", (double)(mesh->index_count / 3));
        cJSON_AddNumberToObject(json, "vertices", (double)mesh->vertex_count);
        cJSON_AddNumberToObject(json, "materials", mesh->material_count);
        cJSON_AddNumberToObject(json, "textures", mesh->texture_count);
        if (mesh->unused[0]) {
            cJSON_AddStringToObject(json, "not_drawn", mesh->unused);
        }
        cJSON_AddNumberToObject(json, "bytes", (double)orr_mesh_bytes(mesh));
        info_add_bounds(json, "bounds", mesh->low, mesh->high);
    } else {
        printf("%s: mesh, %lld triangles, %lld vertices, %d materials, %d textures, %.1f MB in memory\n",
               path, (long long)(mesh->index_count / 3), (long long)mesh->vertex_count, mesh->material_count,
               mesh->texture_count, (double)orr_mesh_bytes(mesh) * 1e-6);
        info_print_bounds("bounds", mesh->low, mesh->high);
        if (mesh->unused[0]) {
            printf("    not drawn: %s\n", mesh->unused);
        }
    }
    orr_mesh_destroy(mesh);
    return ORR_OK;
}

// bounds of the cameras' positions
static void find_bounds(const orr_camera_list *list, float low[3], float high[3])
{
    for (int i = 0; i < 3; i++) {
        low[i] = high[i] = list->count ? list->cameras[0].pose[4 * i + 3] : 0.0f;
        for (int k = 1; k < list->count; k++) {
            float position = list->cameras[k].pose[4 * i + 3];
            low[i] = position < low[i] ? position : low[i];
            high[i] = position > high[i] ? position : high[i];
        }
    }
}

orr_result info_cameras(const char *path, const common_options *common, cJSON *json, orr_error *error)
{
    orr_camera_list list;
    int width = common->size[0] ? common->size[0] : 1280, height = common->size[1] ? common->size[1] : 720;
    ORR_TRY(orr_camera_file_load(path, width, height, &list, error));
    float low[3], high[3];
    find_bounds(&list, low, high);
    orr_camera first = list.count > 0 ? list.cameras[0] : (orr_camera){0};
    if (json) {
        cJSON_AddStringToObject(json, "kind", "cameras");
        cJSON_AddNumberToObject(json, "count", list.count);
        cJSON_AddItemToObject(json, "size", cJSON_CreateIntArray((int[2]){first.width, first.height}, 2));
        cJSON_AddItemToObject(json, "focal", cJSON_CreateFloatArray(first.focal, 2));
        cJSON_AddBoolToObject(json, "distorted", list.distorted);
        info_add_bounds(json, "positions", low, high);
    } else {
        printf("%s: %d cameras, the first %d x %d with focal length %.6g, %.6g px%s\n", path, list.count,
               first.width, first.height, (double)first.focal[0], (double)first.focal[1],
               list.distorted ? ", lens distortion" : "");
        info_print_bounds("positions", low, high);
    }
    orr_camera_list_free(&list);
    return ORR_OK;
}

static const char *kind_name(orr_layer_kind kind)
{
    return kind == ORR_LAYER_SPLATS ? "splats" : "mesh";
}

static orr_result print_layers(const orr_scene *scene, orr_error *error)
{
    for (int i = 0; i < orr_scene_layer_count(scene); i++) {
        orr_layer_info layer;
        ORR_TRY(orr_scene_layer_info(scene, orr_scene_layer(scene, i), &layer, error));
        printf("  %s: %lld %s, %.1f MB in memory, at %.4g, %.4g, %.4g, scale %.4g\n", layer.name,
               (long long)layer.count, layer.kind == ORR_LAYER_SPLATS ? "splats" : "triangles",
               (double)layer.bytes * 1e-6, (double)layer.transform.position[0],
               (double)layer.transform.position[1], (double)layer.transform.position[2],
               (double)layer.transform.scale);
        info_print_bounds("  bounds", layer.low, layer.high);
    }
    return ORR_OK;
}

static orr_result add_layers(const orr_scene *scene, cJSON *list, orr_error *error)
{
    for (int i = 0; i < orr_scene_layer_count(scene); i++) {
        orr_layer_info layer;
        ORR_TRY(orr_scene_layer_info(scene, orr_scene_layer(scene, i), &layer, error));
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "name", layer.name);
        cJSON_AddStringToObject(json, "kind", kind_name(layer.kind));
        cJSON_AddNumberToObject(json, "count", (double)layer.count);
        cJSON_AddNumberToObject(json, "bytes", (double)layer.bytes);
        info_add_bounds(json, "bounds", layer.low, layer.high);
        cJSON_AddItemToObject(json, "position", cJSON_CreateFloatArray(layer.transform.position, 3));
        cJSON_AddItemToObject(json, "rotation", cJSON_CreateFloatArray(layer.transform.rotation, 4));
        cJSON_AddNumberToObject(json, "scale", (double)layer.transform.scale);
        cJSON_AddItemToArray(list, json);
    }
    return ORR_OK;
}

static orr_result describe_scene(const char *path, const orr_scene *scene, cJSON *json, orr_error *error)
{
    int layers = orr_scene_layer_count(scene), cameras = orr_scene_camera_count(scene);
    if (json) {
        cJSON_AddStringToObject(json, "kind", "scene");
        cJSON_AddNumberToObject(json, "cameras", cameras);
        if (scene->has_background) {
            cJSON_AddItemToObject(json, "background", cJSON_CreateFloatArray(scene->background, 3));
        }
        return add_layers(scene, cJSON_AddArrayToObject(json, "layers"), error);
    }
    printf("%s: scene, %d layers, %d cameras\n", path, layers, cameras);
    return print_layers(scene, error);
}

orr_result info_load_scene(const char *path, const common_options *common, orr_engine **engine,
                           orr_scene **scene, orr_error *error)
{
    common_options on_cpu = *common;
    on_cpu.device = ORR_DEVICE_CPU; // nothing is drawn
    *engine = NULL, *scene = NULL;
    ORR_TRY(command_engine(&on_cpu, engine, error));
    return orr_scene_load(*engine, path, scene, error);
}

orr_result info_scene(const char *path, const common_options *common, cJSON *json, orr_error *error)
{
    orr_engine *engine;
    orr_scene *scene;
    orr_result result = info_load_scene(path, common, &engine, &scene, error);
    if (result == ORR_OK) {
        result = describe_scene(path, scene, json, error);
    }
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
    return result;
}
