// Which element a number belongs to, when each element has a run of numbers.
#pragma once

#include "engine/device/cuda_kernel.h"

// The last of `count` elements whose run begins at or before `number`. firsts: where each begins, ascending
static __device__ __forceinline__ uint32_t find_run(const uint32_t *firsts, uint32_t count, uint32_t number)
{
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (firsts[middle] <= number) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}
