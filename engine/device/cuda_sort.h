// Sorting and prefix sums on a CUDA device. The number of elements is on the device: no call waits for it.
#pragma once

#include "engine/device/cuda_gpu.h"

enum { ORR_CUDA_SUM_MAX = (1 << 30) - 1 }; // the other two bits of a word say how far a block is

// Scratch of both, kept from call to call. Zero is empty.
typedef struct orr_cuda_sort {
    orr_cuda_buffer keys, values; // the other half of the sort's passes
    orr_cuda_buffer state;        // what blocks publish
} orr_cuda_sort;
void orr_cuda_sort_release(orr_cuda_sort *sort);

// Memory for `capacity` elements, so that later calls allocate nothing.
orr_result orr_cuda_sort_reserve(orr_cuda *cuda, orr_cuda_sort *sort, size_t capacity, orr_error *error);

// Sorts keys[count] ascending by their lower key_bits bits, and values with them; equal keys keep their
// order. *count, on the device, must not exceed capacity. Least significant digit first, 8 bits and one sweep
// over the elements per pass (Adinets and Merrill, Onesweep, 2022).
orr_result orr_cuda_sort_pairs(orr_cuda *cuda, orr_cuda_sort *sort, uint32_t *keys, uint32_t *values,
                               const uint32_t *count, size_t capacity, int key_bits, orr_error *error);

// sums[i] = values[0] + ... + values[i - 1], and *total the sum of all *count; in one sweep (Merrill and
// Garland, Single-pass parallel prefix scan with decoupled look-back, 2016). sums may be values. Sums beyond
// ORR_CUDA_SUM_MAX become that, so that a caller can tell from *total; the values of 3072 elements in a row
// must not sum up to 2^32.
orr_result orr_cuda_running_sum(orr_cuda *cuda, orr_cuda_sort *sort, const uint32_t *values, uint32_t *sums,
                                uint32_t *total, const uint32_t *count, size_t capacity, orr_error *error);
