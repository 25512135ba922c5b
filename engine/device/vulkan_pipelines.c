// Pipelines whose bindings are pushed with each use: compute, and graphics.
#include "engine/device/vulkan_gpu.h"

#include <string.h>

static orr_result create_shader(orr_vk *vk, orr_vk_code code, VkShaderModule *module, orr_error *error)
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

// Bindings 0 .. that are pushed, one character of `types` each, and push constants for `stages`.
static orr_result create_layouts(orr_vk *vk, const char *types, uint32_t count,
                                 VkShaderStageFlags binding_stages, VkShaderStageFlags push_stages,
                                 uint32_t push_size, VkDescriptorSetLayout *set_layout,
                                 VkPipelineLayout *layout, orr_error *error)
{
    VkDescriptorSetLayoutBinding bindings[ORR_VK_BINDINGS];
    for (uint32_t i = 0; i < count; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = descriptor_type(types[i]),
            .descriptorCount = 1,
            .stageFlags = binding_stages,
        };
    }
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR,
        .bindingCount = count,
        .pBindings = bindings,
    };
    ORR_VK_TRY(vkCreateDescriptorSetLayout(vk->device, &set_info, NULL, set_layout), error);
    const VkPushConstantRange range = {.stageFlags = push_stages, .size = push_size};
    const VkPipelineLayoutCreateInfo layout_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = set_layout,
        .pushConstantRangeCount = push_size ? 1 : 0,
        .pPushConstantRanges = &range,
    };
    ORR_VK_TRY(vkCreatePipelineLayout(vk->device, &layout_info, NULL, layout), error);
    return ORR_OK;
}

static orr_result create_compute(orr_vk *vk, orr_vk_code code, orr_vk_compute *compute, orr_error *error)
{
    VkShaderModule module;
    ORR_TRY(create_shader(vk, code, &module, error));
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
    orr_result result =
        create_layouts(vk, types, (uint32_t)compute->binding_count, VK_SHADER_STAGE_COMPUTE_BIT,
                       VK_SHADER_STAGE_COMPUTE_BIT, push_size, &compute->set_layout, &compute->layout, error);
    if (result == ORR_OK) {
        result = create_compute(vk, code, compute, error);
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

static void push_bindings(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
                          const char *types, int count, const orr_vk_binding *bindings)
{
    VkDescriptorBufferInfo buffers[ORR_VK_BINDINGS];
    VkDescriptorImageInfo images[ORR_VK_BINDINGS];
    VkWriteDescriptorSet writes[ORR_VK_BINDINGS];
    for (int i = 0; i < count; i++) {
        buffers[i] = (VkDescriptorBufferInfo){.buffer = bindings[i].buffer, .range = VK_WHOLE_SIZE};
        images[i] = (VkDescriptorImageInfo){
            .sampler = bindings[i].sampler,
            .imageView = bindings[i].view,
            .imageLayout =
                types[i] == 'w' ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
        };
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstBinding = (uint32_t)i,
            .descriptorCount = 1,
            .descriptorType = descriptor_type(types[i]),
            .pBufferInfo = &buffers[i],
            .pImageInfo = &images[i],
        };
    }
    vkCmdPushDescriptorSetKHR(commands, point, layout, 0, (uint32_t)count, writes);
}

void orr_vk_compute_bind(VkCommandBuffer commands, const orr_vk_compute *compute,
                         const orr_vk_binding *bindings, const void *push, uint32_t push_size)
{
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->pipeline);
    push_bindings(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->layout, compute->types,
                  compute->binding_count, bindings);
    if (push_size) {
        vkCmdPushConstants(commands, compute->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size, push);
    }
}

// ---- graphics ----

