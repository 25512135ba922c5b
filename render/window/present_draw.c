#include "render/window/present_draw.h"

#include <string.h>

static const uint32_t vertex_words[] = {
#include "shaders/overlay.vert.inc"
};
static const uint32_t fragment_words[] = {
#include "shaders/overlay.frag.inc"
};

static orr_result create_layout(orr_vk *vk, orr_present_draw *draw, orr_error *error)
{
    const VkSamplerCreateInfo sampler = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = VK_FILTER_LINEAR,
        .minFilter = VK_FILTER_LINEAR,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
    };
    ORR_VK_TRY(vkCreateSampler(vk->device, &sampler, NULL, &draw->sampler), error);
    const VkDescriptorSetLayoutBinding binding = {
        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
    };
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    ORR_VK_TRY(vkCreateDescriptorSetLayout(vk->device, &set, NULL, &draw->set_layout), error);
    const VkPushConstantRange push = {VK_SHADER_STAGE_VERTEX_BIT, 0, 2 * sizeof(float)};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &draw->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    ORR_VK_TRY(vkCreatePipelineLayout(vk->device, &layout, NULL, &draw->layout), error);
    return ORR_OK;
}

static orr_result create_pipeline_from(orr_vk *vk, orr_present_draw *draw, VkShaderModule vertex,
                                       VkShaderModule fragment, VkFormat format, orr_error *error)
{
    const VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main"},
    };
    const VkVertexInputBindingDescription binding = {0, sizeof(orr_overlay_vertex),
                                                     VK_VERTEX_INPUT_RATE_VERTEX};
    const VkVertexInputAttributeDescription attributes[3] = {
        {0, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(orr_overlay_vertex, place)},
        {1, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(orr_overlay_vertex, texture)},
        {2, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(orr_overlay_vertex, rgba)},
    };
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = 3,
        .pVertexAttributeDescriptions = attributes,
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
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1.0f,
    };
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineColorBlendAttachmentState over = {
        .blendEnable = VK_TRUE, // premultiplied
        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT |
                          VK_COLOR_COMPONENT_A_BIT,
    };
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &over,
    };
    const VkDynamicState states[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states,
    };
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
    };
    const VkGraphicsPipelineCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = draw->layout,
    };
    return orr_vk_check(
        vkCreateGraphicsPipelines(vk->device, vk->pipeline_cache, 1, &create, NULL, &draw->pipeline),
        "vkCreateGraphicsPipelines", error);
}

static orr_result create_pipeline(orr_vk *vk, orr_present_draw *draw, VkFormat format, orr_error *error)
{
    const orr_vk_code vertex_code = {"overlay.vert", vertex_words, sizeof vertex_words};
    const orr_vk_code fragment_code = {"overlay.frag", fragment_words, sizeof fragment_words};
    VkShaderModule vertex, fragment;
    ORR_TRY(orr_vk_shader_create(vk, vertex_code, &vertex, error));
    orr_result result = orr_vk_shader_create(vk, fragment_code, &fragment, error);
    if (result == ORR_OK) {
        result = create_pipeline_from(vk, draw, vertex, fragment, format, error);
        vkDestroyShaderModule(vk->device, fragment, NULL);
    }
    vkDestroyShaderModule(vk->device, vertex, NULL);
    draw->format = format;
    return result;
}

orr_result orr_present_draw_create(orr_vk *vk, orr_present_draw *draw, orr_error *error)
{
    *draw = (orr_present_draw){0};
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = vk->queue_family,
    };
    ORR_VK_TRY(vkCreateCommandPool(vk->device, &pool, NULL, &draw->pool), error);
    for (int i = 0; i < ORR_PRESENT_SLOTS; i++) {
        orr_present_slot *slot = &draw->slots[i];
        const VkCommandBufferAllocateInfo commands = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = draw->pool,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            .commandBufferCount = 1,
        };
        const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                         .flags = VK_FENCE_CREATE_SIGNALED_BIT};
        const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        ORR_VK_TRY(vkAllocateCommandBuffers(vk->device, &commands, &slot->commands), error);
        ORR_VK_TRY(vkCreateFence(vk->device, &fence, NULL, &slot->done), error);
        ORR_VK_TRY(vkCreateSemaphore(vk->device, &semaphore, NULL, &slot->acquired), error);
    }
    return create_layout(vk, draw, error);
}

