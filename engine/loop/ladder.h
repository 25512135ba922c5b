// The ladder of devices: CUDA and Vulkan with shared memory, CUDA and Vulkan through pinned copies, CUDA
// headless, Vulkan only, CPU only. An engine is on one rung. What happens when a device fails is decided here
// and nowhere else (docs/devices.md has the table): the next rung with a line in the log that says why, or,
// for a lost Vulkan device behind a window, the same rung on a device that is opened again. Robots are
// simulated on a device of their own choice: engine/loop/world/world_device.h.
#pragma once

#include "engine/loop/frame_state.h"

// The rung of orr_engine_desc.device, or of ORR_DEVICE, or the best whose devices are found. DEVICE_ABSENT
// when a device that was named is not; Vulkan beside CUDA may be missing, unless there is a window.
orr_result orr_ladder_choose(orr_engine *engine, orr_error *error);

// Opens the machine of a frame where it is closed; when that fails, the frame goes down the ladder as below.
orr_result orr_ladder_open(orr_frame *frame, orr_error *error);
// Drawing a slot has failed. True: it is to be drawn again; all that waits is deferred for that, since its
// machine is another one, or the same one opened again. False: the error is the caller's; later frames may
// nevertheless be drawn on another rung.
bool orr_ladder_draw_again(orr_frame *frame, orr_frame_slot *slot, const orr_error *why);
// The same when the picture was drawn and could not be handed over to Vulkan.
bool orr_ladder_hand_over_again(orr_frame *frame, orr_frame_slot *slot, const orr_error *why);
