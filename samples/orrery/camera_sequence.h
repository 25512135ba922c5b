// The cameras a render goes through: those of a file, smoothed or not, those of the scene, or a turn around
// it.
#pragma once

#include "engine/core/result.h"

typedef struct camera_request {
    const char *file;   // transforms.json; NULL: the scene's cameras
    const char *camera; // the only one requested, by its index or its name; NULL: all of a file, the first of
                        // a scene
    int frames;         // pictures while time passes, of the scene's camera, or one after the other of a
                        // file's and then of its last; 0: time does not pass
    int orbit;          // pictures of a full turn; 0: none
    int smooth;         // pictures between two cameras of a file
    int size[2];        // 0, 0: what the cameras say
} camera_request;

typedef struct camera_sequence {
    camera_request request;
    orr_camera *keys; // key_count; none until a scene is attached when there is no file
    int key_count;
    int64_t count;    // pictures
    float centre[3];  // of an orbit
    float up[3];      // of the scene
    int scene_camera; // index of the one in the world; -1: none
    bool distorted;   // the file gives lens distortion
} camera_sequence;

// Reads the file if there is one. Afterwards `count` is known, before any scene is loaded.
orr_result camera_sequence_open(const camera_request *request, camera_sequence *sequence, orr_error *error);
// Takes from the scene what the request does not give.
orr_result camera_sequence_attach(camera_sequence *sequence, const orr_world *world, const char *scene_path,
                                  orr_error *error);
// After time has passed: where the world's camera is now.
orr_result camera_sequence_follow(camera_sequence *sequence, const orr_world *world, orr_error *error);
orr_camera camera_sequence_at(const camera_sequence *sequence, int64_t index); // in 0 .. count - 1
void camera_sequence_close(camera_sequence *sequence);

// The index of a world's camera that is requested by its index or its name, which need not be unique: the
// first. NULL: the first camera; -1 where the world has none.
orr_result camera_find(const orr_world *world, const char *requested, const char *scene_path, int *camera,
                       orr_error *error);
