// Winding numbers of lists of triangles and clusters: the lane kernels, one set per instruction set.
#pragma once

#include "engine/core/isa.h"

enum {
    ORR_WINDING_TERMS = 512,                      // of a list, at most
    ORR_WINDING_MOMENTS = 19,                     // numbers of a winding_moments (winding_formula.h)
    ORR_WINDING_CLUSTER = 3 + ORR_WINDING_MOMENTS // centre, moments
};

// Member by member; what is beyond the counts is not read as a number.
typedef struct orr_winding_terms {
    int cluster_count, triangle_count;
    float cluster[ORR_WINDING_CLUSTER][ORR_WINDING_TERMS];
    float triangle[9][ORR_WINDING_TERMS];
} orr_winding_terms;

// Adds the terms' winding numbers around `count` points to `sums`.
typedef void (*orr_winding_fn)(const orr_winding_terms *terms, const float (*points)[3], int count,
                               double *sums);

void orr_winding_add_baseline(const orr_winding_terms *terms, const float (*points)[3], int count,
                              double *sums);
void orr_winding_add_avx2(const orr_winding_terms *terms, const float (*points)[3], int count, double *sums);
void orr_winding_add_avx512(const orr_winding_terms *terms, const float (*points)[3], int count,
                            double *sums);
