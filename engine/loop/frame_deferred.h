// Deferred frames: those of which the host draws a part: all of it for the CPU; for devices the fields that
// they do not draw themselves (all of them for Vulkan; for CUDA those that it refuses), surfaces that start
// rays, and both as mirrors show them. They are drawn when they are the oldest: the host's part first, fields
// in parts, then the rest by the machine.
#pragma once

#include "engine/loop/frame_state.h"

// How many of the slot's fields the host has to march; they are put first.
int orr_frame_host_fields(orr_frame *frame, orr_frame_slot *slot);
// Does the host draw a part of the slot?
bool orr_frame_needs_host(orr_frame *frame, orr_frame_slot *slot);
// And one that shows meshes, so that it has to know where they are? rays: the scene asks for them
bool orr_frame_needs_poses(orr_frame *frame, orr_frame_slot *slot, bool rays);
// Draws the host's part of the oldest slot: of fields for about so long, at least a little. ready: it is
// done.
orr_result orr_frame_deferred_advance(orr_frame *frame, orr_frame_slot *slot, double milliseconds,
                                      bool *ready, orr_error *error);
// Draws what is left of it, and submits the slot to the machine.
orr_result orr_frame_deferred_submit(orr_frame *frame, orr_frame_slot *slot, orr_error *error);
