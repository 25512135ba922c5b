#include "engine/device/vulkan_choose.h"

#include "engine/core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16 };

// volk's function pointers serve all engines of a process; the lock keeps two that start at once apart
static pthread_mutex_t loader_lock = PTHREAD_MUTEX_INITIALIZER;

orr_result orr_vk_open_loader(orr_error *error)
{
    pthread_mutex_lock(&loader_lock);
    VkResult opened = vkCreateInstance ? VK_SUCCESS : volkInitialize();
    pthread_mutex_unlock(&loader_lock);
    if (opened != VK_SUCCESS) {
        return orr_fail(
            error, ORR_CODE_DEVICE_ABSENT,
            "Vulkan: libvulkan.so.1 was not found, expected a Vulkan loader (Debian: libvulkan1)");
    }
    if (volkGetInstanceVersion() < VK_API_VERSION_1_3) {
        return orr_fail(error, ORR_CODE_DEVICE_ABSENT, "Vulkan: the loader is older than version 1.3");
    }
    return ORR_OK;
}

static bool layer_present(const char *name)
{
    VkLayerProperties layers[64];
    uint32_t count = 64;
    vkEnumerateInstanceLayerProperties(&count, layers);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(layers[i].layerName, name) == 0) {
            return true;
        }
    }
    return false;
}

orr_result orr_vk_instance_create(const orr_vk_desc *desc, VkInstance *instance, orr_error *error)
{
    enum { EXTENSIONS_MAX = 32 };
    const char *extensions[EXTENSIONS_MAX];
    uint32_t extension_count = 0;
    if (desc->instance_extension_count > EXTENSIONS_MAX - 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "Vulkan: %d instance extensions: expected at most %d",
                        desc->instance_extension_count, EXTENSIONS_MAX - 1);
    }
    for (int i = 0; i < desc->instance_extension_count; i++) {
        extensions[extension_count++] = desc->instance_extensions[i];
    }
    const char *layer = "VK_LAYER_KHRONOS_validation";
    const VkValidationFeatureEnableEXT enabled[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    const VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enabled,
    };
    if (desc->validate) {
        if (!layer_present(layer)) {
            return orr_fail(error, ORR_CODE_DEVICE_VALIDATION,
                            "Vulkan: %s is not installed (Debian: vulkan-validationlayers)", layer);
        }
        extensions[extension_count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    }
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pEngineName = "Orrery",
        .engineVersion = VK_MAKE_API_VERSION(0, ORR_VERSION_MAJOR, ORR_VERSION_MINOR, ORR_VERSION_PATCH),
        .apiVersion = VK_API_VERSION_1_3,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = desc->validate ? &features : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = desc->validate ? 1 : 0,
        .ppEnabledLayerNames = &layer,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = vkCreateInstance(&info, NULL, instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        return orr_fail(error, ORR_CODE_DEVICE_ABSENT,
                        "Vulkan: no driver was found (Debian: mesa-vulkan-drivers has one for any machine)");
    }
    ORR_TRY(orr_vk_check(result, "vkCreateInstance", error));
    // the loader gives every instance the same functions, but none of extensions it was not asked for: a
    // plain instance must not take away what an earlier one with a window loaded
    pthread_mutex_lock(&loader_lock);
    if (!vkCreateDevice || desc->instance_extension_count > 0) {
        volkLoadInstance(*instance);
    }
    pthread_mutex_unlock(&loader_lock);
    return ORR_OK;
}

// the first family that can do everything the engine asks for
static bool find_queue_family(VkPhysicalDevice physical, uint32_t *family)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        VkQueueFlags needed = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
        if ((families[i].queueFlags & needed) == needed && families[i].timestampValidBits > 0) {
            *family = i;
            return true;
        }
    }
    return false;
}

bool orr_vk_has_extension(VkPhysicalDevice physical, const char *name)
{
    uint32_t count = 0;
    vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL);
    VkExtensionProperties *extensions = orr_alloc(count, sizeof *extensions);
    bool found = false;
    if (extensions &&
        vkEnumerateDeviceExtensionProperties(physical, NULL, &count, extensions) == VK_SUCCESS) {
        for (uint32_t i = 0; i < count && !found; i++) {
            found = strcmp(extensions[i].extensionName, name) == 0;
        }
    }
    orr_free(extensions);
    return found;
}

// what the device is short of, or NULL
static const char *missing(VkPhysicalDevice physical, bool present)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_3) {
        return "Vulkan 1.3";
    }
    VkPhysicalDeviceVulkan12Features twelve = {.sType =
                                                   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &twelve};
    vkGetPhysicalDeviceFeatures2(physical, &features);
    // the other features the engine turns on are mandatory in 1.3
    if (!twelve.scalarBlockLayout) {
        return "scalarBlockLayout";
    }
    if (!features.features.fragmentStoresAndAtomics) {
        return "fragmentStoresAndAtomics";
    }
    uint32_t family;
    if (!find_queue_family(physical, &family)) {
        return "a queue for graphics and compute with timestamps";
    }
    if (!orr_vk_has_extension(physical, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME)) {
        return VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    }
    if (present && !orr_vk_has_extension(physical, VK_KHR_SWAPCHAIN_EXTENSION_NAME)) {
        return VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    }
    return NULL;
}

