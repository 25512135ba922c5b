// What a CUDA device could do at most, measured: the denominators of its benchmarks.
#pragma once

#include "engine/device/cuda.h"

typedef struct orr_cuda_limits {
    double bytes_per_second;     // copying within its memory, read plus written
    double upload_per_second;    // [bytes/s] from pinned host memory
    double sort_keys_per_second; // orr_cuda_sort_pairs, 32-bit keys and values
    double
        tensor_operations_per_second; // products of halves summed in float (mma.sync), operands in registers
} orr_cuda_limits;

// Takes about a second and 1 GiB of device memory, or what is free. tiny: the least, for the emulated device.
orr_result orr_cuda_measure_limits(orr_cuda *cuda, bool tiny, orr_cuda_limits *limits, orr_error *error);
