// A scene written as a scene file, with its layers where a world has them.
#include "engine/scene/scene_save.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "engine/scene/scene_file.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = 3.14159265358979323846 / 180.0;

// The shortest decimal number that is read as this float.
static double shortest(float value)
{
    char text[32];
    double read = (double)value;
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        read = strtod(text, NULL);
        if ((float)read == value) {
            break;
        }
    }
    return read;
}

static bool add_float(cJSON *object, const char *key, float value)
{
    return cJSON_AddNumberToObject(object, key, shortest(value));
}

static cJSON *float_array(const float *values, int count)
{
    double numbers[4];
    for (int i = 0; i < count; i++) {
        numbers[i] = shortest(values[i]);
    }
    return cJSON_CreateDoubleArray(numbers, count);
}

static bool add_floats(cJSON *object, const char *key, const float *values, int count)
{
    return cJSON_AddItemToObject(object, key, float_array(values, count));
}

// 0 is the default.
static bool add_unless_zero(cJSON *object, const char *key, double value)
{
    return value == 0.0 || cJSON_AddNumberToObject(object, key, value);
}

static bool add_friction(cJSON *object, double friction)
{
    return friction == 0.0 || cJSON_AddNumberToObject(object, "friction", fmax(friction, 0.0));
}

// ---- layers ----

static bool add_soft(cJSON *physics, const orr_body_desc *b)
{
    cJSON *soft = cJSON_AddObjectToObject(physics, "soft");
    bool good =
        soft && add_unless_zero(soft, "density", b->density) && add_unless_zero(soft, "young", b->young) &&
        add_unless_zero(soft, "poisson", b->poisson) && add_unless_zero(soft, "damping", b->damping) &&
        add_friction(soft, b->friction) && add_unless_zero(soft, "resolution", b->resolution) &&
        add_unless_zero(soft, "cloth", b->cloth) && add_unless_zero(soft, "iterations", b->iterations) &&
        add_unless_zero(soft, "pressure", b->pressure) && add_unless_zero(soft, "ambient", b->ambient) &&
        add_unless_zero(soft, "yield_stress", b->yield_stress) && add_unless_zero(soft, "flow", b->flow);
    cJSON *pins = good && b->pins > 0 ? cJSON_AddArrayToObject(soft, "pin") : NULL;
    for (int i = 0; i < b->pins && good; i++) {
        good = pins && cJSON_AddItemToArray(pins, float_array(b->pin[i], 4));
    }
    return good;
}

static bool add_physics(cJSON *json, const orr_layer_data *layer)
{
    static const char *const shapes[] = {"auto", "hull", "sdf", "decompose", "boxes"};
    const orr_body_desc *b = &layer->body_desc;
    cJSON *physics = cJSON_AddObjectToObject(json, "physics");
    if (!physics || b->soft) {
        return physics && add_soft(physics, b);
    }
    return (b->mass > 0.0 ? cJSON_AddNumberToObject(physics, "mass", b->mass)
                          : cJSON_AddTrueToObject(physics, "static")) &&
           add_friction(physics, b->friction) && add_unless_zero(physics, "cell", b->cell) &&
           add_unless_zero(physics, "parts", b->parts) &&
           (b->shape == ORR_BODY_AUTO || cJSON_AddStringToObject(physics, "shape", shapes[b->shape]));
}

static bool add_region(cJSON *json, const orr_region *r)
{
    const float *q = r->rotation;
    const bool turned = q[0] != 0.0f || q[1] != 0.0f || q[2] != 0.0f || q[3] != 0.0f;
    cJSON *region = cJSON_AddObjectToObject(json, "region");
    return region && add_floats(region, "centre", r->centre, 3) && add_floats(region, "size", r->size, 3) &&
           (!turned || add_floats(region, "rotation", q, 4)) &&
           (r->falloff == 0.0f || add_float(region, "falloff", r->falloff)) &&
           (r->rim == 0.0f || add_float(region, "rim", r->rim)) &&
           cJSON_AddStringToObject(region, "keep", r->outside ? "outside" : "inside");
}

static bool add_bind(cJSON *json, const orr_layer_data *layer, const orr_layer_data *robot)
{
    cJSON *bind = cJSON_AddObjectToObject(json, "bind");
    const char *body = orr_model_name(robot->robot->model, ORR_OBJECT_BODY, layer->bound_body);
    return bind && cJSON_AddStringToObject(bind, "robot", robot->name) &&
           cJSON_AddStringToObject(bind, "body", body);
}

