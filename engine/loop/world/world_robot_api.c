// The public functions for robots (engine/orrery.h): step them, read and set their states.
#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/loop/devices.h"
#include "engine/loop/world/soft/node_points.h"
#include "engine/loop/world/soft/world_soft.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

// Steps a physics in the chosen copies (a byte of each), NULL: in all. What pulls at its robots pulls anew at
// every step.
static orr_result step_physics(orr_world *world, orr_world_physics *p, int steps, const uint8_t *chosen,
                               orr_error *error)
{
    orr_world_robots *robots = world->robots;
    bool pulled = false, pushed = world->softs->count > 0 && p == orr_world_softs_physics(world);
    if (steps == 0) {
        return ORR_OK;
    }
    for (int i = 0; i < robots->count; i++) {
        pulled |= robots->robots[i]->physics == p && robots->robots[i]->pull.body != 0;
    }
    orr_physics_set_autoreset(p->physics, robots->autoreset);
    if (!pulled && !pushed) {
        orr_physics_step_masked(p->physics, steps, chosen);
    }
    for (int step = 0; step < steps && (pulled || pushed); step++) {
        for (int i = 0; i < robots->count; i++) {
            orr_world_robot *r = robots->robots[i];
            if (r->physics == p && r->pull.body != 0) {
                orr_world_robot_apply_pull(world, r);
            }
        }
        if (pushed) {
            ORR_TRY(orr_world_softs_step(world, p, chosen, error));
        } else {
            orr_physics_step_masked(p->physics, 1, chosen);
        }
    }
    orr_world_robots_moved(world, p);
    return ORR_OK;
}

// Steps that are due after some seconds, beside those `pending` from before.
static int steps_due(double *pending, double step, double seconds)
{
    *pending += seconds;
    // a step that lacks no more than rounding is due
    double due = floor(*pending / step + 1e-9);
    *pending -= due * step;
    return (int)fmin(due, 1e9);
}

// Steps all robots, by a number of steps or, where it is negative, by seconds. The first robot that cannot be
// simulated is reported when the others have moved.
static orr_result step_all(orr_world *world, int steps, double seconds, const uint8_t *chosen,
                           orr_error *error)
{
    ORR_TRY(orr_world_robots_update(world, error));
    ORR_TRY(orr_world_softs_update(world, error));
    const orr_world_physics *absent = NULL;
    for (int i = 0; i < world->robots->physics_count; i++) {
        orr_world_physics *p = world->robots->physics[i];
        if (!p->physics) {
            absent = absent ? absent : p;
            continue;
        }
        int due = steps < 0 ? steps_due(&p->pending, p->model->opt.timestep, seconds) : steps;
        ORR_TRY(step_physics(world, p, due, chosen, error));
        ORR_TRY(orr_world_robots_check(world, p, error));
    }
    if (world->softs->count > 0 && !orr_world_softs_physics(world)) {
        int due = steps < 0 ? steps_due(&world->softs->pending, orr_softs_time_step, seconds) : steps;
        for (int step = 0; step < due; step++) {
            ORR_TRY(orr_world_softs_step(world, NULL, chosen, error));
        }
    }
    return absent ? orr_fail(error, (orr_code)absent->why.code, "%s", absent->why.message) : ORR_OK;
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
    world->robots->desc.device = device;
    return orr_world_robots_move(world, error);
}

orr_device_kind orr_world_device(const orr_world *world)
{
    bool cuda = false;
    for (int i = 0; world && i < world->robots->physics_count; i++) {
        const orr_world_physics *p = world->robots->physics[i];
        cuda |= p->physics && orr_physics_cuda(p->physics) != NULL;
    }
    return cuda ? ORR_DEVICE_CUDA : ORR_DEVICE_CPU;
}

orr_result orr_world_step_masked(orr_world *world, int steps, const uint8_t *chosen, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    if (steps < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d steps: expected 0 or more", steps);
    }
    return step_all(world, steps, 0.0, chosen, error);
}

