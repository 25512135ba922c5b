// Ambient occlusion on Vulkan: from the depth of a picture's meshes, what is open above each pixel.
#pragma once

#include "engine/device/vulkan_gpu.h"

typedef struct orr_vulkan_occlusion {
    orr_vk *vk;
    orr_vk_compute search; // made when a frame needs it
    // height x width x 3 of what was searched last: its depth, and the sums of occlusion_formula.h
    orr_vk_buffer map;
} orr_vulkan_occlusion;

orr_result orr_vulkan_occlusion_create(orr_vk *vk, orr_vulkan_occlusion *occlusion, orr_error *error);
void orr_vulkan_occlusion_destroy(orr_vulkan_occlusion *occlusion); // all zeros are allowed

orr_result orr_vulkan_occlusion_prepare(orr_vulkan_occlusion *occlusion, orr_error *error);

bool orr_vulkan_occlusion_fits(const orr_vulkan_occlusion *occlusion, int64_t pixels);
// Enlarges the map; no frame may be in flight. CAPACITY when the device's buffers cannot be that large.
orr_result orr_vulkan_occlusion_grow(orr_vulkan_occlusion *occlusion, int64_t pixels, orr_error *error);

// Searches a picture. depth: of its opaque meshes along the camera's axis, infinity where there is none, in a
// layout for sampling; lighting: of meshes.h. Shaders recorded later may read the map.
void orr_vulkan_occlusion_record(const orr_vulkan_occlusion *occlusion, VkCommandBuffer commands,
                                 VkImageView depth, VkSampler sampler, VkBuffer lighting, int width,
                                 int height);
