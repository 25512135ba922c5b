// Sums of a value over a block of threads, in a fixed order.
#pragma once

#include "engine/device/cuda_kernel.h"

// In the first of the block's threads, all of which take part. scratch: shared memory for as many floats as
// the block has warps
template <int warps> static __device__ float block_sum(float value, float *scratch)
{
    for (int by = ORR_WARP / 2; by > 0; by /= 2) {
        value += __shfl_xor_sync(ORR_ALL_LANES, value, by);
    }
    __syncthreads();
    if (orr_lane() == 0) {
        scratch[threadIdx.x / ORR_WARP] = value;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; threadIdx.x == 0 && i < warps; i++) {
        sum += scratch[i];
    }
    return sum;
}
