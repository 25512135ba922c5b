// Files become layers: a cloud, a mesh, or a scene file that names several.
#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/scene/camera_file.h"
#include "engine/scene/scene.h"
#include "engine/scene/scene_file.h"
#include "engine/scene/soft/soft_flex.h"
#include "engine/scene/transform.h"
#include "neural/capture/capture.h"
#include "neural/capture/capture_file.h"
#include "render/formats/splat_formats.h"

#include <stdio.h>
#include <string.h>

static const double READING_SHARE = 0.4; // of a cloud's work; the rest is ordering its splats

// A layer as a scene file describes it, or as orr_scene_add_file is given it.
typedef struct layer_source {
    const char *path;
    const char *name; // NULL: the file's own
    const orr_transform *transform;
    bool visible, antialias;
    orr_shadow_casting shadow_casting;
    const orr_region *region; // of a cloud; NULL: all of it
} layer_source;

static const char *name_of(const layer_source *source)
{
    return source->name ? source->name : orr_path_name(source->path);
}

static orr_result add_mesh(orr_scene *scene, const layer_source *source, orr_error *error)
{
    orr_layer_data layer = {.kind = ORR_LAYER_MESH, .visible = source->visible};
    ORR_TRY(orr_mesh_load(source->path, &layer.mesh, error));
    if (layer.mesh->unused[0]) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_MESH_FILE, "%s: not drawn: %s",
                     source->path, layer.mesh->unused);
    }
    const int lights = orr_scene_light_total(scene) + layer.mesh->light_count;
    if (layer.mesh->light_count > 0 && lights > ORR_DRAW_LIGHTS) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_IGNORED,
                     "%s: %d lights with those of the scene: the first %d are used", source->path, lights,
                     ORR_DRAW_LIGHTS);
    }
    return orr_scene_append(scene, layer, name_of(source), source->transform, error);
}

static orr_result add_field(orr_scene *scene, const layer_source *source, orr_error *error)
{
    orr_layer_data layer = {.kind = ORR_LAYER_FIELD, .visible = source->visible};
    ORR_TRY(orr_field_layer_load(source->path, scene->context.jobs, scene->context.isa, &layer.field, error));
    return orr_scene_append(scene, layer, name_of(source), source->transform, error);
}

static orr_result add_robot(orr_scene *scene, const layer_source *source, orr_error *error)
{
    orr_layer_data layer = {.kind = ORR_LAYER_ROBOT, .visible = source->visible};
    ORR_TRY(orr_robot_load(source->path, !scene->context.no_pictures, &layer.robot, error));
    const orr_model_unused *unused = &layer.robot->model->unused;
    if (unused->count > 0) {
        orr_log_line(scene->context.log, ORR_LOG_INFO, ORR_CODE_MODEL_FILE,
                     "%d parts of a robot are not used, the first: %s", unused->count, unused->first);
    }
    if (layer.robot->visuals_reduced > 0) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_MESH_FILE,
                     "the files of %d visuals contain what is not drawn, first: %s",
                     layer.robot->visuals_reduced, layer.robot->visual_reduced);
    }
    if (layer.robot->visuals_missing > 0) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_MODEL_FILE,
                     "%d visuals are not drawn, collision shapes in their place; the first: %s",
                     layer.robot->visuals_missing, layer.robot->visual_missing);
    }
    return orr_scene_append(scene, layer, name_of(source), source->transform, error);
}

static orr_result add_cloud(orr_scene *scene, const layer_source *source, orr_error *error)
{
    orr_splats *splats;
    orr_error why = {0};
    orr_result result = orr_splats_load(source->path, &splats, &why);
    bool cloud_ending = orr_splat_format_of((orr_splat_source){.name = source->path}) != NULL;
    if (why.code == ORR_CODE_FILE_TYPE && !cloud_ending) {
        return orr_fail(
            error, ORR_CODE_FILE_TYPE,
            "%s: unknown kind of file: expected a splat cloud (.ply .compressed.ply .splat .spz .sog "
            ".ksplat), a mesh (.glb .gltf .obj .stl .ply .dae), a trained field (.ingp), a robot (.xml "
            ".urdf) or a "
            "scene file (.json)",
            source->path);
    }
    if (result != ORR_OK) {
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    orr_splats_view view = orr_splats_data(splats);
    if (view.warning) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_IGNORED, "%s: %s", source->path,
                     view.warning);
    }
    orr_layer_data layer = {.kind = ORR_LAYER_SPLATS,
                            .visible = source->visible,
                            .antialias = source->antialias,
                            .shadow_casting = source->shadow_casting};
    orr_progress progress = scene->context.progress;
    progress.from = READING_SHARE;
    if (source->region) {
        result = orr_splats_crop(splats, source->region, error);
        view = orr_splats_data(splats);
    }
    if (result == ORR_OK) {
        result = orr_splat_pack_create(scene->context.jobs, &view, &progress, &layer.splats, error);
    }
    orr_splats_destroy(splats);
    ORR_TRY(result);
    return orr_scene_append(scene, layer, name_of(source), source->transform, error);
}

