// Drawing into a swapchain's image: the picture's texture and the overlay's triangles, for present.c.
#pragma once

#include "engine/device/vulkan_gpu.h"
#include "render/window/present.h"
#include "render/window/present_swapchain.h"

enum { ORR_PRESENT_SLOTS = 2 }; // frames in flight

// Resources of one frame in flight.
typedef struct orr_present_slot {
    VkCommandBuffer commands;
    VkSemaphore acquired; // the swapchain's image may be drawn into
    VkFence done;         // the device is done with this slot
    orr_vk_buffer geometry;
    orr_vk_buffer staging; // pixels that are copied to a texture
} orr_present_slot;

typedef struct orr_present_draw {
    VkCommandPool pool;
    VkSampler sampler;
    orr_vk_graphics pipeline;
    VkFormat format; // of the images the pipeline draws into
    orr_present_slot slots[ORR_PRESENT_SLOTS];
    int slot; // of the next frame
    orr_vk_image picture, coverage;
    uint64_t revision, coverage_revision; // of what is in the textures; 0: nothing
} orr_present_draw;

orr_result orr_present_draw_create(orr_vk *vk, orr_present_draw *draw, orr_error *error);
// Waits until a slot is free and brings its pixels and triangles into the slot's memory.
orr_result orr_present_draw_begin(orr_vk *vk, orr_present_draw *draw, VkFormat format, orr_error *error);
// Draws into an acquired image of the swapchain and submits; the image's `drawn` semaphore is signalled.
orr_result orr_present_draw_image(orr_vk *vk, orr_present_draw *draw, const orr_swapchain *swapchain,
                                  uint32_t image, const orr_present_picture *picture,
                                  const orr_overlay *overlay, orr_error *error);
void orr_present_draw_destroy(orr_vk *vk, orr_present_draw *draw); // an empty one is allowed
