// Products of 16 x 16 by 16 x 8 halves on tensor cores, summed in float, by a whole warp (PTX, mma.m16n8k16).
//
// The values of each lane, with g = lane / 4 and t = lane % 4 (a register is a pair of neighbouring columns):
//   A, 16 x 16: [0], [2] row g, columns 2t and 2t + 8; [1], [3] the same of row g + 8
//   B, 16 x 8:  [0] rows 2t and 2t + 1, column g; [1] rows 2t + 8 and 2t + 9, column g
//   C, 16 x 8:  [0] row g, column 2t; [1] row g, column 2t + 1; [2] and [3] the same of row g + 8
// So C, rounded to halves, is half of the A of the next product: activations of a network stay in registers.
#pragma once

#include "engine/device/cuda_kernel.h"

#if ORR_CUDA_EMULATED
#include <cuda_matrix_emulated.h>
#else

// c += a b
static __device__ __forceinline__ void orr_matrix_multiply(float c[4], const uint32_t a[4],
                                                           const uint32_t b[2])
{
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else // sm_75 has the half of it
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[2]), "r"(a[3]), "r"(b[1]));
#endif
}

// Four 8 x 8 matrices of halves from shared memory: lane i has the address of row i % 8 of matrix i / 8,
// aligned to 16 bytes; r[j] is row g, columns 2t of matrix j.
static __device__ __forceinline__ void orr_matrix_load(uint32_t r[4], const __half *row)
{
    uint32_t at = (uint32_t)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

// The same of the transposed matrices: r[j] is rows 2t and 2t + 1, column g of matrix j.
static __device__ __forceinline__ void orr_matrix_load_transposed(uint32_t r[4], const __half *row)
{
    uint32_t at = (uint32_t)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

// An 8 x 8 matrix of halves, stored as row g, columns 2t; transposed, without memory.
static __device__ __forceinline__ uint32_t orr_matrix_transpose(uint32_t r)
{
    uint32_t out;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(r));
    return out;
}
#endif

// Two floats as a register of A or B: the first in the lower half.
static __device__ __forceinline__ uint32_t orr_pack_halves(float first, float second)
{
    __half2 pair = __floats2half2_rn(first, second);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

static __device__ __forceinline__ float2 orr_unpack_halves(uint32_t bits)
{
    __half2 pair;
    memcpy(&pair, &bits, sizeof pair);
    return __half22float2(pair);
}
