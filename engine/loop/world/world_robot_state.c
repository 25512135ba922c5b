// States of robots: numbers of the physics that they share, in the frames of their layers.
#include "engine/loop/world/world_robots.h"

#include <string.h>

orr_pose orr_world_robot_pose(const orr_world *world, int index, const orr_world_robot *r)
{
    if (!r->physics->joint) {
        return (orr_pose){.quat = {1.0}};
    }
    int at = orr_scene_find(world->scene, (orr_layer){r->id.slot, r->id.generation});
    if (at < 0) { // removed since
        return r->fixed_at;
    }
    const orr_layer_data *layer = &world->scene->layers[at];
    orr_layer_state state = orr_world_state(world, index, layer);
    const orr_transform frame = orr_layer_frame(layer, &state.transform);
    return orr_pose_relative(&r->physics->frame, &frame);
}

int orr_world_robot_size(const orr_world_robot *r, orr_physics_quantity quantity)
{
    const orr_number_range range = orr_world_physics_range(&r->place, r->robot->model, quantity);
    return range.own + range.count;
}

// Its own numbers among those of its physics, in the frame of that.
static void pick(const orr_world_robot *r, orr_physics_quantity quantity, const double *numbers,
                 double *values)
{
    const orr_number_range range = orr_world_physics_range(&r->place, r->robot->model, quantity);
    orr_number_range_get(&range, numbers, values);
    orr_world_physics_own_world(quantity, values);
}

void orr_world_robot_read_raw(int index, orr_world_robot *r, orr_physics_quantity quantity, double *values)
{
    orr_world_physics *p = r->physics;
    if (!p->joint) {
        orr_physics_read(p->physics, quantity, index, values);
        return;
    }
    orr_physics_read(p->physics, quantity, index, p->numbers);
    pick(r, quantity, p->numbers, values);
}

void orr_world_robot_write_raw(int index, orr_world_robot *r, orr_physics_quantity quantity,
                               const double *values)
{
    orr_world_physics *p = r->physics;
    if (!p->joint) {
        orr_physics_set(p->physics, quantity, index, values);
        return;
    }
    orr_number_range range = orr_world_physics_range(&r->place, r->robot->model, quantity);
    orr_physics_get(p->physics, quantity, index, p->numbers);
    orr_number_range_put(&range, values, p->numbers);
    orr_physics_set(p->physics, quantity, index, p->numbers);
}

// Numbers in the frame of its physics become numbers in the frame of its layer.
static void move_back(const orr_world *world, int index, const orr_world_robot *r,
                      orr_physics_quantity quantity, double *values)
{
    orr_pose pose = orr_world_robot_pose(world, index, r);
    if (!orr_pose_is_identity(&pose)) {
        pose = orr_pose_inverse(&pose);
        orr_world_physics_move(r->robot->model, quantity, &pose, values);
    }
    if (r->physics->joint) {
        orr_world_physics_own_world(quantity, values);
    }
}

void orr_world_robot_read(const orr_world *world, int index, orr_world_robot *r,
                          orr_physics_quantity quantity, double *values)
{
    orr_world_robot_read_raw(index, r, quantity, values);
    move_back(world, index, r, quantity, values);
}

void orr_world_robot_own(const orr_world *world, int index, const orr_world_robot *r,
                         orr_physics_quantity quantity, const double *numbers, double *values)
{
    if (r->physics->joint) {
        pick(r, quantity, numbers, values);
        move_back(world, index, r, quantity, values);
    } else {
        memcpy(values, numbers, (size_t)orr_physics_size(r->physics->physics, quantity) * sizeof *values);
    }
}

void orr_world_robot_write(const orr_world *world, int index, orr_world_robot *r,
                           orr_physics_quantity quantity, const double *values)
{
    orr_pose pose = orr_world_robot_pose(world, index, r);
    if (orr_pose_is_identity(&pose)) {
        orr_world_robot_write_raw(index, r, quantity, values);
    } else {
        orr_number_range range = orr_world_physics_range(&r->place, r->robot->model, quantity);
        memmove(r->numbers, values, (size_t)(range.own + range.count) * sizeof *values); // may be the same
        orr_world_physics_move(r->robot->model, quantity, &pose, r->numbers);
        orr_world_robot_write_raw(index, r, quantity, r->numbers);
    }
    orr_world_robots_moved(world, r->physics);
}

void orr_world_robot_clear(const orr_world *world, int index, orr_world_robot *r,
                           orr_physics_quantity quantity)
{
    orr_number_range range = orr_world_physics_range(&r->place, r->robot->model, quantity);
    memset(r->numbers, 0, (size_t)(range.own + range.count) * sizeof *r->numbers);
    orr_world_robot_write_raw(index, r, quantity, r->numbers);
    orr_world_robots_moved(world, r->physics);
}

void orr_world_robots_moved(const orr_world *world, const orr_world_physics *physics)
{
    for (int i = 0; i < world->robots->count; i++) {
        orr_world_robot *r = world->robots->robots[i];
        r->posed = r->physics == physics ? -1 : r->posed;
    }
}
