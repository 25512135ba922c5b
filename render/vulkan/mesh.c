// Uploading a mesh.
#include "engine/core/memory.h"
#include "render/appearance/neural_material.h"
#include "render/vulkan/meshes.h"

#include <string.h>

static orr_result upload_buffer(orr_vulkan_upload *upload, const void *data, size_t size,
                                VkBufferUsageFlags usage, orr_vk_buffer *buffer, orr_error *error)
{
    ORR_TRY(orr_vk_buffer_create(upload->vk, size, ORR_VK_ON_DEVICE, usage, "a mesh", buffer, error));
    void *bytes;
    ORR_TRY(orr_vulkan_upload_begin(upload, size, &bytes, error));
    memcpy(bytes, data, size);
    return orr_vulkan_upload_buffer(upload, buffer, error);
}

static orr_result upload_texture(orr_vulkan_upload *upload, const orr_image8 *texture, int levels,
                                 orr_vk_image *image, orr_error *error)
{
    int most = (int)upload->vk->properties.limits.maxImageDimension2D;
    if (texture->width > most || texture->height > most) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "Vulkan: a texture of %d x %d: this device takes sides up to %d", texture->width,
                        texture->height, most);
    }
    ORR_TRY(orr_vk_image_create_levels(
        upload->vk, texture->width, texture->height, levels, VK_FORMAT_R8G8B8A8_SRGB,
        VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, "a texture", image, error));
    size_t texels = 0;
    for (int level = 0; level < levels; level++) {
        texels += (size_t)orr_mip_side(texture->width, level) * (size_t)orr_mip_side(texture->height, level);
    }
    void *bytes;
    ORR_TRY(orr_vulkan_upload_begin(upload, 4 * texels, &bytes, error));
    memcpy(bytes, texture->rgba, 4 * texels);
    return orr_vulkan_upload_image(upload, image, error);
}

static orr_result upload_network(orr_vulkan_upload *upload, const orr_neural_material *from,
                                 orr_vulkan_network *network, orr_error *error)
{
    ORR_TRY(upload_buffer(upload, &from->weights, sizeof from->weights, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                          &network->weights, error));
    for (int i = 0; i < 2; i++) {
        const orr_image8 *picture = &from->latents[i];
        ORR_TRY(upload_texture(upload, picture, orr_mip_levels(picture->width, picture->height),
                               &network->latents[i], error));
    }
    return ORR_OK;
}

static orr_result upload_networks(orr_vulkan_upload *upload, const orr_mesh *from, orr_vulkan_mesh *mesh,
                                  orr_error *error)
{
    for (int i = 0; i < from->material_count; i++) {
        if (!from->materials[i].neural) {
            continue;
        }
        if (!mesh->networks) {
            mesh->networks = orr_alloc_zero((size_t)from->material_count, sizeof *mesh->networks);
        }
        if (!mesh->networks) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: materials of a mesh");
        }
        ORR_TRY(upload_network(upload, from->materials[i].neural, &mesh->networks[i], error));
    }
    return ORR_OK;
}

// Of all materials, where one of them is glass.
static orr_result upload_looks(orr_vulkan_upload *upload, const orr_mesh *from, orr_vulkan_mesh *mesh,
                               orr_error *error)
{
    bool some = false;
    for (int i = 0; i < from->material_count; i++) {
        some |= orr_material_transmits(&from->materials[i]);
    }
    if (!some) {
        return ORR_OK;
    }
    const size_t size = (size_t)from->material_count * sizeof(orr_glass_look);
    orr_glass_look *looks = orr_alloc((size_t)from->material_count, sizeof *looks);
    if (!looks) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: materials of a mesh");
    }
    for (int i = 0; i < from->material_count; i++) {
        looks[i] = orr_glass_look_of(&from->materials[i]);
    }
    const orr_result result =
        upload_buffer(upload, looks, size, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, &mesh->looks, error);
    orr_free(looks);
    return result;
}

