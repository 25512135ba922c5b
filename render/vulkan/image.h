// The finished frame as an image on the device instead of memory of the host, for presenting.
#pragma once

#include "engine/device/vulkan_gpu.h"

typedef struct orr_vulkan_image {
    VkImage image; // R8G8B8A8_UNORM, bytes round(255 v) as displayed; premultiplied; usage: sampled, transfer
                   // source
    VkImageView view;
    VkImageLayout layout; // VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL; which readers must not change
    int width, height;
} orr_vulkan_image;
