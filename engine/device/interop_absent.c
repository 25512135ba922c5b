// Vulkan and CUDA together in a build without either of them.
#include "engine/device/interop.h"

orr_result orr_interop_create(orr_vk *vk, orr_cuda *cuda, bool shared, orr_interop **interop,
                              orr_error *error)
{
    (void)vk;
    (void)cuda;
    (void)shared;
    *interop = NULL;
    return orr_fail(
        error, ORR_CODE_FEATURE_ABSENT,
        "CUDA with Vulkan is not in this build (NVIDIA's CUDA toolkit: nvcc; Debian: libvulkan-dev "
        "libvulkan-volk-dev glslc)");
}

void orr_interop_destroy(orr_interop *interop)
{
    (void)interop;
}
