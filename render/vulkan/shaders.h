// The shaders of drawing as SPIR-V, built from shaders/.
#pragma once

#include "engine/device/vulkan_gpu.h"

typedef enum orr_vulkan_shader {
    // compute
    ORR_SHADER_FRAGMENT_SORT,
    ORR_SHADER_PRESENT,
    ORR_SHADER_RADIX_COUNT,
    ORR_SHADER_RADIX_SCAN,
    ORR_SHADER_RADIX_SCATTER,
    ORR_SHADER_SPLAT_BLEND,
    ORR_SHADER_SPLAT_PLAN,
    ORR_SHADER_SPLAT_PROJECT,
    ORR_SHADER_TILE_COUNT,
    ORR_SHADER_TILE_EMIT,
    ORR_SHADER_TILE_RANGES,
    ORR_SHADER_TILE_SCAN,
    ORR_SHADER_COMPUTE_COUNT,
    // graphics
    ORR_SHADER_MESH_VERTEX = ORR_SHADER_COMPUTE_COUNT,
    ORR_SHADER_MESH_FRAGMENT,
    ORR_SHADER_MESH_BLENDED_FRAGMENT,
    ORR_SHADER_MESH_MIRROR_FRAGMENT,
    ORR_SHADER_MESH_SHADOW_FRAGMENT,
    ORR_SHADER_COUNT
} orr_vulkan_shader;

orr_vk_code orr_vulkan_shader_code(orr_vulkan_shader shader);