static orr_result create_graphics(orr_vk *vk, const orr_vk_graphics_desc *desc, VkShaderModule vertex,
                                  VkShaderModule fragment, orr_vk_graphics *graphics, orr_error *error)
{
    VkBool32 values[ORR_VK_CONSTANTS];
    VkSpecializationMapEntry entries[ORR_VK_CONSTANTS];
    for (uint32_t i = 0; i < ORR_VK_CONSTANTS; i++) {
        values[i] = desc->constants[i];
        entries[i] = (VkSpecializationMapEntry){
            .constantID = i, .offset = i * (uint32_t)sizeof values[0], .size = sizeof values[0]};
    }
    const VkSpecializationInfo constants = {.mapEntryCount = ORR_VK_CONSTANTS,
                                            .pMapEntries = entries,
                                            .dataSize = sizeof values,
                                            .pData = values};
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main",
         .pSpecializationInfo = &constants},
    };
    const VkVertexInputBindingDescription buffers[] = {{.stride = desc->vertex_stride},
                                                       {.binding = 1, .stride = desc->second_stride}};
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = desc->second_stride > 0 ? 2 : 1,
        .pVertexBindingDescriptions = buffers,
        .vertexAttributeDescriptionCount = desc->attribute_count,
        .pVertexAttributeDescriptions = desc->attributes,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    const VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE,
        .lineWidth = 1.0f,
    };
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = desc->samples > 1
                                    ? (VkSampleCountFlagBits)desc->samples // the bits are the counts
                                    : VK_SAMPLE_COUNT_1_BIT,
    };
    const VkBool32 has_depth = desc->depth != VK_FORMAT_UNDEFINED;
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthWriteEnable = has_depth && !desc->writes_nothing,
        .depthCompareOp = VK_COMPARE_OP_GREATER, // of equal ones the first stays
    };
    const VkPipelineColorBlendAttachmentState attachment = {
        .blendEnable = desc->over,
        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .colorWriteMask = desc->writes_nothing ? 0
                                               : VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                                                     VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT,
    };
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
    };
    const VkDynamicState dynamics[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR,
                                       VK_DYNAMIC_STATE_CULL_MODE, VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE};
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 4,
        .pDynamicStates = dynamics,
    };
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &desc->colour,
        .depthAttachmentFormat = desc->depth,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &rasterization,
        .pMultisampleState = &multisample,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = graphics->layout,
    };
    return orr_vk_check(
        vkCreateGraphicsPipelines(vk->device, vk->pipeline_cache, 1, &info, NULL, &graphics->pipeline),
        desc->vertex.name, error);
}

orr_result orr_vk_graphics_create(orr_vk *vk, const orr_vk_graphics_desc *desc, orr_vk_graphics *graphics,
                                  orr_error *error)
{
    assert(desc->push_size <= 128 && strlen(desc->types) <= ORR_VK_BINDINGS);
    *graphics = (orr_vk_graphics){.push_stages = desc->push_stages,
                                  .push_size = desc->push_size,
                                  .has_depth = desc->depth != VK_FORMAT_UNDEFINED,
                                  .binding_count = (int)strlen(desc->types)};
    memcpy(graphics->types, desc->types, strlen(desc->types));
    VkShaderModule vertex = VK_NULL_HANDLE, fragment = VK_NULL_HANDLE;
    orr_result result =
        create_layouts(vk, desc->types, (uint32_t)graphics->binding_count, VK_SHADER_STAGE_FRAGMENT_BIT,
                       desc->push_stages, desc->push_size, &graphics->set_layout, &graphics->layout, error);
    if (result == ORR_OK) {
        result = create_shader(vk, desc->vertex, &vertex, error);
    }
    if (result == ORR_OK) {
        result = create_shader(vk, desc->fragment, &fragment, error);
    }
    if (result == ORR_OK) {
        result = create_graphics(vk, desc, vertex, fragment, graphics, error);
    }
    vkDestroyShaderModule(vk->device, vertex, NULL);
    vkDestroyShaderModule(vk->device, fragment, NULL);
    if (result != ORR_OK) {
        orr_vk_graphics_destroy(vk, graphics);
    }
    return result;
}

void orr_vk_graphics_destroy(orr_vk *vk, orr_vk_graphics *graphics)
{
    vkDestroyPipeline(vk->device, graphics->pipeline, NULL);
    vkDestroyPipelineLayout(vk->device, graphics->layout, NULL);
    vkDestroyDescriptorSetLayout(vk->device, graphics->set_layout, NULL);
    *graphics = (orr_vk_graphics){0};
}

void orr_vk_graphics_bind(VkCommandBuffer commands, const orr_vk_graphics *graphics, VkRect2D area,
                          VkCullModeFlags cull)
{
    const VkViewport viewport = {.x = (float)area.offset.x,
                                 .y = (float)area.offset.y,
                                 .width = (float)area.extent.width,
                                 .height = (float)area.extent.height,
                                 .maxDepth = 1.0f};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics->pipeline);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &area);
    vkCmdSetCullMode(commands, cull);
    vkCmdSetDepthTestEnable(commands, graphics->has_depth);
}

void orr_vk_graphics_push(VkCommandBuffer commands, const orr_vk_graphics *graphics,
                          const orr_vk_binding *bindings, const void *push)
{
    push_bindings(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics->layout, graphics->types,
                  graphics->binding_count, bindings);
    vkCmdPushConstants(commands, graphics->layout, graphics->push_stages, 0, graphics->push_size, push);
}
