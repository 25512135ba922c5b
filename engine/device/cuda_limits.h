// What a CUDA device could do at most, measured: the denominators of its benchmarks. About a second; 1 GiB of its memory, or
// what is free.
#pragma once

#include "engine/device/cuda.h"

typedef struct orr_cuda_limits {
    double bytes_per_second;     // copying within its memory, read plus written
    double upload_per_second;    // [bytes/s] from pinned host memory
    double sort_keys_per_second; // orr_cuda_sort_pairs, 32-bit keys and values
} orr_cuda_limits;

orr_result orr_cuda_measure_limits(orr_cuda *cuda, orr_cuda_limits *limits, orr_error *error);