// The text of a .json file when it is for the scene file's parser; NULL text when it describes a cloud.
static orr_result read_scene_text(const char *path, char **text, orr_error *error)
{
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    *text = (char *)bytes.data;
    if (orr_splat_format_of((orr_splat_source){path, bytes.data, bytes.size})) {
        orr_free(bytes.data);
        *text = NULL;
    }
    return ORR_OK;
}

static orr_result add_of_kind(orr_scene *scene, const layer_source *source, orr_error *error)
{
    scene->context.progress.path = source->path;
    ORR_TRY(orr_progress_at(&scene->context.progress, "reading", 0.0, error));
    bool field = orr_field_model_readable(source->path), robot = orr_robot_readable(source->path),
         mesh = orr_mesh_readable(source->path);
    if (source->region && (field || robot || mesh)) {
        return orr_fail(error, ORR_CODE_SCENE_FILE, "%s: region: expected a splat cloud", source->path);
    }
    return field   ? add_field(scene, source, error)
           : robot ? add_robot(scene, source, error)
           : mesh  ? add_mesh(scene, source, error)
                   : add_cloud(scene, source, error);
}

static orr_result add_single(orr_scene *scene, const layer_source *source, orr_error *error)
{
    char *path;
    size_t size = strlen(source->path) + 1;
    ORR_ALLOC(path, size, "a layer's path", error);
    memcpy(path, source->path, size);
    orr_result result = add_of_kind(scene, source, error);
    if (result != ORR_OK) {
        orr_free(path);
        return result;
    }
    orr_layer_data *layer = &scene->layers[scene->layer_count - 1];
    layer->path = path;
    layer->has_region = source->region != NULL;
    layer->region = source->region ? *source->region : (orr_region){0};
    layer->part = source->region && !strchr(name_of(source), '/');
    return ORR_OK;
}

// A layer's file must be a cloud or a mesh: scene files do not nest, so that there are no cycles.
static orr_result add_listed(orr_scene *scene, const layer_source *source, orr_error *error)
{
    if (orr_path_has_ending(source->path, ".json")) {
        char *text;
        ORR_TRY(read_scene_text(source->path, &text, error));
        if (text) {
            orr_free(text);
            return orr_fail(
                error, ORR_CODE_SCENE_FILE,
                "%s: expected a cloud, a mesh, a field or a robot (a scene file cannot hold another)",
                source->path);
        }
    }
    return add_single(scene, source, error);
}

// The robot that a layer of a file is bound to, of the layers from `first` on. Of several of its name it is
// the first, which is said.
static orr_layer find_carrier(const orr_scene *scene, const orr_scene_file *file, const char *path, int first,
                              int index)
{
    const char *name = file->layers[index].robot;
    orr_layer robot = {0};
    int found = 0;
    for (int k = 0; k < file->layer_count; k++) {
        const orr_layer_data *other = &scene->layers[first + k];
        if (other->kind == ORR_LAYER_ROBOT && strcmp(other->name, name) == 0 && found++ == 0) {
            robot = orr_scene_layer(scene, first + k);
        }
    }
    if (found > 1) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_IGNORED,
                     "%s: layers[%d].bind.robot: %d robots are called \"%s\": it is on the first", path,
                     index, found, name);
    }
    return robot;
}

// The layers that a file added from `first` on are bound once all are there: a robot may come after what it
// carries.
static orr_result bind_layers(orr_scene *scene, const orr_scene_file *file, const char *path, int first,
                              orr_error *error)
{
    for (int i = 0; i < file->layer_count; i++) {
        const orr_scene_file_layer *layer = &file->layers[i];
        if (!layer->robot) {
            continue;
        }
        const orr_layer robot = find_carrier(scene, file, path, first, i);
        orr_error why = {0};
        if (robot.slot == 0) {
            return orr_fail(
                error, ORR_CODE_SCENE_FILE,
                "%s: layers[%d].bind.robot: expected the name of a robot of this file, not \"%s\"", path, i,
                layer->robot);
        }
        if (orr_scene_bind(scene, orr_scene_layer(scene, first + i), robot, layer->body, &why) != ORR_OK) {
            return orr_fail(error, (orr_code)why.code, "%s: layers[%d].bind.body: %s", path, i, why.message);
        }
    }
    return ORR_OK;
}

