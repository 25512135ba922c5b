#include "render/vulkan/upload.h"

#include "render/mesh.h"

orr_result orr_vulkan_upload_create(orr_vk *vk, orr_vulkan_upload *upload, orr_error *error)
{
    *upload = (orr_vulkan_upload){.vk = vk};
    ORR_TRY(orr_vk_commands_create(vk, &upload->pool, &upload->commands, 1, error));
    return orr_vk_timeline_create(vk, &upload->timeline, error);
}

void orr_vulkan_upload_destroy(orr_vulkan_upload *upload)
{
    if (upload->vk) {
        orr_vk_buffer_destroy(upload->vk, &upload->staging);
        vkDestroySemaphore(upload->vk->device, upload->timeline, NULL);
        vkDestroyCommandPool(upload->vk->device, upload->pool, NULL);
    }
}

orr_result orr_vulkan_upload_begin(orr_vulkan_upload *upload, size_t size, void **bytes, orr_error *error)
{
    orr_vk_buffer_destroy(upload->vk, &upload->staging);
    ORR_TRY(orr_vk_buffer_create(upload->vk, size, ORR_VK_UPLOAD, 0, "an upload", &upload->staging, error));
    *bytes = upload->staging.mapped;
    return orr_vk_commands_begin(upload->commands, error);
}

static orr_result send(orr_vulkan_upload *upload, orr_error *error)
{
    ORR_VK_TRY(vkEndCommandBuffer(upload->commands), error);
    ORR_TRY(orr_vk_submit(upload->vk, upload->commands, upload->timeline, ++upload->value, error));
    ORR_TRY(orr_vk_timeline_wait(upload->vk, upload->timeline, upload->value, error));
    orr_vk_buffer_destroy(upload->vk, &upload->staging);
    return ORR_OK;
}

orr_result orr_vulkan_upload_buffer(orr_vulkan_upload *upload, const orr_vk_buffer *target, orr_error *error)
{
    assert(upload->staging.size <= target->size);
    vkCmdCopyBuffer(upload->commands, upload->staging.buffer, target->buffer, 1,
                    &(VkBufferCopy){.size = upload->staging.size});
    // frames that read it come later on the same queue
    orr_vk_barrier(upload->commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT);
    return send(upload, error);
}

orr_result orr_vulkan_upload_image(orr_vulkan_upload *upload, const orr_vk_image *target, orr_error *error)
{
    const VkPipelineStageFlags2 transfer = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    orr_vk_image_barrier(upload->commands, target->image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                         VK_PIPELINE_STAGE_2_NONE, 0, transfer, VK_ACCESS_2_TRANSFER_WRITE_BIT);
    VkDeviceSize pixel = target->format == VK_FORMAT_R32G32B32A32_SFLOAT ? 16 : 4, start = 0;
    for (int level = 0; level < target->levels; level++) {
        int width = orr_mip_side(target->width, level), height = orr_mip_side(target->height, level);
        const VkBufferImageCopy region = {
            .bufferOffset = start,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, (uint32_t)level, 0, 1},
            .imageExtent = {(uint32_t)width, (uint32_t)height, 1},
        };
        vkCmdCopyBufferToImage(upload->commands, upload->staging.buffer, target->image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
        start += pixel * (VkDeviceSize)width * (VkDeviceSize)height;
    }
    orr_vk_image_barrier(upload->commands, target->image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                         transfer, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                         VK_ACCESS_2_MEMORY_READ_BIT);
    return send(upload, error);
}