void orr_present_draw_destroy(orr_vk *vk, orr_present_draw *draw)
{
    for (int i = 0; i < ORR_PRESENT_SLOTS; i++) {
        orr_present_slot *slot = &draw->slots[i];
        vkDestroyFence(vk->device, slot->done, NULL);
        vkDestroySemaphore(vk->device, slot->acquired, NULL);
        orr_vk_buffer_destroy(vk, &slot->geometry);
        orr_vk_buffer_destroy(vk, &slot->staging);
    }
    orr_vk_image_destroy(vk, &draw->picture);
    orr_vk_image_destroy(vk, &draw->coverage);
    vkDestroyPipeline(vk->device, draw->pipeline, NULL);
    vkDestroyPipelineLayout(vk->device, draw->layout, NULL);
    vkDestroyDescriptorSetLayout(vk->device, draw->set_layout, NULL);
    vkDestroySampler(vk->device, draw->sampler, NULL);
    vkDestroyCommandPool(vk->device, draw->pool, NULL);
    *draw = (orr_present_draw){0};
}

orr_result orr_present_draw_begin(orr_vk *vk, orr_present_draw *draw, VkFormat format, orr_error *error)
{
    orr_present_slot *slot = &draw->slots[draw->slot];
    ORR_VK_TRY(vkWaitForFences(vk->device, 1, &slot->done, VK_TRUE, UINT64_MAX), error);
    if (draw->format != format) { // a new surface may want another
        ORR_VK_TRY(vkDeviceWaitIdle(vk->device), error);
        vkDestroyPipeline(vk->device, draw->pipeline, NULL);
        draw->pipeline = VK_NULL_HANDLE;
        ORR_TRY(create_pipeline(vk, draw, format, error));
    }
    return ORR_OK;
}

// ---- textures ----

// Room in a buffer that the device is done with.
static orr_result reserve(orr_vk *vk, orr_vk_buffer *buffer, VkDeviceSize size, VkBufferUsageFlags usage,
                          const char *what, orr_error *error)
{
    if (buffer->buffer && buffer->size >= size) {
        return ORR_OK;
    }
    orr_vk_buffer_destroy(vk, buffer);
    return orr_vk_buffer_create(vk, size + size / 2, ORR_VK_UPLOAD, usage, what, buffer, error);
}

// Makes the texture as large as its new contents.
static orr_result resize_texture(orr_vk *vk, orr_vk_image *texture, int width, int height, const char *what,
                                 orr_error *error)
{
    if (texture->image && texture->width == width && texture->height == height) {
        return ORR_OK;
    }
    ORR_VK_TRY(vkDeviceWaitIdle(vk->device), error); // the other slot may still be drawing it
    orr_vk_image_destroy(vk, texture);
    return orr_vk_image_create(vk, width, height, VK_FORMAT_R8G8B8A8_UNORM,
                               VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, what, texture,
                               error);
}

