#include "tests/support/same_gpu.h"

#include "engine/device/cuda_gpu.h"
#include "engine/device/vulkan_gpu.h"
#include "orr_features.h"
#include "tests/support/support.h"

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

#include <stdlib.h>
#include <string.h>

static bool validates, exports_memory;

static void skip_all(const char *why)
{
    print_message("skipped: %s\n", why);
    exit(77);
}

int find_both_devices(void **state)
{
    (void)state;
    orr_error error = {0};
    orr_vk *vk;
    validates = orr_vk_create(&(orr_vk_desc){.validate = true}, &vk, &error) == ORR_OK;
    if (!validates && orr_vk_create(&(orr_vk_desc){0}, &vk, &error) != ORR_OK) {
        skip_all(error.message);
    }
    exports_memory = vk->exports_memory;
#if ORR_CUDA_EMULATED
    memcpy(current_settings()->uuid, vk->uuid, sizeof vk->uuid);
#endif
    orr_vk_destroy(vk);
    orr_cuda *cuda;
    if (orr_cuda_create(NULL, &cuda, &error) != ORR_OK) {
        skip_all(error.message);
    }
    orr_cuda_destroy(cuda);
    return 0;
}

int use_same_gpu(void **state)
{
    find_both_devices(state);
    if (!exports_memory) {
        skip_all("the Vulkan driver exports no memory");
    }
    return 0;
}

bool has_validation_layer(void)
{
    return validates;
}
