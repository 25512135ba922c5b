// Splat clouds in the device's memory.
#pragma once

#include "render/draw.h"
#include "render/vulkan/upload.h"

// A part of a cloud whose arrays fit in one storage buffer each. Same layout as orr_splat_pack, but in the
// order of the file: then a stable sort by depth leaves splats of equal depth in that order.
typedef struct orr_vulkan_page {
    orr_vk_buffer geometry;
    orr_vk_buffer harmonics;
    orr_vk_buffer piece_of; // of a cloud that is deformed
    uint32_t count;         // splats
} orr_vulkan_page;

typedef struct orr_vulkan_cloud {
    orr_vulkan_page *pages;
    int page_count;
    int sh_degree;
    int64_t count;
} orr_vulkan_cloud;

orr_result orr_vulkan_cloud_create(orr_vulkan_upload *upload, const orr_draw_splats *splats,
                                   orr_vulkan_cloud **cloud, orr_error *error);
void orr_vulkan_cloud_destroy(orr_vk *vk, orr_vulkan_cloud *cloud);
