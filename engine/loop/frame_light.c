#include "engine/loop/frame_light.h"

#include "engine/core/camera.h"
#include "engine/loop/world/robot_light.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

orr_result orr_frame_light(const orr_world *world, int index, orr_draw_list *list, orr_error *error)
{
    const orr_scene *scene = world->scene;
    const orr_layer_data *layer = scene->has_sun ? NULL : orr_scene_first_robot(scene);
    list->sun = scene->sun;
    list->light_count = 0;
    if (!layer) {
        return ORR_OK;
    }
    orr_layer_state state = orr_world_state(world, index, layer);
    ORR_TRY(orr_robot_light(world, index, layer, &state.transform, list, error));
    // the headlight, if there is one, is the first
    int first = layer->robot->model->vis.headlight_active && !layer->robot->headlight ? 1 : 0;
    for (int k = 0; k < 3 && first < list->light_count; k++) {
        list->sun.direction[k] = -list->lights[first].direction[k];
    }
    return ORR_OK;
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
