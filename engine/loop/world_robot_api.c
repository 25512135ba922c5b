// The public functions for robots (engine/orrery.h): step them, read and set their states.
#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/loop/devices.h"
#include "engine/loop/world_robots.h"
#include "engine/scene/transform.h"

#include <math.h>

static orr_result find_layer(const orr_scene *scene, orr_layer id, const orr_layer_data **layer,
                             orr_error *error)
{
    int index = orr_scene_find(scene, id);
    if (index < 0) {
        return orr_scene_stale(id, error);
    }
    *layer = &scene->layers[index];
    if ((*layer)->kind != ORR_LAYER_ROBOT) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "layer %s: expected a robot", (*layer)->name);
    }
    return ORR_OK;
}

orr_result orr_scene_robot_info_sized(const orr_scene *scene, orr_layer id, orr_robot_info *info,
                                      size_t info_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(info, error);
    const orr_layer_data *layer = NULL;
    ORR_TRY(find_layer(scene, id, &layer, error));
    const orr_model *m = layer->robot->model;
    const orr_robot_info own = {.qpos_count = m->nq,
                                .qvel_count = m->nv,
                                .act_count = m->na,
                                .ctrl_count = m->nu,
                                .body_count = m->nbody,
                                .keyframe_count = m->nkey,
                                .timestep = m->opt.timestep};
    orr_sized_write(&own, sizeof own, info, info_size);
    return ORR_OK;
}

const char *orr_scene_robot_body(const orr_scene *scene, orr_layer id, int body)
{
    const orr_layer_data *layer = NULL;
    if (!scene || find_layer(scene, id, &layer, NULL) != ORR_OK || body < 0 ||
        body >= layer->robot->model->nbody) {
        return NULL;
    }
    return orr_model_name(layer->robot->model, ORR_OBJECT_BODY, body);
}

static void step_robot(orr_world_robot *r, int steps)
{
    if (steps == 0) {
        return;
    }
    if (r->pull.body == 0) {
        orr_physics_step(r->physics, steps);
    }
    for (int i = 0; i < steps && r->pull.body != 0; i++) {
        orr_robot_apply_pull(r->robot->model, r->physics, 0, &r->pull);
        orr_physics_step(r->physics, 1);
    }
    r->posed = -1;
}

// Every robot of the scene, made to move if it did not yet.
static orr_result for_each(orr_world *world, orr_error *error,
                           void (*visit)(orr_world_robot *r, double amount), double amount)
{
    orr_world_robots_forget(world);
    for (int i = 0; i < world->scene->layer_count; i++) {
        orr_world_robot *r = NULL;
        if (world->scene->layers[i].kind == ORR_LAYER_ROBOT) {
            ORR_TRY(orr_world_robots_find(world, &world->scene->layers[i], &r, error));
            visit(r, amount);
            ORR_TRY(orr_world_robots_check(world, r, error));
        }
    }
    return ORR_OK;
}

static void visit_step(orr_world_robot *r, double steps)
{
    step_robot(r, (int)steps);
}

static void visit_advance(orr_world_robot *r, double seconds)
{
    double step = r->robot->model->opt.timestep;
    r->pending += seconds;
    // a step that lacks no more than rounding is due
    double due = floor(r->pending / step + 1e-9);
    r->pending -= due * step;
    step_robot(r, (int)fmin(due, 1e9));
}

orr_result orr_world_set_device(orr_world *world, orr_device_kind device, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    orr_cuda *cuda;
    if (device != ORR_DEVICE_AUTO && device != ORR_DEVICE_CPU && device != ORR_DEVICE_CUDA) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "robots on %s: expected auto, cpu or cuda",
                        orr_device_name(device));
    }
    if (device == ORR_DEVICE_CUDA) {
        ORR_TRY(orr_engine_take_cuda(world->robots->engine, &cuda, error));
    }
    world->robots->device = device;
    return orr_world_robots_move(world, error);
}

orr_device_kind orr_world_device(const orr_world *world)
{
    bool cuda = false;
    for (int i = 0; world && i < world->robots->count; i++) {
        cuda |= orr_physics_cuda(world->robots->robots[i].physics) != NULL;
    }
    return cuda ? ORR_DEVICE_CUDA : ORR_DEVICE_CPU;
}

orr_result orr_world_step(orr_world *world, int steps, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    if (steps < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d steps: expected 0 or more", steps);
    }
    return for_each(world, error, visit_step, steps);
}

orr_result orr_world_advance(orr_world *world, double seconds, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    if (!(seconds >= 0.0 && seconds <= 1e6)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%g seconds: expected 0 to 1e6", seconds);
    }
    return for_each(world, error, visit_advance, seconds);
}

