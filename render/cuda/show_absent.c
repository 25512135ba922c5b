// Pictures of CUDA's for a window, in a build without CUDA or without Vulkan.
#include "render/cuda/show.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(
        error, ORR_CODE_FEATURE_ABSENT,
        "CUDA with Vulkan is not in this build (NVIDIA's CUDA toolkit: nvcc; Debian: libvulkan-dev "
        "libvulkan-volk-dev glslc)");
}

orr_result orr_cuda_show_create(orr_vk *vk, const orr_cuda *cuda, bool shared, int images,
                                orr_cuda_show **show, orr_error *error)
{
    (void)vk;
    (void)cuda;
    (void)shared;
    (void)images;
    *show = NULL;
    return absent(error);
}

void orr_cuda_show_destroy(orr_cuda_show *show)
{
    (void)show;
}

orr_result orr_cuda_show_picture(orr_cuda_show *show, const float *rgba, int width, int height,
                                 struct orr_vulkan_image *image, orr_profile *profile, orr_error *error)
{
    (void)show;
    (void)rgba;
    (void)width;
    (void)height;
    (void)image;
    (void)profile;
    return absent(error);
}
