#include "render/window/present_swapchain.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

// An engine may have a Vulkan instance without a window beside ours, and volk's pointers to instance
// extensions belong to the instance made last: here they are loaded by instance.
#define INSTANCE_CALL(vk, name) ((PFN_##name)vkGetInstanceProcAddr((vk)->instance, #name))

static orr_result create_surface(orr_vk *vk, GLFWwindow *window, orr_swapchain *s, orr_error *error)
{
    VkResult result = glfwCreateWindowSurface(vk->instance, window, NULL, &s->surface);
    if (result != VK_SUCCESS) {
        s->surface = VK_NULL_HANDLE;
        const char *why = NULL;
        glfwGetError(&why);
        return orr_fail(error, ORR_CODE_WINDOW, "window: no Vulkan surface: %s",
                        why ? why : "the window is gone or its display has no Vulkan");
    }
    VkBool32 presents = VK_FALSE;
    ORR_VK_TRY(INSTANCE_CALL(vk, vkGetPhysicalDeviceSurfaceSupportKHR)(vk->physical, vk->queue_family,
                                                                       s->surface, &presents),
               error);
    return presents ? ORR_OK
                    : orr_fail(error, ORR_CODE_WINDOW, "window: %s does not present to this display",
                               orr_vk_name(vk));
}

static orr_result choose_format(orr_vk *vk, orr_swapchain *s, VkColorSpaceKHR *space, orr_error *error)
{
    VkSurfaceFormatKHR formats[64];
    uint32_t count = 64;
    VkResult result =
        INSTANCE_CALL(vk, vkGetPhysicalDeviceSurfaceFormatsKHR)(vk->physical, s->surface, &count, formats);
    if (result != VK_INCOMPLETE) {
        ORR_TRY(orr_vk_check(result, "vkGetPhysicalDeviceSurfaceFormatsKHR", error));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (formats[i].format == VK_FORMAT_B8G8R8A8_UNORM || formats[i].format == VK_FORMAT_R8G8B8A8_UNORM) {
            s->format = formats[i].format;
            *space = formats[i].colorSpace;
            return ORR_OK;
        }
    }
    return orr_fail(error, ORR_CODE_WINDOW, "window: %s offers no 8-bit UNORM pictures for this display",
                    orr_vk_name(vk));
}

static void destroy_images(orr_vk *vk, orr_swapchain *s)
{
    for (uint32_t i = 0; i < s->image_count; i++) {
        vkDestroyImageView(vk->device, s->views[i], NULL);
        vkDestroySemaphore(vk->device, s->drawn[i], NULL);
        s->views[i] = VK_NULL_HANDLE;
        s->drawn[i] = VK_NULL_HANDLE;
    }
    s->image_count = 0;
}

static orr_result create_images(orr_vk *vk, orr_swapchain *s, orr_error *error)
{
    uint32_t count = ORR_SWAPCHAIN_IMAGES;
    ORR_VK_TRY(vkGetSwapchainImagesKHR(vk->device, s->swapchain, &count, s->images), error);
    for (; s->image_count < count; s->image_count++) {
        const VkImageViewCreateInfo view = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = s->images[s->image_count],
            .viewType = VK_IMAGE_VIEW_TYPE_2D,
            .format = s->format,
            .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
        };
        const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        ORR_VK_TRY(vkCreateImageView(vk->device, &view, NULL, &s->views[s->image_count]), error);
        VkResult result = vkCreateSemaphore(vk->device, &semaphore, NULL, &s->drawn[s->image_count]);
        if (result != VK_SUCCESS) {
            vkDestroyImageView(vk->device, s->views[s->image_count], NULL);
            return orr_vk_check(result, "vkCreateSemaphore", error);
        }
    }
    return ORR_OK;
}

static uint32_t clamp(int value, uint32_t low, uint32_t high)
{
    uint32_t v = value > 0 ? (uint32_t)value : 0;
    return v < low ? low : v > high ? high : v;
}

