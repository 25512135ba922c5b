// For who presents: the finished frame as an image on the device instead of memory of the host.
#pragma once

#include "engine/device/vulkan_gpu.h"
#include "render/vulkan/draw.h"

typedef struct orr_vulkan_image {
    VkImage image; // R8G8B8A8_UNORM, bytes round(255 v) as displayed; premultiplied; usage: transfer source,
                   // sampled
    VkImageView view;
    VkImageLayout layout; // VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL; leave it so
    int width, height;
} orr_vulkan_image;

// As orr_vulkan_draw_submit, for a frame that ends in an image.
orr_result orr_vulkan_draw_submit_image(orr_vulkan_draw *draw, const orr_draw_list *list, orr_error *error);
// Completes the oldest frame, which submit_image started. The image is written when this returns, and stays
// so until frames_in_flight more submits; commands of the same queue that read it need no semaphore.
orr_result orr_vulkan_draw_finish_image(orr_vulkan_draw *draw, orr_vulkan_image *image, orr_profile *profile,
                                        orr_error *error);
