// CUDA devices in a build without CUDA: every function says so.
#include "engine/device/cuda_limits.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}

orr_result orr_cuda_create(const orr_cuda_desc *desc, orr_cuda **cuda, orr_error *error)
{
    (void)desc;
    *cuda = NULL;
    return absent(error);
}

void orr_cuda_destroy(orr_cuda *cuda)
{
    (void)cuda;
}

const orr_cuda_info *orr_cuda_describe(const orr_cuda *cuda)
{
    (void)cuda;
    return NULL;
}

orr_result orr_cuda_list(orr_cuda_info *infos, int capacity, int *count, orr_error *error)
{
    (void)infos;
    (void)capacity;
    *count = 0;
    return absent(error);
}

orr_result orr_cuda_measure_limits(orr_cuda *cuda, bool tiny, orr_cuda_limits *limits, orr_error *error)
{
    (void)cuda;
    (void)tiny;
    (void)limits;
    return absent(error);
}
