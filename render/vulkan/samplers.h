// Vulkan's samplers of textures: one for each way of looking textures up that a mesh has asked for.
#pragma once

#include "engine/device/vulkan_gpu.h"
#include "engine/mesh/mesh_file.h"

enum { ORR_VULKAN_SAMPLERS = 3 * 3 * 2 * 2 * 2 };

typedef struct orr_vulkan_samplers {
    VkSampler made[ORR_VULKAN_SAMPLERS]; // VK_NULL_HANDLE: not asked for yet
} orr_vulkan_samplers;

// One that the caller destroys. The shader mixes levels itself: it is of the level nearest to the one that a
// lookup names.
orr_result orr_vulkan_sampler_create(orr_vk *vk, const orr_texture_sampler *how, VkSampler *sampler,
                                     orr_error *error);
// One that is made when it is new, and lives as long as `samplers`.
orr_result orr_vulkan_samplers_take(orr_vk *vk, orr_vulkan_samplers *samplers, const orr_texture_sampler *how,
                                    VkSampler *sampler, orr_error *error);
void orr_vulkan_samplers_destroy(orr_vk *vk, orr_vulkan_samplers *samplers);
