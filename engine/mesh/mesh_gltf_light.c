// Lights of glTF files (KHR_lights_punctual). Candela and lux are taken as they are: a surface of 1 cd/m^2,
// the unit of emission in the file, has a radiance of 1.
#include "engine/mesh/mesh_gltf.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

static const double degrees = 57.29577951308232;
static const double quarter_turn = 1.5707965; // pi / 2, with what rounding to float and 8 digits adds

static orr_result read_kind(const orr_json *json, orr_light_desc *light, orr_error *error)
{
    const char *type = "";
    ORR_TRY(orr_json_require(json, "type", "\"directional\", \"point\" or \"spot\"", error));
    ORR_TRY(orr_json_string(json, "type", &type, error));
    if (strcmp(type, "directional") == 0) {
        light->kind = ORR_LIGHT_KIND_DIRECTIONAL;
    } else if (strcmp(type, "point") == 0) {
        light->kind = ORR_LIGHT_KIND_POINT;
    } else if (strcmp(type, "spot") == 0) {
        light->kind = ORR_LIGHT_KIND_SPOT;
    } else {
        return orr_json_expected(json, "type", error, "\"directional\", \"point\" or \"spot\"");
    }
    return ORR_OK;
}

static orr_result read_cone(const orr_json *json, orr_light_desc *light, orr_error *error)
{
    orr_json spot;
    double inner = 0.0, outer = 0.25 * 3.14159265358979;
    ORR_TRY(orr_json_member(json, "spot", &spot, error));
    if (spot.node) {
        ORR_TRY(orr_json_number(&spot, "innerConeAngle", &inner, error));
        ORR_TRY(orr_json_number(&spot, "outerConeAngle", &outer, error));
    }
    // exporters write cones that do not fade with both alike
    if (!(inner >= 0.0 && inner <= outer && outer > 0.0 && outer <= quarter_turn)) {
        return orr_json_expected(json, "spot", error,
                                 "0 <= innerConeAngle <= outerConeAngle <= pi / 2 (radians)");
    }
    light->outer = fminf((float)(degrees * outer), 90.0f);
    light->inner = fminf((float)(degrees * inner), light->outer);
    return ORR_OK;
}

static orr_result read_light(const orr_json *json, orr_light_desc *light, orr_error *error)
{
    double colour[3] = {1.0, 1.0, 1.0}, intensity = 1.0, range = 0.0;
    *light = (orr_light_desc){0};
    ORR_TRY(read_kind(json, light, error));
    ORR_TRY(orr_json_numbers(json, "color", 3, colour, error));
    ORR_TRY(orr_json_number(json, "intensity", &intensity, error));
    for (int k = 0; k < 3; k++) {
        light->colour[k] = (float)colour[k];
        if (!(colour[k] >= 0.0 && isfinite(light->colour[k]))) {
            return orr_json_expected(json, "color", error, "red, green and blue of 0 or more");
        }
    }
    light->intensity = (float)intensity;
    if (!(intensity >= 0.0 && isfinite(light->intensity))) {
        return orr_json_expected(json, "intensity", error, "0 or more");
    }
    if (light->kind != ORR_LIGHT_KIND_DIRECTIONAL) {
        ORR_TRY(orr_json_positive(json, "range", &range, error));
        light->range = (float)range;
    }
    return light->kind == ORR_LIGHT_KIND_SPOT ? read_cone(json, light, error) : ORR_OK;
}

// Where the node is, and along its -z axis.
static orr_result put_light(const orr_gltf *g, const orr_json *node, const float pose[12],
                            orr_light_desc *light)
{
    double length = 0.0;
    for (int k = 0; k < 3; k++) {
        light->position[k] = pose[4 * k + 3];
        length = hypot(length, (double)pose[4 * k + 2]);
    }
    if (light->kind == ORR_LIGHT_KIND_POINT) {
        return ORR_OK;
    }
    if (!(length > 0.0 && isfinite(length))) {
        return orr_json_expected(node, NULL, g->error, "an axis for its light: a scale that is not 0");
    }
    for (int k = 0; k < 3; k++) {
        light->direction[k] = (float)((double)-pose[4 * k + 2] / length);
    }
    return ORR_OK;
}

orr_result orr_gltf_add_node_light(orr_gltf *g, const orr_json *node, const float pose[12])
{
    orr_json extension, all, json;
    const cJSON *first;
    int count, index = -1;
    ORR_TRY(orr_gltf_extension(g, node, "KHR_lights_punctual", &extension));
    if (!extension.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_extension(g, &g->root, "KHR_lights_punctual", &all));
    if (!all.node) {
        return orr_json_expected(&extension, NULL, g->error, "lights in the file's KHR_lights_punctual");
    }
    ORR_TRY(orr_json_array(&all, "lights", &first, &count, g->error));
    ORR_TRY(orr_json_require(&extension, "light", "the index of a light", g->error));
    ORR_TRY(orr_json_whole(&extension, "light", "lights", 0, count - 1, &index, g->error));
    ORR_TRY(orr_gltf_count_work(g, index));
    for (int i = 0; i < index; i++) {
        first = first->next;
    }
    ORR_TRY(orr_json_element(&all, "lights", index, first, &json, g->error));
    orr_mesh_file *mesh = g->reader->mesh;
    orr_light_desc light;
    ORR_TRY(read_light(&json, &light, g->error));
    ORR_TRY(put_light(g, node, pose, &light));
    bool dark = light.intensity * (light.colour[0] + light.colour[1] + light.colour[2]) == 0.0f;
    if (!dark) {
        ORR_GROW(mesh->lights, g->reader->light_room, mesh->light_count + 1, "lights", g->error);
        mesh->lights[mesh->light_count++] = light;
    }
    return ORR_OK;
}