static void record_upload(VkCommandBuffer commands, VkBuffer from, VkDeviceSize offset,
                          const orr_vk_image *texture)
{
    orr_vk_image_barrier(commands, texture->image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                         VK_ACCESS_2_NONE, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT);
    const VkBufferImageCopy region = {
        .bufferOffset = offset,
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {(uint32_t)texture->width, (uint32_t)texture->height, 1},
    };
    vkCmdCopyBufferToImage(commands, from, texture->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    orr_vk_image_barrier(commands, texture->image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                         VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                         VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, VK_ACCESS_2_SHADER_SAMPLED_READ_BIT);
}

static orr_result upload_textures(orr_vk *vk, orr_present_draw *draw, const orr_image8 *picture,
                                  uint64_t revision, const orr_overlay *overlay, orr_error *error)
{
    orr_present_slot *slot = &draw->slots[draw->slot];
    bool fresh_picture = picture && revision != draw->revision;
    bool fresh_coverage = overlay && !draw->coverage.image;
    size_t picture_bytes = fresh_picture ? (size_t)picture->width * (size_t)picture->height * 4 : 0;
    size_t texels = fresh_coverage ? (size_t)overlay->texture_width * (size_t)overlay->texture_height : 0;
    if (picture_bytes + texels == 0) {
        return ORR_OK;
    }
    ORR_TRY(reserve(vk, &slot->staging, picture_bytes + 4 * texels, 0, "pixels to present", error));
    uint8_t *bytes = slot->staging.mapped;
    if (fresh_picture) {
        ORR_TRY(resize_texture(vk, &draw->picture, picture->width, picture->height, "the picture", error));
        memcpy(bytes, picture->rgba, picture_bytes);
        record_upload(slot->commands, slot->staging.buffer, 0, &draw->picture);
        draw->revision = revision;
    }
    if (fresh_coverage) {
        ORR_TRY(resize_texture(vk, &draw->coverage, overlay->texture_width, overlay->texture_height,
                               "the panel's font", error));
        for (size_t i = 0; i < texels; i++) {
            memset(bytes + picture_bytes + 4 * i, overlay->coverage[i], 4);
        }
        record_upload(slot->commands, slot->staging.buffer, picture_bytes, &draw->coverage);
    }
    return ORR_OK;
}

// ---- triangles ----

enum { QUAD_VERTICES = 4, QUAD_INDICES = 6 }; // the picture, ahead of the overlay

// Writes the quad's and all lists' vertices, then all indices; *index_offset: where in the buffer those
// begin.
static orr_result upload_geometry(orr_vk *vk, orr_present_draw *draw, VkExtent2D extent,
                                  const orr_overlay *overlay, VkDeviceSize *index_offset, orr_error *error)
{
    size_t vertices = QUAD_VERTICES, indices = QUAD_INDICES;
    for (int i = 0; overlay && i < overlay->list_count; i++) {
        vertices += overlay->lists[i].vertex_count;
        indices += overlay->lists[i].index_count;
    }
    orr_vk_buffer *buffer = &draw->slots[draw->slot].geometry;
    *index_offset = vertices * sizeof(orr_overlay_vertex);
    ORR_TRY(reserve(vk, buffer, *index_offset + indices * sizeof(uint16_t),
                    VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT, "the panel",
                    error));
    orr_overlay_vertex *vertex = buffer->mapped;
    uint16_t *index = (uint16_t *)(void *)((char *)buffer->mapped + *index_offset);
    const uint16_t quad[QUAD_INDICES] = {0, 1, 2, 2, 1, 3};
    for (int i = 0; i < QUAD_VERTICES; i++) {
        float x = (float)(i % 2), y = (float)(i / 2);
        *vertex++ = (orr_overlay_vertex){.place = {x * (float)extent.width, y * (float)extent.height},
                                         .texture = {x, y},
                                         .rgba = {255, 255, 255, 255}};
    }
    memcpy(index, quad, sizeof quad);
    index += QUAD_INDICES;
    for (int i = 0; overlay && i < overlay->list_count; i++) {
        const orr_overlay_list *list = &overlay->lists[i];
        memcpy(vertex, list->vertices, list->vertex_count * sizeof *vertex);
        memcpy(index, list->indices, list->index_count * sizeof *index);
        vertex += list->vertex_count;
        index += list->index_count;
    }
    return ORR_OK;
}

static void bind_texture(VkCommandBuffer commands, const orr_present_draw *draw, const orr_vk_image *texture)
{
    const VkDescriptorImageInfo image = {draw->sampler, texture->view,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        .pImageInfo = &image,
    };
    vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, draw->layout, 0, 1, &write);
}

static int32_t pixel(float place, uint32_t side)
{
    return place < 0.0f ? 0 : place > (float)side ? (int32_t)side : (int32_t)place;
}