static orr_result create_swapchain(orr_vk *vk, GLFWwindow *window, orr_swapchain *s, orr_error *error)
{
    VkSurfaceCapabilitiesKHR can;
    VkResult result =
        INSTANCE_CALL(vk, vkGetPhysicalDeviceSurfaceCapabilitiesKHR)(vk->physical, s->surface, &can);
    s->surface_lost = result == VK_ERROR_SURFACE_LOST_KHR;
    ORR_TRY(orr_vk_check(result, "vkGetPhysicalDeviceSurfaceCapabilitiesKHR", error));
    VkExtent2D extent = can.currentExtent;
    if (extent.width == UINT32_MAX) { // the window takes the size of its pictures
        int width, height;
        glfwGetFramebufferSize(window, &width, &height);
        extent.width = clamp(width, can.minImageExtent.width, can.maxImageExtent.width);
        extent.height = clamp(height, can.minImageExtent.height, can.maxImageExtent.height);
    }
    VkSwapchainKHR old = s->swapchain;
    s->swapchain = VK_NULL_HANDLE;
    result = VK_SUCCESS;
    VkColorSpaceKHR space = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR;
    orr_result chosen = choose_format(vk, s, &space, error);
    if (chosen == ORR_OK && extent.width > 0 && extent.height > 0) {
        uint32_t images = can.minImageCount > 2 ? can.minImageCount : 3;
        const VkSwapchainCreateInfoKHR create = {
            .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
            .surface = s->surface,
            .minImageCount = can.maxImageCount && images > can.maxImageCount ? can.maxImageCount : images,
            .imageFormat = s->format,
            .imageColorSpace = space,
            .imageExtent = extent,
            .imageArrayLayers = 1,
            .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
            .imageSharingMode = VK_SHARING_MODE_EXCLUSIVE,
            .preTransform = can.currentTransform,
            .compositeAlpha = can.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                                  ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                                  : VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR,
            .presentMode = VK_PRESENT_MODE_FIFO_KHR,
            .clipped = VK_TRUE,
            .oldSwapchain = old,
        };
        result = vkCreateSwapchainKHR(vk->device, &create, NULL, &s->swapchain);
        s->surface_lost = result == VK_ERROR_SURFACE_LOST_KHR;
    }
    vkDestroySwapchainKHR(vk->device, old, NULL);
    ORR_TRY(chosen);
    ORR_TRY(orr_vk_check(result, "vkCreateSwapchainKHR", error));
    s->extent = extent;
    return s->swapchain ? create_images(vk, s, error) : ORR_OK;
}

orr_result orr_swapchain_prepare(orr_vk *vk, GLFWwindow *window, orr_swapchain *s, bool *ready,
                                 orr_error *error)
{
    *ready = s->swapchain && !s->stale;
    if (*ready) {
        return ORR_OK;
    }
    ORR_VK_TRY(vkDeviceWaitIdle(vk->device), error);
    destroy_images(vk, s);
    orr_result result = ORR_OK;
    for (int attempt = 0; attempt < 2; attempt++) { // that a surface is lost may show only here
        if (s->surface_lost) {
            orr_swapchain_destroy(vk, s);
        }
        if (!s->surface) {
            ORR_TRY(create_surface(vk, window, s, error));
        }
        result = create_swapchain(vk, window, s, error);
        if (!s->surface_lost) {
            break;
        }
    }
    s->stale = result != ORR_OK;
    *ready = result == ORR_OK && s->swapchain;
    return result;
}

// The result of a call on the swapchain: done, or not done but the swapchain only has to be created again, or
// an error.
static orr_result judge(orr_swapchain *s, VkResult result, const char *call, bool *done, orr_error *error)
{
    *done = result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR;
    switch (result) {
    case VK_SUBOPTIMAL_KHR:
    case VK_ERROR_OUT_OF_DATE_KHR:
        s->stale = true;
        return ORR_OK;
    case VK_ERROR_SURFACE_LOST_KHR:
        s->stale = s->surface_lost = true;
        return ORR_OK;
    default:
        return orr_vk_check(result, call, error);
    }
}

orr_result orr_swapchain_acquire(orr_vk *vk, orr_swapchain *s, VkSemaphore semaphore, uint32_t *image,
                                 bool *acquired, orr_error *error)
{
    VkResult result =
        vkAcquireNextImageKHR(vk->device, s->swapchain, UINT64_MAX, semaphore, VK_NULL_HANDLE, image);
    return judge(s, result, "vkAcquireNextImageKHR", acquired, error);
}

orr_result orr_swapchain_present(orr_vk *vk, orr_swapchain *s, uint32_t image, orr_error *error)
{
    const VkPresentInfoKHR present = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &s->drawn[image],
        .swapchainCount = 1,
        .pSwapchains = &s->swapchain,
        .pImageIndices = &image,
    };
    bool presented;
    return judge(s, vkQueuePresentKHR(vk->queue, &present), "vkQueuePresentKHR", &presented, error);
}

void orr_swapchain_destroy(orr_vk *vk, orr_swapchain *s)
{
    destroy_images(vk, s);
    if (s->swapchain) {
        vkDestroySwapchainKHR(vk->device, s->swapchain, NULL);
    }
    if (s->surface) {
        INSTANCE_CALL(vk, vkDestroySurfaceKHR)(vk->instance, s->surface, NULL);
    }
    *s = (orr_swapchain){0};
}