static orr_result set_bodies(orr_scene *scene, const orr_scene_file *file, const char *path, int first,
                             orr_error *error)
{
    for (int i = 0; i < file->layer_count; i++) {
        orr_error why = {0};
        if (file->layers[i].has_physics && orr_scene_set_physics(scene, orr_scene_layer(scene, first + i),
                                                                 &file->layers[i].physics, &why) != ORR_OK) {
            return orr_fail(error, (orr_code)why.code, "%s: layers[%d].physics: %s", path, i, why.message);
        }
    }
    return ORR_OK;
}

// Material k of the file's layer, which is `layer` of the scene.
static orr_result set_material(orr_scene *scene, int index, const orr_scene_file_material *material, int k,
                               orr_error *error)
{
    const orr_layer id = orr_scene_layer(scene, index);
    const orr_layer_data *layer = &scene->layers[index];
    if (material->name) {
        if (layer->kind != ORR_LAYER_ROBOT) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "expected an array: materials of a mesh have numbers");
        }
        k = orr_model_find(layer->robot->model, ORR_OBJECT_MATERIAL, material->name);
        if (k < 0) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s has no such material in the robot", layer->name);
        }
    } else if (layer->kind == ORR_LAYER_ROBOT) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "expected {\"NAME\": {...}}: materials of a robot have names");
    }
    if (material->path) {
        return orr_scene_set_material(scene, id, k, material->path, error);
    }
    return material->is_glass ? orr_scene_set_glass(scene, id, k, &material->glass, error) : ORR_OK;
}

static orr_result set_materials(orr_scene *scene, const orr_scene_file *file, const char *path, int first,
                                orr_error *error)
{
    for (int i = 0; i < file->layer_count; i++) {
        const orr_scene_file_layer *layer = &file->layers[i];
        for (int k = 0; k < layer->material_count; k++) {
            const orr_scene_file_material *material = &layer->materials[k];
            char number[16];
            orr_error why = {0};
            snprintf(number, sizeof number, "%d", k);
            if (set_material(scene, first + i, material, k, &why) != ORR_OK) {
                return orr_fail(error, (orr_code)why.code, "%s: layers[%d].materials[%s]: %s", path, i,
                                material->name ? material->name : number, why.message);
            }
        }
    }
    return ORR_OK;
}

static orr_result add_layers(orr_scene *scene, const orr_scene_file *file, const char *path,
                             const orr_transform *outer, orr_error *error)
{
    int first = scene->layer_count;
    for (int i = 0; i < file->layer_count; i++) {
        const orr_scene_file_layer *layer = &file->layers[i];
        // what is bound is in a body's frame, whatever the robot's transform
        orr_transform transform =
            layer->robot ? layer->transform : orr_transform_multiply(outer, &layer->transform);
        layer_source source = {.path = layer->file,
                               .name = layer->name,
                               .transform = &transform,
                               .visible = layer->visible,
                               .antialias = layer->antialias,
                               .shadow_casting = !layer->has_casts_shadow ? ORR_SHADOW_CASTING_MOVING
                                                 : layer->casts_shadow    ? ORR_SHADOW_CASTING_ALWAYS
                                                                          : ORR_SHADOW_CASTING_NEVER,
                               .region = layer->has_region ? &layer->region : NULL};
        orr_error why = {0};
        if (add_listed(scene, &source, &why) != ORR_OK) {
            return orr_fail(error, (orr_code)why.code, "%s: layers[%d]: %s", path, i, why.message);
        }
    }
    ORR_TRY(bind_layers(scene, file, path, first, error));
    ORR_TRY(set_materials(scene, file, path, first, error));
    return set_bodies(scene, file, path, first, error);
}

static orr_result join_cameras(const orr_camera_list *first, const orr_camera_list *second,
                               orr_camera_list *list, orr_error *error)
{
    int count = first->count + second->count;
    ORR_TRY(orr_camera_list_reserve(list, count, error));
    for (int i = 0; i < count; i++) {
        const orr_camera_list *from = i < first->count ? first : second;
        int index = i < first->count ? i : i - first->count;
        ORR_TRY(orr_camera_list_append(list, &from->cameras[index], from->names[index], error));
    }
    return ORR_OK;
}

