#include "engine/scene/scene_file.h"

#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/scene/camera_file.h"
#include "engine/scene/scene.h"
#include "engine/scene/soft/soft_layer.h"
#include "engine/scene/transform.h"
#include "physics/load/load.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static orr_result copy_text(const char *text, char **copy, orr_error *error)
{
    size_t size = strlen(text) + 1;
    ORR_ALLOC(*copy, size, "a name in a scene file", error);
    memcpy(*copy, text, size);
    return ORR_OK;
}

static orr_result copy_path(const char *beside, const char *name, char **path, orr_error *error)
{
    *path = orr_path_beside(beside, name);
    return *path ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", beside);
}

static orr_result read_transform(const orr_json *json, orr_transform *transform, orr_error *error)
{
    orr_transform read = {.rotation = {1.0f}};
    double scale = 1.0;
    ORR_TRY(orr_json_floats(json, "position", 3, read.position, error));
    ORR_TRY(orr_json_floats(json, "rotation", 4, read.rotation, error));
    ORR_TRY(orr_json_positive(json, "scale", &scale, error));
    read.scale = (float)scale;
    const float *q = read.rotation;
    if (q[0] == 0.0f && q[1] == 0.0f && q[2] == 0.0f && q[3] == 0.0f) {
        return orr_json_expected(json, "rotation", error, "a quaternion [w, x, y, z] that is not zero");
    }
    return orr_transform_resolve(&read, transform, error);
}

// "type" says nothing that the file's name does not, but for the reader.
static orr_result check_type(const orr_json *json, const char *file, orr_error *error)
{
    static const char *const types[] = {"splats", "mesh", "field", "robot"};
    const char *type = NULL;
    ORR_TRY(orr_json_string(json, "type", &type, error));
    bool known = !type;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        known |= type && strcmp(type, types[i]) == 0;
    }
    if (!known) {
        return orr_json_expected(json, "type", error, "\"splats\", \"mesh\", \"field\" or \"robot\"");
    }
    if (type && (strcmp(type, "robot") == 0) != orr_robot_readable(file)) {
        return orr_json_expected(json, "type", error,
                                 "\"robot\" where the file is an .xml or .urdf, and only there");
    }
    return ORR_OK;
}

static orr_result read_bind(const orr_json *json, orr_scene_file_layer *layer, orr_error *error)
{
    static const char *const keys[] = {"robot", "body", NULL};
    orr_json bind;
    ORR_TRY(orr_json_member(json, "bind", &bind, error));
    if (!bind.node) {
        return ORR_OK;
    }
    const char *robot = NULL, *body = NULL;
    ORR_TRY(orr_json_check_keys(&bind, keys, error));
    ORR_TRY(orr_json_require(&bind, "robot", "the name of a robot's layer", error));
    ORR_TRY(orr_json_require(&bind, "body", "the name of one of its bodies", error));
    ORR_TRY(orr_json_string(&bind, "robot", &robot, error));
    ORR_TRY(orr_json_string(&bind, "body", &body, error));
    ORR_TRY(copy_text(robot, &layer->robot, error));
    return copy_text(body, &layer->body, error);
}

// "pin": [[x, y, z, radius], ...]
static orr_result read_pins(const orr_json *soft, orr_body_desc *desc, orr_error *error)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(soft->node, "pin");
    bool good = !list || (cJSON_IsArray(list) && cJSON_GetArraySize(list) <= ORR_BODY_PINS_MAX);
    for (const cJSON *pin = list ? list->child : NULL; pin && good; pin = pin->next, desc->pins++) {
        good = cJSON_IsArray(pin) && cJSON_GetArraySize(pin) == 4;
        const cJSON *number = good ? pin->child : NULL;
        for (int k = 0; k < 4 && good; k++, number = number->next) {
            good = cJSON_IsNumber(number) && isfinite((float)number->valuedouble);
            desc->pin[desc->pins][k] = (float)number->valuedouble;
        }
    }
    return good ? ORR_OK
                : orr_json_expected(soft, "pin", error, "at most %d arrays of x, y, z and a radius",
                                    ORR_BODY_PINS_MAX);
}

// 0 is none, which is a negative number in orr_body_desc.
static orr_result read_friction(const orr_json *json, orr_body_desc *desc, orr_error *error)
{
    ORR_TRY(orr_json_not_negative(json, "friction", &desc->friction, error));
    if (orr_json_has(json, "friction") && desc->friction == 0.0) {
        desc->friction = -1.0;
    }
    return ORR_OK;
}

