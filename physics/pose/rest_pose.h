// Where bodies are before anything has moved, for drawing and for bounds.
#pragma once

#include "physics/model/model.h"

// Positions (nbody x 3, m) and rotations (nbody x 4, w first) of the bodies' frames at qpos0, in the world's
// frame.
orr_result orr_model_rest_pose(const orr_model *model, double *xpos, double *xquat, orr_error *error);
