// Robots among the layers of a scene: what stands on their bodies, and what light and sky they bring.
#include "engine/core/camera.h"
#include "engine/loop/robot_light.h"
#include "engine/loop/scene.h"
#include "engine/loop/transform.h"

#include <math.h>
#include <string.h>

static const orr_layer_data *layer_of(const orr_scene *scene, orr_pool_id id)
{
    int place = orr_scene_find(scene, (orr_layer){id.slot, id.generation});
    return place < 0 ? NULL : &scene->layers[place];
}

orr_result orr_scene_bind(orr_scene *scene, orr_layer id, orr_layer robot_id, const char *body,
                          orr_error *error)
{
    int place = orr_scene_find(scene, id), robot_place = orr_scene_find(scene, robot_id);
    if (place < 0 || robot_place < 0) {
        return orr_scene_stale(place < 0 ? id : robot_id, error);
    }
    const orr_layer_data *robot = &scene->layers[robot_place];
    if (robot->kind != ORR_LAYER_ROBOT || scene->layers[place].kind == ORR_LAYER_ROBOT) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s on %s: expected a cloud, a mesh or a field on a robot",
                        scene->layers[place].name, robot->name);
    }
    int found = orr_model_find(robot->robot->model, ORR_OBJECT_BODY, body);
    if (found < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "expected a body of %s, not \"%s\"", robot->name, body);
    }
    scene->layers[place].bound_to = robot->id;
    scene->layers[place].bound_body = found;
    return ORR_OK;
}

void orr_scene_unbind(orr_scene *scene, orr_pool_id robot)
{
    for (int i = 0; i < scene->layer_count; i++) {
        orr_pool_id *to = &scene->layers[i].bound_to;
        if (to->slot == robot.slot && to->generation == robot.generation) {
            *to = (orr_pool_id){0};
        }
    }
}

orr_transform orr_scene_place(const orr_scene *scene, const orr_layer_data *layer)
{
    const orr_layer_data *robot = layer->bound_to.slot ? layer_of(scene, layer->bound_to) : NULL;
    if (!robot) {
        return layer->transform;
    }
    orr_transform body = orr_transform_multiply(&robot->transform, &robot->robot->rest[layer->bound_body]);
    return orr_transform_multiply(&body, &layer->transform);
}

orr_result orr_world_place(const orr_world *world, int index, const orr_layer_data *layer,
                           const orr_transform *own, orr_transform *place, orr_error *error)
{
    const orr_layer_data *robot = layer->bound_to.slot ? layer_of(world->scene, layer->bound_to) : NULL;
    orr_transform moved = *own;
    if (robot) {
        const orr_transform *bodies = NULL;
        ORR_TRY(orr_world_robot_bodies(world, index, robot, &bodies, error));
        orr_layer_state state = orr_world_state(world, index, robot);
        orr_transform body = orr_transform_multiply(&state.transform, &bodies[layer->bound_body]);
        moved = orr_transform_multiply(&body, own);
    }
    *place = moved;
    return ORR_OK;
}

// NULL: there is none
static const orr_layer_data *first_robot(const orr_scene *scene)
{
    for (int i = 0; i < scene->layer_count; i++) {
        if (scene->layers[i].kind == ORR_LAYER_ROBOT) {
            return &scene->layers[i];
        }
    }
    return NULL;
}

static void turn_by(const float rotation[4], const float direction[3], float out[3])
{
    orr_transform turn = {.scale = 1.0f};
    float m[12];
    memcpy(turn.rotation, rotation, sizeof turn.rotation);
    orr_result valid = orr_affine_from_transform(&turn, m, NULL);
    assert(valid == ORR_OK);
    (void)valid;
    for (int k = 0; k < 3; k++) {
        const float *row = m + 4 * k;
        out[k] = row[0] * direction[0] + row[1] * direction[1] + row[2] * direction[2];
    }
}

void orr_scene_light(orr_scene *scene)
{
    const orr_layer_data *layer = first_robot(scene);
    scene->sun = layer ? (orr_draw_sun){0} : orr_default_sun(orr_scene_up(scene));
    if (layer) {
        turn_by(layer->transform.rotation, layer->robot->to_light, scene->sun.direction);
    }
    int lights = layer ? orr_robot_light_count(layer->robot->model) : 0;
    if (lights > ORR_DRAW_LIGHTS) {
        orr_log_line(scene->engine->log, ORR_LOG_WARNING, ORR_CODE_CAPACITY,
                     "%s: %d lights with the headlight: only the first %d shine", layer->name, lights,
                     ORR_DRAW_LIGHTS);
    }
}

orr_result orr_world_light(const orr_world *world, int index, orr_draw_list *list, orr_error *error)
{
    const orr_scene *scene = world->scene;
    const orr_layer_data *layer = scene->has_sun ? NULL : first_robot(scene);
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

static bool is_world(const orr_layer_data *layer)
{
    return (layer->kind == ORR_LAYER_SPLATS || layer->kind == ORR_LAYER_FIELD) && !layer->bound_to.slot;
}

const orr_layer_data *orr_scene_sky(const orr_scene *scene)
{
    const orr_layer_data *layer = first_robot(scene);
    bool wanted = layer && layer->robot->sky && !scene->has_background;
    for (int i = 0; i < scene->layer_count && wanted; i++) {
        wanted = !is_world(&scene->layers[i]); // a captured world has its own sky
    }
    return wanted ? layer : NULL;
}

orr_result orr_scene_draw_sky(const orr_layer_data *layer, orr_draw_list *list, orr_error *error)
{
    const orr_robot *robot = layer->robot;
    list->opaque = true;
    list->sky = robot->sky_colours;
    turn_by(layer->transform.rotation, robot->sky_colours.up, list->sky.up);
    if (list->lens.orthographic) {
        return ORR_OK;
    }
    // around the camera, and large enough that rounding of its place does not show
    orr_transform place = {.scale = 1e5f};
    memcpy(place.rotation, layer->transform.rotation, sizeof place.rotation);
    memcpy(place.position, list->lens.place, sizeof place.position);
    place.scale = fmaxf(place.scale, 100.0f * list->lens.near_plane);
    list->backdrop = (orr_draw_mesh){.mesh = robot->sky, .key = layer->key + (uint64_t)layer->key_count - 1};
    return orr_affine_from_transform(&place, list->backdrop.model, error);
}
