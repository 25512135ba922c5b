// Which devices there are, what they lack, and which one to take.
#pragma once

#include "engine/device/vulkan_gpu.h"

// The functions of the loader, opened once per process. DEVICE_ABSENT when there is none.
orr_result orr_vk_open_loader(orr_error *error);

// An instance of Vulkan 1.3; `validate` adds the validation layer.
orr_result orr_vk_instance_create(const orr_vk_desc *desc, VkInstance *instance, orr_error *error);

bool orr_vk_has_extension(VkPhysicalDevice physical, const char *name);

// The device that `wanted` names (an index or part of a name; NULL: the best), and its queue family.
orr_result orr_vk_choose(VkInstance instance, const char *wanted, bool present, VkPhysicalDevice *physical,
                         uint32_t *queue_family, orr_error *error);
