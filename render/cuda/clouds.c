#include "render/cuda/clouds.h"

#include <string.h>

static void free_cloud(orr_cuda_cloud *cloud)
{
    orr_cuda_free(cloud->geometry);
    orr_cuda_free(cloud->harmonics);
    orr_cuda_free(cloud->piece_of);
}

// Uploads one of the pack's arrays, or piece_of, in the order of the file.
static orr_result upload(orr_cuda *cuda, const orr_splat_pack *pack, const void *array, int members,
                         const uint32_t *indices, void *memory, orr_error *error)
{
    size_t floats = (size_t)pack->blocks * ORR_PACK_BLOCK * (size_t)members;
    float *ordered;
    void *device = NULL;
    ORR_ALLOC(ordered, floats, "uploading a cloud", error);
    orr_splat_pack_in_file_order(array, members, indices, 0, pack->count, ordered);
    orr_result result = orr_cuda_alloc(cuda, floats, sizeof(float), &device, error);
    if (result == ORR_OK) {
        result = orr_cuda_upload(cuda, device, ordered, floats * sizeof(float), error);
    }
    orr_free(ordered);
    memcpy(memory, &device, sizeof device);
    return result;
}

static orr_result create(orr_cuda *cuda, const orr_draw_splats *splats, orr_cuda_cloud *cloud,
                         orr_error *error)
{
    const orr_splat_pack *pack = splats->pack;
    *cloud = (orr_cuda_cloud){.key = splats->key, .count = pack->count, .sh_degree = pack->sh_degree};
    uint32_t *indices;
    ORR_ALLOC(indices, pack->count, "the order of a cloud", error);
    orr_splat_pack_indices(pack, indices);
    orr_result result =
        upload(cuda, pack, pack->geometry, ORR_PACK_GEOMETRY, indices, &cloud->geometry, error);
    if (result == ORR_OK) {
        int members = 3 * (pack->sh_degree + 1) * (pack->sh_degree + 1);
        result = upload(cuda, pack, pack->harmonics, members, indices, &cloud->harmonics, error);
    }
    if (result == ORR_OK && splats->deformation.piece_of) {
        result = upload(cuda, pack, splats->deformation.piece_of, 1, indices, &cloud->piece_of, error);
    }
    orr_free(indices);
    if (result != ORR_OK) {
        free_cloud(cloud);
    }
    return result;
}

orr_result orr_cuda_clouds_take(orr_cuda *cuda, orr_cuda_clouds *clouds, const orr_draw_splats *splats,
                                const orr_cuda_cloud **cloud, orr_error *error)
{
    for (int i = 0; i < clouds->count; i++) {
        if (clouds->clouds[i].key == splats->key) {
            *cloud = &clouds->clouds[i];
            return ORR_OK;
        }
    }
    ORR_GROW(clouds->clouds, clouds->capacity, clouds->count + 1, "clouds on the device", error);
    ORR_TRY(create(cuda, splats, &clouds->clouds[clouds->count], error));
    *cloud = &clouds->clouds[clouds->count++];
    return ORR_OK;
}

void orr_cuda_clouds_release(orr_cuda_clouds *clouds, uint64_t key)
{
    for (int i = 0; i < clouds->count; i++) {
        if (clouds->clouds[i].key == key) {
            free_cloud(&clouds->clouds[i]);
            clouds->clouds[i] = clouds->clouds[--clouds->count];
            return;
        }
    }
}

void orr_cuda_clouds_destroy(orr_cuda_clouds *clouds)
{
    for (int i = 0; i < clouds->count; i++) {
        free_cloud(&clouds->clouds[i]);
    }
    orr_free(clouds->clouds);
    *clouds = (orr_cuda_clouds){0};
}
