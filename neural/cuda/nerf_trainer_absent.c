// Training radiance fields on CUDA in a build without CUDA: there is no device to train on, so that only the
// first of these is called.
#include "neural/cuda/nerf_trainer.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}

orr_result orr_cuda_nerf_trainer_create(orr_cuda *cuda, const orr_cuda_nerf_trainer_desc *desc,
                                        orr_cuda_nerf_trainer **training, orr_error *error)
{
    (void)cuda, (void)desc;
    *training = NULL;
    return absent(error);
}

void orr_cuda_nerf_trainer_destroy(orr_cuda_nerf_trainer *training)
{
    (void)training;
}

orr_result orr_cuda_nerf_trainer_step(orr_cuda_nerf_trainer *training, double coarseness,
                                      orr_cuda_nerf_step_report *report, orr_error *error)
{
    (void)training, (void)coarseness, (void)report;
    return absent(error);
}

orr_result orr_cuda_nerf_trainer_read(orr_cuda_nerf_trainer *training, const orr_cuda_nerf_copy *to,
                                      orr_error *error)
{
    (void)training, (void)to;
    return absent(error);
}

orr_result orr_cuda_nerf_trainer_write(orr_cuda_nerf_trainer *training, const orr_cuda_nerf_copy *from,
                                       orr_error *error)
{
    (void)training, (void)from;
    return absent(error);
}

size_t orr_cuda_nerf_trainer_optimizer_size(const orr_cuda_nerf_trainer *training, int optimizer)
{
    (void)training, (void)optimizer;
    return 0;
}

orr_result orr_cuda_nerf_trainer_optimizer_save(const orr_cuda_nerf_trainer *training, int optimizer,
                                                void *state, orr_error *error)
{
    (void)training, (void)optimizer, (void)state;
    return absent(error);
}

orr_result orr_cuda_nerf_trainer_optimizer_load(orr_cuda_nerf_trainer *training, int optimizer,
                                                const void *state, size_t size, orr_error *error)
{
    (void)training, (void)optimizer, (void)state, (void)size;
    return absent(error);
}
