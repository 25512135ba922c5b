#include "engine/loop/light/frame_light.h"

#include "engine/loop/world/robot_light.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/camera.h"
#include "engine/scene/light/cloud_light.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

// What an environment leaves of a model's lights: no headlight, which would be the first, and nothing
// ambient.
static void leave_around(bool headlight, orr_draw_list *list)
{
    if (headlight) {
        list->light_count--;
        memmove(list->lights, list->lights + 1, (size_t)list->light_count * sizeof *list->lights);
    }
    for (int i = 0; i < list->light_count; i++) {
        memset(list->lights[i].ambient, 0, sizeof list->lights[i].ambient);
    }
}

// Lights that mesh files hold, where their layers are; a hidden layer's are off.
static orr_result add_layer_lights(const orr_world *world, int index, orr_draw_list *list, orr_error *error)
{
    const orr_scene *scene = world->scene;
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        const orr_mesh *mesh = layer->kind == ORR_LAYER_MESH ? layer->mesh : NULL;
        if (!mesh || mesh->light_count == 0) {
            continue;
        }
        orr_layer_state state = orr_world_state(world, index, layer);
        ORR_TRY(orr_world_layer_transform(world, index, layer, &state.transform, &state.transform, error));
        for (int k = 0; k < mesh->light_count && state.visible && list->light_count < ORR_DRAW_LIGHTS; k++) {
            list->lights[list->light_count++] = orr_scene_layer_light(&mesh->lights[k], &state.transform);
        }
    }
    return ORR_OK;
}

orr_result orr_frame_light(const orr_world *world, int index, orr_draw_list *list, orr_error *error)
{
    const orr_scene *scene = world->scene;
    const bool own = scene->has_sun || orr_scene_light_total(scene) > 0;
    const orr_layer_data *layer = own ? NULL : orr_scene_first_robot(scene);
    list->sun = scene->sun;
    orr_scene_captured_white(scene, list->captured_white);
    list->light_count = scene->light_count;
    memcpy(list->lights, scene->lights, sizeof list->lights);
    ORR_TRY(add_layer_lights(world, index, list, error));
    if (!layer) {
        if (!scene->has_sun && (scene->environment || own)) {
            memset(list->sun.colour, 0, sizeof list->sun.colour);
            memset(list->sun.ambient, 0, sizeof list->sun.ambient);
        }
        return ORR_OK;
    }
    orr_layer_state state = orr_world_state(world, index, layer);
    ORR_TRY(orr_robot_light(world, index, layer, &state.transform, list, error));
    if (scene->environment) {
        leave_around(layer->robot->model->vis.headlight_active, list);
        return ORR_OK;
    }
    // the headlight, if there is one, is the first
    int first = layer->robot->model->vis.headlight_active && !layer->robot->headlight ? 1 : 0;
    for (int k = 0; k < 3 && first < list->light_count; k++) {
        list->sun.direction[k] = -list->lights[first].direction[k];
    }
    return ORR_OK;
}

void orr_frame_haze(const orr_world *world, int index, const orr_layer_data *robot, const float *ground,
                    bool fog, orr_draw_list *list)
{
    const orr_model *m = robot->robot->model;
    const orr_layer_state state = orr_world_state(world, index, robot);
    const float extent = (float)m->stat.extent * state.transform.scale;
    orr_draw_haze *haze = &list->haze;
    // MuJoCo's sky is so far away, and hides what is farther
    const float sky = 0.7f * m->vis.zfar * extent;
    if (ground && list->backdrop.mesh) {
        memcpy(haze->plane, ground, sizeof haze->plane);
        memcpy(haze->colour, m->vis.haze_rgba, sizeof haze->colour);
        haze->reach = sky;
        haze->part = m->vis.haze;
    }
    if (fog) {
        memcpy(haze->fog_colour, m->vis.fog_rgba, sizeof haze->fog_colour);
        haze->fog_start = m->vis.fogstart * extent;
        haze->fog_end = m->vis.fogend * extent;
        haze->sky_distance = sky;
    }
}

orr_result orr_frame_sky(const orr_layer_data *layer, orr_draw_list *list, orr_error *error)
{
    const orr_robot *robot = layer->robot;
    list->opaque = true;
    list->sky = robot->sky_colours;
    orr_transform_direction(layer->transform.rotation, robot->sky_colours.up, list->sky.up);
    if (list->lens.orthographic) {
        return ORR_OK;
    }
    // around the camera, and large enough that the rounding of its position does not show
    orr_transform around = {.scale = 1e5f};
    memcpy(around.rotation, layer->transform.rotation, sizeof around.rotation);
    memcpy(around.position, list->lens.position, sizeof around.position);
    around.scale = fmaxf(around.scale, 100.0f * list->lens.near_plane);
    list->backdrop = (orr_draw_mesh){.mesh = robot->sky, .key = layer->key + (uint64_t)layer->key_count - 1};
    return orr_affine_from_transform(&around, list->backdrop.model, error);
}