orr_result orr_world_step(orr_world *world, int steps, orr_error *error)
{
    return orr_world_step_masked(world, steps, NULL, error);
}

orr_result orr_world_advance(orr_world *world, double seconds, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    if (!(seconds >= 0.0 && seconds <= 1e6)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%g seconds: expected 0 to 1e6", seconds);
    }
    return step_all(world, -1, seconds, NULL, error);
}

// To the pose the model is given in, at rest.
static void reset_state(orr_world *world, int index, orr_world_robot *r)
{
    static const orr_physics_quantity zeros[] = {
        ORR_PHYSICS_QVEL,         ORR_PHYSICS_ACT,  ORR_PHYSICS_CTRL,           ORR_PHYSICS_QFRC_APPLIED,
        ORR_PHYSICS_XFRC_APPLIED, ORR_PHYSICS_QACC, ORR_PHYSICS_QACC_WARMSTART, ORR_PHYSICS_DELAYED};
    const orr_model *m = r->robot->model;
    const double *qpos = r->varied[ORR_PARAMETER_START_QPOS], *qvel = r->varied[ORR_PARAMETER_START_QVEL];
    orr_world_robot_write(world, index, r, ORR_PHYSICS_QPOS,
                          qpos ? qpos + (ptrdiff_t)index * m->nq : m->qpos0);
    orr_world_robot_write(world, index, r, ORR_PHYSICS_PLASTIC, m->plastic0);
    for (int i = 0; i < m->neq; i++) {
        r->numbers[i] = m->eq_active0[i] ? 1.0 : 0.0;
    }
    orr_world_robot_write(world, index, r, ORR_PHYSICS_EQ_ACTIVE, r->numbers);
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
        orr_world_robot_clear(world, index, r, zeros[i]);
    }
    if (qvel) {
        orr_world_robot_write(world, index, r, ORR_PHYSICS_QVEL, qvel + (ptrdiff_t)index * m->nv);
    }
    for (int quat = 0; quat < 2; quat++) {
        int width = quat ? 4 : 3;
        const double *from = quat ? m->body_quat : m->body_pos;
        for (int body = 0; body < m->nbody; body++) {
            if (m->body_mocapid[body] >= 0) {
                memcpy(r->numbers + width * m->body_mocapid[body], from + width * body,
                       (size_t)width * sizeof *from);
            }
        }
        orr_world_robot_write(world, index, r, quat ? ORR_PHYSICS_MOCAP_QUAT : ORR_PHYSICS_MOCAP_POS,
                              r->numbers);
    }
}

static void reset(orr_world *world, int index, orr_world_robot *r, int keyframe)
{
    const orr_model *m = r->robot->model;
    orr_physics *physics = r->physics->physics;
    const size_t k = (size_t)keyframe;
    const double start = keyframe >= 0 ? m->key_time[k] : 0.0;
    if (!r->physics->joint || orr_physics_diverged(physics, index)) {
        orr_physics_reset(physics, index); // all robots of the copy, none of which moves any more
    } else {
        reset_state(world, index, r);
    }
    orr_physics_set(physics, ORR_PHYSICS_TIME, index, &start);
    orr_world_robots_moved(world, r->physics);
    if (keyframe < 0) {
        return;
    }
    const struct {
        orr_physics_quantity quantity;
        const double *values;
    } parts[] = {{ORR_PHYSICS_QPOS, m->key_qpos + k * (size_t)m->nq},
                 {ORR_PHYSICS_QVEL, m->key_qvel + k * (size_t)m->nv},
                 {ORR_PHYSICS_ACT, m->key_act + k * (size_t)m->na},
                 {ORR_PHYSICS_CTRL, m->key_ctrl + k * (size_t)m->nu},
                 {ORR_PHYSICS_MOCAP_POS, m->key_mpos + k * 3 * (size_t)m->nmocap},
                 {ORR_PHYSICS_MOCAP_QUAT, m->key_mquat + k * 4 * (size_t)m->nmocap},
                 {ORR_PHYSICS_PLASTIC, m->key_plastic + k * (size_t)m->nplastic}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        orr_world_robot_write(world, index, r, parts[i].quantity, parts[i].values);
    }
}

