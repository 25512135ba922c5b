// The devices of an engine: their names, and CUDA's and Vulkan's, each opened at the first call for it.
#pragma once

#include "engine/loop/engine.h"

// The name as --device and ORR_DEVICE have it: "cuda+vulkan", "cuda+vulkan-copies", "cuda", "vulkan", "cpu",
// or "auto".
const char *orr_device_name(orr_device_kind device);
bool orr_device_named(const char *name, orr_device_kind *device); // false: there is none
// `device`, or what ORR_DEVICE says where that is ORR_DEVICE_AUTO. ORR_ERROR_ARGUMENT when the variable names
// no device.
orr_result orr_device_resolve(orr_device_kind device, orr_device_kind *resolved, orr_error *error);
// Is it one of those where CUDA draws, with or without Vulkan beside it?
bool orr_device_is_cuda(orr_device_kind device);

// The CUDA device. It lives as long as the engine.
orr_result orr_engine_take_cuda(orr_engine *engine, orr_cuda **cuda, orr_error *error);

// The Vulkan device, borrowed until orr_engine_give_vk. One that was lost (engine->vk_lost) is opened again
// once all users have given it back; until then they get the lost one.
orr_result orr_engine_take_vk(orr_engine *engine, orr_vk **vk, orr_error *error);
void orr_engine_give_vk(orr_engine *engine);

// Do CUDA's pictures reach the Vulkan device without going through the caller's memory? Not where there is no
// Vulkan beside CUDA, and no longer once neither sharing memory nor copying has worked.
bool orr_engine_shows_cuda(const orr_engine *engine);
