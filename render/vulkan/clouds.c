#include "render/vulkan/clouds.h"

#include "engine/core/memory.h"

// Uploads splats first .. first + count of the file; indices[i]: index in the pack of splat i of the file.
static orr_result upload_array(orr_vulkan_upload *upload, const void *pack, int members,
                               const uint32_t *indices, int64_t first, int64_t count, orr_vk_buffer *buffer,
                               orr_error *error)
{
    size_t blocks = (size_t)((count + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK);
    size_t size = blocks * ORR_PACK_BLOCK * (size_t)members * sizeof(float);
    ORR_TRY(orr_vk_buffer_create(upload->vk, size, ORR_VK_ON_DEVICE, 0, "splats", buffer, error));
    void *bytes;
    ORR_TRY(orr_vulkan_upload_begin(upload, size, &bytes, error));
    orr_splat_pack_in_file_order(pack, members, indices, first, count, bytes);
    return orr_vulkan_upload_buffer(upload, buffer, error);
}

static orr_result fill(orr_vulkan_upload *upload, const orr_draw_splats *splats, const uint32_t *indices,
                       int64_t page_splats, orr_vulkan_cloud *cloud, orr_error *error)
{
    const orr_splat_pack *pack = splats->pack;
    const int32_t *piece_of = splats->deformation.piece_of;
    int members = 3 * (pack->sh_degree + 1) * (pack->sh_degree + 1);
    for (int64_t first = 0; first < pack->count; first += page_splats) {
        orr_vulkan_page *page = &cloud->pages[cloud->page_count++];
        int64_t count = pack->count - first < page_splats ? pack->count - first : page_splats;
        page->count = (uint32_t)count;
        ORR_TRY(upload_array(upload, pack->geometry, ORR_PACK_GEOMETRY, indices, first, count,
                             &page->geometry, error));
        ORR_TRY(
            upload_array(upload, pack->harmonics, members, indices, first, count, &page->harmonics, error));
        if (piece_of) {
            ORR_TRY(upload_array(upload, piece_of, 1, indices, first, count, &page->piece_of, error));
        }
    }
    return ORR_OK;
}

orr_result orr_vulkan_cloud_create(orr_vulkan_upload *upload, const orr_draw_splats *splats,
                                   orr_vulkan_cloud **out, orr_error *error)
{
    *out = NULL;
    const orr_splat_pack *pack = splats->pack;
    int members = 3 * (pack->sh_degree + 1) * (pack->sh_degree + 1);
    int widest = members > ORR_PACK_GEOMETRY ? members : ORR_PACK_GEOMETRY;
    int64_t page_blocks = (int64_t)(upload->vk->properties.limits.maxStorageBufferRange /
                                    ((size_t)widest * ORR_PACK_BLOCK * sizeof(float)));
    // one dispatch per page, with one invocation per splat
    int64_t dispatch_blocks = (int64_t)upload->vk->properties.limits.maxComputeWorkGroupCount[0] * 16;
    page_blocks = page_blocks < dispatch_blocks ? page_blocks : dispatch_blocks;
    int64_t page_splats = page_blocks * ORR_PACK_BLOCK;

    orr_vulkan_cloud *cloud = orr_alloc_zero(1, sizeof *cloud);
    uint32_t *indices = orr_alloc((size_t)pack->count, sizeof *indices);
    if (cloud) {
        *cloud = (orr_vulkan_cloud){.sh_degree = pack->sh_degree, .count = pack->count};
        cloud->pages = orr_alloc_zero((size_t)(pack->count / page_splats + 1), sizeof *cloud->pages);
    }
    orr_result result = ORR_OK;
    if (!cloud || !cloud->pages || !indices) {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a cloud of %lld splats",
                          (long long)pack->count);
    }
    if (result == ORR_OK) {
        orr_splat_pack_indices(pack, indices);
        result = fill(upload, splats, indices, page_splats, cloud, error);
    }
    orr_free(indices);
    if (result != ORR_OK) {
        orr_vulkan_cloud_destroy(upload->vk, cloud);
        return result;
    }
    *out = cloud;
    return ORR_OK;
}

void orr_vulkan_cloud_destroy(orr_vk *vk, orr_vulkan_cloud *cloud)
{
    if (!cloud) {
        return;
    }
    for (int i = 0; i < cloud->page_count; i++) {
        orr_vk_buffer_destroy(vk, &cloud->pages[i].geometry);
        orr_vk_buffer_destroy(vk, &cloud->pages[i].harmonics);
        orr_vk_buffer_destroy(vk, &cloud->pages[i].piece_of);
    }
    orr_free(cloud->pages);
    orr_free(cloud);
}
