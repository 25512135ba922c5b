// What this machine can do at most, for benchmarks: one small kernel per limit and instruction set.
#pragma once

#include "engine/core/isa.h"

// Reads `count` rows of `features` (1, 2, 4, 8) floats at random from a table of 2^log2_rows rows; returns
// their sum, so that no read is optimised away. One thread.
typedef float orr_limit_gather_kernel(const float *table, int log2_rows, int features, int64_t count);
orr_limit_gather_kernel orr_limit_gather_baseline, orr_limit_gather_avx2, orr_limit_gather_avx512;

orr_limit_gather_kernel *orr_limit_gather_of(orr_isa isa);
