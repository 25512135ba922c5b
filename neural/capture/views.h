// What the cameras of a capture see, before a field is trained on it.
#pragma once

#include "neural/capture/capture.h"

// Fails when the lens distortion of a photo has no inverse on most of its picture, and when no camera
// sees the cube of the field, of side aabb_scale; a warning counts those that do not. unbounded: fields
// without a cube. `name` of the capture is for messages.
orr_result orr_capture_check_views(const orr_capture *capture, const char *name, bool unbounded, orr_log log,
                                   orr_error *error);
