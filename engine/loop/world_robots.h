// Robots as they move in a world: what the files of the loop know of them. Their public door is world_robot_door.c.
#pragma once

#include "engine/loop/robot.h"
#include "engine/loop/robot_pull.h"
#include "engine/loop/scene.h"

// One robot in all copies of a world.
typedef struct orr_world_robot {
    orr_pool_id id;
    orr_robot *robot;
    orr_physics *physics;
    double owed;           // [s] asked for by advance and less than a step
    orr_transform *bodies; // nbody, of world `posed`
    double *numbers;       // scratch: as many as the largest field that is read
    int posed;             // -1: of none
    orr_physics_contact *contacts;
    int contact_capacity;
    orr_robot_pull pull;
} orr_world_robot;

struct orr_world_robots {
    orr_world_robot *robots; // count
    int count, capacity;
    int worlds;
    orr_engine *engine;
    orr_device_kind wanted; // of orr_world_set_device
};

// The robot of a layer, which begins to move when it is first asked for.
orr_result orr_world_robots_find(const orr_world *world, const orr_layer_data *layer, orr_world_robot **found,
                                 orr_error *error);
// Those whose layers have been removed.
void orr_world_robots_forget(const orr_world *world);
// Moves robots that are not on the machine they belong on.
orr_result orr_world_robots_move(const orr_world *world, orr_error *error);
// Has the device failed that moves a robot? All go on on the CPU then, and the caller hears of it once.
orr_result orr_world_robots_check(const orr_world *world, const orr_world_robot *r, orr_error *error);
