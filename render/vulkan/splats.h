// The splat stages on Vulkan: pipelines, the memory that passes between stages, and their commands.
//
//   project        one invocation per splat          -> record and sort key of each splat
//   sort           radix, by depth                   -> visible splats from front to back
//   bin            tiles of each splat, exactly; sum; emit; radix sort by tile  -> each tile's splats, front
//   to back blend          one workgroup per tile            -> picture and depth
//
// All frames share this memory: they follow each other on one queue.
#pragma once

#include "render/cloud_shadow/cloud_maps.h"
#include "render/splat/splat_lens.h"

#include "render/vulkan/clouds.h"
#include "render/vulkan/marks.h"
#include "render/vulkan/shaders.h"

enum { ORR_VULKAN_TILE = 16 }; // [px] per side: SPLAT_TILE of splat_formula.h

// Mirrors control_block in shaders/control.glsl.
typedef struct orr_vulkan_control {
    uint32_t splats, visible, pairs;
    uint32_t pairs_needed; // above the capacity: nothing was drawn; UINT32_MAX: that many or more
    uint32_t visible_groups[3], visible_blocks[3], pair_blocks[3];
    float clip[4]; // of orr_lens
} orr_vulkan_control;

// How much the buffers take, or a frame needs.
typedef struct orr_vulkan_capacity {
    int64_t splats, pairs, tiles, pixels;
    int64_t cloud_texels; // of opacity maps
} orr_vulkan_capacity;

typedef struct orr_vulkan_splats {
    orr_vk *vk;
    orr_vk_compute stages[ORR_SHADER_COMPUTE_COUNT];
    VkSampler sampler;

    orr_vulkan_capacity capacity;
    orr_vk_buffer control;
    orr_vk_buffer centres, shapes, colours; // records, one vec4 each per splat
    orr_vk_buffer keys[2], order[2];        // per splat
    orr_vk_buffer tile_counts, sums;        // per visible splat, and per 256 of them
    orr_vk_buffer digits, digit_totals;     // of the sorts
    orr_vk_buffer pair_tiles[2], pair_splats[2];
    orr_vk_buffer ranges; // per tile
    orr_vk_buffer picture, depth;
    orr_vk_buffer clouds; // an orr_cloud_table, then the texels of its maps
} orr_vulkan_splats;

typedef struct orr_vulkan_layer {
    const orr_vulkan_cloud *cloud;
    splat_lens_values lens;
    uint32_t first_piece; // of its deformation, among those of the frame
} orr_vulkan_layer;

typedef struct orr_vulkan_splat_frame {
    const orr_vulkan_layer *layers; // layer_count
    int layer_count;
    VkBuffer pieces; // of the layers' deformations; VK_NULL_HANDLE: none is deformed
    int width, height;
    float clip[4]; // of orr_lens: splats whose middle is behind it are left out
    bool opaque;
    orr_sky_values sky;
    VkImageView meshes; // display colour and distance, in a layout for sampling
    bool has_meshes, has_backdrop;
    bool smooth;           // `meshes` is the depth of the pixels' centres, and this, likewise,
    VkImageView samples;   // display colour and distance of four samples of each
    VkBuffer lists, nodes; // fragments of transparent meshes
    bool has_fragments;
    VkBuffer lighting;       // of meshes.h; read with shadows or an environment alone
    VkBuffer environments;   // texels
    bool has_environment;    // the first is behind everything
    VkImageView shadow_maps; // in a layout for sampling
    bool has_shadows;
    // distance, infinity where there is none, then planes of premultiplied colour; VK_NULL_HANDLE: none
    VkBuffer fields;
    bool clouded;       // clouds cast shadows on splats and fields
    bool occluded;      // meshes keep light from all around off them,
    VkBuffer occlusion; // as occlusion.h has found it
    VkBuffer picture;   // to draw into; VK_NULL_HANDLE: that of the stages
} orr_vulkan_splat_frame;

orr_result orr_vulkan_splats_create(orr_vk *vk, orr_vulkan_splats *splats, orr_error *error);
void orr_vulkan_splats_destroy(orr_vulkan_splats *splats);

// Makes the pipelines of a frame that are not there yet. maps: it has opacity maps; clouded, occluded: of
// orr_vulkan_splat_frame
orr_result orr_vulkan_splats_prepare(orr_vulkan_splats *splats, bool maps, bool clouded, bool occluded,
                                     orr_error *error);

bool orr_vulkan_splats_fit(const orr_vulkan_splats *splats, orr_vulkan_capacity capacity);
// Enlarges the buffers; no frame may be in flight. CAPACITY when the device's buffers cannot be that large.
orr_result orr_vulkan_splats_grow(orr_vulkan_splats *splats, orr_vulkan_capacity capacity, orr_error *error);

// Records an opacity map, of the cloud of the only layer: projected and cut into tiles as for a picture, but
// neither coloured nor sorted by depth. pieces: as of orr_vulkan_splat_frame
void orr_vulkan_splats_record_map(const orr_vulkan_splats *splats, VkCommandBuffer commands,
                                  const orr_vulkan_layer *layer, VkBuffer pieces, const orr_cloud_map *map);
// Writes the table of `clouds`, for the lookups of a view.
void orr_vulkan_splats_record_table(const orr_vulkan_splats *splats, VkCommandBuffer commands,
                                    const orr_cloud_table *table);
// Records the stages; transfers and shaders recorded later may read the picture and depth buffers. marks:
// nullable
void orr_vulkan_splats_record(const orr_vulkan_splats *splats, VkCommandBuffer commands,
                              const orr_vulkan_splat_frame *frame, orr_vulkan_marks *marks);
