#include "render/vulkan/shaders.h"

static const uint32_t cloud_map[] = {
#include "shaders/cloud_map.comp.inc"
};
static const uint32_t fragment_sort[] = {
#include "shaders/fragment_sort.comp.inc"
};
static const uint32_t mesh_fragment[] = {
#include "shaders/mesh.frag.inc"
};
static const uint32_t mesh_blended_fragment[] = {
#include "shaders/mesh_blended.frag.inc"
};
static const uint32_t mesh_mirror_fragment[] = {
#include "shaders/mesh_mirror.frag.inc"
};
static const uint32_t mesh_shadow_fragment[] = {
#include "shaders/mesh_shadow.frag.inc"
};
static const uint32_t mesh_vertex[] = {
#include "shaders/mesh.vert.inc"
};
static const uint32_t occlusion[] = {
#include "shaders/occlusion.comp.inc"
};
static const uint32_t present[] = {
#include "shaders/present.comp.inc"
};
static const uint32_t radix_count[] = {
#include "shaders/splats/radix_count.comp.inc"
};
static const uint32_t radix_scan[] = {
#include "shaders/splats/radix_scan.comp.inc"
};
static const uint32_t radix_scatter[] = {
#include "shaders/splats/radix_scatter.comp.inc"
};
static const uint32_t splat_blend[] = {
#include "shaders/splats/splat_blend.comp.inc"
};
static const uint32_t splat_blend_clouded[] = {
#include "shaders/splats/splat_blend_clouded.comp.inc"
};
static const uint32_t splat_blend_clouded_occluded[] = {
#include "shaders/splats/splat_blend_clouded_occluded.comp.inc"
};
static const uint32_t splat_blend_occluded[] = {
#include "shaders/splats/splat_blend_occluded.comp.inc"
};
static const uint32_t splat_plan[] = {
#include "shaders/splats/splat_plan.comp.inc"
};
static const uint32_t splat_project[] = {
#include "shaders/splats/splat_project.comp.inc"
};
static const uint32_t tile_count[] = {
#include "shaders/splats/tile_count.comp.inc"
};
static const uint32_t tile_emit[] = {
#include "shaders/splats/tile_emit.comp.inc"
};
static const uint32_t tile_ranges[] = {
#include "shaders/splats/tile_ranges.comp.inc"
};
static const uint32_t tile_scan[] = {
#include "shaders/splats/tile_scan.comp.inc"
};

#define CODE(name)                                                                                           \
    {                                                                                                        \
#name, (name), sizeof(name)                                                                          \
    }

orr_vk_code orr_vulkan_shader_code(orr_vulkan_shader shader)
{
    static const orr_vk_code codes[ORR_SHADER_COUNT] = {
        [ORR_SHADER_CLOUD_MAP] = CODE(cloud_map),
        [ORR_SHADER_FRAGMENT_SORT] = CODE(fragment_sort),
        [ORR_SHADER_MESH_FRAGMENT] = CODE(mesh_fragment),
        [ORR_SHADER_MESH_BLENDED_FRAGMENT] = CODE(mesh_blended_fragment),
        [ORR_SHADER_MESH_MIRROR_FRAGMENT] = CODE(mesh_mirror_fragment),
        [ORR_SHADER_MESH_SHADOW_FRAGMENT] = CODE(mesh_shadow_fragment),
        [ORR_SHADER_MESH_VERTEX] = CODE(mesh_vertex),
        [ORR_SHADER_OCCLUSION] = CODE(occlusion),
        [ORR_SHADER_PRESENT] = CODE(present),
        [ORR_SHADER_RADIX_COUNT] = CODE(radix_count),
        [ORR_SHADER_RADIX_SCAN] = CODE(radix_scan),
        [ORR_SHADER_RADIX_SCATTER] = CODE(radix_scatter),
        [ORR_SHADER_SPLAT_BLEND] = CODE(splat_blend),
        [ORR_SHADER_SPLAT_BLEND_CLOUDED] = CODE(splat_blend_clouded),
        [ORR_SHADER_SPLAT_BLEND_CLOUDED_OCCLUDED] = CODE(splat_blend_clouded_occluded),
        [ORR_SHADER_SPLAT_BLEND_OCCLUDED] = CODE(splat_blend_occluded),
        [ORR_SHADER_SPLAT_PLAN] = CODE(splat_plan),
        [ORR_SHADER_SPLAT_PROJECT] = CODE(splat_project),
        [ORR_SHADER_TILE_COUNT] = CODE(tile_count),
        [ORR_SHADER_TILE_EMIT] = CODE(tile_emit),
        [ORR_SHADER_TILE_RANGES] = CODE(tile_ranges),
        [ORR_SHADER_TILE_SCAN] = CODE(tile_scan),
    };
    return codes[shader];
}
