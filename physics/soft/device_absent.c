// Soft bodies on a CUDA device, in a build without CUDA: never called after `create`, as no orr_cuda exists.
#include "physics/soft/device.h"

orr_result orr_soft_device_create(orr_soft *soft, orr_cuda *cuda, orr_error *error)
{
    (void)soft;
    (void)cuda;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}

void orr_soft_device_destroy(orr_soft_device *device)
{
    (void)device;
}

orr_result orr_soft_device_check(const orr_soft_device *device, orr_error *error)
{
    (void)device;
    (void)error;
    return ORR_OK;
}

void orr_soft_device_fetch(const orr_soft *soft)
{
    (void)soft;
}

void orr_soft_device_change(const orr_soft *soft)
{
    (void)soft;
}

void orr_soft_device_step(const orr_soft *soft, int steps)
{
    (void)soft;
    (void)steps;
}
