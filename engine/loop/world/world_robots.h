// Robots in a world: which physics simulates them, and what frames and other files read of them. The public
// functions are in world_robot_api.c.
#pragma once

#include "engine/loop/world/robot_pull.h"
#include "engine/loop/world/world.h"
#include "engine/loop/world/world_parameters.h"
#include "engine/loop/world/world_physics.h"

// One robot in all copies of a world.
typedef struct orr_world_robot {
    orr_pool_id id;
    orr_robot *robot;
    orr_world_physics *physics; // which other robots may share
    orr_model_place place;      // in its model
    orr_pose fixed_at;          // joint: where the parts are that are fixed to its world
    orr_pool_id told_of;        // the robot whose options it has, and the time step, as the log said last
    double told_step;
    orr_transform *bodies; // nbody, of copy `posed`
    double *numbers;       // scratch: as many as the largest of its quantities
    int posed;             // -1: of none
    orr_physics_contact *contacts;
    int contact_capacity;
    orr_robot_pull pull;
    // of each parameter that has been set: copies x its numbers, own ones; NULL: as the model says
    double *varied[ORR_ROBOT_PARAMETERS];
} orr_world_robot;

typedef struct orr_world_robots {
    orr_world_robot **robots; // count, in the order of the layers
    int count, capacity;
    orr_world_physics **physics; // physics_count: of all robots
    int physics_count, physics_capacity;
    bool autoreset;
    bool cuda_or_fail; // what CUDA cannot hold is an error: while a world is made that names it
    bool as_of_many;   // one copy has the bits of one of many (physics/simulation/world.h)
    bool stale;        // a robot that is fixed to its world has been moved
    orr_engine *engine;
    orr_world_desc desc; // how they are simulated; its device as orr_world_set_device was given it
} orr_world_robots;

orr_result orr_world_robots_create(const orr_world_desc *desc, orr_engine *engine, orr_world_robots **robots,
                                   orr_error *error);
void orr_world_robots_destroy(orr_world_robots *robots);   // NULL is allowed
void orr_world_robots_close_all(orr_world_robots *robots); // all but the struct
void orr_world_robot_close(orr_world_robot *r);            // NULL is allowed

// Makes robots and their physics those of the scene as it is now. Robots that stay keep their states.
// Whether a robot cannot be simulated is found out by orr_world_robots_find.
orr_result orr_world_robots_update(const orr_world *world, orr_error *error);
// The robot of a layer, after an update; ORR_ERROR_UNSUPPORTED: it cannot be simulated.
orr_result orr_world_robots_find(const orr_world *world, const orr_layer_data *layer, orr_world_robot **found,
                                 orr_error *error);
// The same by the layer's id, and checks the index of a copy.
orr_result orr_world_robot_open(const orr_world *world, int index, orr_layer id, orr_world_robot **r,
                                orr_error *error);
// A copy's layer has another transform than `before`: its robot is there from now on.
orr_result orr_world_robot_placed(orr_world *world, int index, const orr_layer_data *layer,
                                  const orr_transform *before, orr_error *error);
// Moves physics that is on another device than it should be.
orr_result orr_world_robots_move(const orr_world *world, orr_error *error);
// Has the device failed that simulates this physics? Then all of them move to the CPU, and this call alone
// returns the error.
orr_result orr_world_robots_check(const orr_world *world, const orr_world_physics *physics, orr_error *error);
// The bodies of these robots have moved: they are read again when they are needed.
void orr_world_robots_moved(const orr_world *world, const orr_world_physics *physics);

// A robot's own numbers of a quantity in one copy, in the frame of its layer: of the state, XPOS, XQUAT or
// SUBTREE_COM. Setting a quantity of the state (not TIME, which the robots of a physics share).
void orr_world_robot_read(const orr_world *world, int index, orr_world_robot *r,
                          orr_physics_quantity quantity, double *values);
void orr_world_robot_write(const orr_world *world, int index, orr_world_robot *r,
                           orr_physics_quantity quantity, const double *values);
// Sets all of a quantity to 0: velocities, activations, controls, forces, accelerations.
void orr_world_robot_clear(const orr_world *world, int index, orr_world_robot *r,
                           orr_physics_quantity quantity);
// How many numbers of a quantity are its own, of those that the public header has.
int orr_world_robot_size(const orr_world_robot *r, orr_physics_quantity quantity);
// Its own numbers (in the frame of its layer) among those of its physics in one copy.
void orr_world_robot_own(const orr_world *world, int index, const orr_world_robot *r,
                         orr_physics_quantity quantity, const double *numbers, double *values);
// The same in the frame of the physics; read_raw also for quantities that are computed.
void orr_world_robot_read_raw(int index, orr_world_robot *r, orr_physics_quantity quantity, double *values);
void orr_world_robot_write_raw(int index, orr_world_robot *r, orr_physics_quantity quantity,
                               const double *values);
// Where a robot's layer is in the frame of its physics, in one copy.
orr_pose orr_world_robot_pose(const orr_world *world, int index, const orr_world_robot *r);
// Puts the force of what pulls at a robot in copy 0 into XFRC_APPLIED.
void orr_world_robot_apply_pull(const orr_world *world, orr_world_robot *r);

// The transforms of its bodies in one copy (nbody), in the robot's frame. Valid until the next call. A robot
// whose numbers have become infinite stays where it was.
orr_result orr_world_robot_bodies(const orr_world *world, int index, const orr_layer_data *layer,
                                  const orr_transform **bodies, orr_error *error);
// Where drawing on CUDA finds them. Zero is an empty one.
typedef struct orr_robot_bodies {
    orr_physics_bodies memory;
    orr_draw_bodies drawn;   // parts of it
    bool joint;              // in a frame of the scene, which is
    orr_transform transform; // here; otherwise in the robot's
} orr_robot_bodies;
// The same in that device's memory, without waiting; *there becomes false when the robot is simulated on the
// CPU.
orr_result orr_world_robot_device_bodies(const orr_world *world, int index, const orr_layer_data *layer,
                                         orr_robot_bodies *bodies, bool *there, orr_error *error);
// Its contacts in one copy, in its frame; those between two robots are of the one whose geom is the first.
// geom1 and geom2 are the robot's, -1 of others. None once its numbers have become infinite. Valid until the
// next call.
orr_result orr_world_robot_contacts(const orr_world *world, int index, const orr_layer_data *layer,
                                    const orr_physics_contact **contacts, int *count, orr_error *error);
// Of the contacts of its physics it keeps those of which the robot's is the first geom, in its frame; returns
// how many.
int orr_world_robot_keep_contacts(const orr_world *world, int index, const orr_world_robot *r,
                                  orr_physics_contact *contacts, int count);
// What pulls at the robot in copy 0 until it is set anew; every step computes the force for the state as it
// is.
orr_result orr_world_robot_pull(orr_world *world, const orr_layer_data *layer, const orr_robot_pull *pull,
                                orr_error *error);
orr_robot_pull orr_world_robot_pulled(const orr_world *world, const orr_layer_data *layer);

// A layer's transform in the scene, in one copy: `own`, on the body that the layer is bound to, if it is.
orr_result orr_world_layer_transform(const orr_world *world, int index, const orr_layer_data *layer,
                                     const orr_transform *own, orr_transform *transform, orr_error *error);
