// A Vulkan layer for tests: lets one call on the swapchain fail. ORR_FAULT="CALL N RESULT": the N-th call
// (from 1) of vkAcquireNextImageKHR ("acquire") or vkQueuePresentKHR ("present") answers the VkResult RESULT.
#define VK_NO_PROTOTYPES
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

// a layer has no other place: the loader hands it no context, and a test has one device at a time
static PFN_vkGetInstanceProcAddr next_instance_proc;
static PFN_vkGetDeviceProcAddr next_device_proc;
static VkInstance instance_now;
static VkDevice presenting_device;
static PFN_vkQueueSubmit2 next_submit; // one driver, so that one serves every device
static int acquires, presents, submits;

static bool fails(const char *call, int count, VkResult *result)
{
    const char *plan = getenv("ORR_FAULT");
    char name[16];
    int at, code;
    if (plan && sscanf(plan, "%15s %d %d", name, &at, &code) == 3 && strcmp(name, call) == 0 && at == count) {
        fprintf(stderr, "fault: %s\n", plan);
        *result = (VkResult)code;
        return true;
    }
    return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL acquire(VkDevice device, VkSwapchainKHR swapchain, uint64_t timeout,
                                              VkSemaphore semaphore, VkFence fence, uint32_t *image)
{
    VkResult result;
    if (fails("acquire", ++acquires, &result)) {
        return result;
    }
    PFN_vkAcquireNextImageKHR next =
        (PFN_vkAcquireNextImageKHR)next_device_proc(device, "vkAcquireNextImageKHR");
    return next(device, swapchain, timeout, semaphore, fence, image);
}

static VKAPI_ATTR VkResult VKAPI_CALL present(VkQueue queue, const VkPresentInfoKHR *info)
{
    PFN_vkQueuePresentKHR next =
        (PFN_vkQueuePresentKHR)next_device_proc(presenting_device, "vkQueuePresentKHR");
    VkResult real = next(queue, info), result; // the semaphores are waited for, as the specification wants it
    return fails("present", ++presents, &result) ? result : real;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                             VkFence fence)
{
    VkResult result;
    if (fails("submit", ++submits, &result)) {
        return result;
    }
    return next_submit(queue, count, infos, fence);
}

static PFN_vkVoidFunction intercepted(const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction call;
    } calls[] = {{"vkAcquireNextImageKHR", (PFN_vkVoidFunction)acquire},
                 {"vkQueuePresentKHR", (PFN_vkVoidFunction)present},
                 {"vkQueueSubmit2", (PFN_vkVoidFunction)submit}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(name, calls[i].name) == 0) {
            return calls[i].call;
        }
    }
    return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction ours = intercepted(name);
    return ours ? ours : next_device_proc(device, name);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *instance)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO ||
           link->function != VK_LAYER_LINK_INFO) {
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    }
    next_instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateInstance next = (PFN_vkCreateInstance)next_instance_proc(NULL, "vkCreateInstance");
    VkResult result = next(info, allocator, instance);
    instance_now = *instance;
    return result;
}

static bool has_swapchain(const VkDeviceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (strcmp(info->ppEnabledExtensionNames[i], VK_KHR_SWAPCHAIN_EXTENSION_NAME) == 0) {
            return true;
        }
    }
    return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *device)
{
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO ||
           link->function != VK_LAYER_LINK_INFO) {
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    }
    PFN_vkGetInstanceProcAddr instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    next_device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateDevice next = (PFN_vkCreateDevice)instance_proc(instance_now, "vkCreateDevice");
    VkResult result = next(physical, info, allocator, device);
    if (result == VK_SUCCESS) {
        next_submit = (PFN_vkQueueSubmit2)next_device_proc(*device, "vkQueueSubmit2");
        presenting_device = has_swapchain(info) ? *device : presenting_device;
    }
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkCreateInstance") == 0) {
        return (PFN_vkVoidFunction)create_instance;
    }
    if (strcmp(name, "vkCreateDevice") == 0) {
        return (PFN_vkVoidFunction)create_device;
    }
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        return (PFN_vkVoidFunction)device_proc;
    }
    PFN_vkVoidFunction ours = intercepted(name);
    return ours || !next_instance_proc ? ours : next_instance_proc(instance, name);
}

EXPORT VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface)
{
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = instance_proc;
    interface->pfnGetDeviceProcAddr = device_proc;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
