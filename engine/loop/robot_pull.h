// The spring with which a hand pulls at a body.
#pragma once

#include "engine/loop/robot.h"

// Puts the spring's force for the state as it is into XFRC_APPLIED of one world: critically damped, as stiff as the model
// asks (visual map stiffness), against the body's mass as it weighs in the rest pose.
void orr_robot_apply_pull(const orr_model *model, orr_physics *physics, int world,
                          const orr_robot_pull *pull);
void orr_robot_release(orr_physics *physics, int world); // no forces any more

// What pulls at a robot of a world now.
orr_robot_pull orr_world_robot_pulled(const orr_world *world, const struct orr_layer_data *layer);
