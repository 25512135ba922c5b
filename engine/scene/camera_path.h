// Camera paths: smooth movement through key cameras, and a turn around a point.
#pragma once

#include "engine/core/result.h"

// The camera at time t in 0 .. count - 1: key i at t = i, in between a Catmull-Rom curve through position,
// rotation, focal length and centre, so that neither position nor velocity jumps. Size, model and planes are
// those of the key before. count >= 1.
orr_camera orr_camera_path_at(const orr_camera *keys, int count, double t);
// The camera moved around the vertical through `centre` by an angle [rad], clockwise as seen from above. up:
// of length 1.
orr_camera orr_camera_turn(const orr_camera *camera, const float centre[3], const float up[3], double angle);
