#include "render/cuda/show.h"

#include "engine/device/interop_gpu.h"
#include "render/cuda/display.h"
#include "render/vulkan/image.h"

enum { IMAGES_MAX = 8 };

// At least two: while Vulkan copies one picture, CUDA can write the next.
typedef struct show_slot {
    VkCommandBuffer commands;
    orr_vk_image image;
    uint64_t value; // of Vulkan's timeline when the image is written; 0: never used
} show_slot;

struct orr_cuda_show {
    orr_vk *vk;    // borrowed
    orr_cuda cuda; // the device with a stream of its own, beside the next frame's stages
    orr_interop *interop;
    VkCommandPool pool;
    show_slot slots[IMAGES_MAX];
    int slot_count, next;
    orr_interop_buffer bytes; // of the picture being copied
    cudaEvent_t begin, end;
};

static orr_result open_show(orr_cuda_show *show, const orr_cuda *cuda, bool shared, orr_error *error)
{
    ORR_TRY(orr_cuda_open_beside(cuda, &show->cuda, error));
    ORR_TRY(orr_interop_create(show->vk, &show->cuda, shared, &show->interop, error));
    VkCommandBuffer commands[IMAGES_MAX];
    ORR_TRY(orr_vk_commands_create(show->vk, &show->pool, commands, (uint32_t)show->slot_count, error));
    for (int i = 0; i < show->slot_count; i++) {
        show->slots[i].commands = commands[i];
    }
    ORR_CUDA_TRY(cudaEventCreateWithFlags(&show->begin, cudaEventDefault));
    ORR_CUDA_TRY(cudaEventCreateWithFlags(&show->end, cudaEventDefault));
    return ORR_OK;
}

orr_result orr_cuda_show_create(orr_vk *vk, const orr_cuda *cuda, bool shared, int images,
                                orr_cuda_show **out, orr_error *error)
{
    assert(images >= 1 && images <= IMAGES_MAX);
    *out = NULL;
    orr_cuda_show *show = orr_alloc_zero(1, sizeof *show);
    if (!show) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: showing what CUDA draws");
    }
    show->vk = vk;
    show->slot_count = images > 1 ? images : 2;
    orr_result result = open_show(show, cuda, shared, error);
    if (result != ORR_OK) {
        orr_cuda_show_destroy(show);
        return result;
    }
    *out = show;
    return ORR_OK;
}

void orr_cuda_show_destroy(orr_cuda_show *show)
{
    if (!show) {
        return;
    }
    if (show->interop) {
        orr_cuda_use(&show->cuda, NULL);
        orr_interop_settle(show->interop, NULL);
    }
    vkQueueWaitIdle(
        show->vk->queue); // also for readers of the images; returns at once when the device is lost
    for (int i = 0; i < show->slot_count; i++) {
        orr_vk_image_destroy(show->vk, &show->slots[i].image);
    }
    if (show->interop) {
        orr_interop_buffer_destroy(show->interop, &show->bytes);
    }
    vkDestroyCommandPool(show->vk->device, show->pool, NULL);
    if (show->begin) {
        cudaEventDestroy(show->begin);
    }
    if (show->end) {
        cudaEventDestroy(show->end);
    }
    orr_interop_destroy(show->interop);
    orr_cuda_close_beside(&show->cuda);
    orr_free(show);
}

static orr_result reserve(orr_cuda_show *show, show_slot *slot, int width, int height, orr_error *error)
{
    size_t bytes = (size_t)width * (size_t)height * 4;
    bool grows = show->bytes.size < bytes;
    bool resizes = slot->image.width != width || slot->image.height != height;
    if ((grows && show->bytes.size > 0) || (resizes && slot->image.image)) {
        // earlier pictures may still be copied or shown, by commands of the same queue
        ORR_VK_TRY(vkQueueWaitIdle(show->vk->queue), error);
    }
    if (grows) {
        orr_interop_buffer_destroy(show->interop, &show->bytes);
        ORR_TRY(orr_interop_buffer_create(show->interop, bytes, ORR_INTEROP_TO_VULKAN, "a picture of CUDA's",
                                          &show->bytes, error));
    }
    if (resizes) {
        orr_vk_image_destroy(show->vk, &slot->image);
        ORR_TRY(orr_vk_image_create(show->vk, width, height, VK_FORMAT_R8G8B8A8_UNORM,
                                    VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                        VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                    "a picture", &slot->image, error));
    }
    return ORR_OK;
}

static orr_result record_copy(const orr_cuda_show *show, const show_slot *slot, orr_error *error)
{
    VkCommandBuffer commands = slot->commands;
    const orr_vk_image *image = &slot->image;
    ORR_TRY(orr_vk_commands_begin(commands, error));
    orr_interop_acquire(show->interop, commands, &show->bytes);
    // the image's last reader may be an earlier submission that shows it
    orr_vk_image_barrier(commands, image->image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                         VK_ACCESS_2_NONE, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT);
    const VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {(uint32_t)image->width, (uint32_t)image->height, 1},
    };
    vkCmdCopyBufferToImage(commands, show->bytes.vulkan.buffer, image->image,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    orr_vk_image_barrier(commands, image->image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                         VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                         VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT);
    orr_interop_release(show->interop, commands, &show->bytes);
    ORR_VK_TRY(vkEndCommandBuffer(commands), error);
    return ORR_OK;
}

// CUDA's part: the bytes of this picture, once Vulkan has read those of the one before.
static orr_result write_bytes(orr_cuda_show *show, const float *rgba, size_t pixels, orr_error *error)
{
    cudaStream_t stream = show->cuda.stream;
    ORR_CUDA_TRY(cudaEventRecord(show->begin, stream));
    ORR_TRY(orr_interop_to_cuda(show->interop, NULL, 0, error));
    orr_cuda_to_bytes(stream, rgba, show->bytes.cuda, pixels);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(orr_interop_to_vulkan(show->interop, &show->bytes, 4 * pixels, error));
    ORR_CUDA_TRY(cudaEventRecord(show->end, stream));
    return ORR_OK;
}

static orr_result pass(orr_cuda_show *show, show_slot *slot, const float *rgba, int width, int height,
                       orr_error *error)
{
    ORR_TRY(orr_cuda_use(&show->cuda, error));
    ORR_TRY(orr_interop_reach(show->interop, slot->value, error)); // its commands are recorded again
    ORR_TRY(reserve(show, slot, width, height, error));
    ORR_TRY(record_copy(show, slot, error));
    ORR_TRY(write_bytes(show, rgba, (size_t)width * (size_t)height, error));
    return orr_interop_submit(show->interop, slot->commands, &slot->value, error);
}

orr_result orr_cuda_show_picture(orr_cuda_show *show, const float *rgba, int width, int height,
                                 struct orr_vulkan_image *image, orr_profile *profile, orr_error *error)
{
    show_slot *slot = &show->slots[show->next];
    orr_result result = pass(show, slot, rgba, width, height, error);
    // all work in this stream must end before the next frame may overwrite rgba
    orr_result settled = orr_interop_settle(show->interop, result == ORR_OK ? error : NULL);
    ORR_TRY(result);
    ORR_TRY(settled);
    if (profile) {
        float milliseconds;
        ORR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, show->begin, show->end));
        orr_profile_add(profile, "hand over", (double)milliseconds, (int64_t)width * height);
    }
    show->next = (show->next + 1) % show->slot_count;
    if (image) {
        *image = (struct orr_vulkan_image){.image = slot->image.image,
                                           .view = slot->image.view,
                                           .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                                           .width = width,
                                           .height = height};
    }
    return ORR_OK;
}
