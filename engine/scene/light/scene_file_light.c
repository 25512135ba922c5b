// What lights a scene, and what is behind it, as a scene file says it.
#include "engine/core/file.h"
#include "engine/core/json.h"
#include "engine/core/memory.h"
#include "engine/scene/scene.h"
#include "engine/scene/scene_file.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// every value in [0, high]
static bool within(const float *values, int count, float high)
{
    for (int i = 0; i < count; i++) {
        if (values[i] < 0.0f || values[i] > high) {
            return false;
        }
    }
    return true;
}

static orr_result read_background(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    ORR_TRY(orr_json_floats(root, "background", 3, file->background, error));
    if (!within(file->background, 3, 1.0f)) {
        return orr_json_expected(root, "background", error, "red, green and blue in 0 to 1");
    }
    file->has_background = orr_json_has(root, "background");
    return ORR_OK;
}

static orr_result read_colour(const orr_json *sun, const char *key, float colour[3], orr_error *error)
{
    ORR_TRY(orr_json_floats(sun, key, 3, colour, error));
    return within(colour, 3, INFINITY)
               ? ORR_OK
               : orr_json_expected(sun, key, error, "red, green and blue of 0 or more");
}

static orr_result read_sun(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    static const char *const keys[] = {"direction", "colour", "ambient", "radius", NULL};
    orr_json sun;
    ORR_TRY(orr_json_member(root, "sun", &sun, error));
    if (!sun.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_check_keys(&sun, keys, error));
    double direction[3], length = 0.0;
    ORR_TRY(orr_json_require(&sun, "direction", "the direction towards the sun [x, y, z]", error));
    ORR_TRY(orr_json_numbers(&sun, "direction", 3, direction, error));
    for (int i = 0; i < 3; i++) {
        length += direction[i] * direction[i];
    }
    if (length == 0.0) {
        return orr_json_expected(&sun, "direction", error, "a direction that is not zero");
    }
    file->sun = orr_default_sun(ORR_UP_MINUS_Y);
    for (int i = 0; i < 3; i++) {
        file->sun.direction[i] = (float)(direction[i] / sqrt(length));
    }
    ORR_TRY(read_colour(&sun, "colour", file->sun.colour, error));
    ORR_TRY(read_colour(&sun, "ambient", file->sun.ambient, error));
    double radius = 0.0;
    ORR_TRY(orr_json_number(&sun, "radius", &radius, error));
    if (!(radius >= 0.0 && radius <= 30.0)) {
        return orr_json_expected(&sun, "radius", error, "an angle in 0 to 30 degrees");
    }
    file->sun.radius = (float)(pi / 180.0 * radius);
    file->has_sun = true;
    return ORR_OK;
}

static orr_result read_environment(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    static const char *const keys[] = {"file", "rotation", "strength", NULL};
    orr_json environment;
    ORR_TRY(orr_json_member(root, "environment", &environment, error));
    if (!environment.node) {
        return ORR_OK;
    }
    const char *name = NULL;
    double rotation = 0.0, strength = 1.0;
    ORR_TRY(orr_json_check_keys(&environment, keys, error));
    ORR_TRY(orr_json_require(&environment, "file", "the path of a .hdr or .exr picture", error));
    ORR_TRY(orr_json_string(&environment, "file", &name, error));
    ORR_TRY(orr_json_number(&environment, "rotation", &rotation, error));
    ORR_TRY(orr_json_positive(&environment, "strength", &strength, error));
    file->environment_rotation = (float)rotation;
    file->environment_strength = (float)strength;
    file->environment = orr_path_beside(root->file, name);
    return file->environment ? ORR_OK
                             : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", root->file);
}

static orr_result read_scene_light(const orr_json *json, orr_light_desc *light, orr_error *error)
{
    static const char *const keys[] = {"type",  "position", "direction", "colour", "intensity",
                                       "range", "inner",    "outer",     "radius", "shadows",
                                       "size",  "across",   "clouds",    NULL};
    static const char *const types[] = {[ORR_LIGHT_KIND_DIRECTIONAL] = "directional",
                                        [ORR_LIGHT_KIND_POINT] = "point",
                                        [ORR_LIGHT_KIND_SPOT] = "spot",
                                        [ORR_LIGHT_KIND_AREA] = "area"};
    static const char one_of[] = "\"directional\", \"point\", \"spot\" or \"area\"";
    orr_light_desc read = {.colour = {1.0f, 1.0f, 1.0f}};
    double intensity = pi, range = 0.0, inner = 0.0, outer = 45.0, radius = 0.0;
    const char *type = "";
    bool shadows = true;
    int kind = 0;
    ORR_TRY(orr_json_check_keys(json, keys, error));
    ORR_TRY(orr_json_require(json, "type", one_of, error));
    ORR_TRY(orr_json_string(json, "type", &type, error));
    while (kind <= ORR_LIGHT_KIND_AREA && strcmp(type, types[kind]) != 0) {
        kind++;
    }
    if (kind > ORR_LIGHT_KIND_AREA) {
        return orr_json_expected(json, "type", error, "%s", one_of);
    }
    if (kind != ORR_LIGHT_KIND_DIRECTIONAL) {
        ORR_TRY(orr_json_require(json, "position", "where the light is [x, y, z]", error));
    }
    if (kind != ORR_LIGHT_KIND_POINT) {
        ORR_TRY(orr_json_require(json, "direction", "the direction into which it shines [x, y, z]", error));
    }
    if (kind == ORR_LIGHT_KIND_AREA) {
        ORR_TRY(orr_json_require(json, "size", "width and height of the rectangle", error));
        ORR_TRY(orr_json_floats(json, "size", 2, read.size, error));
        ORR_TRY(orr_json_floats(json, "across", 3, read.across, error));
    }
    ORR_TRY(orr_json_floats(json, "position", 3, read.position, error));
    ORR_TRY(orr_json_floats(json, "direction", 3, read.direction, error));
    ORR_TRY(orr_json_floats(json, "colour", 3, read.colour, error));
    ORR_TRY(orr_json_positive(json, "intensity", &intensity, error));
    ORR_TRY(orr_json_positive(json, "range", &range, error));
    ORR_TRY(orr_json_number(json, "inner", &inner, error));
    ORR_TRY(orr_json_positive(json, "outer", &outer, error));
    ORR_TRY(orr_json_number(json, "radius", &radius, error));
    ORR_TRY(orr_json_bool(json, "shadows", &shadows, error));
    ORR_TRY(orr_json_bool(json, "clouds", &read.clouds, error));
    if (!within(read.colour, 3, INFINITY) || !(read.colour[0] + read.colour[1] + read.colour[2] > 0.0f)) {
        return orr_json_expected(json, "colour", error, "red, green and blue of 0 or more, one of them more");
    }
    read.kind = (orr_light_kind)kind;
    read.intensity = (float)intensity;
    read.range = (float)range;
    read.inner = (float)inner;
    read.outer = (float)outer;
    read.radius = (float)radius;
    read.no_shadows = !shadows;
    *light = read;
    return ORR_OK;
}

