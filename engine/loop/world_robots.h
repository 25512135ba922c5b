// Robots in a world: their physics, and what frames and other files read of it. The public functions are in
// world_robot_api.c.
#pragma once

#include "engine/loop/engine.h"
#include "engine/loop/robot_pull.h"
#include "engine/loop/world.h"

// One robot in all copies of a world.
typedef struct orr_world_robot {
    orr_pool_id id;
    orr_robot *robot;
    orr_physics *physics;
    double pending;        // [s] time to simulate that is less than a step
    orr_transform *bodies; // nbody, of copy `posed`
    double *numbers;       // scratch: as many as the largest quantity that is read
    int posed;             // -1: of none
    orr_physics_contact *contacts;
    int contact_capacity;
    orr_robot_pull pull;
} orr_world_robot;

typedef struct orr_world_robots {
    orr_world_robot *robots; // count
    int count, capacity;
    int worlds;
    orr_engine *engine;
    orr_device_kind device; // as orr_world_set_device was given it
} orr_world_robots;

orr_result orr_world_robots_create(int worlds, orr_engine *engine, orr_world_robots **robots,
                                   orr_error *error);
void orr_world_robots_destroy(orr_world_robots *robots); // NULL is allowed

// The robot of a layer, whose physics is created at the first call for it.
orr_result orr_world_robots_find(const orr_world *world, const orr_layer_data *layer, orr_world_robot **found,
                                 orr_error *error);
// Frees those whose layers have been removed.
void orr_world_robots_forget(const orr_world *world);
// Moves robots that are on another device than they should be.
orr_result orr_world_robots_move(const orr_world *world, orr_error *error);
// Has the device failed that simulates a robot? Then all of them move to the CPU, and this call alone returns
// the error.
orr_result orr_world_robots_check(const orr_world *world, const orr_world_robot *r, orr_error *error);

// The physics behind a layer of kind ORR_LAYER_ROBOT, for what engine/orrery.h does not offer. After changing
// its state call orr_world_robot_moved.
orr_result orr_world_robot_physics(const orr_world *world, const orr_layer_data *layer, orr_physics **physics,
                                   orr_error *error);
void orr_world_robot_moved(const orr_world *world, const orr_layer_data *layer);
// The transforms of its bodies in one copy (nbody), in the robot's frame. Valid until the next call. A robot
// whose numbers have become infinite stays where it was.
orr_result orr_world_robot_bodies(const orr_world *world, int index, const orr_layer_data *layer,
                                  const orr_transform **bodies, orr_error *error);
// Where drawing on CUDA finds them. Zero is an empty one.
typedef struct orr_robot_bodies {
    orr_physics_bodies memory;
    orr_draw_bodies drawn; // parts of it
} orr_robot_bodies;
// The same in that device's memory, without waiting; *there becomes false when the robot is simulated on the
// CPU.
orr_result orr_world_robot_device_bodies(const orr_world *world, int index, const orr_layer_data *layer,
                                         orr_robot_bodies *bodies, bool *there, orr_error *error);
// Its contacts in one copy; none once its numbers have become infinite. Valid until the next call.
orr_result orr_world_robot_contacts(const orr_world *world, int index, const orr_layer_data *layer,
                                    const orr_physics_contact **contacts, int *count, orr_error *error);
// What pulls at the robot in copy 0 until it is set anew; every step computes the force for the state as it
// is.
orr_result orr_world_robot_pull(orr_world *world, const orr_layer_data *layer, const orr_robot_pull *pull,
                                orr_error *error);
orr_robot_pull orr_world_robot_pulled(const orr_world *world, const orr_layer_data *layer);

// A layer's transform in the scene, in one copy: `own`, on the body that the layer is bound to, if it is.
orr_result orr_world_layer_transform(const orr_world *world, int index, const orr_layer_data *layer,
                                     const orr_transform *own, orr_transform *transform, orr_error *error);
