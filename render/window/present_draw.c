#include "render/window/present_draw.h"

#include "render/vulkan/image.h"

#include <string.h>

static const uint32_t vertex_words[] = {
#include "shaders/overlay.vert.inc"
};
static const uint32_t fragment_words[] = {
#include "shaders/overlay.frag.inc"
};

static orr_result create_pipeline(orr_vk *vk, orr_present_draw *draw, VkFormat format, orr_error *error)
{
    const VkVertexInputAttributeDescription attributes[] = {
        {0, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(orr_overlay_vertex, position)},
        {1, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(orr_overlay_vertex, texture)},
        {2, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(orr_overlay_vertex, rgba)},
    };
    const orr_vk_graphics_desc desc = {
        .vertex = {"overlay.vert", vertex_words, sizeof vertex_words},
        .fragment = {"overlay.frag", fragment_words, sizeof fragment_words},
        .vertex_stride = sizeof(orr_overlay_vertex),
        .attributes = attributes,
        .attribute_count = 3,
        .types = "t",
        .push_stages = VK_SHADER_STAGE_VERTEX_BIT,
        .push_size = 2 * sizeof(float),
        .colour = format,
        .over = true,
    };
    draw->format = VK_FORMAT_UNDEFINED; // while there is no pipeline
    ORR_TRY(orr_vk_graphics_create(vk, &desc, &draw->pipeline, error));
    draw->format = format;
    return ORR_OK;
}

orr_result orr_present_draw_create(orr_vk *vk, orr_present_draw *draw, orr_error *error)
{
    *draw = (orr_present_draw){0};
    const VkSamplerCreateInfo sampler = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = VK_FILTER_LINEAR,
        .minFilter = VK_FILTER_LINEAR,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
    };
    ORR_VK_TRY(vkCreateSampler(vk->device, &sampler, NULL, &draw->sampler), error);
    VkCommandBuffer commands[ORR_PRESENT_SLOTS];
    ORR_TRY(orr_vk_commands_create(vk, &draw->pool, commands, ORR_PRESENT_SLOTS, error));
    for (int i = 0; i < ORR_PRESENT_SLOTS; i++) {
        orr_present_slot *slot = &draw->slots[i];
        slot->commands = commands[i];
        const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                         .flags = VK_FENCE_CREATE_SIGNALED_BIT};
        const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        ORR_VK_TRY(vkCreateFence(vk->device, &fence, NULL, &slot->done), error);
        ORR_VK_TRY(vkCreateSemaphore(vk->device, &semaphore, NULL, &slot->acquired), error);
    }
    return ORR_OK;
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
    orr_vk_graphics_destroy(vk, &draw->pipeline);
    vkDestroySampler(vk->device, draw->sampler, NULL);
    vkDestroyCommandPool(vk->device, draw->pool, NULL);
    *draw = (orr_present_draw){0};
}

orr_result orr_present_draw_begin(orr_vk *vk, orr_present_draw *draw, VkFormat format, orr_error *error)
{
    orr_present_slot *slot = &draw->slots[draw->slot];
    ORR_VK_TRY(vkWaitForFences(vk->device, 1, &slot->done, VK_TRUE, UINT64_MAX), error);
    if (draw->format != format) { // a new surface may have another
        ORR_VK_TRY(vkDeviceWaitIdle(vk->device), error);
        orr_vk_graphics_destroy(vk, &draw->pipeline);
        ORR_TRY(create_pipeline(vk, draw, format, error));
    }
    return ORR_OK;
}

// ---- textures ----

// Enlarges a buffer that the device no longer uses.
static orr_result reserve(orr_vk *vk, orr_vk_buffer *buffer, VkDeviceSize size, VkBufferUsageFlags usage,
                          const char *what, orr_error *error)
{
    if (buffer->buffer && buffer->size >= size) {
        return ORR_OK;
    }
    orr_vk_buffer_destroy(vk, buffer);
    return orr_vk_buffer_create(vk, size + size / 2, ORR_VK_UPLOAD, usage, what, buffer, error);
}

// Enlarges the texture to the size of its new contents.
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

