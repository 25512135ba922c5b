// Camera path: a few cameras set by hand, and the smooth flight through them.
#pragma once

#include "engine/core/result.h"

typedef struct camera_path {
    orr_camera *keys; // count
    int count, capacity;
    double seconds; // from one key to the next
} camera_path;

orr_result camera_path_add(camera_path *path, const orr_camera *camera, orr_error *error);
double camera_path_duration(const camera_path *path); // [s]; 0 with fewer than two keys
// The camera at a time in 0 .. duration (clamped), as large as asked. A Catmull-Rom curve through the places
// and the logarithms of the focal lengths (Barry and Goldman 1988), and the same construction with slerp for
// the rotations (Schlag 1991): velocity has no jumps. At least one key.
orr_camera camera_path_at(const camera_path *path, double seconds, int width, int height);
// Writes a transforms.json with one camera per picture, so that `orrery render --cameras` plays it back.
orr_result camera_path_save(const camera_path *path, const char *file, double frames_per_second, int width,
                            int height, orr_error *error);
void camera_path_clear(camera_path *path);
