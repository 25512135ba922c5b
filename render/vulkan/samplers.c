#include "render/vulkan/samplers.h"

orr_result orr_vulkan_sampler_create(orr_vk *vk, const orr_texture_sampler *how, VkSampler *sampler,
                                     orr_error *error)
{
    static const VkSamplerAddressMode wraps[] = {
        [ORR_WRAP_REPEAT] = VK_SAMPLER_ADDRESS_MODE_REPEAT,
        [ORR_WRAP_CLAMP] = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        [ORR_WRAP_MIRROR] = VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT,
    };
    const VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = how->nearest_large ? VK_FILTER_NEAREST : VK_FILTER_LINEAR,
        .minFilter = how->nearest_small ? VK_FILTER_NEAREST : VK_FILTER_LINEAR,
        .mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
        .addressModeU = wraps[how->wrap_u],
        .addressModeV = wraps[how->wrap_v],
        // above 0, so that it still tells reduced lookups from magnified ones
        .maxLod = how->no_mips ? 0.25f : VK_LOD_CLAMP_NONE,
    };
    ORR_VK_TRY(vkCreateSampler(vk->device, &info, NULL, sampler), error);
    return ORR_OK;
}

orr_result orr_vulkan_samplers_take(orr_vk *vk, orr_vulkan_samplers *samplers, const orr_texture_sampler *how,
                                    VkSampler *sampler, orr_error *error)
{
    const int filters = how->nearest_large + 2 * (how->nearest_small + 2 * how->no_mips);
    VkSampler *made = &samplers->made[how->wrap_u + 3 * (how->wrap_v + 3 * filters)];
    if (*made == VK_NULL_HANDLE) {
        ORR_TRY(orr_vulkan_sampler_create(vk, how, made, error));
    }
    *sampler = *made;
    return ORR_OK;
}

void orr_vulkan_samplers_destroy(orr_vk *vk, orr_vulkan_samplers *samplers)
{
    for (int i = 0; i < ORR_VULKAN_SAMPLERS; i++) {
        vkDestroySampler(vk->device, samplers->made[i], NULL);
    }
}