// "soft": {...}; its members are those of orr_body_desc.
static orr_result read_soft(const orr_json *physics, orr_body_desc *desc, orr_error *error)
{
    static const char *const keys[] = {"density",    "young",        "poisson", "damping",    "friction",
                                       "resolution", "cloth",        "pin",     "iterations", "pressure",
                                       "ambient",    "yield_stress", "flow",    NULL};
    orr_json soft;
    ORR_TRY(orr_json_member(physics, "soft", &soft, error));
    desc->soft = true;
    ORR_TRY(orr_json_check_keys(&soft, keys, error));
    ORR_TRY(orr_json_positive(&soft, "density", &desc->density, error));
    ORR_TRY(orr_json_positive(&soft, "young", &desc->young, error));
    ORR_TRY(orr_json_positive(&soft, "poisson", &desc->poisson, error));
    ORR_TRY(orr_json_positive(&soft, "damping", &desc->damping, error));
    ORR_TRY(read_friction(&soft, desc, error));
    ORR_TRY(orr_json_positive(&soft, "cloth", &desc->cloth, error));
    ORR_TRY(orr_json_positive(&soft, "pressure", &desc->pressure, error));
    ORR_TRY(orr_json_positive(&soft, "ambient", &desc->ambient, error));
    ORR_TRY(orr_json_positive(&soft, "yield_stress", &desc->yield_stress, error));
    ORR_TRY(orr_json_positive(&soft, "flow", &desc->flow, error));
    ORR_TRY(read_pins(&soft, desc, error));
    ORR_TRY(orr_json_whole(&soft, "iterations", NULL, 1, ORR_SOFT_ITERATIONS_MAX, &desc->iterations, error));
    return orr_json_whole(&soft, "resolution", NULL, 2, ORR_SOFT_RESOLUTION_MAX, &desc->resolution, error);
}

static orr_result read_physics(const orr_json *json, orr_scene_file_layer *layer, orr_error *error)
{
    static const char *const keys[] = {"static", "mass", "friction", "cell", "shape", "parts", "soft", NULL};
    static const char *const shapes[] = {"auto", "hull", "sdf", "decompose", "boxes"};
    orr_json physics;
    ORR_TRY(orr_json_member(json, "physics", &physics, error));
    if (!physics.node) {
        return ORR_OK;
    }
    bool fixed = false;
    const char *shape = "auto";
    orr_body_desc *desc = &layer->physics;
    ORR_TRY(orr_json_check_keys(&physics, keys, error));
    ORR_TRY(orr_json_bool(&physics, "static", &fixed, error));
    ORR_TRY(orr_json_positive(&physics, "mass", &desc->mass, error));
    ORR_TRY(read_friction(&physics, desc, error));
    ORR_TRY(orr_json_positive(&physics, "cell", &desc->cell, error));
    ORR_TRY(orr_json_string(&physics, "shape", &shape, error));
    if (orr_json_has(&physics, "soft")) {
        layer->has_physics = true;
        return cJSON_GetArraySize(physics.node) > 1
                   ? orr_json_expected(&physics, NULL, error, "\"soft\" alone")
                   : read_soft(&physics, desc, error);
    }
    ORR_TRY(orr_json_whole(&physics, "parts", NULL, 1, ORR_BODY_PARTS_MAX, &desc->parts, error));
    if (fixed == orr_json_has(&physics, "mass")) {
        return orr_json_expected(&physics, NULL, error,
                                 "\"static\": true, a \"mass\", or \"soft\"; one of them");
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (strcmp(shape, shapes[i]) == 0) {
            desc->shape = (orr_body_shape)i;
            layer->has_physics = true;
        }
    }
    return layer->has_physics
               ? ORR_OK
               : orr_json_expected(&physics, "shape", error, "\"hull\", \"sdf\", \"decompose\" or \"boxes\"");
}

