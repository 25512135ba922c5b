// What --drop adds to a scene: a cloud or mesh from a file, soft, which falls on the first robot.
#pragma once

#include "engine/orrery.h"

// The file becomes a soft layer, upright, 0.6 m along its longest side, with its lowest side 0.2 m
// above the robot. ORR_ERROR_ARGUMENT: no robot.
orr_result drop_file(orr_scene *scene, const char *path, orr_error *error);
