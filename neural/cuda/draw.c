#include "neural/cuda/draw.h"

#include "neural/nerf/march.h"

#include <string.h>

enum { BLOCKS = 4 }; // of threads per multiprocessor; they stay until all rays are taken

static orr_result refuse(orr_error *error, const char *why)
{
    return orr_fail(error, ORR_CODE_DEVICE_ABSENT, "CUDA: %s", why);
}

static orr_result check_shape(const orr_field *field, const orr_occupancy *grid, orr_error *error)
{
    const orr_field_parts *parts = orr_field_parts_of(field);
    const orr_mlp_config *network = &parts->network.config, *rgb = &parts->rgb_network.config;
    switch (orr_field_kind_of(field)) {
    case ORR_FIELD_NERF:
        if (parts->proposal || !grid) {
            return refuse(error, "fields with proposals are not drawn on the device");
        }
        return network->width == rgb->width
                   ? ORR_OK
                   : refuse(error, "a radiance field's networks of different widths are not drawn");
    case ORR_FIELD_SDF: // normals: see turn_warp of march.cu
        return network->hidden_layers > 0 && network->output_activation == ORR_ACTIVATION_NONE
                   ? ORR_OK
                   : refuse(error, "distances of a network without hidden layers, or with an output "
                                   "activation, are not drawn");
    default:
        return ORR_OK;
    }
}

static orr_cuda_march march_of(const orr_cuda_field *f)
{
    return (orr_cuda_march){.kind = orr_field_kind_of(f->field),
                            .network = f->network.shape,
                            .rgb = f->rgb.shape,
                            .network_weights = f->network.weights,
                            .rgb_weights = f->rgb.weights,
                            .table = f->network.table,
                            .half_side = 0.5f};
}

static orr_result create(orr_cuda_field *f, orr_error *error)
{
    const orr_field_parts *parts = orr_field_parts_of(f->field);
    ORR_TRY(orr_cuda_model_create(f->cuda, &parts->encoding, &parts->network, &f->network, error));
    if (orr_field_kind_of(f->field) == ORR_FIELD_NERF) {
        ORR_TRY(orr_cuda_model_create(f->cuda, &parts->dir_encoding, &parts->rgb_network, &f->rgb, error));
        size_t words = (size_t)f->grid->cells / 32;
        ORR_TRY(orr_cuda_alloc(f->cuda, words, sizeof(uint32_t), &f->bits, error));
        ORR_TRY(orr_cuda_alloc(f->cuda, words / ORR_OCCUPANCY_BLOCK, sizeof(uint32_t), &f->blocks, error));
    }
    ORR_TRY(orr_cuda_alloc(f->cuda, 1, sizeof(uint32_t), &f->next, error));
    orr_cuda_march march = march_of(f);
    int needed = orr_cuda_march_bytes(&march), available;
    const int fixed = 16384; // what the kernel has besides, at most
    ORR_CUDA_TRY(
        cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, f->cuda->device));
    return needed <= available - fixed
               ? ORR_OK
               : orr_fail(error, ORR_CODE_DEVICE_ABSENT,
                          "CUDA: drawing this field needs %d KiB of shared memory; the device has %d",
                          (needed + fixed) / 1024, available / 1024);
}

orr_result orr_cuda_field_create(orr_cuda *cuda, const orr_field *field, const orr_occupancy *grid,
                                 orr_cuda_field *out, orr_error *error)
{
    *out = (orr_cuda_field){.cuda = cuda, .field = field, .grid = grid};
    ORR_TRY(check_shape(field, grid, error));
    ORR_TRY(orr_cuda_use(cuda, error));
    orr_result result = create(out, error);
    if (result != ORR_OK) {
        orr_cuda_field_destroy(out);
    }
    return result;
}

void orr_cuda_field_destroy(orr_cuda_field *f)
{
    orr_cuda_model_destroy(&f->network);
    orr_cuda_model_destroy(&f->rgb);
    orr_cuda_free(f->bits);
    orr_cuda_free(f->blocks);
    orr_cuda_free(f->next);
    *f = (orr_cuda_field){0};
}

orr_result orr_cuda_field_update(orr_cuda_field *f, orr_error *error)
{
    const orr_field_parts *parts = orr_field_parts_of(f->field);
    ORR_TRY(orr_cuda_use(f->cuda, error));
    if (f->field_version != parts->version) {
        ORR_TRY(orr_cuda_model_set(&f->network, parts->inference_network, parts->inference_table, error));
        if (f->rgb.cuda) {
            ORR_TRY(orr_cuda_model_set(&f->rgb, parts->inference_rgb_network, NULL, error));
        }
        f->field_version = parts->version;
    }
    if (f->bits && f->grid_version != f->grid->version) {
        size_t bytes = (size_t)f->grid->cells / 8;
        ORR_TRY(orr_cuda_upload(f->cuda, f->bits, f->grid->bits, bytes, error));
        ORR_TRY(orr_cuda_upload(f->cuda, f->blocks, f->grid->blocks, bytes / ORR_OCCUPANCY_BLOCK, error));
        f->grid_version = f->grid->version;
    }
    return ORR_OK;
}

bool orr_cuda_field_is_current(const orr_cuda_field *f)
{
    return f->field_version == orr_field_parts_of(f->field)->version &&
           (!f->bits || f->grid_version == f->grid->version);
}

orr_result orr_cuda_field_see(const orr_cuda_field *f, const orr_lens *lens, const float world_to_unit[12],
                              const float to_sun[3], orr_cuda_march *march, orr_error *error)
{
    *march = march_of(f);
    march->next = f->next;
    memcpy(march->to_unit, world_to_unit, sizeof march->to_unit);
    memcpy(march->to_sun, to_sun, sizeof march->to_sun);
    march->clip = clip_plane_of(lens->clip);
    ORR_TRY(orr_ray_camera_of_lens(lens, world_to_unit, &march->camera, error));
    if (march->kind == ORR_FIELD_NERF) {
        orr_nerf_model model = orr_nerf_model_of(f->field, f->grid);
        march->space = model.space;
        march->space.bits = f->bits;
        march->space.blocks = f->blocks;
        march->half_side = 0.5f * (float)model.aabb_scale;
    }
    return ORR_OK;
}

orr_result orr_cuda_field_draw(orr_cuda *cuda, const orr_cuda_march *march, orr_error *error)
{
    int64_t rays = (int64_t)march->camera.width * march->camera.height;
    ORR_CUDA_TRY(cudaMemsetAsync(march->next, 0, sizeof *march->next, cuda->stream));
    ORR_CUDA_TRY(orr_cuda_march_launch(cuda->stream, march,
                                       orr_cuda_pass_blocks(rays, cuda->info.processors * BLOCKS)));
    return ORR_OK;
}
