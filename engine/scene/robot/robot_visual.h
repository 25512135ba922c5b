// The visuals of a URDF as meshes.
#pragma once

#include "engine/scene/robot/robot.h"

// Appends those that can be drawn to the robot's geoms, which have room for all. loaded: for each visual, is
// it? One that is wrong, or whose file cannot be read, is noted in robot->visuals_missing.
orr_result orr_robot_add_visuals(orr_robot *robot, bool *loaded, orr_error *error);
// Is a geom of the model not drawn as long as its group is not: are all visuals of its link loaded?
bool orr_robot_is_covered(const orr_robot *robot, const bool *loaded, int geom);
// Is a geom of the model drawn as one of the visuals?
bool orr_robot_is_visual(const orr_robot *robot, const bool *loaded, int geom);
