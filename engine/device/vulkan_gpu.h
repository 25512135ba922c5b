// The Vulkan device from the inside: for code that records commands.
#pragma once

#include "engine/device/vulkan.h"

#include <volk.h>

#include <pthread.h>
#include <stdatomic.h>

struct orr_vk {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue; // graphics, compute and transfer; present too when the surface agrees
    uint32_t queue_family;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkPipelineCache pipeline_cache;
    uint8_t uuid[16];                        // of the GPU, in every program and driver
    bool exports_memory, exports_semaphores; // of timelines, as file descriptors (interop.h)
    // NULL: not offered, or not against the host's monotonic clock
    PFN_vkGetCalibratedTimestampsEXT get_calibrated_timestamps;

    orr_log log;
    VkDebugUtilsMessengerEXT messenger;
    atomic_int validation_count;
    pthread_mutex_t validation_lock;
    char validation_message[1024];
};

// OK, or a line that names the call: DEVICE_LOST, DEVICE_MEMORY or DEVICE_CALL.
orr_result orr_vk_check(VkResult result, const char *call, orr_error *error);

// Calls vkWhat and returns early when it fails.
#define ORR_VK_TRY(call, error) ORR_TRY(orr_vk_check((call), #call, error))

// ---- buffers and images: one allocation each ----

typedef struct orr_vk_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size; // [bytes]
    void *mapped;      // host-visible memory stays mapped (and is coherent); NULL: device-local
} orr_vk_buffer;

typedef enum orr_vk_residence {
    ORR_VK_ON_DEVICE, // fast for the device, not mapped
    ORR_VK_UPLOAD,    // mapped, for the host to write
    ORR_VK_READBACK   // mapped, for the host to read (cached where there is such memory)
} orr_vk_residence;

// Usable as storage, transfer source and target, and what `usage` adds. Zero size gives a small buffer.
// `what` is named in the message; on failure *buffer is empty.
orr_result orr_vk_buffer_create(orr_vk *vk, VkDeviceSize size, orr_vk_residence residence,
                                VkBufferUsageFlags usage, const char *what, orr_vk_buffer *buffer,
                                orr_error *error);
// The same on the device, in memory that can be handed out as a file descriptor (vk->exports_memory).
typedef struct orr_vk_export {
    VkDeviceSize size; // of the memory, which may be more than the buffer's [bytes]
    bool dedicated;    // who takes it in must know
} orr_vk_export;
orr_result orr_vk_buffer_create_exportable(orr_vk *vk, VkDeviceSize size, VkBufferUsageFlags usage,
                                           const char *what, orr_vk_buffer *buffer, orr_vk_export *memory,
                                           orr_error *error);
void orr_vk_buffer_destroy(orr_vk *vk, orr_vk_buffer *buffer); // an empty one is allowed

typedef struct orr_vk_image {
    VkImage image;
    VkImageView view;
    VkDeviceMemory memory;
    VkFormat format;
    int width, height, levels;
    int samples; // of a pixel
} orr_vk_image;

// A two-dimensional, device-local image with one mip level; or with several.
orr_result orr_vk_image_create(orr_vk *vk, int width, int height, VkFormat format, VkImageUsageFlags usage,
                               const char *what, orr_vk_image *image, orr_error *error);
orr_result orr_vk_image_create_levels(orr_vk *vk, int width, int height, int levels, VkFormat format,
                                      VkImageUsageFlags usage, const char *what, orr_vk_image *image,
                                      orr_error *error);
// One mip level and so many samples of each pixel: 1 or 4, which all devices have.
orr_result orr_vk_image_create_samples(orr_vk *vk, int width, int height, int samples, VkFormat format,
                                       VkImageUsageFlags usage, const char *what, orr_vk_image *image,
                                       orr_error *error);
void orr_vk_image_destroy(orr_vk *vk, orr_vk_image *image);

// ---- pipelines ----

enum { ORR_VK_BINDINGS = 17, ORR_VK_CONSTANTS = 7 };

// A compute pipeline whose bindings 0 .. are pushed with each use: `types` one character each, 'b' storage
// buffer, 't' sampled image, 'w' storage image.
typedef struct orr_vk_compute {
    VkPipeline pipeline;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout;
    int binding_count;
    char types[ORR_VK_BINDINGS];
} orr_vk_compute;

typedef struct orr_vk_code {
    const char *name; // for messages
    const uint32_t *words;
    size_t size; // [bytes]
} orr_vk_code;

// `push_size`: bytes of push constants, at most 128.
orr_result orr_vk_compute_create(orr_vk *vk, orr_vk_code code, const char *types, uint32_t push_size,
                                 orr_vk_compute *compute, orr_error *error);
void orr_vk_compute_destroy(orr_vk *vk, orr_vk_compute *compute);

// What a binding refers to: a buffer (whole), or an image view in the layout the shader needs it in.
typedef struct orr_vk_binding {
    VkBuffer buffer;
    VkImageView view;
    VkSampler sampler;
} orr_vk_binding;

