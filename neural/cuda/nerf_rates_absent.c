#include "neural/cuda/nerf_rates.h"

orr_result orr_cuda_measure_nerf(orr_cuda *cuda, bool tiny, orr_cuda_nerf_rates *rates, orr_error *error)
{
    (void)cuda, (void)tiny, (void)rates;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}
