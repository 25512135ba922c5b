// A row of a block of second derivatives: one vector where one world has the registers to itself, so that no
// compiler has to find it; else ORR_BLOCK_DOFS numbers, each of them of all lanes.
#pragma once

#include "physics/lanes/state.h"

#if !defined(__CUDACC__)

// Functions of rows are inlined everywhere, as those of lanes are (lanes/lane.h).
#define ROW_FN static inline __attribute__((always_inline, unused))
#if defined(__clang__) // and so no row is passed in a call, which instruction sets do differently
#pragma clang diagnostic ignored "-Wpsabi"
#endif

#if defined(ORR_SCALAR)
typedef real block_row __attribute__((vector_size(LANE_BLOCK_ROW * sizeof(real))));
typedef real block_row_loose
    __attribute__((vector_size(LANE_BLOCK_ROW * sizeof(real)), aligned(sizeof(real)), may_alias));
typedef real row_half __attribute__((vector_size(LANE_BLOCK_ROW / 2 * sizeof(real))));
typedef real row_half_loose
    __attribute__((vector_size(LANE_BLOCK_ROW / 2 * sizeof(real)), aligned(sizeof(real)), may_alias));
#if defined(ORR_SCALAR_DOUBLE)
typedef int64_t block_bits __attribute__((vector_size(LANE_BLOCK_ROW * sizeof(real))));
#else
typedef int32_t block_bits __attribute__((vector_size(LANE_BLOCK_ROW * sizeof(real))));
#endif

ROW_FN block_row load_row(reals from)
{
    return *(const block_row_loose *)from;
}

// The first ORR_BLOCK_DOFS numbers, and zeros; reads as many as a row has.
ROW_FN block_row load_entries(reals from)
{
    const block_bits kept = {-1, -1, -1, -1, -1, -1, 0, 0};
    return (block_row)((block_bits)load_row(from) & kept);
}

ROW_FN void store_row(reals to, block_row a)
{
    *(block_row_loose *)to = a;
}

ROW_FN block_row multiple_of_row(block_row a, real scale)
{
    return a * scale;
}

// to + scale a
ROW_FN block_row add_multiple(block_row to, real scale, block_row a)
{
    return to + scale * a;
}

ROW_FN block_row add_product(block_row to, block_row a, block_row b)
{
    return to + a * b;
}

ROW_FN block_row no_row(void)
{
    return (block_row){0};
}

ROW_FN real sum_row(block_row a)
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

// The halves of both rows, each added to the other.
ROW_FN block_row sum_halves(block_row p, block_row q)
{
    return __builtin_shufflevector(p, q, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(p, q, 4, 5, 6, 7, 12, 13, 14, 15);
}

// Likewise the quarters of each half.
ROW_FN block_row sum_quarters(block_row p, block_row q)
{
    return __builtin_shufflevector(p, q, 0, 1, 8, 9, 4, 5, 12, 13) +
           __builtin_shufflevector(p, q, 2, 3, 10, 11, 6, 7, 14, 15);
}

// The sums of ORR_BLOCK_DOFS rows, and zeros; each as sum_row adds it up.
ROW_FN block_row sum_rows(const block_row a[ORR_BLOCK_DOFS])
{
    const block_row no = no_row();
    const block_row left[2] = {sum_halves(a[0], a[4]), sum_halves(a[1], a[5])};
    const block_row right[2] = {sum_halves(a[2], no), sum_halves(a[3], no)};
    const block_row four = sum_quarters(left[0], left[1]), two = sum_quarters(right[0], right[1]);
    return __builtin_shufflevector(four, two, 0, 2, 8, 10, 4, 6, 12, 14) +
           __builtin_shufflevector(four, two, 1, 3, 9, 11, 5, 7, 13, 15);
}
#else
typedef struct block_row {
    real entry[LANE_BLOCK_ROW];
} block_row;

ROW_FN block_row load_row(reals from)
{
    block_row a;
    for (int k = 0; k < LANE_BLOCK_ROW; k++) {
        a.entry[k] = from[k];
    }
    return a;
}

ROW_FN block_row load_entries(reals from)
{
    return load_row(from);
}

ROW_FN void store_row(reals to, block_row a)
{
    for (int k = 0; k < LANE_BLOCK_ROW; k++) {
        to[k] = a.entry[k];
    }
}

ROW_FN block_row multiple_of_row(block_row a, real scale)
{
    for (int k = 0; k < LANE_BLOCK_ROW; k++) {
        a.entry[k] = a.entry[k] * scale;
    }
    return a;
}

ROW_FN block_row add_multiple(block_row to, real scale, block_row a)
{
    for (int k = 0; k < LANE_BLOCK_ROW; k++) {
        to.entry[k] = fma_(scale, a.entry[k], to.entry[k]);
    }
    return to;
}

ROW_FN block_row add_product(block_row to, block_row a, block_row b)
{
    for (int k = 0; k < LANE_BLOCK_ROW; k++) {
        to.entry[k] = fma_(a.entry[k], b.entry[k], to.entry[k]);
    }
    return to;
}

ROW_FN block_row no_row(void)
{
    block_row a;
    for (int k = 0; k < LANE_BLOCK_ROW; k++) {
        a.entry[k] = R(0.0);
    }
    return a;
}

ROW_FN real sum_row(block_row a)
{
    real sum = a.entry[0];
    for (int k = 1; k < LANE_BLOCK_ROW; k++) {
        sum = sum + a.entry[k];
    }
    return sum;
}

ROW_FN block_row sum_rows(const block_row a[ORR_BLOCK_DOFS])
{
    block_row sum = no_row();
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        sum.entry[c] = sum_row(a[c]);
    }
    return sum;
}
#endif
#endif
