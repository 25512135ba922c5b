// The fused MLP with AVX-512 BF16: vdpbf16ps adds two products of bf16 numbers to each of 16 fp32 sums.
#include "engine/maths/lanes.h"

// One register tile: sums[r][column] = sum over k of a[r][k] b[k][column], words of two. Always 16 sums in
// flight, which covers the latency.
static inline __attribute__((always_inline)) void multiply_tile(float *sums, int sums_stride,
                                                                const uint32_t *a, int a_stride,
                                                                const uint32_t *b, int b_stride, int pairs,
                                                                const int rows, const int vectors)
{
    __m512 sum[16] = {0};
    for (int k = 0; k < pairs; k++) {
        __m512bh b_words[4];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            b_words[v] = (__m512bh)_mm512_loadu_si512(b + k * b_stride + v * ORR_LANES);
        }
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            __m512bh a_words = (__m512bh)_mm512_set1_epi32((int)a[r * a_stride + k]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) {
                sum[r * vectors + v] = _mm512_dpbf16_ps(sum[r * vectors + v], a_words, b_words[v]);
            }
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            _mm512_storeu_ps(sums + r * sums_stride + v * ORR_LANES, sum[r * vectors + v]);
        }
    }
}

// sums[16][ORR_SAMPLES]: its first `columns`, a multiple of 16
static void multiply_strip(float *sums, const uint32_t *a, int a_stride, const uint32_t *b, int b_stride,
                           int pairs, int columns)
{
    enum { ROWS = 16, STRIDE = 64 };
    for (int n = 0; n < columns;) {
        int left = columns - n;
        if (left >= 64) {
            for (int m = 0; m < ROWS; m += 4) {
                multiply_tile(sums + m * STRIDE + n, STRIDE, a + m * a_stride, a_stride, b + n, b_stride,
                              pairs, 4, 4);
            }
            n += 64;
        } else if (left >= 32) {
            for (int m = 0; m < ROWS; m += 8) {
                multiply_tile(sums + m * STRIDE + n, STRIDE, a + m * a_stride, a_stride, b + n, b_stride,
                              pairs, 8, 2);
            }
            n += 32;
        } else {
            multiply_tile(sums + n, STRIDE, a, a_stride, b + n, b_stride, pairs, 16, 1);
            n += 16;
        }
    }
}

#include "neural/network/mlp_bf16_blocks.h"

static double peak(int rounds, float *sink)
{
    enum { SUMS = 16 };
    __m512 sum[SUMS];
#pragma GCC unroll 16
    for (int k = 0; k < SUMS; k++) {
        sum[k] = (__m512)R(k); // all different: the compiler would compute equal sums once
    }
    __m512bh a = (__m512bh)pair_words(real_splat(sink), real_splat(sink + 1)), b = a;
    for (int i = 0; i < rounds; i++) {
#pragma GCC unroll 16
        for (int k = 0; k < SUMS; k++) {
            sum[k] = _mm512_dpbf16_ps(sum[k], a, b);
        }
    }
#pragma GCC unroll 16
    for (int k = 1; k < SUMS; k++) {
        sum[0] = (__m512)((real)sum[0] + (real)sum[k]);
    }
    *sink += real_sum((real)sum[0]);
    return 4.0 * SUMS * ORR_LANES * rounds;
}

const orr_mlp_kernels orr_mlp_kernels_bf16 = {
    .bf16 = true, .forward = forward_blocks, .backward = backward_blocks, .peak = peak};
