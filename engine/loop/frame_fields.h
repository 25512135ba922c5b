// Deferred frames: those of which the host draws a part, the fields that the machine does not draw itself
// (all of them for the CPU and Vulkan; for CUDA those that it refuses). They are drawn when they are the
// oldest: meshes, for their depth, then the fields in parts, then the rest by the machine.
#pragma once

#include "engine/loop/frame_state.h"

// How many of the slot's fields the host has to march; they are put first.
int orr_frame_host_fields(orr_frame *frame, orr_frame_slot *slot);
// Marches fields of the oldest slot for about so long, at least a little. ready: all are marched.
orr_result orr_frame_fields_advance(orr_frame *frame, orr_frame_slot *slot, double milliseconds, bool *ready,
                                    orr_error *error);
// Marches the rest, and submits the slot to the machine.
orr_result orr_frame_fields_submit(orr_frame *frame, orr_frame_slot *slot, orr_error *error);
