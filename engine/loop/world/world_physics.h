// The physics of a world: robots whose layers have one scale are one model, in which they touch each other.
// world_robots.h says which robots are in which.
#pragma once

#include "engine/loop/engine.h"
#include "physics/model/join.h"
#include "physics/simulation/world.h"

// A robot alone is simulated in the frame of its layer, so that its numbers do not depend on where it is.
// Several are simulated in a frame of the scene, which stays when robots come and go.
typedef struct orr_world_physics {
    bool joint;             // several robots, or what is left of them
    orr_transform frame;    // joint: of the physics in the scene; its scale is that of all the layers
    orr_model *made;        // joint: their model; NULL otherwise
    const orr_model *model; // that is simulated
    orr_physics *physics;   // NULL: it cannot be simulated, for the reason `why`
    orr_error why;
    char name[128];  // for messages
    double pending;  // [s] time to simulate that is less than a step
    double *numbers; // scratch: as many as the largest quantity
    double *batch;   // scratch: a quantity of all copies
    int batch_capacity;
    // of soft bodies (world_soft.h), or NULL as long as there are none
    double *pushed; // copies x nbody x 6: their forces, held until they are stepped again, N and N m
    int *wait;      // copies: steps until then
    int *restarts;  // scratch, copies
} orr_world_physics;

// The physics' name of a quantity. ORR_CODE_ARGUMENT: it is none, or cannot be `set` because it is computed.
orr_result orr_robot_quantity_find(orr_robot_quantity quantity, bool set, orr_physics_quantity *found,
                                   orr_error *error);

// Where a layer is in a joint physics: x -> quat(x) + pos.
typedef struct orr_pose {
    double pos[3], quat[4];
} orr_pose;

orr_pose orr_pose_relative(const orr_transform *frame, const orr_transform *layer);
orr_pose orr_pose_inverse(const orr_pose *pose);
bool orr_pose_is_identity(const orr_pose *pose);

void orr_world_physics_destroy(orr_world_physics *physics); // NULL is allowed

// Lists of a model that numbers belong to.
typedef enum orr_number_list {
    ORR_NUMBERS_WHOLE, // of the model
    ORR_NUMBERS_QPOS,
    ORR_NUMBERS_DOF,
    ORR_NUMBERS_ACT,
    ORR_NUMBERS_CTRL,
    ORR_NUMBERS_ACTUATOR,
    ORR_NUMBERS_OUTPUT,
    ORR_NUMBERS_EQUALITY,
    ORR_NUMBERS_MOCAP,
    ORR_NUMBERS_PLASTIC,
    ORR_NUMBERS_DELAYED,
    ORR_NUMBERS_SENSORDATA,
    ORR_NUMBERS_BODY,
    ORR_NUMBERS_JOINT,
    ORR_NUMBERS_GEOM,
    ORR_NUMBERS_SITE,
    ORR_NUMBERS_CAMERA,
    ORR_NUMBERS_TENDON,
    ORR_NUMBERS_TREE,        // where trees can sleep; of a robot alone, as the next
    ORR_NUMBERS_ASLEEP_QPOS, // as many as coordinates
    ORR_NUMBERS_M
} orr_number_list;

// Where a robot's numbers are among those of its physics: `count` from `first` on are its own from `own` on.
// Its own before these are those of its world: of geoms, sites and cameras, from world_first on; of bodies
// they are not in the physics.
typedef struct orr_number_range {
    int first, count, own;
    int world_first, world_count;
} orr_number_range;
orr_number_range orr_world_physics_rows(const orr_model_place *place, const orr_model *model,
                                        orr_number_list list, int width);
orr_number_range orr_world_physics_range(const orr_model_place *place, const orr_model *model,
                                         orr_physics_quantity quantity);
// Copies a robot's own numbers from those of its physics, and to them. Own numbers that the physics does not
// have become 0.
void orr_number_range_get(const orr_number_range *range, const double *numbers, double *own);
void orr_number_range_put(const orr_number_range *range, const double *own, double *numbers);
// Does the physics of several robots have it for each of them?
bool orr_world_physics_divides(orr_physics_quantity quantity);
// Moves a robot's own numbers of a quantity by a pose.
void orr_world_physics_move(const orr_model *model, orr_physics_quantity quantity, const orr_pose *pose,
                            double *values);
// In the numbers of a robot among others: its world is where it is, in its own frame.
void orr_world_physics_own_world(orr_physics_quantity quantity, double *values);
// The same for a contact.
void orr_world_physics_move_contact(const orr_pose *pose, orr_physics_contact *contact);
// Planes without end in the worlds of several robots are often the same floor: all but the first collide with
// nothing then.
void orr_world_physics_merge_floors(orr_model *joint);
