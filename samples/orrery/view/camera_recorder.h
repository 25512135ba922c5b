// Camera recorder: a few cameras that the user keeps, and the smooth flight through them
// (engine/scene/camera_path.h).
#pragma once

#include "engine/core/result.h"

typedef struct camera_recorder {
    orr_camera *keys; // count
    int count, capacity;
    double seconds; // from one key to the next
} camera_recorder;

orr_result camera_recorder_add(camera_recorder *recorder, const orr_camera *camera, orr_error *error);
double camera_recorder_duration(const camera_recorder *recorder); // [s]; 0 with fewer than two keys
// The camera at a time in 0 .. duration (clamped), of the given size. At least one key.
orr_camera camera_recorder_at(const camera_recorder *recorder, double seconds, int width, int height);
// Writes a transforms.json with one camera per picture of the flight, so that `orrery render --cameras` plays
// it back.
orr_result camera_recorder_save(const camera_recorder *recorder, const char *file, double frames_per_second,
                                int width, int height, orr_error *error);
void camera_recorder_clear(camera_recorder *recorder);