static void record_overlay(VkCommandBuffer commands, const orr_overlay *overlay, VkExtent2D extent)
{
    uint32_t first_vertex = QUAD_VERTICES, first_index = QUAD_INDICES;
    for (int i = 0; i < overlay->list_count; i++) {
        const orr_overlay_list *list = &overlay->lists[i];
        for (uint32_t j = 0; j < list->part_count; j++) {
            const orr_overlay_part *part = &list->parts[j];
            VkRect2D clip = {{pixel(part->low[0], extent.width), pixel(part->low[1], extent.height)}, {0, 0}};
            int32_t width = pixel(part->high[0], extent.width) - clip.offset.x;
            int32_t height = pixel(part->high[1], extent.height) - clip.offset.y;
            if (width > 0 && height > 0) {
                clip.extent = (VkExtent2D){(uint32_t)width, (uint32_t)height};
                vkCmdSetScissor(commands, 0, 1, &clip);
                vkCmdDrawIndexed(commands, part->index_count, 1, first_index + part->first_index,
                                 (int32_t)(first_vertex + part->first_vertex), 0);
            }
        }
        first_vertex += list->vertex_count;
        first_index += list->index_count;
    }
}

static void record_drawing(const orr_present_draw *draw, const orr_swapchain *swapchain, uint32_t image,
                           const orr_overlay *overlay, VkDeviceSize index_offset)
{
    const orr_present_slot *slot = &draw->slots[draw->slot];
    VkCommandBuffer commands = slot->commands;
    VkExtent2D extent = swapchain->extent;
    orr_vk_image_barrier(commands, swapchain->images[image], VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                         VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, VK_ACCESS_2_NONE,
                         VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT);
    const VkRenderingAttachmentInfo target = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = swapchain->views[image],
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, // to black
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
    const VkRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {{0, 0}, extent},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &target,
    };
    vkCmdBeginRendering(commands, &rendering);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, draw->pipeline);
    const VkDeviceSize start = 0;
    vkCmdBindVertexBuffers(commands, 0, 1, &slot->geometry.buffer, &start);
    vkCmdBindIndexBuffer(commands, slot->geometry.buffer, index_offset, VK_INDEX_TYPE_UINT16);
    const VkViewport viewport = {0.0f, 0.0f, (float)extent.width, (float)extent.height, 0.0f, 1.0f};
    const VkRect2D everything = {{0, 0}, extent};
    const float scale[2] = {2.0f / (float)extent.width, 2.0f / (float)extent.height};
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &everything);
    vkCmdPushConstants(commands, draw->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof scale, scale);
    if (draw->revision) {
        bind_texture(commands, draw, &draw->picture);
        vkCmdDrawIndexed(commands, QUAD_INDICES, 1, 0, 0, 0);
    }
    if (overlay) {
        bind_texture(commands, draw, &draw->coverage);
        record_overlay(commands, overlay, extent);
    }
    vkCmdEndRendering(commands);
    orr_vk_image_barrier(commands, swapchain->images[image], VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                         VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT, VK_PIPELINE_STAGE_2_NONE, VK_ACCESS_2_NONE);
}

static orr_result submit(orr_vk *vk, const orr_present_slot *slot, VkSemaphore drawn, orr_error *error)
{
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = slot->commands,
    };
    const VkSemaphoreSubmitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = slot->acquired,
        .stageMask = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
    };
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = drawn,
        .stageMask = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = 1,
        .pWaitSemaphoreInfos = &wait,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    ORR_VK_TRY(vkResetFences(vk->device, 1, &slot->done), error);
    ORR_VK_TRY(vkQueueSubmit2(vk->queue, 1, &info, slot->done), error);
    return ORR_OK;
}

orr_result orr_present_draw_image(orr_vk *vk, orr_present_draw *draw, const orr_swapchain *swapchain,
                                  uint32_t image, const orr_image8 *picture, uint64_t revision,
                                  const orr_overlay *overlay, orr_error *error)
{
    const orr_present_slot *slot = &draw->slots[draw->slot];
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    ORR_VK_TRY(vkBeginCommandBuffer(slot->commands, &begin), error);
    ORR_TRY(upload_textures(vk, draw, picture, revision, overlay, error));
    VkDeviceSize index_offset;
    ORR_TRY(upload_geometry(vk, draw, swapchain->extent, overlay, &index_offset, error));
    record_drawing(draw, swapchain, image, overlay, index_offset);
    ORR_VK_TRY(vkEndCommandBuffer(slot->commands), error);
    ORR_TRY(submit(vk, slot, swapchain->drawn[image], error));
    draw->slot = (draw->slot + 1) % ORR_PRESENT_SLOTS;
    return ORR_OK;
}
