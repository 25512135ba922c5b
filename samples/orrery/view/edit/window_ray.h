// Between the window and the scene: where a point is seen, and what is under the cursor. Pure arithmetic.
#pragma once

#include "engine/orrery.h"

// A point of the scene in the camera's space: right, down, forward.
void window_camera(const orr_camera *camera, const double point[3], double out[3]);
// A point of the camera's space, before the camera, in the coordinates of a window of this size.
void window_point(const orr_camera *camera, const double size[2], const double point[3], double out[2]);
// The ray through a point of the window, in the scene: from the camera, 1 forward along its axis.
void window_ray(const orr_camera *camera, const double size[2], const double at[2], double from[3],
                double along[3]);
