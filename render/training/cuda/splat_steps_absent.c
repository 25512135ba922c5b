// Training splats on CUDA in a build without CUDA: there is no device to train on, so that only the first of
// these is called.
#include "render/training/cuda/splat_steps.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}

orr_result orr_cuda_splat_steps_create(orr_cuda *cuda, int images, orr_cuda_splat_steps **steps,
                                       orr_error *error)
{
    (void)cuda, (void)images;
    *steps = NULL;
    return absent(error);
}

void orr_cuda_splat_steps_destroy(orr_cuda_splat_steps *steps)
{
    (void)steps;
}

orr_result orr_cuda_splat_steps_write(orr_cuda_splat_steps *steps, const orr_splat_params *params,
                                      orr_error *error)
{
    (void)steps, (void)params;
    return absent(error);
}

orr_result orr_cuda_splat_steps_read(orr_cuda_splat_steps *steps, orr_splat_params *params, orr_error *error)
{
    (void)steps, (void)params;
    return absent(error);
}

orr_result orr_cuda_splat_steps_read_first(orr_cuda_splat_steps *steps, orr_splat_params *params,
                                           orr_error *error)
{
    (void)steps, (void)params;
    return absent(error);
}

orr_result orr_cuda_splat_steps_rearrange(orr_cuda_splat_steps *steps, const orr_splat_params *params,
                                          orr_error *error)
{
    (void)steps, (void)params;
    return absent(error);
}

orr_result orr_cuda_splat_steps_select(orr_cuda_splat_steps *steps, const orr_splat_params *params,
                                       orr_error *error)
{
    (void)steps, (void)params;
    return absent(error);
}

orr_result orr_cuda_splat_steps_write_grids(orr_cuda_splat_steps *steps, const orr_photo_grid *grids,
                                            orr_error *error)
{
    (void)steps, (void)grids;
    return absent(error);
}

orr_result orr_cuda_splat_steps_read_grids(orr_cuda_splat_steps *steps, orr_photo_grid *grids,
                                           orr_error *error)
{
    (void)steps, (void)grids;
    return absent(error);
}

orr_result orr_cuda_splat_steps_centre_grids(orr_cuda_splat_steps *steps, const int *images, int count,
                                             orr_error *error)
{
    (void)steps, (void)images, (void)count;
    return absent(error);
}

bool orr_cuda_splat_steps_has(const orr_cuda_splat_steps *steps, int image, int shrink)
{
    (void)steps, (void)image, (void)shrink;
    return false;
}

orr_result orr_cuda_splat_steps_weigh(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                      bool first, orr_error *error)
{
    (void)steps, (void)step, (void)first;
    return absent(error);
}

orr_result orr_cuda_splat_steps_read_weights(orr_cuda_splat_steps *steps, double *weights, orr_error *error)
{
    (void)steps, (void)weights;
    return absent(error);
}

orr_result orr_cuda_splat_steps_take(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                     orr_cuda_splat_stepped *stepped, orr_profile *profile, orr_error *error)
{
    (void)steps, (void)step, (void)stepped, (void)profile;
    return absent(error);
}
