// Hooks on the calls that create and destroy Vulkan's objects: they count live objects, make a chosen call
// fail, and replace what a driver lacks. For tests that run one device at a time on the functions that volk
// loads.
#pragma once

#include <volk.h>

// Installs the hooks until the process ends. Call it after the first device was opened.
void hook_vulkan_calls(void);
int live_vulkan_objects(void); // memory, buffers, images, views, semaphores, command pools
// The call-th hooked call from now on returns `result` instead (1: the next; 0: none).
void fail_vulkan_call(int call, VkResult result);
int vulkan_calls_left(void); // before the one that fails
// vkCreateSemaphore takes exportable timelines, and vkGetSemaphoreFdKHR gives descriptors that the emulated
// CUDA imports.
void export_timelines(void);
