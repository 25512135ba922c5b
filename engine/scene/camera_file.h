// Camera files from the inside; orr_camera_file_load and _save are in engine/orrery.h. transforms.json in the
// convention of instant-ngp and nerfstudio (camera-to-world 4x4, OpenGL axes: x right, y up, z backward; fl_x
// fl_y cx cy w h or camera_angle_x, for all frames or per frame), and whatever else
// neural/capture/capture_file.h finds.
#pragma once

#include "engine/core/result.h"

// As orr_camera_file_load, from memory (for fuzzing); `name` is used in messages. `text` ends with a zero
// byte. Of cameras of size width x height, because the file does not say, intrinsics in pixels are an error.
orr_result orr_camera_file_parse(const char *text, const char *name, int width, int height,
                                 orr_camera_list *list, orr_error *error);

// What else a transforms.json of a capture says.
typedef struct orr_camera_file_notes {
    const char *const *masks; // one for each camera; NULL, also of one: none
    const char *points;       // file of points with colours ("ply_file_path"); NULL: none
    const char *tracks;       // COLMAP's points3D file of the same points ("points3D_path"); NULL: none
    const uint32_t *ids;      // COLMAP's IMAGE_ID of each camera ("colmap_im_id"); NULL: none
    double unit_scale;        // of the world to the unit cube, about 0.5 ("scale"); 0: not said
    int aabb_scale;           // 0: not said
    bool metric;              // the world's units are metres ("unit")
} orr_camera_file_notes;

// As orr_camera_file_save; notes NULL: none.
orr_result orr_camera_file_write(const char *path, const orr_camera *cameras, const char *const *names,
                                 int count, const orr_camera_file_notes *notes, orr_error *error);

// Lists that are put together one by one: memory for `capacity` cameras, then up to so many with copies of
// their names ("" where there is none). Free with orr_camera_list_free, also after a failure.
orr_result orr_camera_list_reserve(orr_camera_list *list, int capacity, orr_error *error);
orr_result orr_camera_list_append(orr_camera_list *list, const orr_camera *camera, const char *name,
                                  orr_error *error);

// The same camera for a picture of another size: focal lengths and centre scaled by height, the field of view
// kept vertically and the centre re-centred horizontally when the aspect changes.
orr_camera orr_camera_resize(const orr_camera *camera, int width, int height);
