#include "tests/support/vulkan_calls.h"

#include "tests/cuda_emu/emu.h"

static int live, calls_left;
static VkResult fail_with;
static bool exporting;

// Is this the call?
static bool fails(VkResult *result)
{
    bool now = calls_left > 0 && --calls_left == 0;
    *result = now ? fail_with : VK_SUCCESS;
    return now;
}

// names of types and functions cannot be in parentheses
// NOLINTBEGIN(bugprone-macro-parentheses)
// CREATE(what, info, handle): vkWhat(device, info, allocator, *handle) makes one more
#define CREATE(name, info_type, handle_type)                                                                 \
    static PFN_##name real_##name;                                                                           \
    static VKAPI_ATTR VkResult VKAPI_CALL my_##name(                                                         \
        VkDevice device, const info_type *info, const VkAllocationCallbacks *allocator, handle_type *handle) \
    {                                                                                                        \
        VkResult result;                                                                                     \
        if (fails(&result)) {                                                                                \
            return result;                                                                                   \
        }                                                                                                    \
        result = real_##name(device, info, allocator, handle);                                               \
        live += result == VK_SUCCESS;                                                                        \
        return result;                                                                                       \
    }
#define DESTROY(name, handle_type)                                                                           \
    static PFN_##name real_##name;                                                                           \
    static VKAPI_ATTR void VKAPI_CALL my_##name(VkDevice device, handle_type handle,                         \
                                                const VkAllocationCallbacks *allocator)                      \
    {                                                                                                        \
        live -= handle != VK_NULL_HANDLE;                                                                    \
        real_##name(device, handle, allocator);                                                              \
    }
// CALL(name, (parameters), (arguments)): neither makes nor ends anything
#define CALL(name, parameters, arguments)                                                                    \
    static PFN_##name real_##name;                                                                           \
    static VKAPI_ATTR VkResult VKAPI_CALL my_##name parameters                                               \
    {                                                                                                        \
        VkResult result;                                                                                     \
        return fails(&result) ? result : real_##name arguments;                                              \
    }

CREATE(vkAllocateMemory, VkMemoryAllocateInfo, VkDeviceMemory)
CREATE(vkCreateBuffer, VkBufferCreateInfo, VkBuffer)
CREATE(vkCreateImage, VkImageCreateInfo, VkImage)
CREATE(vkCreateImageView, VkImageViewCreateInfo, VkImageView)
CREATE(vkCreateCommandPool, VkCommandPoolCreateInfo, VkCommandPool)
DESTROY(vkFreeMemory, VkDeviceMemory)
DESTROY(vkDestroyBuffer, VkBuffer)
DESTROY(vkDestroyImage, VkImage)
DESTROY(vkDestroyImageView, VkImageView)
DESTROY(vkDestroyCommandPool, VkCommandPool)
DESTROY(vkDestroySemaphore, VkSemaphore)
CALL(vkBindBufferMemory, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o), (d, b, m, o))
CALL(vkMapMemory,
     (VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize s, VkMemoryMapFlags f, void **p),
     (d, m, o, s, f, p))
CALL(vkGetMemoryFdKHR, (VkDevice d, const VkMemoryGetFdInfoKHR *i, int *f), (d, i, f))
CALL(vkBeginCommandBuffer, (VkCommandBuffer c, const VkCommandBufferBeginInfo *i), (c, i))
CALL(vkEndCommandBuffer, (VkCommandBuffer c), (c))
CALL(vkQueueSubmit2, (VkQueue q, uint32_t n, const VkSubmitInfo2 *s, VkFence f), (q, n, s, f))
CALL(vkSignalSemaphore, (VkDevice d, const VkSemaphoreSignalInfo *i), (d, i))
CALL(vkWaitSemaphores, (VkDevice d, const VkSemaphoreWaitInfo *i, uint64_t t), (d, i, t))

static PFN_vkCreateSemaphore real_vkCreateSemaphore;
static VKAPI_ATTR VkResult VKAPI_CALL my_vkCreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                                                           const VkAllocationCallbacks *allocator,
                                                           VkSemaphore *semaphore)
{
    VkResult result;
    if (fails(&result)) {
        return result;
    }
    VkSemaphoreTypeCreateInfo type =
        *(const VkSemaphoreTypeCreateInfo *)info->pNext; // all of ours are timelines
    VkSemaphoreCreateInfo plain = *info;
    type.pNext = exporting ? NULL : type.pNext; // the driver knows nothing of it
    plain.pNext = &type;
    result = real_vkCreateSemaphore(device, &plain, allocator, semaphore);
    live += result == VK_SUCCESS;
    return result;
}

void hook_vulkan_calls(void)
{
#define LISTEN(name)                                                                                         \
    if (name != my_##name) {                                                                                 \
        real_##name = name;                                                                                  \
        name = my_##name;                                                                                    \
    }
    LISTEN(vkAllocateMemory)
    LISTEN(vkCreateBuffer)
    LISTEN(vkCreateImage)
    LISTEN(vkCreateImageView)
    LISTEN(vkCreateCommandPool)
    LISTEN(vkFreeMemory)
    LISTEN(vkDestroyBuffer)
    LISTEN(vkDestroyImage)
    LISTEN(vkDestroyImageView)
    LISTEN(vkDestroyCommandPool)
    LISTEN(vkDestroySemaphore)
    LISTEN(vkBindBufferMemory)
    LISTEN(vkMapMemory)
    LISTEN(vkGetMemoryFdKHR)
    LISTEN(vkBeginCommandBuffer)
    LISTEN(vkEndCommandBuffer)
    LISTEN(vkQueueSubmit2)
    LISTEN(vkSignalSemaphore)
    LISTEN(vkWaitSemaphores)
    LISTEN(vkCreateSemaphore)
}

int live_vulkan_objects(void)
{
    return live;
}

void fail_vulkan_call(int call, VkResult result)
{
    calls_left = call;
    fail_with = result;
}

int vulkan_calls_left(void)
{
    return calls_left;
}

// ---- timelines for CUDA ----

typedef struct exported {
    VkDevice device;
    VkSemaphore semaphore;
} exported;

static exported handed_out[64]; // used in turn: no test has so many at once
static int handed_out_count;

static void signal_exported(void *user, uint64_t value)
{
    const exported *e = user;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = e->semaphore,
        .value = value,
    };
    real_vkSignalSemaphore(e->device, &info);
}

static int wait_for_exported(void *user, uint64_t value)
{
    const exported *e = user;
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &e->semaphore,
        .pValues = &value,
    };
    return real_vkWaitSemaphores(e->device, &info, 5000000000u) == VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_semaphore(VkDevice device, const VkSemaphoreGetFdInfoKHR *info,
                                                    int *descriptor)
{
    VkResult result;
    if (fails(&result)) {
        return result;
    }
    exported *e = &handed_out[handed_out_count++ % 64];
    *e = (exported){device, info->semaphore};
    *descriptor = export_timeline(&(external_timeline){signal_exported, wait_for_exported, e});
    return *descriptor >= 0 ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS;
}

void export_timelines(void)
{
    exporting = true;
    vkGetSemaphoreFdKHR = get_semaphore;
}
// NOLINTEND(bugprone-macro-parentheses)
