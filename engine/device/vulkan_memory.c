// Buffers and images, one allocation each: the engine has few and large ones.
#include "engine/device/vulkan_gpu.h"

// the first memory type among `allowed` with all of `flags`, or -1
static int find_type(const orr_vk *vk, uint32_t allowed, VkMemoryPropertyFlags flags)
{
    for (uint32_t i = 0; i < vk->memory.memoryTypeCount; i++) {
        if ((allowed >> i & 1) && (vk->memory.memoryTypes[i].propertyFlags & flags) == flags) {
            return (int)i;
        }
    }
    return -1;
}

static int choose_type(const orr_vk *vk, uint32_t allowed, orr_vk_residence residence)
{
    const VkMemoryPropertyFlags host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    int type = -1;
    if (residence == ORR_VK_ON_DEVICE) {
        type = find_type(vk, allowed, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
        return type >= 0 ? type : find_type(vk, allowed, 0);
    }
    if (residence == ORR_VK_READBACK) {
        type = find_type(vk, allowed, host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    }
    return type >= 0 ? type : find_type(vk, allowed, host);
}

// next: what the memory is to be besides, or NULL
static orr_result allocate(orr_vk *vk, const VkMemoryRequirements *needs, orr_vk_residence residence,
                           const void *next, const char *what, VkDeviceMemory *memory, orr_error *error)
{
    int type = choose_type(vk, needs->memoryTypeBits, residence);
    if (type < 0) {
        return orr_fail(error, ORR_CODE_DEVICE_MEMORY, "Vulkan: the device has no memory fit for %s", what);
    }
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = next,
        .allocationSize = needs->size,
        .memoryTypeIndex = (uint32_t)type,
    };
    VkResult result = vkAllocateMemory(vk->device, &info, NULL, memory);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
        return orr_fail(error, ORR_CODE_DEVICE_MEMORY, "Vulkan: out of memory: %llu bytes for %s",
                        (unsigned long long)needs->size, what);
    }
    return orr_vk_check(result, "vkAllocateMemory", error);
}

static orr_result make_buffer(orr_vk *vk, VkBufferUsageFlags usage, const void *next, orr_vk_buffer *buffer,
                              orr_error *error)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = next,
        .size = buffer->size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | usage,
    };
    ORR_VK_TRY(vkCreateBuffer(vk->device, &info, NULL, &buffer->buffer), error);
    return ORR_OK;
}

static orr_result fill_buffer(orr_vk *vk, orr_vk_residence residence, VkBufferUsageFlags usage,
                              const char *what, orr_vk_buffer *buffer, orr_error *error)
{
    ORR_TRY(make_buffer(vk, usage, NULL, buffer, error));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(vk->device, buffer->buffer, &needs);
    ORR_TRY(allocate(vk, &needs, residence, NULL, what, &buffer->memory, error));
    ORR_VK_TRY(vkBindBufferMemory(vk->device, buffer->buffer, buffer->memory, 0), error);
    if (residence != ORR_VK_ON_DEVICE) {
        ORR_VK_TRY(vkMapMemory(vk->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->mapped), error);
    }
    return ORR_OK;
}

orr_result orr_vk_buffer_create(orr_vk *vk, VkDeviceSize size, orr_vk_residence residence,
                                VkBufferUsageFlags usage, const char *what, orr_vk_buffer *buffer,
                                orr_error *error)
{
    *buffer = (orr_vk_buffer){.size = size > 16 ? size : 16};
    orr_result result = fill_buffer(vk, residence, usage, what, buffer, error);
    if (result != ORR_OK) {
        orr_vk_buffer_destroy(vk, buffer);
    }
    return result;
}

static orr_result fill_exportable(orr_vk *vk, VkBufferUsageFlags usage, const char *what,
                                  orr_vk_buffer *buffer, orr_vk_export *memory, orr_error *error)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    ORR_TRY(make_buffer(vk, usage, &external, buffer, error));
    const VkBufferMemoryRequirementsInfo2 of = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
        .buffer = buffer->buffer,
    };
    VkMemoryDedicatedRequirements alone = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 needs = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2, .pNext = &alone};
    vkGetBufferMemoryRequirements2(vk->device, &of, &needs);
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .buffer = buffer->buffer,
    };
    *memory =
        (orr_vk_export){.size = needs.memoryRequirements.size,
                        .dedicated = alone.requiresDedicatedAllocation || alone.prefersDedicatedAllocation};
    const VkExportMemoryAllocateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = memory->dedicated ? &dedicated : NULL,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    ORR_TRY(
        allocate(vk, &needs.memoryRequirements, ORR_VK_ON_DEVICE, &exported, what, &buffer->memory, error));
    ORR_VK_TRY(vkBindBufferMemory(vk->device, buffer->buffer, buffer->memory, 0), error);
    return ORR_OK;
}