static cJSON *glass_json(const orr_glass_desc *g)
{
    cJSON *json = cJSON_CreateObject();
    const bool black = g->colour[0] == 0.0f && g->colour[1] == 0.0f && g->colour[2] == 0.0f;
    const bool good = json && (g->transmission == 0.0f || add_float(json, "transmission", g->transmission)) &&
                      (g->ior == 0.0f || add_float(json, "ior", g->ior)) &&
                      add_float(json, "thickness", g->thickness) &&
                      add_float(json, "roughness", g->roughness) &&
                      (g->attenuation_distance == 0.0f ||
                       (add_float(json, "attenuation_distance", g->attenuation_distance) &&
                        add_floats(json, "attenuation_colour", g->attenuation_colour, 3))) &&
                      (black || add_floats(json, "colour", g->colour, 3));
    if (!good) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

// A path, as seen from the scene file at `path`, glass, or null.
static cJSON *material_json(const orr_layer_material *material, const char *path)
{
    orr_error error = {0};
    char *file = NULL;
    if (material->is_glass) {
        return glass_json(&material->glass);
    }
    if (!material->path) {
        return cJSON_CreateNull();
    }
    cJSON *json = orr_scene_file_rename("", material->path, path, &file, &error) == ORR_OK
                      ? cJSON_CreateString(file)
                      : NULL;
    orr_free(file);
    return json;
}

// An array, or of a robot what is glass by its name.
static bool add_materials(cJSON *json, const orr_layer_data *layer, const char *path)
{
    const bool robot = layer->kind == ORR_LAYER_ROBOT;
    cJSON *materials =
        robot ? cJSON_AddObjectToObject(json, "materials") : cJSON_AddArrayToObject(json, "materials");
    bool good = materials != NULL;
    for (int i = 0; i < layer->material_count && good; i++) {
        const orr_layer_material *material = &layer->materials[i];
        cJSON *item = robot && !material->is_glass ? NULL : material_json(material, path);
        const char *name = robot ? orr_model_name(layer->robot->model, ORR_OBJECT_MATERIAL, i) : NULL;
        good = robot ? !material->is_glass || (item && cJSON_AddItemToObject(materials, name, item))
                     : item && cJSON_AddItemToArray(materials, item);
    }
    return good;
}

static cJSON *layer_json(const orr_scene *scene, const orr_layer_data *layer, const orr_layer_place *place,
                         const char *file, const char *path)
{
    const orr_transform *at = &place->transform;
    const orr_layer_data *robot = orr_scene_bound_robot(scene, layer);
    const bool named_by_file = strcmp(layer->name, orr_path_name(layer->path)) == 0;
    cJSON *json = cJSON_CreateObject();
    bool good =
        json && cJSON_AddStringToObject(json, "file", file) &&
        (named_by_file || cJSON_AddStringToObject(json, "name", layer->name)) &&
        add_floats(json, "position", at->position, 3) && add_floats(json, "rotation", at->rotation, 4) &&
        add_float(json, "scale", at->scale) && (place->visible || cJSON_AddFalseToObject(json, "visible")) &&
        (!layer->antialias || cJSON_AddTrueToObject(json, "antialias")) &&
        (layer->shadow_casting == ORR_SHADOW_CASTING_MOVING ||
         cJSON_AddBoolToObject(json, "casts_shadow", layer->shadow_casting == ORR_SHADOW_CASTING_ALWAYS)) &&
        (!layer->has_region || add_region(json, &layer->region)) &&
        (layer->material_count == 0 || add_materials(json, layer, path)) &&
        (!robot || add_bind(json, layer, robot)) && (!layer->has_body || add_physics(json, layer));
    if (!good) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

// Layers bind to the first robot of a name.
static orr_result check_bind(const orr_scene *scene, const orr_layer_data *layer, orr_error *error)
{
    const orr_layer_data *robot = orr_scene_bound_robot(scene, layer);
    for (const orr_layer_data *other = scene->layers; robot && other < robot; other++) {
        if (other->kind == ORR_LAYER_ROBOT && !other->absent && strcmp(other->name, robot->name) == 0) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s is bound to the second robot %s: expected robots of different names",
                            layer->name, robot->name);
        }
    }
    return ORR_OK;
}

// Is it one that a scene file can hold, with what it is bound to?
static bool is_kept(const orr_scene *scene, const orr_layer_data *layer)
{
    const orr_layer_data *robot = orr_scene_bound_robot(scene, layer);
    return !layer->absent && layer->path && !layer->trainer && (!robot || is_kept(scene, robot));
}