// "region": {...}; its members are those of orr_region.
static orr_result read_region(const orr_json *json, orr_scene_file_layer *layer, orr_error *error)
{
    static const char *const keys[] = {"centre", "size", "rotation", "falloff", "keep", "rim", NULL};
    orr_json region;
    ORR_TRY(orr_json_member(json, "region", &region, error));
    if (!region.node) {
        return ORR_OK;
    }
    orr_region *read = &layer->region;
    double falloff = 0.0, rim = 0.0;
    const char *keep = "inside";
    ORR_TRY(orr_json_check_keys(&region, keys, error));
    ORR_TRY(orr_json_require(&region, "centre", "the middle of the box [x, y, z]", error));
    ORR_TRY(orr_json_require(&region, "size", "the lengths of its edges [x, y, z]", error));
    *read = (orr_region){.rotation = {1.0f}};
    ORR_TRY(orr_json_floats(&region, "centre", 3, read->centre, error));
    ORR_TRY(orr_json_floats(&region, "size", 3, read->size, error));
    ORR_TRY(orr_json_floats(&region, "rotation", 4, read->rotation, error));
    ORR_TRY(orr_json_number(&region, "falloff", &falloff, error));
    ORR_TRY(orr_json_number(&region, "rim", &rim, error));
    ORR_TRY(orr_json_string(&region, "keep", &keep, error));
    layer->has_region = true;
    read->falloff = (float)falloff;
    read->rim = (float)rim;
    read->outside = strcmp(keep, "outside") == 0;
    if (!read->outside && strcmp(keep, "inside") != 0) {
        return orr_json_expected(&region, "keep", error, "\"inside\" or \"outside\"");
    }
    return read->outside || rim == 0.0
               ? ORR_OK
               : orr_json_expected(&region, "rim", error, "\"keep\": \"outside\" beside it, for a hole");
}

// The members of orr_glass_desc.
static orr_result read_glass(const orr_json *json, orr_scene_file_material *material, orr_error *error)
{
    static const char *const keys[] = {
        "transmission",       "ior",    "thickness", "roughness", "attenuation_distance",
        "attenuation_colour", "colour", NULL};
    orr_glass_desc *glass = &material->glass;
    double transmission = 1.0, ior = 1.5, thickness = 0.0, roughness = 0.0, distance = 0.0;
    ORR_TRY(orr_json_check_keys(json, keys, error));
    ORR_TRY(orr_json_positive(json, "transmission", &transmission, error));
    ORR_TRY(orr_json_positive(json, "ior", &ior, error));
    ORR_TRY(orr_json_number(json, "thickness", &thickness, error));
    ORR_TRY(orr_json_number(json, "roughness", &roughness, error));
    ORR_TRY(orr_json_positive(json, "attenuation_distance", &distance, error));
    ORR_TRY(orr_json_floats(json, "attenuation_colour", 3, glass->attenuation_colour, error));
    ORR_TRY(orr_json_floats(json, "colour", 3, glass->colour, error));
    glass->transmission = (float)transmission;
    glass->ior = (float)ior;
    glass->thickness = (float)thickness;
    glass->roughness = (float)roughness;
    glass->attenuation_distance = (float)distance;
    material->is_glass = true;
    return ORR_OK;
}

static orr_result read_material(const orr_json *json, const cJSON *node, int index,
                                orr_scene_file_material *material, orr_error *error)
{
    if (cJSON_IsString(node)) {
        return copy_path(json->file, node->valuestring, &material->path, error);
    }
    if (cJSON_IsObject(node)) {
        orr_json glass;
        ORR_TRY(orr_json_element(json, "materials", index, node, &glass, error));
        return read_glass(&glass, material, error);
    }
    return cJSON_IsNull(node)
               ? ORR_OK
               : orr_json_expected(json, "materials", error, "an array of paths, objects of glass and nulls");
}

// {"NAME": {...}}: materials of a robot.
static orr_result read_robot_materials(const orr_json *json, orr_scene_file_layer *layer, orr_error *error)
{
    orr_json all;
    ORR_TRY(orr_json_member(json, "materials", &all, error));
    ORR_ALLOC(layer->materials, cJSON_GetArraySize(all.node) + 1, "materials", error);
    memset(layer->materials, 0, (size_t)(cJSON_GetArraySize(all.node) + 1) * sizeof *layer->materials);
    for (const cJSON *node = all.node->child; node; node = node->next) {
        orr_json glass;
        orr_scene_file_material *material = &layer->materials[layer->material_count++];
        ORR_TRY(orr_json_member(&all, node->string, &glass, error));
        ORR_TRY(copy_text(node->string, &material->name, error));
        ORR_TRY(read_glass(&glass, material, error));
    }
    return ORR_OK;
}

// "materials": [a path, glass or null for each material of a mesh], or an object of glass by names
static orr_result read_materials(const orr_json *json, orr_scene_file_layer *layer, orr_error *error)
{
    const cJSON *node;
    int count;
    if (cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(json->node, "materials"))) {
        return read_robot_materials(json, layer, error);
    }
    ORR_TRY(orr_json_array(json, "materials", &node, &count, error));
    if (count == 0) {
        return ORR_OK;
    }
    layer->materials = orr_alloc_zero((size_t)count, sizeof *layer->materials);
    if (!layer->materials) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory: materials", json->file);
    }
    layer->material_count = count;
    for (int i = 0; i < count; i++, node = node->next) {
        ORR_TRY(read_material(json, node, i, &layer->materials[i], error));
    }
    return ORR_OK;
}

