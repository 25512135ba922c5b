// Robots among the layers of a scene: layers bound to their bodies, and the light and sky that they bring.
#include "engine/core/entry.h"
#include "engine/scene/scene.h"
#include "engine/scene/transform.h"

#include <math.h>

orr_result orr_scene_bind(orr_scene *scene, orr_layer id, orr_layer robot_id, const char *body,
                          orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(body, error);
    int index = orr_scene_find(scene, id), robot_index = orr_scene_find(scene, robot_id);
    if (index < 0 || robot_index < 0) {
        return orr_scene_stale(index < 0 ? id : robot_id, error);
    }
    orr_layer_data *layer = &scene->layers[index];
    const orr_layer_data *robot = &scene->layers[robot_index];
    if (robot->kind != ORR_LAYER_ROBOT || layer->kind == ORR_LAYER_ROBOT) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s on %s: expected a cloud, a mesh or a field on a robot",
                        layer->name, robot->name);
    }
    int found = orr_model_find(robot->robot->model, ORR_OBJECT_BODY, body);
    if (found < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "expected a body of %s, not \"%s\"", robot->name, body);
    }
    layer->bound_to = robot->id;
    layer->bound_body = found;
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

const orr_layer_data *orr_scene_bound_robot(const orr_scene *scene, const orr_layer_data *layer)
{
    int index = orr_scene_find(scene, (orr_layer){layer->bound_to.slot, layer->bound_to.generation});
    return index < 0 ? NULL : &scene->layers[index];
}

orr_transform orr_scene_layer_transform(const orr_scene *scene, const orr_layer_data *layer)
{
    const orr_layer_data *robot = orr_scene_bound_robot(scene, layer);
    if (!robot) {
        return layer->transform;
    }
    orr_transform body = orr_transform_multiply(&robot->transform, &robot->robot->rest[layer->bound_body]);
    return orr_transform_multiply(&body, &layer->transform);
}

const orr_layer_data *orr_scene_first_robot(const orr_scene *scene)
{
    for (int i = 0; i < scene->layer_count; i++) {
        if (scene->layers[i].kind == ORR_LAYER_ROBOT) {
            return &scene->layers[i];
        }
    }
    return NULL;
}

orr_robot *orr_layer_physical(const orr_layer_data *layer)
{
    return layer->kind == ORR_LAYER_ROBOT ? layer->robot : layer->absent ? NULL : layer->body;
}

orr_transform orr_layer_frame(const orr_layer_data *layer, const orr_transform *transform)
{
    orr_transform frame = *transform;
    frame.scale = layer->kind == ORR_LAYER_ROBOT ? frame.scale : 1.0f;
    return frame;
}

bool orr_scene_robots_touch(const orr_layer_data *a, const orr_layer_data *b)
{
    orr_transform one = orr_layer_frame(a, &a->transform), other = orr_layer_frame(b, &b->transform);
    return fabsf(one.scale - other.scale) <= 1e-6f * other.scale;
}

double orr_scene_timestep(const orr_scene *scene, const orr_layer_data *robot)
{
    double step = (double)INFINITY;
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        if (layer->kind == ORR_LAYER_ROBOT && orr_scene_robots_touch(layer, robot)) {
            step = fmin(step, layer->robot->model->opt.timestep);
        }
    }
    return isfinite(step) ? step : orr_layer_physical(robot)->model->opt.timestep;
}

// How many lights the model has, its headlight included.
static int count_lights(const orr_model *m)
{
    int count = m->vis.headlight_active ? 1 : 0;
    for (int i = 0; i < m->nlight; i++) {
        count += m->light_active[i];
    }
    return count;
}

void orr_scene_light(orr_scene *scene)
{
    const orr_layer_data *layer = orr_scene_first_robot(scene);
    scene->sun = layer ? (orr_draw_sun){0} : orr_default_sun(orr_scene_up(scene));
    if (layer) {
        orr_transform_direction(layer->transform.rotation, layer->robot->to_light, scene->sun.direction);
    }
    int lights = layer ? count_lights(layer->robot->model) : 0;
    if (lights > ORR_DRAW_LIGHTS) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, ORR_CODE_CAPACITY,
                     "%s: %d lights with the headlight: only the first %d shine", layer->name, lights,
                     ORR_DRAW_LIGHTS);
    }
}

static bool is_captured_world(const orr_layer_data *layer)
{
    return (layer->kind == ORR_LAYER_SPLATS || layer->kind == ORR_LAYER_FIELD) && !layer->bound_to.slot;
}

const orr_layer_data *orr_scene_sky(const orr_scene *scene)
{
    const orr_layer_data *layer = orr_scene_first_robot(scene);
    bool shown = layer && layer->robot->sky && !scene->has_background;
    for (int i = 0; i < scene->layer_count && shown; i++) {
        shown = !is_captured_world(&scene->layers[i]); // which shows its own sky
    }
    return shown ? layer : NULL;
}

const orr_robot_geom *orr_layer_geom(const orr_layer_data *layer, uint64_t key)
{
    if (layer->kind != ORR_LAYER_ROBOT || key >= layer->key + (uint64_t)layer->robot->geom_count) {
        return NULL;
    }
    const orr_robot_geom *geom = &layer->robot->geoms[key - layer->key];
    return geom->part != ORR_ROBOT_SITE ? geom : NULL;
}