static orr_result upload_textures(orr_vk *vk, orr_present_draw *draw, const orr_present_picture *picture,
                                  const orr_overlay *overlay, orr_error *error)
{
    orr_present_slot *slot = &draw->slots[draw->slot];
    const orr_image8 *host = picture ? picture->bytes : NULL;
    bool fresh_picture = host && picture->revision != draw->revision;
    bool fresh_coverage = overlay && overlay->revision != draw->coverage_revision;
    size_t picture_bytes = fresh_picture ? (size_t)host->width * (size_t)host->height * 4 : 0;
    size_t texels = fresh_coverage ? (size_t)overlay->texture_width * (size_t)overlay->texture_height : 0;
    if (picture_bytes + texels == 0) {
        return ORR_OK;
    }
    ORR_TRY(reserve(vk, &slot->staging, picture_bytes + 4 * texels, 0, "pixels to present", error));
    uint8_t *bytes = slot->staging.mapped;
    if (fresh_picture) {
        ORR_TRY(resize_texture(vk, &draw->picture, host->width, host->height, "the picture", error));
        memcpy(bytes, host->rgba, picture_bytes);
        record_upload(slot->commands, slot->staging.buffer, 0, &draw->picture);
        draw->revision = picture->revision;
    }
    if (fresh_coverage) {
        ORR_TRY(resize_texture(vk, &draw->coverage, overlay->texture_width, overlay->texture_height,
                               "the panel's font", error));
        for (size_t i = 0; i < texels; i++) {
            memset(bytes + picture_bytes + 4 * i, overlay->coverage[i], 4);
        }
        record_upload(slot->commands, slot->staging.buffer, picture_bytes, &draw->coverage);
        draw->coverage_revision = overlay->revision;
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
        *vertex++ = (orr_overlay_vertex){.position = {x * (float)extent.width, y * (float)extent.height},
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

static int32_t pixel(float position, uint32_t side)
{
    return position < 0.0f ? 0 : position > (float)side ? (int32_t)side : (int32_t)position;
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
                           const orr_present_picture *picture, const orr_overlay *overlay,
                           VkDeviceSize index_offset)
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
    orr_vk_graphics_bind(commands, &draw->pipeline, (VkRect2D){{0, 0}, extent}, VK_CULL_MODE_NONE);
    const VkDeviceSize start = 0;
    vkCmdBindVertexBuffers(commands, 0, 1, &slot->geometry.buffer, &start);
    vkCmdBindIndexBuffer(commands, slot->geometry.buffer, index_offset, VK_INDEX_TYPE_UINT16);
    const float scale[2] = {2.0f / (float)extent.width, 2.0f / (float)extent.height};
    if (picture) {
        VkImageView view = picture->image ? picture->image->view : draw->picture.view;
        orr_vk_graphics_push(commands, &draw->pipeline,
                             &(orr_vk_binding){.view = view, .sampler = draw->sampler}, scale);
        vkCmdDrawIndexed(commands, QUAD_INDICES, 1, 0, 0, 0);
    }
    if (overlay) {
        orr_vk_graphics_push(commands, &draw->pipeline,
                             &(orr_vk_binding){.view = draw->coverage.view, .sampler = draw->sampler}, scale);
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
    ORR_VK_TRY(vkResetFences(vk->device, 1, &slot->done), error);
    return orr_vk_submit_between(vk, slot->commands, &wait, &signal, slot->done, error);
}

orr_result orr_present_draw_image(orr_vk *vk, orr_present_draw *draw, const orr_swapchain *swapchain,
                                  uint32_t image, const orr_present_picture *picture,
                                  const orr_overlay *overlay, orr_error *error)
{
    const orr_present_slot *slot = &draw->slots[draw->slot];
    ORR_TRY(orr_vk_commands_begin(slot->commands, error));
    ORR_TRY(upload_textures(vk, draw, picture, overlay, error));
    VkDeviceSize index_offset;
    ORR_TRY(upload_geometry(vk, draw, swapchain->extent, overlay, &index_offset, error));
    record_drawing(draw, swapchain, image, picture, overlay, index_offset);
    ORR_VK_TRY(vkEndCommandBuffer(slot->commands), error);
    ORR_TRY(submit(vk, slot, swapchain->drawn[image], error));
    draw->slot = (draw->slot + 1) % ORR_PRESENT_SLOTS;
    return ORR_OK;
}