// The rest of a scene file, for the scene that is made from it.
static orr_result take_settings(orr_scene *scene, orr_scene_file *file, const char *path, orr_error *error)
{
    orr_camera_list listed = {0};
    if (file->cameras_file) {
        orr_error why = {0};
        if (orr_camera_file_load(file->cameras_file, ORR_SCENE_FILE_WIDTH, ORR_SCENE_FILE_HEIGHT, &listed,
                                 &why) != ORR_OK) {
            return orr_fail(error, (orr_code)why.code, "%s: cameras_file: %s", path, why.message);
        }
    }
    orr_result result = join_cameras(&file->cameras, &listed, &scene->cameras, error);
    scene->cameras_file = file->cameras_file; // it is the scene's now
    scene->cameras_in_file = listed.count;
    file->cameras_file = NULL;
    orr_camera_list_free(&listed);
    ORR_TRY(result);
    scene->has_background = file->has_background;
    memcpy(scene->background, file->background, sizeof scene->background);
    scene->umbra = file->umbra;
    scene->occlusion_radius = file->occlusion_radius;
    scene->occlusion_strength = file->occlusion_strength;
    scene->exposure = file->exposure;
    scene->tone = file->tone;
    if (file->environment) {
        const orr_environment_desc desc = {.path = file->environment,
                                           .rotation = file->environment_rotation,
                                           .strength = file->environment_strength};
        orr_error why = {0};
        if (orr_scene_set_environment(scene, &desc, &why) != ORR_OK) {
            return orr_fail(error, (orr_code)why.code, "%s: environment: %s", path, why.message);
        }
    }
    for (int i = 0; i < file->light_count; i++) {
        orr_error why = {0};
        if (orr_scene_put_light(scene, &file->lights[i], &why) != ORR_OK) {
            return orr_fail(error, (orr_code)why.code, "%s: lights[%d]: %s", path, i, why.message);
        }
    }
    scene->probes = !file->has_probes ? ORR_SCENE_PROBES_BY_LAMPS
                    : file->probes    ? ORR_SCENE_PROBES_ON
                                      : ORR_SCENE_PROBES_OFF;
    scene->rays = file->rays;
    if (file->has_sun) {
        scene->has_sun = true;
        scene->sun = file->sun;
    }
    return orr_scene_light_clouds(scene, error);
}

static orr_result add_scene_file(orr_scene *scene, const char *path, const char *text,
                                 const orr_transform *transform, bool settings, orr_error *error)
{
    orr_transform outer;
    ORR_TRY(orr_transform_resolve(transform, &outer, error));
    orr_scene_file file;
    ORR_TRY(orr_scene_file_parse(text, path, &file, error));
    orr_result result = add_layers(scene, &file, path, &outer, error);
    if (result == ORR_OK && settings) {
        result = take_settings(scene, &file, path, error);
    }
    orr_scene_file_free(&file);
    return result;
}

static orr_result add_contents(orr_scene *scene, const char *path, const orr_transform *transform,
                               bool settings, orr_error *error)
{
    char *text = NULL;
    if (orr_capture_readable(path) && !orr_splat_folder(path)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: a folder or a capture of photos: expected a scene, or the folder of a SOG (a "
                        "field is trained on a capture "
                        "by orrery train nerf, or while orrery view shows it)",
                        path);
    }
    if (orr_path_has_ending(path, ".json")) {
        ORR_TRY(read_scene_text(path, &text, error));
    }
    if (!text) {
        return add_single(scene, &(layer_source){.path = path, .transform = transform, .visible = true},
                          error);
    }
    orr_result result = add_scene_file(scene, path, text, transform, settings, error);
    orr_free(text);
    return result;
}

static orr_result add_path(orr_scene *scene, const char *path, const orr_transform *transform, bool settings,
                           orr_error *error)
{
    const int first = scene->layer_count;
    ORR_TRY(add_contents(scene, path, transform, settings, error));
    orr_error why = {0};
    return orr_scene_add_flexes(scene, first, &why) == ORR_OK
               ? ORR_OK
               : orr_fail(error, (orr_code)why.code, "%s: %s", path, why.message);
}

orr_result orr_scene_add_file(orr_scene *scene, const char *path, const orr_transform *transform,
                              orr_layer *layer, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(path, error);
    int before = scene->layer_count;
    orr_result result = add_path(scene, path, transform, false, error);
    if (result != ORR_OK) {
        orr_scene_truncate(scene, before);
        return result;
    }
    if (layer) {
        *layer = orr_scene_layer(scene, before);
    }
    return ORR_OK;
}

orr_result orr_scene_read(orr_scene *scene, const char *path, orr_error *error)
{
    return add_path(scene, path, NULL, true, error);
}
