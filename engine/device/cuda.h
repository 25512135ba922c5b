// CUDA devices. The runtime is part of the library and loads the driver at the first use, so that a program
// runs without one. This header needs no CUDA headers; code that launches kernels includes cuda_gpu.h.
//
// A device needs compute capability 7.5 (Turing) or later, and a driver not older than the toolkit (major).
#pragma once

#include "engine/core/result.h"

typedef struct orr_cuda orr_cuda;

typedef struct orr_cuda_desc {
    const char
        *device; // index or part of a name; NULL: the environment's ORR_CUDA_DEVICE, or the one with the
                 // most multiprocessors
} orr_cuda_desc;

// DEVICE_ABSENT: no driver, one too old, no device, or none that can; the line says which.
orr_result orr_cuda_create(const orr_cuda_desc *desc, orr_cuda **cuda, orr_error *error);
void orr_cuda_destroy(orr_cuda *cuda); // NULL is allowed; everything made from it must be gone

typedef struct orr_cuda_info {
    char name[256];
    uint8_t uuid[16];  // the same as Vulkan's deviceUUID of the same GPU
    int compute[2];    // compute capability: major, minor
    int processors;    // multiprocessors
    uint64_t memory;   // [bytes]
    uint64_t l2_cache; // [bytes]
    const char *lacks; // what the engine needs and the device has not, or NULL
} orr_cuda_info;

const orr_cuda_info *orr_cuda_describe(const orr_cuda *cuda);

// Every device of this machine in the driver's order: writes at most `capacity` and sets *count to their
// number. DEVICE_ABSENT when there is no driver, or one that is too old.
orr_result orr_cuda_list(orr_cuda_info *infos, int capacity, int *count, orr_error *error);
