// AMX tiles in plain C, put before neural/network/mlp_amx.c by the compiler (-include) so that its schedule
// runs on any CPU with AVX-512 BF16. Loads and stores go through every byte a tile covers, so
// AddressSanitizer sees what the instructions would touch. As the instruction does, products of even and of
// odd factors are summed apart, fused, and joined at the end; unlike it, numbers below 2^-126 are not taken
// for 0.
#pragma once

#include <assert.h>
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#define _tile_loadconfig amx_emu_loadconfig
#define _tile_release amx_emu_release
#define _tile_zero amx_emu_zero
#define _tile_loadd amx_emu_loadd
#define _tile_stored amx_emu_stored
#define _tile_dpbf16ps amx_emu_dpbf16ps
#define orr_mlp_kernels_amx orr_mlp_kernels_amx_emulated

static _Thread_local uint32_t amx_emu_tiles[8][16][16];
static _Thread_local int amx_emu_configured;

static inline void amx_emu_loadconfig(const void *config)
{
    const uint8_t *bytes = config;
    assert(bytes[0] == 1 && bytes[1] == 0); // palette, start row
    for (int tile = 0; tile < 8; tile++) {  // only whole tiles are emulated
        assert(bytes[16 + 2 * tile] == 64 && bytes[17 + 2 * tile] == 0 && bytes[48 + tile] == 16);
    }
    amx_emu_configured = 1;
}

static inline void amx_emu_release(void)
{
    amx_emu_configured = 0;
}

static inline void amx_emu_zero(int tile)
{
    assert(amx_emu_configured);
    memset(amx_emu_tiles[tile], 0, sizeof amx_emu_tiles[tile]);
}

static inline void amx_emu_loadd(int tile, const void *base, ptrdiff_t stride)
{
    assert(amx_emu_configured);
    for (int row = 0; row < 16; row++) {
        memcpy(amx_emu_tiles[tile][row], (const char *)base + row * stride, 64);
    }
}

static inline void amx_emu_stored(int tile, void *base, ptrdiff_t stride)
{
    assert(amx_emu_configured);
    for (int row = 0; row < 16; row++) {
        memcpy((char *)base + row * stride, amx_emu_tiles[tile][row], 64);
    }
}

static inline float amx_emu_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void amx_emu_dpbf16ps(int sums, int a, int b)
{
    assert(amx_emu_configured);
    for (int m = 0; m < 16; m++) {
        for (int n = 0; n < 16; n++) {
            float even = 0.0f, odd = 0.0f;
            for (int k = 0; k < 16; k++) {
                uint32_t left = amx_emu_tiles[a][m][k], right = amx_emu_tiles[b][k][n];
                even = __builtin_fmaf(amx_emu_float(left << 16), amx_emu_float(right << 16), even);
                odd =
                    __builtin_fmaf(amx_emu_float(left & 0xffff0000), amx_emu_float(right & 0xffff0000), odd);
            }
            float sum = amx_emu_float(amx_emu_tiles[sums][m][n]) + (even + odd);
            memcpy(&amx_emu_tiles[sums][m][n], &sum, sizeof sum);
        }
    }
}