static orr_result read_layer(const orr_json *json, orr_scene_file_layer *layer, orr_error *error)
{
    static const char *const keys[] = {"file",    "name",      "position",     "rotation", "scale",
                                       "visible", "antialias", "type",         "bind",     "physics",
                                       "region",  "materials", "casts_shadow", NULL};
    ORR_TRY(orr_json_check_keys(json, keys, error));
    const char *file = NULL, *name = NULL;
    ORR_TRY(orr_json_require(json, "file", "the path of a splat cloud, a mesh, a field or a robot", error));
    ORR_TRY(orr_json_string(json, "file", &file, error));
    ORR_TRY(check_type(json, file, error));
    ORR_TRY(read_bind(json, layer, error));
    ORR_TRY(read_physics(json, layer, error));
    ORR_TRY(read_region(json, layer, error));
    ORR_TRY(read_materials(json, layer, error));
    ORR_TRY(orr_json_string(json, "name", &name, error));
    ORR_TRY(read_transform(json, &layer->transform, error));
    layer->visible = true;
    ORR_TRY(orr_json_bool(json, "visible", &layer->visible, error));
    ORR_TRY(orr_json_bool(json, "antialias", &layer->antialias, error));
    layer->has_casts_shadow = orr_json_has(json, "casts_shadow");
    ORR_TRY(orr_json_bool(json, "casts_shadow", &layer->casts_shadow, error));
    ORR_TRY(copy_path(json->file, file, &layer->file, error));
    return name ? copy_text(name, &layer->name, error) : ORR_OK;
}

static orr_result read_layers(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(root, "layers", &node, &count, error));
    if (count == 0) {
        return orr_json_expected(root, "layers", error, "an array of at least one layer");
    }
    file->layers = orr_alloc_zero((size_t)count, sizeof *file->layers);
    if (!file->layers) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory: %d layers", root->file, count);
    }
    file->layer_count = count;
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json layer;
        ORR_TRY(orr_json_element(root, "layers", i, node, &layer, error));
        ORR_TRY(read_layer(&layer, &file->layers[i], error));
    }
    return ORR_OK;
}

static orr_result read_orthographic(const orr_json *json, bool *orthographic, orr_error *error)
{
    const char *model = "perspective";
    ORR_TRY(orr_json_string(json, "model", &model, error));
    *orthographic = strcmp(model, "orthographic") == 0;
    if (!*orthographic && strcmp(model, "perspective") != 0) {
        return orr_json_expected(json, "model", error, "\"perspective\" or \"orthographic\"");
    }
    const char *foreign = *orthographic ? "field_of_view" : "view_height";
    if (orr_json_has(json, foreign)) {
        return orr_json_expected(json, foreign, error, "it only in %s cameras",
                                 *orthographic ? "perspective" : "orthographic");
    }
    return ORR_OK;
}

static orr_result read_camera(const orr_json *json, orr_camera *camera, const char **name, orr_error *error)
{
    static const char *const keys[] = {"name",        "model", "eye",    "target", "up",  "field_of_view",
                                       "view_height", "width", "height", "near",   "far", NULL};
    ORR_TRY(orr_json_check_keys(json, keys, error));
    ORR_TRY(orr_json_string(json, "name", name, error));
    bool orthographic;
    ORR_TRY(read_orthographic(json, &orthographic, error));
    float eye[3] = {0.0f}, target[3] = {0.0f}, up[3] = {0.0f, -1.0f, 0.0f};
    double degrees = 50.0, view_height = 1.0, near_plane = 0.0, far_plane = 0.0;
    int width = ORR_SCENE_FILE_WIDTH, height = ORR_SCENE_FILE_HEIGHT;
    ORR_TRY(orr_json_require(json, "eye", "the camera's position [x, y, z]", error));
    ORR_TRY(orr_json_require(json, "target", "the point the camera looks at [x, y, z]", error));
    if (orthographic) {
        ORR_TRY(orr_json_require(json, "view_height", "the height of the picture in scene units", error));
    }
    ORR_TRY(orr_json_floats(json, "eye", 3, eye, error));
    ORR_TRY(orr_json_floats(json, "target", 3, target, error));
    ORR_TRY(orr_json_floats(json, "up", 3, up, error));
    ORR_TRY(orr_json_number(json, "field_of_view", &degrees, error));
    ORR_TRY(orr_json_positive(json, "view_height", &view_height, error));
    ORR_TRY(orr_json_whole(json, "width", "pixels", 1, 16384, &width, error));
    ORR_TRY(orr_json_whole(json, "height", "pixels", 1, 16384, &height, error));
    ORR_TRY(orr_json_positive(json, "near", &near_plane, error));
    ORR_TRY(orr_json_positive(json, "far", &far_plane, error));
    if (!(degrees > 0.0 && degrees < 180.0)) {
        return orr_json_expected(json, "field_of_view", error, "degrees between 0 and 180");
    }
    if (eye[0] == target[0] && eye[1] == target[1] && eye[2] == target[2]) {
        return orr_json_expected(json, "target", error, "another point than eye");
    }
    *camera = orr_camera_look_at(eye, target, up, (float)(degrees * pi / 180.0), width, height);
    camera->near_plane = (float)near_plane;
    camera->far_plane = (float)far_plane;
    if (orthographic) {
        camera->model = ORR_CAMERA_ORTHOGRAPHIC;
        camera->focal[0] = camera->focal[1] = (float)(height / view_height);
    }
    orr_lens lens;
    orr_error why = {0};
    if (orr_camera_resolve(camera, &lens, &why) != ORR_OK) {
        return orr_json_expected(json, NULL, error, "a camera that can draw, not %s", why.message);
    }
    return ORR_OK;
}