// higher is better
static int rank(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    default:
        return 1;
    }
}

static bool is_wanted(const char *wanted, uint32_t index, const char *name)
{
    char *end;
    unsigned long number = strtoul(wanted, &end, 10);
    return *end == '\0' && end != wanted ? number == index : strstr(name, wanted) != NULL;
}

void orr_vk_read_uuid(VkPhysicalDevice physical, uint8_t uuid[16])
{
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 two = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    vkGetPhysicalDeviceProperties2(physical, &two);
    memcpy(uuid, id.deviceUUID, sizeof id.deviceUUID);
}

// higher is better: the requested GPU comes before every other
static int rank_of(VkPhysicalDevice physical, VkPhysicalDeviceType type, const uint8_t *wanted)
{
    uint8_t uuid[16];
    orr_vk_read_uuid(physical, uuid);
    return rank(type) + (wanted && memcmp(uuid, wanted, sizeof uuid) == 0 ? 10 : 0);
}

orr_result orr_vk_choose(VkInstance instance, const orr_vk_desc *desc, VkPhysicalDevice *physical,
                         uint32_t *queue_family, orr_error *error)
{
    const char *wanted = desc->device ? desc->device : getenv("ORR_VULKAN_DEVICE");
    VkPhysicalDevice devices[DEVICES_MAX];
    uint32_t count = DEVICES_MAX;
    VkResult result = vkEnumeratePhysicalDevices(instance, &count, devices);
    ORR_TRY(orr_vk_check(result == VK_INCOMPLETE ? VK_SUCCESS : result, "vkEnumeratePhysicalDevices", error));
    int best = 0;
    const char *lacks = NULL;
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        if (wanted && !is_wanted(wanted, i, properties.deviceName)) {
            continue;
        }
        const char *shortage = missing(devices[i], desc->present);
        if (shortage) {
            lacks = shortage;
        } else if (rank_of(devices[i], properties.deviceType, desc->uuid) > best) {
            best = rank_of(devices[i], properties.deviceType, desc->uuid);
            *physical = devices[i];
        }
    }
    if (!best && lacks) {
        return orr_fail(error, ORR_CODE_DEVICE_ABSENT, "Vulkan: no usable device: expected %s", lacks);
    }
    if (!best) {
        return orr_fail(error, ORR_CODE_DEVICE_ABSENT, "Vulkan: %u devices, expected one%s%s", count,
                        wanted ? " that is or is called " : "", wanted ? wanted : "");
    }
    find_queue_family(*physical, queue_family);
    return ORR_OK;
}

static const char *type_name(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return "cpu";
    default:
        return "other";
    }
}

static void describe(VkPhysicalDevice physical, orr_vk_info *info)
{
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 two = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &driver};
    vkGetPhysicalDeviceProperties2(physical, &two);
    const VkPhysicalDeviceProperties *properties = &two.properties;
    *info = (orr_vk_info){.type = type_name(properties->deviceType), .lacks = missing(physical, false)};
    snprintf(info->name, sizeof info->name, "%s", properties->deviceName);
    snprintf(info->driver, sizeof info->driver, "%s %s", driver.driverName, driver.driverInfo);
    orr_vk_read_uuid(physical, info->uuid);
    info->api[0] = VK_API_VERSION_MAJOR(properties->apiVersion);
    info->api[1] = VK_API_VERSION_MINOR(properties->apiVersion);
    info->api[2] = VK_API_VERSION_PATCH(properties->apiVersion);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        bool local = memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
        if (local && memory.memoryHeaps[i].size > info->memory) {
            info->memory = memory.memoryHeaps[i].size;
        }
    }
}

orr_result orr_vk_list(orr_vk_info *infos, int capacity, int *count, orr_error *error)
{
    *count = 0;
    ORR_TRY(orr_vk_open_loader(error));
    VkInstance instance;
    ORR_TRY(orr_vk_instance_create(&(orr_vk_desc){0}, &instance, error));
    VkPhysicalDevice devices[DEVICES_MAX];
    uint32_t found = DEVICES_MAX;
    VkResult result = vkEnumeratePhysicalDevices(instance, &found, devices);
    if (result == VK_SUCCESS || result == VK_INCOMPLETE) {
        *count = (int)found;
        for (int i = 0; i < *count && i < capacity; i++) {
            describe(devices[i], &infos[i]);
        }
        result = VK_SUCCESS;
    }
    vkDestroyInstance(instance, NULL);
    return orr_vk_check(result, "vkEnumeratePhysicalDevices", error);
}
