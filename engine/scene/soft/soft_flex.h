// The soft bodies of robots' models (<flexcomp>): each becomes a mesh layer ROBOT/FLEX that is soft. One that
// nodes move, which are bodies of the robot, has no state of its own (engine/loop/world/soft/node_points.h).
#pragma once

#include "engine/scene/soft/soft_layer.h"

// Those of the robots among the layers from `first` on, behind all others. One with pinned vertices on a body
// that can move is bound to that body, which holds them.
orr_result orr_scene_add_flexes(orr_scene *scene, int first, orr_error *error);
