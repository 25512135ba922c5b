// Copies from the host to device-local buffers and images. Blocks until done: for data that is uploaded once.
#pragma once

#include "engine/device/vulkan_gpu.h"

typedef struct orr_vulkan_upload {
    orr_vk *vk;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore timeline;
    uint64_t value;
    orr_vk_buffer staging;
} orr_vulkan_upload;

orr_result orr_vulkan_upload_create(orr_vk *vk, orr_vulkan_upload *upload, orr_error *error);
void orr_vulkan_upload_destroy(orr_vulkan_upload *upload);

// Host memory of `size` bytes to write to; the next call sends it.
orr_result orr_vulkan_upload_begin(orr_vulkan_upload *upload, size_t size, void **bytes, orr_error *error);
// Sends it to a buffer of at least that size.
orr_result orr_vulkan_upload_buffer(orr_vulkan_upload *upload, const orr_vk_buffer *target, orr_error *error);
// Sends it to an image of four bytes (or four floats) per pixel, its levels one after the other; leaves the
// image in a layout for sampling.
orr_result orr_vulkan_upload_image(orr_vulkan_upload *upload, const orr_vk_image *target, orr_error *error);