orr_result orr_world_reset_robot(orr_world *world, int index, orr_layer id, int keyframe, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    orr_world_robot *r = NULL;
    ORR_TRY(orr_world_robot_open(world, index, id, &r, error));
    const orr_model *m = r->robot->model;
    if (keyframe < -1 || keyframe >= m->nkey) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "keyframe %d: expected one of %d, from 0, or -1", keyframe,
                        m->nkey);
    }
    reset(world, index, r, keyframe);
    return orr_world_robots_check(world, r->physics, error);
}

orr_result orr_world_reset_masked(orr_world *world, const uint8_t *chosen, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_TRY(orr_world_robots_update(world, error));
    orr_world_robots *robots = world->robots;
    for (int index = 0; index < world->count; index++) {
        for (int i = 0; i < robots->count && (!chosen || chosen[index]); i++) {
            if (robots->robots[i]->physics->joint && robots->robots[i]->physics->physics) {
                reset(world, index, robots->robots[i], -1);
            }
        }
    }
    for (int i = 0; i < robots->physics_count; i++) { // robots that are alone, in parallel
        orr_world_physics *p = robots->physics[i];
        if (p->physics && !p->joint) {
            orr_physics_reset_masked(p->physics, chosen);
            orr_world_robots_moved(world, p);
        }
        if (p->physics) {
            ORR_TRY(orr_world_robots_check(world, p, error));
        }
    }
    for (int index = 0; index < world->count; index++) { // which bodies of robots may hold
        if (!chosen || chosen[index]) {
            orr_world_softs_reset(world, index);
        }
    }
    return ORR_OK;
}

orr_result orr_world_robot_diverged(const orr_world *world, int index, orr_layer id, bool *diverged,
                                    orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(diverged, error);
    orr_world_robot *r = NULL;
    int layer = orr_scene_find(world->scene, id);
    if (layer >= 0 && orr_layer_has_nodes(&world->scene->layers[layer])) {
        const orr_pool_id robot = world->scene->layers[layer].flex_of;
        id = (orr_layer){robot.slot, robot.generation};
    } else if (layer >= 0 && world->scene->layers[layer].soft) {
        const orr_world_soft *soft;
        ORR_TRY(orr_world_soft_open(world, index, id, &soft, error));
        *diverged = soft->diverged[index];
        return ORR_OK;
    }
    ORR_TRY(orr_world_robot_open(world, index, id, &r, error));
    *diverged = orr_physics_diverged(r->physics->physics, index);
    return orr_world_robots_check(world, r->physics, error);
}

orr_result orr_world_set_autoreset(orr_world *world, bool on, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    world->robots->autoreset = on;
    return ORR_OK;
}

orr_result orr_world_robot_restarts(const orr_world *world, int index, orr_layer id, int *count,
                                    orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(count, error);
    orr_world_robot *r = NULL;
    ORR_TRY(orr_world_robot_open(world, index, id, &r, error));
    *count = orr_physics_restarts(r->physics->physics, index);
    return orr_world_robots_check(world, r->physics, error);
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
    ORR_TRY(orr_robot_layer(world->scene, id, &layer, error));
    int count = orr_layer_physical(layer)->model->nbody;
    if (body < 0 || body >= count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "body %d: expected 0 to %d", body, count - 1);
    }
    ORR_TRY(orr_world_robot_bodies(world, index, layer, &bodies, error));
    orr_layer_state state = orr_world_state(world, index, layer);
    const orr_transform frame = orr_layer_frame(layer, &state.transform);
    *transform = orr_transform_multiply(&frame, &bodies[body]);
    return ORR_OK;
}
