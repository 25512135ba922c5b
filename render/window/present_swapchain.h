// The surface of a window and its swapchain, for present.c.
#pragma once

#include "engine/device/vulkan_gpu.h"

struct GLFWwindow;

enum { ORR_SWAPCHAIN_IMAGES = 16 }; // more than any driver returns for a request of three

typedef struct orr_swapchain {
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain; // VK_NULL_HANDLE while the window has no area
    VkFormat format;          // 8-bit UNORM: pictures are display-referred and are not encoded again
    VkExtent2D extent;
    uint32_t image_count;
    VkImage images[ORR_SWAPCHAIN_IMAGES];
    VkImageView views[ORR_SWAPCHAIN_IMAGES];
    VkSemaphore drawn[ORR_SWAPCHAIN_IMAGES]; // per image: what presenting waits for
    bool stale;                              // create it again before the next frame
    bool surface_lost;                       // and the surface
} orr_swapchain;

// Creates what is missing or stale. *ready: false while the window has no area.
orr_result orr_swapchain_prepare(orr_vk *vk, struct GLFWwindow *window, orr_swapchain *swapchain, bool *ready,
                                 orr_error *error);
// The next image to draw into; *acquired is false when the swapchain turned out stale: prepare and try again.
orr_result orr_swapchain_acquire(orr_vk *vk, orr_swapchain *swapchain, VkSemaphore semaphore, uint32_t *image,
                                 bool *acquired, orr_error *error);
orr_result orr_swapchain_present(orr_vk *vk, orr_swapchain *swapchain, uint32_t image, orr_error *error);
void orr_swapchain_destroy(orr_vk *vk, orr_swapchain *swapchain); // an empty one is allowed
