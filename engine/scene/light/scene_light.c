// Lights and probes of a scene (engine/orrery.h).
#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/maths/vector.h"
#include "engine/scene/scene.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

static const float pi = 3.14159265f;

static bool are_finite(const float v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

static orr_result refuse(const char *what, orr_error *error)
{
    return orr_fail(error, ORR_CODE_ARGUMENT, "light: %s", what);
}

// Half edges of a rectangle. False: `across` and `direction` are the same.
static bool edges_of(const orr_light_desc *l, float right[3], float up[3])
{
    const float *d = l->direction;
    float along = sqrtf(vec3f_dot(d, d)), n[3], across[3];
    const bool any = l->across[0] == 0.0f && l->across[1] == 0.0f && l->across[2] == 0.0f;
    const bool upright = fabsf(d[0]) <= 0.7f * along;
    for (int k = 0; k < 3; k++) {
        n[k] = d[k] / along;
        across[k] = any ? (k == (upright ? 0 : 1) ? 1.0f : 0.0f) : l->across[k];
    }
    const float length = sqrtf(vec3f_dot(across, across)), lean = vec3f_dot(across, n);
    for (int k = 0; k < 3; k++) {
        right[k] = (across[k] - lean * n[k]) / length;
    }
    const float sine = sqrtf(vec3f_dot(right, right));
    if (!(sine > 1e-3f)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        right[k] *= 0.5f * l->size[0] / sine;
    }
    vec3f_cross(n, right, up);
    for (int k = 0; k < 3; k++) {
        up[k] *= l->size[1] / l->size[0];
    }
    return true;
}

static orr_result check(const orr_light_desc *l, orr_error *error)
{
    if (l->kind < ORR_LIGHT_KIND_DIRECTIONAL || l->kind > ORR_LIGHT_KIND_AREA) {
        return refuse("kind: expected a directional light, a point, a spot or a rectangle", error);
    }
    if (!are_finite(l->position)) {
        return refuse("position: expected finite numbers", error);
    }
    if (l->kind != ORR_LIGHT_KIND_POINT &&
        !(are_finite(l->direction) && vec3f_dot(l->direction, l->direction) > 0.0f)) {
        return refuse("direction: expected a direction that is not zero", error);
    }
    for (int k = 0; k < 3; k++) {
        if (!(l->colour[k] >= 0.0f && isfinite(l->colour[k]))) {
            return refuse("colour: expected red, green and blue of 0 or more", error);
        }
    }
    if (!(l->intensity >= 0.0f && isfinite(l->intensity))) {
        return refuse("intensity: expected 0 or more", error);
    }
    if (!(l->range >= 0.0f && isfinite(l->range))) {
        return refuse("range: expected 0 or more", error);
    }
    if (!(l->radius >= 0.0f && isfinite(l->radius)) ||
        (l->kind == ORR_LIGHT_KIND_DIRECTIONAL && l->radius > 30.0f)) {
        return refuse("radius: expected 0 or more, of a directional light at most 30 degrees", error);
    }
    for (int k = 0; k < 2 && l->kind == ORR_LIGHT_KIND_AREA; k++) {
        if (!(l->size[k] > 0.0f && isfinite(l->size[k]))) {
            return refuse("size: expected two lengths over 0", error);
        }
    }
    float right[3], up[3];
    if (l->kind == ORR_LIGHT_KIND_AREA && (!are_finite(l->across) || !edges_of(l, right, up))) {
        return refuse("across: expected another direction than direction", error);
    }
    float outer = l->outer == 0.0f ? 45.0f : l->outer;
    return l->kind != ORR_LIGHT_KIND_SPOT || (l->inner >= 0.0f && l->inner < outer && outer <= 90.0f)
               ? ORR_OK
               : refuse("inner, outer: expected 0 <= inner < outer <= 90 degrees", error);
}

// As the lights of robots: colours are those of a white surface that faces the light, at a distance of 1.
static orr_draw_light light_of(const orr_light_desc *l)
{
    orr_draw_light out = {.directional = l->kind == ORR_LIGHT_KIND_DIRECTIONAL,
                          .cutoff = 180.0f,
                          .range = l->range,
                          .radius =
                              l->kind == ORR_LIGHT_KIND_DIRECTIONAL ? pi / 180.0f * l->radius : l->radius,
                          .casts_shadows = !l->no_shadows,
                          .lights_captured = l->clouds};
    bool white = l->colour[0] == 0.0f && l->colour[1] == 0.0f && l->colour[2] == 0.0f;
    float scale = l->intensity == 0.0f ? 1.0f : l->intensity / pi;
    float length = sqrtf(vec3f_dot(l->direction, l->direction));
    out.attenuation[out.directional ? 0 : 2] = 1.0f;
    if (l->kind == ORR_LIGHT_KIND_SPOT) {
        out.cutoff = l->outer == 0.0f ? 45.0f : l->outer;
        out.inner = l->inner;
        out.fades = true;
    }
    if (l->kind == ORR_LIGHT_KIND_AREA) {
        // from afar, a point whose light falls with the cosine to its axis and is area / pi of its radiance
        const float area = l->size[0] * l->size[1];
        out.area = edges_of(l, out.right, out.up);
        out.cutoff = 90.0f;
        out.exponent = 1.0f;
        out.attenuation[2] = pi / area;
        out.radius = sqrtf(area / pi);
    }
    for (int k = 0; k < 3; k++) {
        out.position[k] = l->position[k];
        out.direction[k] = length > 0.0f ? l->direction[k] / length : 0.0f;
        out.diffuse[k] = out.specular[k] = scale * (white ? 1.0f : l->colour[k]);
    }
    return out;
}

orr_draw_light orr_scene_layer_light(const orr_light_desc *light, const orr_transform *at)
{
    orr_light_desc own = *light;
    orr_transform node = {.rotation = {1.0f}, .scale = 1.0f};
    memcpy(node.position, light->position, sizeof node.position);
    node = orr_transform_multiply(at, &node);
    memcpy(own.position, node.position, sizeof own.position);
    orr_transform_direction(at->rotation, light->direction, own.direction);
    own.range = at->scale * light->range;
    own.radius *= light->kind == ORR_LIGHT_KIND_DIRECTIONAL ? 1.0f : at->scale;
    own.intensity *= light->kind == ORR_LIGHT_KIND_DIRECTIONAL ? 1.0f : at->scale * at->scale;
    return light_of(&own);
}

int orr_scene_light_total(const orr_scene *scene)
{
    int count = scene->light_count;
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        count += layer->kind == ORR_LAYER_MESH ? layer->mesh->light_count : 0;
    }
    return count;
}

