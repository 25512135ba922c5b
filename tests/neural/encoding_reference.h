// Encodings in double, written from their definitions, for the tests of neural/encoding.
#pragma once

#include "neural/network/encoding.h"

// One sample. `fused`: a grid's position is rounded once (the instruction set has a fused multiply-add) or
// twice; in `exact` positions it is not rounded at all. input: input_dims, features: output_dims values.
typedef enum reference_rounding { ROUND_TWICE, ROUND_ONCE, ROUND_NEVER } reference_rounding;
void reference_encode(const orr_encoding *e, const float *table, reference_rounding rounding,
                      const double *input, double *features);
// Entry of a vertex on a level, by 64-bit arithmetic alone.
uint64_t reference_entry(const orr_encoding *e, int level, const uint64_t *vertex);
// The dense gradient of a grid's table: adds d loss / d table of one sample.
void reference_scatter(const orr_encoding *e, reference_rounding rounding, const double *input,
                       const double *feature_gradient, double *table_gradient);
