// Meshes on Vulkan: their form in the device's memory, and the graphics pipeline that draws them to an image of display
// colour and distance, which the splats are then blended over.
#pragma once

#include "render/draw.h"
#include "render/vulkan/upload.h"

typedef struct orr_vulkan_mesh {
    orr_vk_buffer vertices, indices;
    orr_vk_image *textures;       // texture_count
    orr_mesh_part *parts;         // part_count
    orr_mesh_material *materials; // material_count
    int texture_count, part_count, material_count;
    int64_t triangle_count;
    float low[3], high[3];
} orr_vulkan_mesh;

orr_result orr_vulkan_mesh_create(orr_vulkan_upload *upload, const orr_mesh *mesh, orr_vulkan_mesh **out,
                                  orr_error *error);
void orr_vulkan_mesh_destroy(orr_vk *vk, orr_vulkan_mesh *mesh);

typedef struct orr_vulkan_meshes {
    orr_vk *vk;
    orr_vk_graphics pipeline;
    VkSampler sampler;
    orr_vk_image white;  // the texture of materials that have none
    orr_vk_image colour; // display colour; alpha: distance along the camera's axis, 0: nothing there
    orr_vk_image depth;
} orr_vulkan_meshes;

// What is placed where.
typedef struct orr_vulkan_mesh_item {
    const orr_vulkan_mesh *mesh;
    float model[12];
} orr_vulkan_mesh_item;

orr_result orr_vulkan_meshes_create(orr_vulkan_upload *upload, orr_vulkan_meshes *meshes, orr_error *error);
void orr_vulkan_meshes_destroy(orr_vulkan_meshes *meshes);

bool orr_vulkan_meshes_fit(const orr_vulkan_meshes *meshes, int width, int height);
// Makes the images at least that large; no frame may be in flight.
orr_result orr_vulkan_meshes_grow(orr_vulkan_meshes *meshes, int width, int height, orr_error *error);

// Draws the items into the corner of `colour`, and leaves it for compute shaders to read.
void orr_vulkan_meshes_record(const orr_vulkan_meshes *meshes, VkCommandBuffer commands, const orr_lens *lens,
                              const orr_draw_sun *sun, const orr_vulkan_mesh_item *items, int item_count);
