#include "samples/orrery/view/camera_recorder.h"

#include "engine/core/memory.h"
#include "engine/scene/camera_file.h"
#include "engine/scene/camera_path.h"

#include <math.h>

// Keys are kept at one size, since the window may change between two of them.
enum { KEY_WIDTH = 1280, KEY_HEIGHT = 720 };

orr_result camera_recorder_add(camera_recorder *recorder, const orr_camera *camera, orr_error *error)
{
    ORR_GROW(recorder->keys, recorder->capacity, recorder->count + 1, "camera keys", error);
    recorder->keys[recorder->count++] = orr_camera_resize(camera, KEY_WIDTH, KEY_HEIGHT);
    return ORR_OK;
}

double camera_recorder_duration(const camera_recorder *recorder)
{
    return recorder->count > 1 ? (recorder->count - 1) * recorder->seconds : 0.0;
}

orr_camera camera_recorder_at(const camera_recorder *recorder, double seconds, int width, int height)
{
    double t = fmin(fmax(seconds / recorder->seconds, 0.0), recorder->count - 1);
    orr_camera camera = orr_camera_path_at(recorder->keys, recorder->count, t);
    return orr_camera_resize(&camera, width, height);
}

orr_result camera_recorder_save(const camera_recorder *recorder, const char *file, double frames_per_second,
                                int width, int height, orr_error *error)
{
    // rounding must not lose the last picture
    int count = 1 + (int)floor(camera_recorder_duration(recorder) * frames_per_second + 1e-6);
    orr_camera *cameras;
    ORR_ALLOC(cameras, count, "the cameras of a path", error);
    for (int i = 0; i < count; i++) {
        cameras[i] = camera_recorder_at(recorder, i / frames_per_second, width, height);
    }
    orr_result result = orr_camera_file_save(file, cameras, NULL, count, error);
    orr_free(cameras);
    return result;
}

void camera_recorder_clear(camera_recorder *recorder)
{
    orr_free(recorder->keys);
    *recorder = (camera_recorder){.seconds = recorder->seconds};
}