static orr_result add_layers(const orr_scene *scene, const orr_layer_place *places, const char *path,
                             cJSON *root, orr_error *error)
{
    cJSON *layers = cJSON_AddArrayToObject(root, "layers");
    for (int i = 0; i < scene->layer_count && layers; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        if (layer->absent || layer->flex_of.slot != 0) {
            continue; // soft bodies of robots come with them
        }
        if (!is_kept(scene, layer)) {
            orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_IGNORED,
                         "%s: %s is left out: expected a layer from a file", path, layer->name);
            continue;
        }
        char *file;
        ORR_TRY(check_bind(scene, layer, error));
        ORR_TRY(orr_scene_file_rename("", layer->path, path, &file, error));
        const bool added = cJSON_AddItemToArray(layers, layer_json(scene, layer, &places[i], file, path));
        orr_free(file);
        if (!added) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
        }
    }
    return cJSON_GetArraySize(layers) > 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "%s: no layer is from a file: expected one", path);
}

// ---- cameras and light ----

static cJSON *camera_json(const orr_camera *c, const char *name)
{
    const double height = (double)c->height, focal = (double)c->focal[1];
    float target[3], up[3], eye[3];
    for (int k = 0; k < 3; k++) {
        eye[k] = c->pose[4 * k + 3];
        target[k] = eye[k] + c->pose[4 * k + 2];
        up[k] = -c->pose[4 * k + 1];
    }
    const bool orthographic = c->model == ORR_CAMERA_ORTHOGRAPHIC;
    cJSON *json = cJSON_CreateObject();
    bool good =
        json && (!name[0] || cJSON_AddStringToObject(json, "name", name)) &&
        (!orthographic || cJSON_AddStringToObject(json, "model", "orthographic")) &&
        add_floats(json, "eye", eye, 3) && add_floats(json, "target", target, 3) &&
        add_floats(json, "up", up, 3) &&
        (orthographic
             ? cJSON_AddNumberToObject(json, "view_height", height / focal)
             : cJSON_AddNumberToObject(json, "field_of_view", 2.0 * atan(0.5 * height / focal) / DEGREE)) &&
        cJSON_AddNumberToObject(json, "width", c->width) && cJSON_AddNumberToObject(json, "height", height) &&
        (c->near_plane == 0.0f || add_float(json, "near", c->near_plane)) &&
        (c->far_plane == 0.0f || add_float(json, "far", c->far_plane));
    if (!good) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

static orr_result add_cameras(const orr_scene *scene, const orr_camera *further, const char *path,
                              cJSON *root, orr_error *error)
{
    const int own = scene->cameras.count - scene->cameras_in_file;
    cJSON *cameras = own > 0 || further ? cJSON_AddArrayToObject(root, "cameras") : NULL;
    bool good = true;
    for (int i = 0; i < own && good; i++) {
        good = cameras && cJSON_AddItemToArray(
                              cameras, camera_json(&scene->cameras.cameras[i], scene->cameras.names[i]));
    }
    good = good && (!further || (cameras && cJSON_AddItemToArray(cameras, camera_json(further, ""))));
    if (good && scene->cameras_file) {
        char *file;
        ORR_TRY(orr_scene_file_rename("", scene->cameras_file, path, &file, error));
        good = cJSON_AddStringToObject(root, "cameras_file", file);
        orr_free(file);
    }
    return good ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
}

static bool add_sun(cJSON *root, const orr_draw_sun *s)
{
    cJSON *sun = cJSON_AddObjectToObject(root, "sun");
    return sun && add_floats(sun, "direction", s->direction, 3) && add_floats(sun, "colour", s->colour, 3) &&
           add_floats(sun, "ambient", s->ambient, 3) &&
           (s->radius == 0.0f || add_float(sun, "radius", s->radius / (float)DEGREE));
}

static bool add_area(cJSON *json, const orr_draw_light *l)
{
    const float size[2] = {2.0f * sqrtf(vec3f_dot(l->right, l->right)),
                           2.0f * sqrtf(vec3f_dot(l->up, l->up))};
    return add_floats(json, "size", size, 2) && add_floats(json, "across", l->right, 3);
}

// Its intensity is the default, of which `diffuse` is a multiple.
static cJSON *light_json(const orr_draw_light *l)
{
    const bool spot = l->fades && !l->directional;
    cJSON *json = cJSON_CreateObject();
    bool good = json &&
                cJSON_AddStringToObject(json, "type",
                                        l->directional ? "directional"
                                        : l->area      ? "area"
                                        : spot         ? "spot"
                                                       : "point") &&
                (l->directional || add_floats(json, "position", l->position, 3)) &&
                (!(l->directional || l->area || spot) || add_floats(json, "direction", l->direction, 3)) &&
                (!l->area || add_area(json, l)) && add_floats(json, "colour", l->diffuse, 3) &&
                (l->range == 0.0f || add_float(json, "range", l->range)) &&
                (l->radius == 0.0f || l->area || // its size says it
                 add_float(json, "radius", l->directional ? l->radius / (float)DEGREE : l->radius)) &&
                (!spot || (add_float(json, "inner", l->inner) && add_float(json, "outer", l->cutoff))) &&
                (l->casts_shadows || cJSON_AddFalseToObject(json, "shadows")) &&
                (!l->lights_captured || cJSON_AddTrueToObject(json, "clouds"));
    if (!good) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

static bool add_lights(const orr_scene *scene, cJSON *root)
{
    cJSON *lights = scene->light_count > 0 ? cJSON_AddArrayToObject(root, "lights") : NULL;
    bool good = true;
    for (int i = 0; i < scene->light_count && good; i++) {
        good = lights && cJSON_AddItemToArray(lights, light_json(&scene->lights[i]));
    }
    return good;
}

static bool add_occlusion(const orr_scene *scene, cJSON *root)
{
    if (scene->occlusion_radius == 0.0f) {
        return true;
    }
    cJSON *json = cJSON_AddObjectToObject(root, "ambient_occlusion");
    return json && add_float(json, "radius", scene->occlusion_radius) &&
           (scene->occlusion_strength == 1.0f || add_float(json, "strength", scene->occlusion_strength));
}

static orr_result add_environment(const orr_scene *scene, const char *path, cJSON *root, orr_error *error)
{
    if (!scene->environment) {
        return ORR_OK;
    }
    if (!scene->environment_path) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_IGNORED,
                     "%s: the environment is left out: expected one from a file", path);
        return ORR_OK;
    }
    char *file;
    ORR_TRY(orr_scene_file_rename("", scene->environment_path, path, &file, error));
    cJSON *environment = cJSON_AddObjectToObject(root, "environment");
    const bool good = environment && cJSON_AddStringToObject(environment, "file", file) &&
                      (scene->environment_rotation == 0.0f ||
                       add_float(environment, "rotation", scene->environment_rotation)) &&
                      (scene->environment_strength == 1.0f ||
                       add_float(environment, "strength", scene->environment_strength));
    orr_free(file);
    return good ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
}

