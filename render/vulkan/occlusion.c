#include "render/vulkan/occlusion.h"

#include "engine/core/jobs.h"
#include "render/vulkan/shaders.h"

enum { PIXEL = 12, GROUP = 8 }; // [bytes], [px] per side of a workgroup: shaders/occlusion.comp

orr_result orr_vulkan_occlusion_create(orr_vk *vk, orr_vulkan_occlusion *o, orr_error *error)
{
    *o = (orr_vulkan_occlusion){.vk = vk};
    return orr_vulkan_occlusion_grow(o, 1, error); // meshes bind it all the same
}

void orr_vulkan_occlusion_destroy(orr_vulkan_occlusion *o)
{
    if (o->vk) {
        orr_vk_compute_destroy(o->vk, &o->search);
        orr_vk_buffer_destroy(o->vk, &o->map);
    }
}

orr_result orr_vulkan_occlusion_prepare(orr_vulkan_occlusion *o, orr_error *error)
{
    return o->search.pipeline ? ORR_OK
                              : orr_vk_compute_create(o->vk, orr_vulkan_shader_code(ORR_SHADER_OCCLUSION),
                                                      "tbb", 0, &o->search, error);
}

bool orr_vulkan_occlusion_fits(const orr_vulkan_occlusion *o, int64_t pixels)
{
    return pixels * PIXEL <= (int64_t)o->map.size;
}

orr_result orr_vulkan_occlusion_grow(orr_vulkan_occlusion *o, int64_t pixels, orr_error *error)
{
    const int64_t limit = (int64_t)o->vk->properties.limits.maxStorageBufferRange;
    if (orr_vulkan_occlusion_fits(o, pixels)) {
        return ORR_OK;
    }
    if (pixels * PIXEL > limit) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "Vulkan: ambient occlusion of %lld pixels: this device's buffers take %lld",
                        (long long)pixels, (long long)limit / PIXEL);
    }
    orr_vk_buffer_destroy(o->vk, &o->map);
    return orr_vk_buffer_create(o->vk, (VkDeviceSize)(pixels * PIXEL), ORR_VK_ON_DEVICE, 0,
                                "ambient occlusion", &o->map, error);
}

void orr_vulkan_occlusion_record(const orr_vulkan_occlusion *o, VkCommandBuffer commands, VkImageView depth,
                                 VkSampler sampler, VkBuffer lighting, int width, int height)
{
    const orr_vk_binding bindings[] = {
        {.view = depth, .sampler = sampler}, {.buffer = lighting}, {.buffer = o->map.buffer}};
    orr_vk_compute_bind(commands, &o->search, bindings, NULL, 0);
    vkCmdDispatch(commands, (uint32_t)orr_blocks(width, GROUP), (uint32_t)orr_blocks(height, GROUP), 1);
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
}
