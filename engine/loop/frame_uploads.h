// What machines keep uploaded for a frame.
#pragma once

#include "engine/loop/frame_state.h"

// Frees the uploads of layers that the scene has no longer, and of soft bodies in frames before this one.
orr_result orr_frame_release_removed(orr_frame *frame, const orr_frame_slot *slot, const orr_scene *scene,
                                     orr_error *error);
