// Morton codes: the bits of three whole numbers in turn, so that what is near in space is near in order.
//
// Morton, "A computer oriented geodetic data base and a new technique in file sequencing", IBM 1966.
#pragma once

#include <stdint.h>

// The low 10 bits of v, two zeros before each.
static inline uint32_t orr_morton_spread10(uint32_t v)
{
    v &= 0x3ffu;
    v = (v | v << 16) & 0x030000ffu;
    v = (v | v << 8) & 0x0300f00fu;
    v = (v | v << 4) & 0x030c30c3u;
    return (v | v << 2) & 0x09249249u;
}

// The low 21 bits of v, two zeros before each.
static inline uint64_t orr_morton_spread21(uint64_t v)
{
    v &= 0x1fffffu;
    v = (v | v << 32) & UINT64_C(0x001f00000000ffff);
    v = (v | v << 16) & UINT64_C(0x001f0000ff0000ff);
    v = (v | v << 8) & UINT64_C(0x100f00f00f00f00f);
    v = (v | v << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (v | v << 2) & UINT64_C(0x1249249249249249);
}

// 10 bits per axis, x lowest.
static inline uint32_t orr_morton30(uint32_t x, uint32_t y, uint32_t z)
{
    return orr_morton_spread10(x) | orr_morton_spread10(y) << 1 | orr_morton_spread10(z) << 2;
}

// 21 bits per axis, x lowest.
static inline uint64_t orr_morton63(uint32_t x, uint32_t y, uint32_t z)
{
    return orr_morton_spread21(x) | orr_morton_spread21(y) << 1 | orr_morton_spread21(z) << 2;
}