static orr_result read_scene_lights(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    const cJSON *node;
    int count;
    ORR_TRY(orr_json_array(root, "lights", &node, &count, error));
    if (count > ORR_DRAW_LIGHTS) {
        return orr_json_expected(root, "lights", error, "at most %d lights", ORR_DRAW_LIGHTS);
    }
    ORR_ALLOC(file->lights, count, "lights", error);
    for (; file->light_count < count; file->light_count++, node = node->next) {
        orr_json light;
        ORR_TRY(orr_json_element(root, "lights", file->light_count, node, &light, error));
        ORR_TRY(read_scene_light(&light, &file->lights[file->light_count], error));
    }
    file->has_probes = cJSON_HasObjectItem(root->node, "probes");
    ORR_TRY(orr_json_bool(root, "probes", &file->probes, error));
    return orr_json_bool(root, "rays", &file->rays, error);
}

static orr_result read_shadow(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    double umbra = (double)ORR_UMBRA;
    ORR_TRY(orr_json_number(root, "shadow", &umbra, error));
    if (!(umbra >= 0.0 && umbra <= 1.0)) {
        return orr_json_expected(root, "shadow", error, "a brightness in 0 to 1");
    }
    file->umbra = (float)umbra;
    return ORR_OK;
}

static orr_result read_occlusion(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    static const char *const keys[] = {"radius", "strength", NULL};
    orr_json json;
    double radius = 0.0, strength = 1.0;
    ORR_TRY(orr_json_member(root, "ambient_occlusion", &json, error));
    if (!json.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_check_keys(&json, keys, error));
    ORR_TRY(orr_json_require(&json, "radius", "how far surfaces keep light off others", error));
    ORR_TRY(orr_json_number(&json, "radius", &radius, error));
    if (!(radius > 0.0 && radius <= 1e6)) {
        return orr_json_expected(&json, "radius", error, "a distance over 0, at most 1e6");
    }
    ORR_TRY(orr_json_number(&json, "strength", &strength, error));
    if (!(strength >= 0.0 && strength <= 1.0)) {
        return orr_json_expected(&json, "strength", error, "0 to 1");
    }
    file->occlusion_radius = (float)radius;
    file->occlusion_strength = (float)strength;
    return ORR_OK;
}

static orr_result read_tone(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    static const char *const names[] = {[ORR_TONE_NONE] = "none",
                                        [ORR_TONE_NEUTRAL] = "neutral",
                                        [ORR_TONE_AGX] = "agx",
                                        [ORR_TONE_ACES] = "aces"};
    double exposure = 0.0;
    const char *name = names[ORR_TONE_NONE];
    ORR_TRY(orr_json_number(root, "exposure", &exposure, error));
    if (!(fabs(exposure) <= 20.0)) {
        return orr_json_expected(root, "exposure", error, "-20 to 20 EV");
    }
    file->exposure = (float)exposure;
    ORR_TRY(orr_json_string(root, "tone", &name, error));
    for (int i = 0; i <= ORR_TONE_ACES; i++) {
        if (strcmp(name, names[i]) == 0) {
            file->tone = (orr_tone)i;
            return ORR_OK;
        }
    }
    return orr_json_expected(root, "tone", error, "\"none\", \"neutral\", \"agx\" or \"aces\"");
}

orr_result orr_scene_file_read_light(const orr_json *root, orr_scene_file *file, orr_error *error)
{
    ORR_TRY(read_background(root, file, error));
    ORR_TRY(read_environment(root, file, error));
    ORR_TRY(read_sun(root, file, error));
    ORR_TRY(read_scene_lights(root, file, error));
    ORR_TRY(read_shadow(root, file, error));
    ORR_TRY(read_occlusion(root, file, error));
    return read_tone(root, file, error);
}