static orr_result add_settings(const orr_scene *scene, const char *path, cJSON *root, orr_error *error)
{
    static const char *const tones[] = {[ORR_TONE_NONE] = "none",
                                        [ORR_TONE_NEUTRAL] = "neutral",
                                        [ORR_TONE_AGX] = "agx",
                                        [ORR_TONE_ACES] = "aces"};
    ORR_TRY(add_environment(scene, path, root, error));
    const bool good =
        (!scene->has_background || add_floats(root, "background", scene->background, 3)) &&
        (!scene->has_sun || add_sun(root, &scene->sun)) && add_lights(scene, root) &&
        (scene->probes == ORR_SCENE_PROBES_BY_LAMPS ||
         cJSON_AddBoolToObject(root, "probes", scene->probes == ORR_SCENE_PROBES_ON)) &&
        (!scene->rays || cJSON_AddTrueToObject(root, "rays")) &&
        (scene->umbra == ORR_UMBRA || add_float(root, "shadow", scene->umbra)) &&
        add_occlusion(scene, root) &&
        (scene->exposure == 0.0f || add_float(root, "exposure", scene->exposure)) &&
        (scene->tone == ORR_TONE_NONE || cJSON_AddStringToObject(root, "tone", tones[scene->tone]));
    return good ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
}

static orr_result build(const orr_scene *scene, const orr_layer_place *places, const orr_camera *camera,
                        const char *path, cJSON *root, orr_error *error)
{
    if (!root || !cJSON_AddNumberToObject(root, "orrery", 1)) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    }
    ORR_TRY(add_settings(scene, path, root, error));
    ORR_TRY(add_layers(scene, places, path, root, error));
    return add_cameras(scene, camera, path, root, error);
}

orr_result orr_scene_save(const orr_scene *scene, const orr_layer_place *places, const orr_camera *camera,
                          const char *path, orr_error *error)
{
    cJSON *root = cJSON_CreateObject();
    orr_result result = build(scene, places, camera, path, root, error);
    char *text = result == ORR_OK ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    ORR_TRY(result);
    result = text ? orr_file_write(path, text, strlen(text), error)
                  : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    cJSON_free(text);
    return result;
}
