// Values as indices into a palette: of numbers, and of the vectors of harmonics. Both by Lloyd's algorithm
// from a fixed start, so that a cloud always gives the same palette.
#pragma once

#include "engine/core/result.h"

#include <stdint.h>

enum { ORR_CODEBOOK = 256 };

// 256 values in rising order that stand for `count` finite numbers with a small squared error.
orr_result orr_codebook_of(const float *values, int64_t count, float codebook[ORR_CODEBOOK],
                           orr_error *error);
// The nearest of them.
int orr_codebook_index(const float codebook[ORR_CODEBOOK], float value);

// `entries` (1 .. 65536, at most `count`) vectors of `dims` numbers that stand for `count` of them, in two
// levels: clusters first, then the vectors of each. palette: entries x dims; label: count.
orr_result orr_palette_of(const float *vectors, int64_t count, int dims, int entries, float *palette,
                          uint16_t *label, orr_error *error);