// Binds the pipeline and its `binding_count` bindings, and pushes its constants.
void orr_vk_compute_bind(VkCommandBuffer commands, const orr_vk_compute *compute,
                         const orr_vk_binding *bindings, const void *push, uint32_t push_size);

// A graphics pipeline of triangle lists; the bindings of its fragment shader are pushed.
typedef struct orr_vk_graphics {
    VkPipeline pipeline;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout;
    VkShaderStageFlags push_stages;
    uint32_t push_size;
    bool has_depth;
    int binding_count;
    char types[ORR_VK_BINDINGS];
} orr_vk_graphics;

typedef struct orr_vk_graphics_desc {
    orr_vk_code vertex, fragment;
    uint32_t vertex_stride; // [bytes]
    uint32_t second_stride; // of the vertices in a second buffer, binding 1 [bytes]; 0: there is none
    const VkVertexInputAttributeDescription *attributes; // attribute_count
    uint32_t attribute_count;
    const char *types; // of the bindings, as orr_vk_compute has them
    VkShaderStageFlags push_stages;
    uint32_t push_size;               // [bytes], 1 .. 128
    VkFormat colour;                  // of the image drawn into
    VkFormat depth;                   // the greater one wins; VK_FORMAT_UNDEFINED: no depth
    int samples;                      // of a pixel of both; 0: 1
    bool over;                        // blended over what is there, premultiplied; false: replaces it
    bool writes_nothing;              // neither colour nor depth: the shader writes elsewhere
    bool constants[ORR_VK_CONSTANTS]; // 0 .. of the fragment shader, where it has them
} orr_vk_graphics_desc;

orr_result orr_vk_graphics_create(orr_vk *vk, const orr_vk_graphics_desc *desc, orr_vk_graphics *graphics,
                                  orr_error *error);                 // on failure *graphics is empty
void orr_vk_graphics_destroy(orr_vk *vk, orr_vk_graphics *graphics); // an empty one is allowed
// Binds the pipeline for a picture of that area.
void orr_vk_graphics_bind(VkCommandBuffer commands, const orr_vk_graphics *graphics, VkRect2D area,
                          VkCullModeFlags cull);
// Pushes its bindings, one for each of `types`, and the push_size bytes of constants.
void orr_vk_graphics_push(VkCommandBuffer commands, const orr_vk_graphics *graphics,
                          const orr_vk_binding *bindings, const void *push);

// ---- commands ----

// A pool and `count` command buffers from it, each to be recorded again and again; they go with their pool.
orr_result orr_vk_commands_create(orr_vk *vk, VkCommandPool *pool, VkCommandBuffer *commands, uint32_t count,
                                  orr_error *error);
orr_result orr_vk_commands_begin(VkCommandBuffer commands, orr_error *error); // to be submitted once

// Everything written by `from` is seen by `to`.
void orr_vk_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from_stage, VkAccessFlags2 from_access,
                    VkPipelineStageFlags2 to_stage, VkAccessFlags2 to_access);
void orr_vk_image_barrier(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect,
                          VkImageLayout from, VkImageLayout to, VkPipelineStageFlags2 from_stage,
                          VkAccessFlags2 from_access, VkPipelineStageFlags2 to_stage,
                          VkAccessFlags2 to_access);

orr_result orr_vk_timeline_create(orr_vk *vk, VkSemaphore *semaphore, orr_error *error); // starts at 0
orr_result orr_vk_timeline_wait(orr_vk *vk, VkSemaphore semaphore, uint64_t value, orr_error *error);
// Submits one command buffer that signals `value` when it is done.
orr_result orr_vk_submit(orr_vk *vk, VkCommandBuffer commands, VkSemaphore semaphore, uint64_t value,
                         orr_error *error);
// The same between a semaphore to wait for (nullable) and one to signal; the fence may be VK_NULL_HANDLE.
orr_result orr_vk_submit_between(orr_vk *vk, VkCommandBuffer commands, const VkSemaphoreSubmitInfo *wait,
                                 const VkSemaphoreSubmitInfo *signal, VkFence fence, orr_error *error);

// ---- the clock ----

// The device's clock against the host's (orr_clock_nanoseconds). They drift apart by microseconds per second:
// compare them again for long measurements.
typedef struct orr_vk_clock {
    uint64_t ticks, nanoseconds; // the same moment on both
    uint64_t uncertainty;        // [ns] either way
    double period;               // [ns] of a tick
    uint32_t valid_bits;
    const char *method;
} orr_vk_clock;
// Without calibrated timestamps nothing must be under way on the queue.
orr_result orr_vk_clock_calibrate(orr_vk *vk, orr_vk_clock *clock, orr_error *error);
// When a timestamp was written.
uint64_t orr_vk_clock_nanoseconds(const orr_vk_clock *clock, uint64_t ticks);
