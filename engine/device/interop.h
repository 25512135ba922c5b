// What passes between Vulkan and CUDA: memory that both work on, and the timelines that say when. The only files that hand
// memory or semaphores from one to the other are interop*.c.
//
//   shared   one card (the UUIDs are equal): Vulkan allocates, exports a file descriptor, CUDA maps the same bytes
//   copies   any two cards: memory on either side, and pinned memory of the host between them
//
// Timelines are Vulkan's. CUDA waits for them and signals them by itself where the driver exports them; elsewhere the host
// does it, in its turn in CUDA's stream. This header needs neither Vulkan's headers nor CUDA's; interop_gpu.h does.
#pragma once

#include "engine/device/cuda.h"
#include "engine/device/vulkan.h"

typedef struct orr_interop orr_interop;

// Both devices are borrowed and must outlive it. With `shared`, DEVICE_SHARING when they are not the same card or Vulkan's
// driver does not export memory, and whatever importing ends with: a buffer is shared once to find out. FEATURE_ABSENT in a
// build without either of them.
orr_result orr_interop_create(orr_vk *vk, orr_cuda *cuda, bool shared, orr_interop **interop,
                              orr_error *error);
void orr_interop_destroy(orr_interop *interop); // NULL is allowed; waits for both; after its buffers
// Does CUDA work on the timelines itself? Otherwise the host carries them.
bool orr_interop_has_timelines(const orr_interop *interop);
