#include "samples/orrery/view/view.h"

#include "engine/core/memory.h"
#include "engine/loop/world/soft/world_soft.h"
#include "engine/maths/camera.h"
#include "physics/model/range.h"
#include "samples/orrery/view/edit/window_ray.h"

#include <math.h>
#include <string.h>

static const double TURN_SECONDS_MAX = 0.1; // what a machine too slow for real time is given at once
static const double pi = 3.14159265358979323846;

// A robot, or a layer with a body.
static const orr_layer_data *robot_layer(const viewer *v, orr_layer id)
{
    int index = orr_scene_find(v->scene, id);
    bool moves = index >= 0 && orr_layer_physical(&v->scene->layers[index]);
    return moves && !view_history_hides(&v->history, index) ? &v->scene->layers[index] : NULL;
}

static void say(viewer *v, orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        view_say(v, "%s", error->message);
    }
}

// ---- the panel's sliders ----

static orr_result make_sliders(view_robot *r, const orr_model *m, orr_error *error)
{
    panel_robot *p = &r->panel;
    ORR_ALLOC(p->joints, m->njnt, "joint sliders", error);
    ORR_ALLOC(p->controls, m->nu, "control sliders", error);
    for (int i = 0; i < m->njnt; i++) {
        bool hinge = m->jnt_type[i] == ORR_JOINT_HINGE;
        if (hinge || m->jnt_type[i] == ORR_JOINT_SLIDE) {
            double ends[2];
            orr_model_range(m->jnt_limited[i], m->jnt_range + 2 * (ptrdiff_t)i, hinge ? pi : m->stat.extent,
                            ends);
            p->joints[p->joint_count++] = (panel_slider){.name = orr_model_name(m, ORR_OBJECT_JOINT, i),
                                                         .format = hinge ? "%.3f rad" : "%.3f m",
                                                         .index = m->jnt_qposadr[i],
                                                         .low = ends[0],
                                                         .high = ends[1]};
        }
    }
    for (int actuator = 0, i = 0; i < m->nu; i++) {
        actuator += i >= m->actuator_ctrladr[actuator] + m->actuator_ctrlnum[actuator];
        p->controls[p->control_count++] =
            (panel_slider){.name = orr_model_name(m, ORR_OBJECT_ACTUATOR, actuator),
                           .format = "%.3f", // of the actuator's own unit
                           .index = i,
                           .low = r->drive.low[i],
                           .high = r->drive.high[i]};
    }
    return ORR_OK;
}

orr_result view_robot_open(viewer *v, uint64_t seed, orr_error *error)
{
    view_robot *r = &v->robot;
    r->panel.speed = 1.0;
    r->keyframe = -1;
    ORR_TRY(robot_drive_open(&v->look.controls, v->scene, v->scene_path, seed, &r->drive, error));
    const orr_layer_data *layer = robot_layer(v, r->drive.robot);
    if (!layer) {
        return ORR_OK;
    }
    orr_error reason = {0};
    if (orr_world_get_robot(v->world, 0, r->drive.robot, ORR_ROBOT_TIME, &r->panel.time, &reason) ==
        ORR_ERROR_UNSUPPORTED) {
        fprintf(stderr, "orrery: warning: %s; it does not move\n", reason.message);
        return ORR_OK;
    }
    const orr_model *m = layer->robot->model;
    r->panel.keyframe_count = m->nkey;
    ORR_ALLOC(r->panel.numbers, m->nq > m->nu ? m->nq : m->nu, "a robot's state", error);
    ORR_TRY(make_sliders(r, m, error));
    view_robot_find(v);
    return ORR_OK;
}

void view_robot_find(viewer *v)
{
    v->robot.present = v->robot.panel.numbers && robot_layer(v, v->robot.drive.robot);
    v->robot.drive.robot_absent = v->robot.panel.numbers && !v->robot.present;
}

void view_robot_close(viewer *v)
{
    panel_robot *p = &v->robot.panel;
    robot_drive_close(&v->robot.drive);
    orr_free(p->joints);
    orr_free(p->controls);
    orr_free(p->numbers);
}

static void read_sliders(const viewer *v, orr_robot_quantity quantity, panel_slider *sliders, int count)
{
    const view_robot *r = &v->robot;
    if (count == 0 ||
        orr_world_get_robot(v->world, 0, r->drive.robot, quantity, r->panel.numbers, NULL) != ORR_OK) {
        return;
    }
    for (int i = 0; i < count; i++) {
        sliders[i].value = r->panel.numbers[sliders[i].index];
        sliders[i].changed = false;
    }
}