static orr_result open_state(const orr_world *world, int index, orr_layer id, orr_world_robot **r,
                             orr_error *error)
{
    const orr_layer_data *layer = NULL;
    ORR_TRY(orr_world_check_index(world, index, error));
    ORR_TRY(find_layer(world->scene, id, &layer, error));
    return orr_world_robots_find(world, layer, r, error);
}

orr_result orr_world_reset_robot(orr_world *world, int index, orr_layer id, int keyframe, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    orr_world_robot *r = NULL;
    ORR_TRY(open_state(world, index, id, &r, error));
    const orr_model *m = r->robot->model;
    if (keyframe < -1 || keyframe >= m->nkey) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "keyframe %d: expected one of %d, from 0, or -1", keyframe,
                        m->nkey);
    }
    orr_physics_reset(r->physics, index);
    r->posed = -1;
    if (keyframe >= 0) {
        const size_t k = (size_t)keyframe;
        const struct {
            orr_physics_quantity quantity;
            const double *values;
        } parts[] = {{ORR_PHYSICS_TIME, m->key_time + k},
                     {ORR_PHYSICS_QPOS, m->key_qpos + k * (size_t)m->nq},
                     {ORR_PHYSICS_QVEL, m->key_qvel + k * (size_t)m->nv},
                     {ORR_PHYSICS_ACT, m->key_act + k * (size_t)m->na},
                     {ORR_PHYSICS_CTRL, m->key_ctrl + k * (size_t)m->nu},
                     {ORR_PHYSICS_MOCAP_POS, m->key_mpos + k * 3 * (size_t)m->nmocap},
                     {ORR_PHYSICS_MOCAP_QUAT, m->key_mquat + k * 4 * (size_t)m->nmocap},
                     {ORR_PHYSICS_PLASTIC, m->key_plastic + k * (size_t)m->nplastic}};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            orr_physics_set(r->physics, parts[i].quantity, index, parts[i].values);
        }
    }
    return orr_world_robots_check(world, r, error);
}

static const orr_physics_quantity physics_quantities[] = {
    [ORR_ROBOT_TIME] = ORR_PHYSICS_TIME, [ORR_ROBOT_QPOS] = ORR_PHYSICS_QPOS,
    [ORR_ROBOT_QVEL] = ORR_PHYSICS_QVEL, [ORR_ROBOT_ACT] = ORR_PHYSICS_ACT,
    [ORR_ROBOT_CTRL] = ORR_PHYSICS_CTRL, [ORR_ROBOT_FORCE] = ORR_PHYSICS_XFRC_APPLIED,
};

static orr_result check_quantity(orr_robot_quantity quantity, orr_error *error)
{
    if ((unsigned)quantity >= sizeof physics_quantities / sizeof physics_quantities[0]) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "robot quantity %d: expected one of orr_robot_quantity",
                        (int)quantity);
    }
    return ORR_OK;
}

orr_result orr_world_get_robot(const orr_world *world, int index, orr_layer id, orr_robot_quantity quantity,
                               double *values, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(values, error);
    orr_world_robot *r = NULL;
    ORR_TRY(check_quantity(quantity, error));
    ORR_TRY(open_state(world, index, id, &r, error));
    orr_physics_get(r->physics, physics_quantities[quantity], index, values);
    return orr_world_robots_check(world, r, error);
}

orr_result orr_world_set_robot(orr_world *world, int index, orr_layer id, orr_robot_quantity quantity,
                               const double *values, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(values, error);
    orr_world_robot *r = NULL;
    ORR_TRY(check_quantity(quantity, error));
    ORR_TRY(open_state(world, index, id, &r, error));
    orr_physics_set(r->physics, physics_quantities[quantity], index, values);
    r->posed = -1;
    return orr_world_robots_check(world, r, error);
}

orr_result orr_world_robot_diverged(const orr_world *world, int index, orr_layer id, bool *diverged,
                                    orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(diverged, error);
    orr_world_robot *r = NULL;
    ORR_TRY(open_state(world, index, id, &r, error));
    *diverged = orr_physics_diverged(r->physics, index);
    return orr_world_robots_check(world, r, error);
}

orr_result orr_world_body_transform(const orr_world *world, int index, orr_layer id, int body,
                                    orr_transform *transform, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(transform, error);
    const orr_layer_data *layer = NULL;
    const orr_transform *bodies = NULL;
    ORR_TRY(orr_world_check_index(world, index, error));
    ORR_TRY(find_layer(world->scene, id, &layer, error));
    int count = layer->robot->model->nbody;
    if (body < 0 || body >= count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "body %d: expected 0 to %d", body, count - 1);
    }
    ORR_TRY(orr_world_robot_bodies(world, index, layer, &bodies, error));
    orr_layer_state state = orr_world_state(world, index, layer);
    *transform = orr_transform_multiply(&state.transform, &bodies[body]);
    return ORR_OK;
}
