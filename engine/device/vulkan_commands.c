// Compute pipelines with pushed bindings, barriers, and the timeline that orders submissions.
#include "engine/device/vulkan_gpu.h"

#include <string.h>

orr_result orr_vk_shader_create(orr_vk *vk, orr_vk_code code, VkShaderModule *module, orr_error *error)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = code.size,
        .pCode = code.words,
    };
    return orr_vk_check(vkCreateShaderModule(vk->device, &info, NULL, module), "vkCreateShaderModule", error);
}

static VkDescriptorType descriptor_type(char type)
{
    switch (type) {
    case 't':
        return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    case 'w':
        return VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    default:
        return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    }
}

static orr_result create_layouts(orr_vk *vk, uint32_t push_size, orr_vk_compute *compute, orr_error *error)
{
    VkDescriptorSetLayoutBinding bindings[ORR_VK_BINDINGS];
    for (int i = 0; i < compute->binding_count; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = (uint32_t)i,
            .descriptorType = descriptor_type(compute->types[i]),
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    }
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR,
        .bindingCount = (uint32_t)compute->binding_count,
        .pBindings = bindings,
    };
    ORR_VK_TRY(vkCreateDescriptorSetLayout(vk->device, &set_info, NULL, &compute->set_layout), error);
    const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = push_size};
    const VkPipelineLayoutCreateInfo layout_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &compute->set_layout,
        .pushConstantRangeCount = push_size ? 1 : 0,
        .pPushConstantRanges = &range,
    };
    ORR_VK_TRY(vkCreatePipelineLayout(vk->device, &layout_info, NULL, &compute->layout), error);
    return ORR_OK;
}

static orr_result create_pipeline(orr_vk *vk, orr_vk_code code, orr_vk_compute *compute, orr_error *error)
{
    VkShaderModule module;
    ORR_TRY(orr_vk_shader_create(vk, code, &module, error));
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = compute->layout,
    };
    VkResult result =
        vkCreateComputePipelines(vk->device, vk->pipeline_cache, 1, &info, NULL, &compute->pipeline);
    vkDestroyShaderModule(vk->device, module, NULL);
    return orr_vk_check(result, code.name, error);
}

orr_result orr_vk_compute_create(orr_vk *vk, orr_vk_code code, const char *types, uint32_t push_size,
                                 orr_vk_compute *compute, orr_error *error)
{
    assert(strlen(types) <= ORR_VK_BINDINGS && push_size <= 128);
    *compute = (orr_vk_compute){.binding_count = (int)strlen(types)};
    memcpy(compute->types, types, strlen(types));
    orr_result result = create_layouts(vk, push_size, compute, error);
    if (result == ORR_OK) {
        result = create_pipeline(vk, code, compute, error);
    }
    if (result != ORR_OK) {
        orr_vk_compute_destroy(vk, compute);
    }
    return result;
}

void orr_vk_compute_destroy(orr_vk *vk, orr_vk_compute *compute)
{
    vkDestroyPipeline(vk->device, compute->pipeline, NULL);
    vkDestroyPipelineLayout(vk->device, compute->layout, NULL);
    vkDestroyDescriptorSetLayout(vk->device, compute->set_layout, NULL);
    *compute = (orr_vk_compute){0};
}

void orr_vk_compute_bind(VkCommandBuffer commands, const orr_vk_compute *compute,
                         const orr_vk_binding *bindings, const void *push, uint32_t push_size)
{
    VkDescriptorBufferInfo buffers[ORR_VK_BINDINGS];
    VkDescriptorImageInfo images[ORR_VK_BINDINGS];
    VkWriteDescriptorSet writes[ORR_VK_BINDINGS];
    for (int i = 0; i < compute->binding_count; i++) {
        buffers[i] = (VkDescriptorBufferInfo){.buffer = bindings[i].buffer, .range = VK_WHOLE_SIZE};
        images[i] = (VkDescriptorImageInfo){
            .sampler = bindings[i].sampler,
            .imageView = bindings[i].view,
            .imageLayout =
                compute->types[i] == 'w' ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
        };
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstBinding = (uint32_t)i,
            .descriptorCount = 1,
            .descriptorType = descriptor_type(compute->types[i]),
            .pBufferInfo = &buffers[i],
            .pImageInfo = &images[i],
        };
    }
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->pipeline);
    vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->layout, 0,
                              (uint32_t)compute->binding_count, writes);
    if (push_size) {
        vkCmdPushConstants(commands, compute->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size, push);
    }
}

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

orr_result orr_vk_submit(orr_vk *vk, VkCommandBuffer commands, VkSemaphore semaphore, uint64_t value,
                         orr_error *error)
{
    const VkCommandBufferSubmitInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = commands,
    };
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    const VkSubmitInfo2 submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &buffer,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    return orr_vk_check(vkQueueSubmit2(vk->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit2", error);
}
