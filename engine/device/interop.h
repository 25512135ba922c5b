// What passes between Vulkan and CUDA: memory that both access, and the timelines that order it. Only
// interop*.c pass memory or semaphores from one to the other.
//
//   shared   one GPU (equal UUIDs): Vulkan allocates and exports a file descriptor, CUDA maps the same bytes
//   copies   any two GPUs: memory on either side, and pinned memory of the host between them
//
// Timelines are Vulkan's. CUDA waits for them and signals them where the driver exports them, otherwise the
// host does so in CUDA's stream. This header needs no headers of Vulkan or CUDA; interop_gpu.h does.
#pragma once

#include "engine/device/cuda.h"
#include "engine/device/vulkan.h"

typedef struct orr_interop orr_interop;

// Both devices are borrowed and must outlive it. With `shared`, DEVICE_SHARING when they are not the same GPU
// or Vulkan's driver does not export memory, or the error of importing: a buffer is shared to find out.
// FEATURE_ABSENT in a build without either of them.
orr_result orr_interop_create(orr_vk *vk, orr_cuda *cuda, bool shared, orr_interop **interop,
                              orr_error *error);
void orr_interop_destroy(orr_interop *interop); // NULL is allowed; waits for both; after its buffers
// Does CUDA work on the timelines itself? Otherwise the host carries them.
bool orr_interop_has_timelines(const orr_interop *interop);
