#include "tests/support/read_image.h"

#include "tests/support/support.h"

#include <string.h>

void read_image(orr_vk *vk, const orr_vulkan_image *image, uint8_t *rgba)
{
    size_t bytes = (size_t)image->width * (size_t)image->height * 4;
    orr_vk_buffer host;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore timeline;
    assert_ok(orr_vk_buffer_create(vk, bytes, ORR_VK_READBACK, 0, "a test", &host, &error));
    assert_ok(orr_vk_commands_create(vk, &pool, &commands, 1, &error));
    assert_ok(orr_vk_timeline_create(vk, &timeline, &error));
    assert_ok(orr_vk_commands_begin(commands, &error));
    orr_vk_image_barrier(commands, image->image, VK_IMAGE_ASPECT_COLOR_BIT, image->layout,
                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                         VK_ACCESS_2_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_2_COPY_BIT,
                         VK_ACCESS_2_TRANSFER_READ_BIT);
    const VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {(uint32_t)image->width, (uint32_t)image->height, 1},
    };
    vkCmdCopyImageToBuffer(commands, image->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, host.buffer, 1,
                           &region);
    orr_vk_image_barrier(commands, image->image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, image->layout, VK_PIPELINE_STAGE_2_COPY_BIT,
                         VK_ACCESS_2_NONE, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT);
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_ok(orr_vk_submit(vk, commands, timeline, 1, &error));
    assert_ok(orr_vk_timeline_wait(vk, timeline, 1, &error));
    memcpy(rgba, host.mapped, bytes);
    vkDestroySemaphore(vk->device, timeline, NULL);
    vkDestroyCommandPool(vk->device, pool, NULL);
    orr_vk_buffer_destroy(vk, &host);
}
