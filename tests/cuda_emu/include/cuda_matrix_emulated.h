// The warp-wide matrix instructions of engine/device/cuda_matrix.h, with the register layouts of the PTX ISA.
#pragma once

#include "cuda_fp16.h"

inline __half emu_half_of(unsigned int pair, unsigned int which)
{
    return __ushort_as_half((unsigned short)(pair >> 16 * which));
}

struct emu_product {
    uint32_t a[4], b[2];
    float c[4];
};

typedef double emu_row __attribute__((vector_size(64))); // of 8 columns

inline void emu_multiply_matrices(const emu::party *parties, unsigned int)
{
    double a[16][16];
    emu_row b[16], sum[16];
    for (unsigned int lane = 0; lane < 32; lane++) {
        const emu_product *in = (const emu_product *)parties[lane].in;
        unsigned int g = lane / 4, t = lane % 4;
        for (unsigned int r = 0; r < 4; r++) {
            for (unsigned int i = 0; i < 2; i++) {
                a[g + 8 * (r & 1)][2 * t + i + 8 * (r >> 1)] = emu_half_of(in->a[r], i).value();
            }
        }
        for (unsigned int r = 0; r < 2; r++) {
            for (unsigned int i = 0; i < 2; i++) {
                b[2 * t + i + 8 * r][g] = emu_half_of(in->b[r], i).value();
            }
        }
    }
    for (unsigned int lane = 0; lane < 32; lane++) {
        const emu_product *in = (const emu_product *)parties[lane].in;
        for (unsigned int r = 0; r < 4; r++) {
            sum[lane / 4 + 8 * (r >> 1)][2 * (lane % 4) + (r & 1)] = (double)in->c[r];
        }
    }
    for (unsigned int row = 0; row < 16; row++) {
        emu_row s = sum[row];
        for (unsigned int k = 0; k < 16; k++) {
            s += a[row][k] * b[k];
        }
        sum[row] = s;
    }
    for (unsigned int lane = 0; lane < 32; lane++) {
        for (unsigned int r = 0; r < 4; r++) {
            ((float *)parties[lane].out)[r] = (float)sum[lane / 4 + 8 * (r >> 1)][2 * (lane % 4) + (r & 1)];
        }
    }
}

inline void orr_matrix_multiply(float c[4], const uint32_t a[4], const uint32_t b[2], EMU_HERE_PARAMETERS)
{
    emu_product in = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, {c[0], c[1], c[2], c[3]}};
    emu::meet_warp(0xffffffffu, emu_multiply_matrices, &in, c, EMU_HERE);
}

template <bool transposed> inline void emu_load_matrices(const emu::party *parties, unsigned int)
{
    for (unsigned int lane = 0; lane < 32; lane++) {
        unsigned int g = lane / 4, t = lane % 4;
        for (unsigned int matrix = 0; matrix < 4; matrix++) {
            uint32_t bits = 0;
            for (unsigned int i = 0; i < 2; i++) {
                unsigned int row = transposed ? 2 * t + i : g, column = transposed ? g : 2 * t + i;
                const __half *at = *(const __half *const *)parties[8 * matrix + row].in;
                if ((uintptr_t)at % 16 != 0) {
                    emu::fail("lane %u: a matrix row that is not 16-byte aligned", 8 * matrix + row);
                }
                bits |= (uint32_t)at[column].bits << 16 * i;
            }
            ((uint32_t *)parties[lane].out)[matrix] = bits;
        }
    }
}

inline void orr_matrix_load(uint32_t r[4], const __half *row, EMU_HERE_PARAMETERS)
{
    emu::meet_warp(0xffffffffu, emu_load_matrices<false>, &row, r, EMU_HERE);
}

inline void orr_matrix_load_transposed(uint32_t r[4], const __half *row, EMU_HERE_PARAMETERS)
{
    emu::meet_warp(0xffffffffu, emu_load_matrices<true>, &row, r, EMU_HERE);
}

inline void emu_transpose_matrix(const emu::party *parties, unsigned int)
{
    uint32_t in[32];
    for (unsigned int lane = 0; lane < 32; lane++) {
        in[lane] = *(const uint32_t *)parties[lane].in;
    }
    for (unsigned int lane = 0; lane < 32; lane++) {
        uint32_t bits = 0;
        for (unsigned int i = 0; i < 2; i++) { // row g, column 2t + i comes from row 2t + i, column g
            unsigned int row = 2 * (lane % 4) + i, column = lane / 4;
            bits |= (in[4 * row + column / 2] >> 16 * (column % 2) & 0xffffu) << 16 * i;
        }
        *(uint32_t *)parties[lane].out = bits;
    }
}

inline uint32_t orr_matrix_transpose(uint32_t r, EMU_HERE_PARAMETERS)
{
    uint32_t out;
    emu::meet_warp(0xffffffffu, emu_transpose_matrix, &r, &out, EMU_HERE);
    return out;
}
