#include "engine/device/vulkan_gpu.h"

#include <string.h>

orr_result orr_vk_check(VkResult result, const char *call, orr_error *error)
{
    // `call` may be the whole expression, arguments included: its name is enough
    int length = (int)strcspn(call, "(");
    switch (result) {
    case VK_SUCCESS:
        return ORR_OK;
    case VK_ERROR_DEVICE_LOST:
        return orr_fail(error, ORR_CODE_DEVICE_LOST, "Vulkan: %.*s: the device was lost", length, call);
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return orr_fail(error, ORR_CODE_DEVICE_MEMORY, "Vulkan: %.*s: out of memory", length, call);
    default:
        return orr_fail(error, ORR_CODE_DEVICE_CALL, "Vulkan: %.*s: failed with VkResult %d", length, call,
                        (int)result);
    }
}
