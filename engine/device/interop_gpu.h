// For code that works on both devices: buffers that both see, and the order of who works on them.
//
// CUDA works in its device's stream, Vulkan in what orr_interop_submit sends. A buffer goes back and forth:
//
//   orr_interop_to_cuda      the stream goes on once Vulkan is done with all that was submitted here
//   ... kernels write buffer.cuda ...
//   orr_interop_to_vulkan    when the stream gets here, the buffer is Vulkan's
//   orr_interop_submit       commands that begin with orr_interop_acquire and end with orr_interop_release;
//                            they wait for the last to_vulkan
//   orr_interop_settle       the host waits for the stream, and learns what went wrong
#pragma once

#include "engine/device/cuda_gpu.h"
#include "engine/device/interop.h"
#include "engine/device/vulkan_gpu.h"

// Who writes it, most of the time: says where the memory of `copies` lies.
typedef enum orr_interop_direction { ORR_INTEROP_TO_VULKAN, ORR_INTEROP_TO_CUDA } orr_interop_direction;

// Owned by its creator. Shared: one allocation of Vulkan's; CUDA owns the descriptor that was imported.
typedef struct orr_interop_buffer {
    orr_vk_buffer vulkan;
    void *cuda;                    // on CUDA's device
    size_t size;                   // [bytes]
    cudaExternalMemory_t imported; // shared
    void *pinned;                  // copies: on the host
} orr_interop_buffer;

// `what` is named in messages; on failure the buffer is empty.
orr_result orr_interop_buffer_create(orr_interop *interop, size_t size, orr_interop_direction direction,
                                     const char *what, orr_interop_buffer *buffer, orr_error *error);
// The devices must be done with it. An empty one is allowed.
void orr_interop_buffer_destroy(orr_interop *interop, orr_interop_buffer *buffer);

// buffer: whose first `bytes` bytes the receiver is to see; NULL: only the order matters. None of them waits.
orr_result orr_interop_to_vulkan(orr_interop *interop, const orr_interop_buffer *buffer, size_t bytes,
                                 orr_error *error);
orr_result orr_interop_to_cuda(orr_interop *interop, const orr_interop_buffer *buffer, size_t bytes,
                               orr_error *error);
// *value: of Vulkan's timeline when the commands are done.
orr_result orr_interop_submit(orr_interop *interop, VkCommandBuffer commands, uint64_t *value,
                              orr_error *error);
void orr_interop_acquire(const orr_interop *interop, VkCommandBuffer commands,
                         const orr_interop_buffer *buffer);
void orr_interop_release(const orr_interop *interop, VkCommandBuffer commands,
                         const orr_interop_buffer *buffer);

// The host waits until Vulkan's timeline has that value.
orr_result orr_interop_reach(orr_interop *interop, uint64_t value, orr_error *error);
// The host waits for the stream. When CUDA fails, commands that wait for it continue, so that no queue hangs.
orr_result orr_interop_settle(orr_interop *interop, orr_error *error);
