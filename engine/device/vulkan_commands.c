// Command buffers, barriers, and the timeline that orders submissions.
#include "engine/device/vulkan_gpu.h"

void orr_vk_barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from_stage, VkAccessFlags2 from_access,
                    VkPipelineStageFlags2 to_stage, VkAccessFlags2 to_access)
{
    const VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = from_stage,
        .srcAccessMask = from_access,
        .dstStageMask = to_stage,
        .dstAccessMask = to_access,
    };
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &barrier,
    };
    vkCmdPipelineBarrier2(commands, &info);
}

void orr_vk_image_barrier(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect,
                          VkImageLayout from, VkImageLayout to, VkPipelineStageFlags2 from_stage,
                          VkAccessFlags2 from_access, VkPipelineStageFlags2 to_stage,
                          VkAccessFlags2 to_access)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = from_stage,
        .srcAccessMask = from_access,
        .dstStageMask = to_stage,
        .dstAccessMask = to_access,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {aspect, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS},
    };
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = 1,
        .pImageMemoryBarriers = &barrier,
    };
    vkCmdPipelineBarrier2(commands, &info);
}

orr_result orr_vk_timeline_create(orr_vk *vk, VkSemaphore *semaphore, orr_error *error)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    return orr_vk_check(vkCreateSemaphore(vk->device, &info, NULL, semaphore), "vkCreateSemaphore", error);
}

orr_result orr_vk_timeline_wait(orr_vk *vk, VkSemaphore semaphore, uint64_t value, orr_error *error)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &value,
    };
    return orr_vk_check(vkWaitSemaphores(vk->device, &info, UINT64_MAX), "vkWaitSemaphores", error);
}

orr_result orr_vk_commands_create(orr_vk *vk, VkCommandPool *pool, VkCommandBuffer *commands, uint32_t count,
                                  orr_error *error)
{
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = vk->queue_family,
    };
    ORR_VK_TRY(vkCreateCommandPool(vk->device, &pool_info, NULL, pool), error);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = *pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = count,
    };
    ORR_VK_TRY(vkAllocateCommandBuffers(vk->device, &info, commands), error);
    return ORR_OK;
}

orr_result orr_vk_commands_begin(VkCommandBuffer commands, orr_error *error)
{
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    ORR_VK_TRY(vkBeginCommandBuffer(commands, &info), error);
    return ORR_OK;
}

orr_result orr_vk_submit(orr_vk *vk, VkCommandBuffer commands, VkSemaphore semaphore, uint64_t value,
                         orr_error *error)
{
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    return orr_vk_submit_between(vk, commands, NULL, &signal, VK_NULL_HANDLE, error);
}

orr_result orr_vk_submit_between(orr_vk *vk, VkCommandBuffer commands, const VkSemaphoreSubmitInfo *wait,
                                 const VkSemaphoreSubmitInfo *signal, VkFence fence, orr_error *error)
{
    const VkCommandBufferSubmitInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = commands,
    };
    const VkSubmitInfo2 submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = wait ? 1 : 0,
        .pWaitSemaphoreInfos = wait,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &buffer,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = signal,
    };
    return orr_vk_check(vkQueueSubmit2(vk->queue, 1, &submit, fence), "vkQueueSubmit2", error);
}
