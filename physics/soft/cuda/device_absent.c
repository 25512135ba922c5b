// Soft bodies on a CUDA device, in a build without CUDA: never called after `create`, as no orr_cuda exists.
#include "physics/soft/cuda/device.h"

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

void orr_soft_device_get_strain(const orr_soft *soft, int world)
{
    (void)soft;
    (void)world;
}

void orr_soft_device_set_strain(const orr_soft *soft, int world)
{
    (void)soft;
    (void)world;
}

orr_result orr_soft_device_status(const orr_soft_device *device, orr_error *error)
{
    (void)device;
    (void)error;
    return ORR_OK;
}

orr_cuda *orr_soft_device_cuda(const orr_soft_device *device)
{
    (void)device;
    return NULL;
}

orr_result orr_soft_device_send_pairs(struct orr_soft_pairs *pairs, orr_soft *const *soft, int count,
                                      orr_error *error)
{
    (void)pairs;
    (void)soft;
    (void)count;
    (void)error;
    return ORR_OK;
}

void orr_soft_device_pairs_destroy(orr_soft_device_pairs *pairs)
{
    (void)pairs;
}

void orr_soft_device_shift(const orr_soft *soft, const struct orr_soft_pairs *pairs)
{
    (void)soft;
    (void)pairs;
}

void orr_soft_device_push(const struct orr_soft_pairs *pairs, const orr_soft *soft, const int range[2])
{
    (void)pairs;
    (void)soft;
    (void)range;
}

void orr_soft_device_accelerate(const orr_soft *soft, double omega)
{
    (void)soft;
    (void)omega;
}

void orr_soft_device_update_pressure(const orr_soft *soft)
{
    (void)soft;
}

void orr_soft_device_relax(const orr_soft *soft, int colour)
{
    (void)soft;
    (void)colour;
}

void orr_soft_device_translate(const orr_soft *soft, const double by[3])
{
    (void)soft;
    (void)by;
}

void orr_soft_device_begin(const orr_soft *soft)
{
    (void)soft;
}

void orr_soft_device_read(const orr_soft *soft)
{
    (void)soft;
}

void orr_soft_device_finish(const orr_soft *soft)
{
    (void)soft;
}
