#include "tests/one_card.h"

#include "engine/device/vulkan_gpu.h"
#include "tests/cuda_emu/emu.h"
#include "tests/support.h"

#include <string.h>

bool become_one_card(bool *has_validation)
{
    orr_error error = {0};
    orr_vk *vk;
    *has_validation = orr_vk_create(&(orr_vk_desc){.validate = true}, &vk, &error) == ORR_OK;
    if (!*has_validation && orr_vk_create(&(orr_vk_desc){0}, &vk, &error) != ORR_OK) {
        print_message("skipped: %s\n", error.message);
        return false;
    }
    bool exports = vk->exports_memory;
    memcpy(current_settings()->uuid, vk->uuid, sizeof vk->uuid);
    orr_vk_destroy(vk);
    if (!exports) {
        print_message("skipped: the Vulkan driver exports no memory\n");
    }
    return exports;
}
