// The spring with which the viewer pulls at a body.
#pragma once

#include "physics/simulation/world.h"

// Pulls at a point of a body as a spring would, drawn as an arrow. Positions in the robot's frame.
typedef struct orr_robot_pull {
    int body;        // 0: none
    double point[3]; // in the body's frame
    double to[3];
} orr_robot_pull;

// The spring's force and torque on the body, at its centre of mass, for the state of one world as it is:
// critically damped, as stiff as the model says (visual map stiffness), against the body's effective mass in
// the rest pose. False: nothing moves the body, or memory is out.
bool orr_robot_pull_force(const orr_model *model, orr_physics *physics, int world, const orr_robot_pull *pull,
                          double force[6]);
