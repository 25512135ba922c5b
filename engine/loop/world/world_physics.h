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

// Where a layer is in a joint physics: x -> quat(x) + pos.
typedef struct orr_pose {
    double pos[3], quat[4];
} orr_pose;

orr_pose orr_pose_relative(const orr_transform *frame, const orr_transform *layer);
orr_pose orr_pose_inverse(const orr_pose *pose);
bool orr_pose_is_identity(const orr_pose *pose);

void orr_world_physics_destroy(orr_world_physics *physics); // NULL is allowed

// A robot's numbers of a quantity of the state, or of one that has rows for bodies; bodies other than its
// world. Poses and vectors are in the frame of the physics.
typedef struct orr_number_range {
    int first, count; // of the physics' numbers
    int own;          // the first of the robot's own numbers
} orr_number_range;
orr_number_range orr_world_physics_range(const orr_model_place *place, const orr_model *model,
                                         orr_physics_quantity quantity);
// Moves a robot's own numbers of a quantity by a pose.
void orr_world_physics_move(const orr_model *model, orr_physics_quantity quantity, const orr_pose *pose,
                            double *values);
// The same for a contact.
void orr_world_physics_move_contact(const orr_pose *pose, orr_physics_contact *contact);
// Planes without end in the worlds of several robots are often the same floor: all but the first collide with
// nothing then.
void orr_world_physics_merge_floors(orr_model *joint);
