// The kernels of every instruction set, for encoding.c and between the lane files.
#pragma once

#include "neural/network/encoding.h"

#define ORR_ENCODING_KERNELS(isa)                                                                            \
    void orr_encoding_forward_##isa(const orr_encoding *e, const float *table, const float *input,           \
                                    float *features);                                                        \
    void orr_encoding_backward_input_##isa(const orr_encoding *e, const float *table, const float *input,    \
                                           const float *gradient, float *input_gradient);                    \
    void orr_encoding_scatter_level_##isa(const orr_encoding *e, int level, const float *input,              \
                                          const float *gradient, int count, float *table_gradient,           \
                                          uint32_t *touched);                                                \
    /* of a grid alone; first_float: where its table begins in table_gradient */                             \
    void orr_grid_forward_##isa(const orr_encoding *e, const float *table, const float *input,               \
                                float *features);                                                            \
    void orr_grid_backward_input_##isa(const orr_encoding *e, const float *table, const float *input,        \
                                       const float *gradient, float *input_gradient);                        \
    void orr_grid_scatter_##isa(const orr_encoding *e, int level, const float *input, const float *gradient, \
                                int count, int64_t first_float, float *table_gradient, uint32_t *touched);

ORR_ENCODING_KERNELS(baseline)
ORR_ENCODING_KERNELS(avx2)
ORR_ENCODING_KERNELS(avx512)
