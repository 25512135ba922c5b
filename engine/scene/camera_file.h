// Camera files: transforms.json in the convention of instant-ngp and nerfstudio (camera-to-world 4x4, OpenGL
// axes: x right, y up, z backward; fl_x fl_y cx cy w h or camera_angle_x, for all frames or per frame).
#pragma once

#include "engine/core/result.h"

typedef struct orr_camera_list {
    orr_camera *cameras; // count, in file order
    int count;
    bool distorted; // a camera has lens distortion
} orr_camera_list;

// Reads whatever neural/capture/capture_file.h finds at `path`: a folder with a COLMAP model has its cameras
// too. Sizes come from the file, or else from its photos where they are there, or else are width x height; in
// the last case intrinsics in pixels are an error.
orr_result orr_camera_file_load(const char *path, int width, int height, orr_camera_list *list,
                                orr_error *error);
// Parses from memory (the fuzz target's door); `name` stands in messages. `text` ends with a zero byte.
orr_result orr_camera_file_parse(const char *text, const char *name, int width, int height,
                                 orr_camera_list *list, orr_error *error);
orr_result orr_camera_file_save(const char *path, const orr_camera *cameras, int count, orr_error *error);
void orr_camera_list_free(orr_camera_list *list);

// The same camera for a picture of another size: focal lengths and centre scaled by height, the field of view
// kept vertically and the centre re-centred horizontally when the aspect changes.
orr_camera orr_camera_resize(const orr_camera *camera, int width, int height);
