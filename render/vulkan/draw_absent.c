// Drawing on Vulkan in a build without it: every call fails.
#include "render/vulkan/draw.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "Vulkan is not in this build (Debian: libvulkan-dev libvulkan-volk-dev glslc)");
}

orr_result orr_vulkan_draw_create(orr_vk *vk, orr_jobs *jobs, int frames_in_flight, orr_vulkan_draw **draw,
                                  orr_error *error)
{
    (void)vk;
    (void)jobs;
    (void)frames_in_flight;
    *draw = NULL;
    return absent(error);
}

void orr_vulkan_draw_destroy(orr_vulkan_draw *draw)
{
    (void)draw;
}

orr_result orr_vulkan_draw_submit(orr_vulkan_draw *draw, const orr_draw_list *list,
                                  const orr_host_layers *layers, orr_error *error)
{
    (void)draw;
    (void)list;
    (void)layers;
    return absent(error);
}

orr_result orr_vulkan_draw_finish(orr_vulkan_draw *draw, const orr_picture *picture, orr_profile *profile,
                                  orr_error *error)
{
    (void)draw;
    (void)picture;
    (void)profile;
    return absent(error);
}

orr_result orr_vulkan_draw_submit_image(orr_vulkan_draw *draw, const orr_draw_list *list, orr_error *error)
{
    return orr_vulkan_draw_submit(draw, list, NULL, error);
}

orr_result orr_vulkan_draw_finish_image(orr_vulkan_draw *draw, struct orr_vulkan_image *image,
                                        orr_profile *profile, orr_error *error)
{
    (void)image;
    return orr_vulkan_draw_finish(draw, NULL, profile, error);
}

orr_result orr_vulkan_draw_trace(orr_vulkan_draw *draw, orr_trace *trace, orr_error *error)
{
    (void)draw;
    (void)trace;
    return absent(error);
}

void orr_vulkan_draw_release(orr_vulkan_draw *draw, uint64_t key)
{
    (void)draw;
    (void)key;
}

size_t orr_vulkan_draw_allocations(const orr_vulkan_draw *draw)
{
    (void)draw;
    return 0;
}
