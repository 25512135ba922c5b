// The spring with which the viewer pulls at a body.
#pragma once

#include "physics/simulation/world.h"

// Pulls at a point of a body as a spring would, drawn as an arrow. Positions in the robot's frame.
typedef struct orr_robot_pull {
    int body;        // 0: none
    double point[3]; // in the body's frame
    double to[3];
} orr_robot_pull;

// Puts the spring's force for the state as it is into XFRC_APPLIED of one world: critically damped, as stiff
// as the model says (visual map stiffness), against the body's effective mass in the rest pose.
void orr_robot_apply_pull(const orr_model *model, orr_physics *physics, int world,
                          const orr_robot_pull *pull);
void orr_robot_release(orr_physics *physics, int world); // sets all forces to 0
