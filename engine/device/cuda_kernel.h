// The language of kernels: what every .cu file includes first. The same file is compiled by nvcc, and by g++
// for the emulated device of tests/cuda_emu.
//
// Kernels are plain functions with integer template parameters at most. They are launched by ORR_LAUNCH
// alone, whose caller checks cudaGetLastError (ORR_CUDA_TRY(cudaGetLastError())).
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#define _Static_assert static_assert // of the C headers that kernels share with the host

#if ORR_CUDA_EMULATED
#define ORR_UNROLL
#define ORR_LAUNCH(kernel, grid, block, shared, stream, ...)                                                 \
    emu::launch(#kernel, kernel, grid, block, shared, stream, __VA_ARGS__)
#define ORR_DYNAMIC_SHARED(type, name) type *name = (type *)emu::dynamic_shared()
#else
#define ORR_UNROLL _Pragma("unroll") // the loop that follows, whose length is a constant
// kernel: a template's instance stands in parentheses: ORR_LAUNCH((blend<3>), ...)
#define ORR_LAUNCH(kernel, grid, block, shared, stream, ...)                                                 \
    kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define ORR_DYNAMIC_SHARED(type, name)                                                                       \
    extern __shared__ __align__(16) unsigned char orr_dynamic_shared[];                                      \
    type *name = (type *)orr_dynamic_shared
#endif

enum { ORR_WARP = 32 };
#define ORR_ALL_LANES 0xffffffffu

static __device__ __forceinline__ unsigned int orr_lane(void)
{
    return threadIdx.x & 31u; // blocks are warps in x
}

// blocks of `size` threads for `count` elements; at least one
static inline unsigned int orr_cuda_blocks(size_t count, size_t size)
{
    return count ? (unsigned int)((count + size - 1) / size) : 1u;
}
