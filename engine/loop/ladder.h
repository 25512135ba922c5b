// The ladder of devices: CUDA and Vulkan with shared memory, CUDA and Vulkan through pinned copies, CUDA headless, Vulkan
// only, CPU only. An engine stands on one rung, and falls to the next with a line that says why.
#pragma once

#include "engine/loop/engine.h"

// What the engine was asked for, or ORR_DEVICE, or the best that answers. DEVICE_ABSENT when what was asked for by name
// does not answer; only what is beside CUDA may be missing, unless there is a window.
orr_result orr_ladder_choose(orr_engine *engine, orr_error *error);
// From here on the engine stands on `rung`, because of `why`, which is logged.
void orr_ladder_fall(orr_engine *engine, orr_device_kind rung, const orr_error *why);
// Is it a device that has failed, so that another rung may do better?
bool orr_ladder_is_reason(const orr_error *why);
// The rung under the one that the engine stands on, for drawing into memory: of CUDA's, Vulkan where a GPU answers.
orr_device_kind orr_ladder_below(const orr_engine *engine);
