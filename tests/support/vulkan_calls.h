// The calls by which Vulkan's objects come and go, with an ear on them: counts what is alive, lets one call fail, and stands
// in for what a driver lacks. For tests that run one device at a time on the functions that volk loads.
#pragma once

#include <volk.h>

// From now on until the process ends. After the first device was opened.
void listen_to_vulkan(void);
int live_vulkan_objects(void); // memory, buffers, images, views, semaphores, command pools
// The call-th of the calls to come that are listened to answers `result` instead (1: the next; 0: none).
void fail_vulkan_call(int call, VkResult result);
int vulkan_calls_left(void); // until it fails
// vkCreateSemaphore takes exportable timelines, and vkGetSemaphoreFdKHR gives descriptors that the emulated CUDA imports.
void export_timelines(void);