static orr_result read_cameras(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(root, "cameras", &node, &count, error));
    ORR_TRY(orr_camera_list_reserve(&file->cameras, count, error));
    for (int i = 0; i < count; i++, node = node->next) {
        orr_json json;
        orr_camera camera;
        const char *own = "";
        ORR_TRY(orr_json_element(root, "cameras", i, node, &json, error));
        ORR_TRY(read_camera(&json, &camera, &own, error));
        ORR_TRY(orr_camera_list_append(&file->cameras, &camera, own, error));
    }
    const char *name = NULL;
    ORR_TRY(orr_json_string(root, "cameras_file", &name, error));
    return name ? copy_path(root->file, name, &file->cameras_file, error) : ORR_OK;
}

static orr_result check_kind(const orr_json *root, orr_error *error)
{
    double version = 0.0;
    ORR_TRY(orr_json_number(root, "orrery", &version, error));
    if (version == 1.0) {
        return ORR_OK;
    }
    if (!orr_json_has(root, "orrery") && orr_json_has(root, "frames")) {
        return orr_json_expected(
            root, NULL, error,
            "a scene; a capture (transforms.json) holds only cameras: give a splat cloud or a "
            "mesh as the scene, and this file as its cameras");
    }
    if (!orr_json_has(root, "orrery") && orr_json_has(root, "orrery_task")) {
        return orr_json_expected(
            root, NULL, error,
            "a scene; a task file says what a learner is to do in one (orrery train policy)");
    }
    return orr_json_expected(root, "orrery", error, "1, the version of the scene file");
}

static orr_result read_root(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    static const char *const keys[] = {
        "orrery", "cameras", "cameras_file",      "background", "environment", "sun",    "lights", "probes",
        "rays",   "shadow",  "ambient_occlusion", "exposure",   "tone",        "layers", NULL};
    ORR_TRY(check_kind(root, error));
    ORR_TRY(orr_json_check_keys(root, keys, error));
    ORR_TRY(orr_scene_file_read_light(root, file, error));
    ORR_TRY(read_cameras(root, file, error));
    return read_layers(root, file, error);
}

orr_result orr_scene_file_parse(const char *text, const char *name, orr_scene_file *file, orr_error *error)
{
    *file = (orr_scene_file){0};
    orr_json root;
    ORR_TRY(orr_json_parse(text, name, ORR_CODE_SCENE_FILE, &root, error));
    orr_result result = read_root(&root, file, error);
    orr_json_free(&root);
    if (result != ORR_OK) {
        orr_scene_file_free(file);
    }
    return result;
}

void orr_scene_file_free(orr_scene_file *file)
{
    for (int i = 0; i < file->layer_count; i++) {
        orr_free(file->layers[i].file);
        orr_free(file->layers[i].name);
        orr_free(file->layers[i].robot);
        orr_free(file->layers[i].body);
        for (int k = 0; k < file->layers[i].material_count; k++) {
            orr_free(file->layers[i].materials[k].name);
            orr_free(file->layers[i].materials[k].path);
        }
        orr_free(file->layers[i].materials);
    }
    orr_free(file->layers);
    orr_camera_list_free(&file->cameras);
    orr_free(file->cameras_file);
    orr_free(file->environment);
    orr_free(file->lights);
    *file = (orr_scene_file){0};
}
