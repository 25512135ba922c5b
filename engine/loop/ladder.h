// The ladder of devices: CUDA and Vulkan with shared memory, CUDA and Vulkan through pinned copies, CUDA headless, Vulkan
// only, CPU only. An engine stands on one rung, and falls to the next with a line that says why.
#pragma once

#include "engine/device/cuda.h"
#include "engine/orrery.h"

// The name as --device and ORR_DEVICE have it: "cuda+vulkan", "cuda+vulkan-copies", "cuda", "vulkan", "cpu", or "auto".
const char *orr_device_name(orr_device_kind device);
bool orr_device_named(const char *name, orr_device_kind *device); // false: there is none
// What was asked for, or ORR_DEVICE where that is auto. ORR_ERROR_ARGUMENT when the variable names no rung.
orr_result orr_device_wanted(orr_device_kind asked, orr_device_kind *wanted, orr_error *error);
// Does CUDA draw, with or without Vulkan beside it?
bool orr_device_is_cuda(orr_device_kind device);

// What the engine was asked for, or ORR_DEVICE, or the best that answers. DEVICE_ABSENT when what was asked for by name
// does not answer; only what is beside CUDA may be missing, unless there is a window.
orr_result orr_ladder_choose(orr_engine *engine, orr_error *error);
// From here on the engine stands on `rung`, because of `why`, which is logged.
void orr_ladder_fall(orr_engine *engine, orr_device_kind rung, const orr_error *why);
