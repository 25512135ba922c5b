// What a training keeps of bilateral grids on the device.
#include "render/training/cuda/splat_steps_state.h"

orr_result orr_cuda_splat_steps_write_grids(orr_cuda_splat_steps *s, const orr_photo_grid *grids,
                                            orr_error *error)
{
    const size_t count = (size_t)s->image_count;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->grids, count, sizeof *grids, error));
    return orr_cuda_upload(s->cuda, s->grids.memory, grids, count * sizeof *grids, error);
}

orr_result orr_cuda_splat_steps_read_grids(orr_cuda_splat_steps *s, orr_photo_grid *grids, orr_error *error)
{
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    return orr_cuda_download(s->cuda, grids, s->grids.memory, (size_t)s->image_count * sizeof *grids, error);
}

orr_result orr_cuda_splat_steps_centre_grids(orr_cuda_splat_steps *s, const int *images, int count,
                                             orr_error *error)
{
    const size_t images_size = (size_t)count * sizeof *images;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->centred, (size_t)count, sizeof *images, error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->centre_sums, (size_t)count, ORR_GRID_MAP * sizeof(double), error));
    ORR_TRY(orr_cuda_upload(s->cuda, s->centred.memory, images, images_size, error));
    orr_cuda_grids_centre_launch(s->cuda->stream, s->grids.memory, s->centred.memory, count,
                                 s->centre_sums.memory);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}