static orr_result take_samplers(orr_vk *vk, orr_vulkan_samplers *samplers, orr_vulkan_mesh *mesh,
                                orr_error *error)
{
    ORR_ALLOC(mesh->samplers, (size_t)mesh->material_count * ORR_TEXTURE_USES, "samplers of a mesh", error);
    for (int i = 0; i < mesh->material_count * ORR_TEXTURE_USES; i++) {
        ORR_TRY(orr_vulkan_samplers_take(
            vk, samplers, &mesh->materials[i / ORR_TEXTURE_USES].samplers[i % ORR_TEXTURE_USES],
            &mesh->samplers[i], error));
    }
    return ORR_OK;
}

static orr_result fill(orr_vulkan_upload *upload, orr_vulkan_samplers *samplers, const orr_mesh *from,
                       orr_vulkan_mesh *mesh, orr_error *error)
{
    *mesh = (orr_vulkan_mesh){.part_count = from->part_count,
                              .material_count = from->material_count,
                              .triangle_count = from->index_count / 3,
                              .blended = orr_mesh_is_blended(from, false)};
    memcpy(mesh->low, from->low, sizeof mesh->low);
    memcpy(mesh->high, from->high, sizeof mesh->high);
    ORR_ALLOC(mesh->parts, from->part_count, "parts of a mesh", error);
    memcpy(mesh->parts, from->parts, (size_t)from->part_count * sizeof *mesh->parts);
    ORR_ALLOC(mesh->materials, from->material_count, "materials of a mesh", error);
    memcpy(mesh->materials, from->materials, (size_t)from->material_count * sizeof *mesh->materials);
    ORR_TRY(take_samplers(upload->vk, samplers, mesh, error));
    ORR_TRY(upload_buffer(upload, from->vertices, (size_t)from->vertex_count * sizeof *from->vertices,
                          VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, &mesh->vertices, error));
    if (from->second_uv) {
        ORR_TRY(upload_buffer(upload, from->second_uv,
                              (size_t)from->vertex_count * 2 * sizeof *from->second_uv,
                              VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, &mesh->second_uv, error));
    }
    ORR_TRY(upload_buffer(upload, from->indices, (size_t)from->index_count * sizeof *from->indices,
                          VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &mesh->indices, error));
    ORR_ALLOC(mesh->textures, from->texture_count, "textures of a mesh", error);
    for (int i = 0; i < from->texture_count; i++) {
        const orr_image8 *texture = &from->textures[i];
        int levels = from->has_mips ? orr_mip_levels(texture->width, texture->height) : 1;
        mesh->textures[i] = (orr_vk_image){0};
        mesh->texture_count++;
        ORR_TRY(upload_texture(upload, texture, levels, &mesh->textures[i], error));
    }
    ORR_TRY(upload_looks(upload, from, mesh, error));
    return upload_networks(upload, from, mesh, error);
}

orr_result orr_vulkan_mesh_create(orr_vulkan_upload *upload, orr_vulkan_samplers *samplers,
                                  const orr_mesh *from, orr_vulkan_mesh **out, orr_error *error)
{
    *out = NULL;
    orr_vulkan_mesh *mesh;
    ORR_ALLOC(mesh, 1, "a mesh", error);
    orr_result result = fill(upload, samplers, from, mesh, error);
    if (result != ORR_OK) {
        orr_vulkan_mesh_destroy(upload->vk, mesh);
        return result;
    }
    *out = mesh;
    return ORR_OK;
}

void orr_vulkan_mesh_destroy(orr_vk *vk, orr_vulkan_mesh *mesh)
{
    if (!mesh) {
        return;
    }
    orr_vk_buffer_destroy(vk, &mesh->vertices);
    orr_vk_buffer_destroy(vk, &mesh->second_uv);
    orr_vk_buffer_destroy(vk, &mesh->indices);
    orr_vk_buffer_destroy(vk, &mesh->looks);
    for (int i = 0; i < mesh->texture_count; i++) {
        orr_vk_image_destroy(vk, &mesh->textures[i]);
    }
    for (int i = 0; i < mesh->material_count && mesh->networks; i++) {
        orr_vk_buffer_destroy(vk, &mesh->networks[i].weights);
        orr_vk_image_destroy(vk, &mesh->networks[i].latents[0]);
        orr_vk_image_destroy(vk, &mesh->networks[i].latents[1]);
    }
    orr_free(mesh->networks);
    orr_free(mesh->textures);
    orr_free(mesh->samplers);
    orr_free(mesh->parts);
    orr_free(mesh->materials);
    orr_free(mesh);
}
