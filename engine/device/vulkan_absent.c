// The Vulkan device in a build without Vulkan: every function says so.
#include "engine/device/vulkan.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "Vulkan is not in this build (Debian: libvulkan-dev libvulkan-volk-dev glslc)");
}

orr_result orr_vk_create(const orr_vk_desc *desc, orr_vk **vk, orr_error *error)
{
    (void)desc;
    *vk = NULL;
    return absent(error);
}

void orr_vk_destroy(orr_vk *vk)
{
    (void)vk;
}

bool orr_vk_is_gpu(const orr_vk *vk)
{
    (void)vk;
    return false;
}

const char *orr_vk_name(const orr_vk *vk)
{
    (void)vk;
    return "";
}

int orr_vk_validation_count(const orr_vk *vk)
{
    (void)vk;
    return 0;
}

const char *orr_vk_validation_message(const orr_vk *vk)
{
    (void)vk;
    return "";
}

orr_result orr_vk_list(orr_vk_info *infos, int capacity, int *count, orr_error *error)
{
    (void)infos;
    (void)capacity;
    *count = 0;
    return absent(error);
}