bool orr_scene_has_default_sun(const orr_scene *scene)
{
    return !scene->has_sun && !scene->environment && orr_scene_light_total(scene) == 0 &&
           !orr_scene_first_robot(scene);
}

orr_result orr_scene_put_light(orr_scene *scene, const orr_light_desc *light, orr_error *error)
{
    ORR_TRY(check(light, error));
    if (scene->light_count == ORR_DRAW_LIGHTS) {
        return orr_fail(error, ORR_CODE_CAPACITY, "light: expected at most %d in a scene", ORR_DRAW_LIGHTS);
    }
    scene->lights[scene->light_count++] = light_of(light);
    return ORR_OK;
}

orr_result orr_scene_add_light_sized(orr_scene *scene, const orr_light_desc *light, size_t light_size,
                                     orr_error *error)
{
    ORR_ENTER;
    orr_light_desc own;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(light, error);
    ORR_TRY(orr_sized_read(&own, sizeof own, light, light_size, "orr_light_desc", error));
    ORR_TRY(orr_scene_put_light(scene, &own, error));
    return own.clouds ? orr_scene_light_clouds(scene, error) : ORR_OK;
}

orr_result orr_scene_clear_lights(orr_scene *scene, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    scene->light_count = 0;
    return orr_scene_light_clouds(scene, error);
}

static bool are_colours(const float c[3])
{
    return are_finite(c) && c[0] >= 0.0f && c[1] >= 0.0f && c[2] >= 0.0f;
}

orr_result orr_scene_set_sun_sized(orr_scene *scene, const orr_sun_desc *desc, size_t desc_size,
                                   orr_error *error)
{
    ORR_ENTER;
    orr_sun_desc own;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_sun_desc", error));
    if (!desc) {
        scene->has_sun = false;
        orr_scene_light(scene);
        return orr_scene_light_clouds(scene, error);
    }
    const float length = sqrtf(vec3f_dot(own.direction, own.direction));
    if (!(length > 0.0f && isfinite(length))) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "sun: direction: expected a direction that is not zero");
    }
    if (!are_colours(own.colour) || !are_colours(own.ambient)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "sun: colour, ambient: expected red, green and blue of 0 or more");
    }
    if (!(own.umbra >= 0.0f && own.umbra <= 1.0f)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "sun: umbra %g: expected 0 to 1", (double)own.umbra);
    }
    if (!(own.radius >= 0.0f && own.radius <= 30.0f)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "sun: radius %g: expected 0 to 30 degrees",
                        (double)own.radius);
    }
    for (int k = 0; k < 3; k++) {
        scene->sun.direction[k] = own.direction[k] / length;
        scene->sun.colour[k] = own.colour[k];
        scene->sun.ambient[k] = own.ambient[k];
    }
    scene->sun.radius = pi / 180.0f * own.radius;
    scene->umbra = own.umbra > 0.0f ? own.umbra : scene->umbra;
    scene->has_sun = true;
    return orr_scene_light_clouds(scene, error); // their colours are albedos in its light
}

orr_result orr_scene_set_probes(orr_scene *scene, bool on, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    scene->probes = on ? ORR_SCENE_PROBES_ON : ORR_SCENE_PROBES_OFF;
    return ORR_OK;
}

orr_result orr_scene_set_rays(orr_scene *scene, bool on, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    scene->rays = on;
    return ORR_OK;
}