static void take_sliders(viewer *v, orr_robot_quantity quantity, const panel_slider *sliders, int count)
{
    const view_robot *r = &v->robot;
    bool changed = false;
    for (int i = 0; i < count; i++) {
        changed |= sliders[i].changed;
    }
    if (!changed ||
        orr_world_get_robot(v->world, 0, r->drive.robot, quantity, r->panel.numbers, NULL) != ORR_OK) {
        return;
    }
    for (int i = 0; i < count; i++) {
        if (sliders[i].changed) {
            r->panel.numbers[sliders[i].index] = sliders[i].value;
        }
    }
    orr_error error;
    say(v, orr_world_set_robot(v->world, 0, r->drive.robot, quantity, r->panel.numbers, &error), &error);
    v->stale = true;
}

panel_robot *view_robot_show(viewer *v)
{
    view_robot *r = &v->robot;
    read_sliders(v, ORR_ROBOT_QPOS, r->panel.joints, r->panel.joint_count);
    read_sliders(v, ORR_ROBOT_CTRL, r->panel.controls, r->panel.control_count);
    orr_world_get_robot(v->world, 0, r->drive.robot, ORR_ROBOT_TIME, &r->panel.time, NULL);
    r->panel.driven = r->drive.kind != ROBOT_DRIVE_NONE;
    return &r->panel;
}

void view_robot_take(viewer *v)
{
    view_robot *r = &v->robot;
    take_sliders(v, ORR_ROBOT_QPOS, r->panel.joints, r->panel.joint_count);
    take_sliders(v, ORR_ROBOT_CTRL, r->panel.controls, r->panel.control_count);
}

// ---- time ----

bool view_robot_moves(const viewer *v)
{
    return v->robot.present || v->robot.drive.bodies;
}

bool view_robot_is_going(const viewer *v)
{
    return view_robot_moves(v) && !v->robot.panel.paused;
}

static void reset(viewer *v, int keyframe)
{
    orr_error error;
    for (int i = 0; i < orr_scene_layer_count(v->scene); i++) {
        orr_layer id = orr_scene_layer(v->scene, i);
        const orr_layer_data *layer = robot_layer(v, id);
        if (layer) {
            int own = keyframe < orr_layer_physical(layer)->model->nkey ? keyframe : -1;
            say(v, orr_world_reset_robot(v->world, 0, id, own, &error), &error);
        }
    }
    orr_world_softs_reset(v->world, 0);
    v->robot.keyframe = keyframe;
    v->robot.seconds = 0.0;
    v->robot.drive.step = 0;
    v->robot.drive.rng.counter = 0;
    v->stale = true;
}

void view_robot_do(viewer *v, view_action action)
{
    view_robot *r = &v->robot;
    if (!view_robot_moves(v)) {
        return;
    }
    switch (action) {
    case VIEW_ROBOT_PAUSE:
        r->panel.paused = !r->panel.paused;
        r->before = glfwGetTime();
        v->stale = true;
        break;
    case VIEW_ROBOT_STEP:
        r->panel.paused = true;
        r->steps++;
        break;
    case VIEW_ROBOT_RESET:
        reset(v, -1);
        break;
    case VIEW_ROBOT_KEYFRAME:
        reset(v, r->keyframe + 1 < r->panel.keyframe_count ? r->keyframe + 1 : -1);
        break;
    case VIEW_ROBOT_SLOWER:
        r->panel.speed = fmax(0.5 * r->panel.speed, 1.0 / 64.0);
        break;
    case VIEW_ROBOT_FASTER:
        r->panel.speed = fmin(2.0 * r->panel.speed, 4.0);
        break;
    case VIEW_ROBOT_CONTACTS:
        r->panel.contacts = !r->panel.contacts;
        v->stale = true;
        break;
    default:
        break;
    }
}

bool view_robot_turn(viewer *v, double now)
{
    view_robot *r = &v->robot;
    double passed = fmin(now - r->before, TURN_SECONDS_MAX);
    r->before = now;
    view_hand_follow(v);
    if (!view_robot_moves(v) || (r->panel.paused && r->steps == 0)) {
        return false;
    }
    r->seconds += r->panel.paused ? r->steps * r->drive.timestep : passed * r->panel.speed;
    r->steps = 0;
    orr_error error;
    orr_result result = robot_drive_advance(&r->drive, v->world, r->seconds, &error);
    if (result != ORR_OK) {
        r->panel.paused = true;
        say(v, result, &error);
    }
    bool diverged = false;
    if (orr_world_robot_diverged(v->world, 0, r->drive.robot, &diverged, NULL) == ORR_OK && diverged &&
        !r->panel.paused) {
        r->panel.paused = true;
        view_say(v, "The robot's state has become infinite after %.3g s: Backspace resets it.", r->seconds);
    }
    view_collider_follow(v);
    v->stale = true;
    view_attend(v);
    return !r->panel.paused;
}
