// Reads a presented image back to the host.
#pragma once

#include "render/vulkan/image.h"

// rgba: height x width x 4 bytes. Waits for it.
void read_image(orr_vk *vk, const orr_vulkan_image *image, uint8_t *rgba);
