#include "engine/core/memory.h"
#include "engine/device/vulkan_choose.h"

#include <stdio.h>

static VKAPI_ATTR VkBool32 VKAPI_CALL receive_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                      VkDebugUtilsMessageTypeFlagsEXT types,
                                                      const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                      void *user)
{
    (void)types;
    orr_vk *vk = user;
    bool is_error = severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    pthread_mutex_lock(&vk->validation_lock);
    if (atomic_fetch_add(&vk->validation_count, 1) == 0) {
        snprintf(vk->validation_message, sizeof vk->validation_message, "%s", data->pMessage);
    }
    orr_log_line(vk->log, is_error ? ORR_LOG_ERROR : ORR_LOG_WARNING, ORR_CODE_DEVICE_VALIDATION, "%s",
                 data->pMessage);
    pthread_mutex_unlock(&vk->validation_lock);
    return VK_FALSE;
}

static orr_result create_messenger(orr_vk *vk, orr_error *error)
{
    const VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        // not GENERAL: there the loader complains about other programs' layers
        .messageType =
            VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = receive_message,
        .pUserData = vk,
    };
    // from this very instance: volk's pointers may come from one without the extension
    PFN_vkCreateDebugUtilsMessengerEXT create = (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
        vk->instance, "vkCreateDebugUtilsMessengerEXT");
    return orr_vk_check(create(vk->instance, &info, NULL, &vk->messenger), "vkCreateDebugUtilsMessengerEXT",
                        error);
}

// Can the device hand out memory and timelines of its own to others, on this machine's system?
static void find_exports(orr_vk *vk)
{
    const VkPhysicalDeviceExternalBufferInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    VkExternalBufferProperties memory = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vkGetPhysicalDeviceExternalBufferProperties(vk->physical, &buffer, &memory);
    vk->exports_memory =
        orr_vk_has_extension(vk->physical, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) &&
        (memory.externalMemoryProperties.externalMemoryFeatures & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT);
    const VkSemaphoreTypeCreateInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkPhysicalDeviceExternalSemaphoreInfo semaphore = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = &timeline,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    VkExternalSemaphoreProperties can = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    vkGetPhysicalDeviceExternalSemaphoreProperties(vk->physical, &semaphore, &can);
    vk->exports_semaphores =
        orr_vk_has_extension(vk->physical, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) &&
        (can.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT);
}

// The extension by which a driver compares its clock with the host's, if it can with the one we use; or NULL.
static const char *calibration_extension(const orr_vk *vk)
{
    if (!orr_vk_has_extension(vk->physical, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME)) {
        return NULL;
    }
    PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT list =
        (PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)vkGetInstanceProcAddr(
            vk->instance, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT");
    VkTimeDomainEXT domains[16];
    uint32_t count = 16;
    if (!list || list(vk->physical, &count, domains) < 0) {
        return NULL;
    }
    bool device = false, host = false;
    for (uint32_t i = 0; i < count; i++) {
        device |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
        host |= domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    }
    return device && host ? VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME : NULL;
}

static orr_result create_device(orr_vk *vk, bool present, orr_error *error)
{
    VkPhysicalDeviceVulkan13Features thirteen = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE,
        .dynamicRendering = VK_TRUE,
        .maintenance4 = VK_TRUE,
    };
    VkPhysicalDeviceVulkan12Features twelve = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &thirteen,
        .timelineSemaphore = VK_TRUE,
        .scalarBlockLayout = VK_TRUE,
    };
    enum { EXTENSIONS_MAX = 8 };
    const char *extensions[EXTENSIONS_MAX] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
    uint32_t extension_count = 1;
    if (present) {
        extensions[extension_count++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    }
    if (vk->exports_memory) {
        extensions[extension_count++] = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    }
    if (vk->exports_semaphores) {
        extensions[extension_count++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    }
    const char *calibration = calibration_extension(vk);
    if (calibration) {
        extensions[extension_count++] = calibration;
    }
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = vk->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &twelve,
        .pEnabledFeatures = &(VkPhysicalDeviceFeatures){.fragmentStoresAndAtomics = VK_TRUE},
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
    };
    ORR_VK_TRY(vkCreateDevice(vk->physical, &info, NULL, &vk->device), error);
    vkGetDeviceQueue(vk->device, vk->queue_family, 0, &vk->queue);
    if (calibration) {
        vk->get_calibrated_timestamps =
            (PFN_vkGetCalibratedTimestampsEXT)vkGetDeviceProcAddr(vk->device, "vkGetCalibratedTimestampsEXT");
    }
    const VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    ORR_VK_TRY(vkCreatePipelineCache(vk->device, &cache, NULL, &vk->pipeline_cache), error);
    return ORR_OK;
}

static orr_result initialise(orr_vk *vk, const orr_vk_desc *desc, orr_error *error)
{
    ORR_TRY(orr_vk_open_loader(error));
    ORR_TRY(orr_vk_instance_create(desc, &vk->instance, error));
    if (desc->validate) {
        ORR_TRY(create_messenger(vk, error));
    }
    ORR_TRY(orr_vk_choose(vk->instance, desc, &vk->physical, &vk->queue_family, error));
    vkGetPhysicalDeviceProperties(vk->physical, &vk->properties);
    vkGetPhysicalDeviceMemoryProperties(vk->physical, &vk->memory);
    orr_vk_read_uuid(vk->physical, vk->uuid);
    find_exports(vk);
    return create_device(vk, desc->present, error);
}

orr_result orr_vk_create(const orr_vk_desc *desc, orr_vk **out, orr_error *error)
{
    *out = NULL;
    orr_vk *vk = orr_alloc_zero(1, sizeof *vk);
    if (!vk) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a Vulkan device");
    }
    vk->log = desc->log;
    pthread_mutex_init(&vk->validation_lock, NULL);
    orr_result result = initialise(vk, desc, error);
    if (result != ORR_OK) {
        orr_vk_destroy(vk);
        return result;
    }
    *out = vk;
    return ORR_OK;
}

void orr_vk_destroy(orr_vk *vk)
{
    if (!vk) {
        return;
    }
    if (vk->device) {
        vkDestroyPipelineCache(vk->device, vk->pipeline_cache, NULL);
        vkDestroyDevice(vk->device, NULL);
    }
    if (vk->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(vk->instance,
                                                                       "vkDestroyDebugUtilsMessengerEXT");
        destroy(vk->instance, vk->messenger, NULL);
    }
    if (vk->instance) {
        vkDestroyInstance(vk->instance, NULL);
    }
    pthread_mutex_destroy(&vk->validation_lock);
    orr_free(vk);
}

bool orr_vk_is_gpu(const orr_vk *vk)
{
    return vk->properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
}

const char *orr_vk_name(const orr_vk *vk)
{
    return vk->properties.deviceName;
}

int orr_vk_validation_count(const orr_vk *vk)
{
    return atomic_load(&vk->validation_count);
}

const char *orr_vk_validation_message(const orr_vk *vk)
{
    return vk->validation_message;
}
