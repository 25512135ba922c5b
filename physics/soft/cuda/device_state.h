// What device.c and device_together.c share. Private to them.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "physics/soft/cuda/device.h"
#include "physics/soft/cuda/program_cuda.h"

// Where the newest positions and velocities are.
typedef enum newest { NEWEST_BOTH, NEWEST_HOST, NEWEST_DEVICE } newest;

struct orr_soft_device {
    orr_cuda *cuda; // borrowed
    orr_soft_cuda soft;
    void *state, *block, *colour_block, *index, *number, *pinned, *omega;
    void *triangle, *sums;                         // of gas: orr_soft_cuda_gas
    void *tet, *rows, *tet_at, *strained, *strain; // of what yields: orr_soft_cuda_plastic
    bool whole;                                    // steps are one launch
    newest newest;
    // of a step together
    orr_cuda_buffer planes, pushed;
    bool placed; // the planes of this step are on the device
    bool read;   // the host has its positions
    orr_result failed;
    orr_error error;
};

static inline void orr_soft_device_note(orr_soft_device *device, orr_result result, const orr_error *error)
{
    if (result != ORR_OK && device->failed == ORR_OK) {
        device->failed = result;
        device->error = *error;
    }
}

// New memory of the device with these elements.
orr_result orr_soft_device_upload(orr_cuda *cuda, const void *from, size_t count, size_t size, void **to,
                                  orr_error *error);
// What a model that yields has besides; the host's copy is complete.
orr_result orr_soft_device_place_plastic(const orr_soft *soft, orr_error *error);

// Makes the device this thread's, and copies what the host has written.
orr_result orr_soft_device_ready(const orr_soft *soft, orr_error *error);
