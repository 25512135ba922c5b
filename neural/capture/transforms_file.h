// transforms.json in the convention of instant-ngp and nerfstudio: camera-to-world 4x4 in OpenGL axes (x
// right, y up, z backward); fl_x fl_y cx cy w h or camera_angle_x/y, k1 .. k4 p1 p2, for all frames or per
// frame; aabb_scale, scale, offset, aabb; nerfstudio's train_filenames, val_filenames, test_filenames.
#pragma once

#include "neural/capture/photo_list.h"

// `text` ends with a zero byte; `name` is for messages. Errors are ORR_CODE_CAMERA_FILE: lenses that are
// not pinholes, poses that are not rotations and whatever else would be read wrongly. Free with
// orr_photo_list_free; on failure there is nothing to free.
orr_result orr_transforms_parse(const char *text, const char *name, orr_photo_list *list, orr_error *error);