orr_result orr_vk_buffer_create_exportable(orr_vk *vk, VkDeviceSize size, VkBufferUsageFlags usage,
                                           const char *what, orr_vk_buffer *buffer, orr_vk_export *memory,
                                           orr_error *error)
{
    *buffer = (orr_vk_buffer){.size = size > 16 ? size : 16};
    orr_result result = fill_exportable(vk, usage, what, buffer, memory, error);
    if (result != ORR_OK) {
        orr_vk_buffer_destroy(vk, buffer);
    }
    return result;
}

void orr_vk_buffer_destroy(orr_vk *vk, orr_vk_buffer *buffer)
{
    vkDestroyBuffer(vk->device, buffer->buffer, NULL);
    vkFreeMemory(vk->device, buffer->memory, NULL);
    *buffer = (orr_vk_buffer){0};
}

static orr_result fill_image(orr_vk *vk, VkImageUsageFlags usage, const char *what, orr_vk_image *image,
                             orr_error *error)
{
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = image->format,
        .extent = {(uint32_t)image->width, (uint32_t)image->height, 1},
        .mipLevels = (uint32_t)image->levels,
        .arrayLayers = 1,
        .samples = (VkSampleCountFlagBits)image->samples, // the bits are the counts
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = usage,
    };
    ORR_VK_TRY(vkCreateImage(vk->device, &info, NULL, &image->image), error);
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(vk->device, image->image, &needs);
    ORR_TRY(allocate(vk, &needs, ORR_VK_ON_DEVICE, NULL, what, &image->memory, error));
    ORR_VK_TRY(vkBindImageMemory(vk->device, image->image, image->memory, 0), error);
    bool is_depth = image->format == VK_FORMAT_D32_SFLOAT;
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = image->format,
        .subresourceRange = {is_depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0,
                             VK_REMAINING_MIP_LEVELS, 0, 1},
    };
    ORR_VK_TRY(vkCreateImageView(vk->device, &view, NULL, &image->view), error);
    return ORR_OK;
}

static orr_result create_image(orr_vk *vk, orr_vk_image made, VkImageUsageFlags usage, const char *what,
                               orr_vk_image *image, orr_error *error)
{
    *image = made;
    orr_result result = fill_image(vk, usage, what, image, error);
    if (result != ORR_OK) {
        orr_vk_image_destroy(vk, image);
    }
    return result;
}

orr_result orr_vk_image_create_levels(orr_vk *vk, int width, int height, int levels, VkFormat format,
                                      VkImageUsageFlags usage, const char *what, orr_vk_image *image,
                                      orr_error *error)
{
    const orr_vk_image made = {
        .width = width, .height = height, .levels = levels, .samples = 1, .format = format};
    return create_image(vk, made, usage, what, image, error);
}

orr_result orr_vk_image_create_samples(orr_vk *vk, int width, int height, int samples, VkFormat format,
                                       VkImageUsageFlags usage, const char *what, orr_vk_image *image,
                                       orr_error *error)
{
    const orr_vk_image made = {
        .width = width, .height = height, .levels = 1, .samples = samples, .format = format};
    return create_image(vk, made, usage, what, image, error);
}

orr_result orr_vk_image_create(orr_vk *vk, int width, int height, VkFormat format, VkImageUsageFlags usage,
                               const char *what, orr_vk_image *image, orr_error *error)
{
    return orr_vk_image_create_levels(vk, width, height, 1, format, usage, what, image, error);
}

void orr_vk_image_destroy(orr_vk *vk, orr_vk_image *image)
{
    vkDestroyImageView(vk->device, image->view, NULL);
    vkDestroyImage(vk->device, image->image, NULL);
    vkFreeMemory(vk->device, image->memory, NULL);
    *image = (orr_vk_image){0};
}
