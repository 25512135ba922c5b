// Encodings: from a few coordinates to the features a small network learns from. Semantics exactly those of
// tiny-cuda-nn (Müller 2021; hash grids: Müller et al. 2022, "Instant neural graphics primitives").
#pragma once

#include "neural/block.h"
#include "neural/config.h"

enum { ORR_GRID_LEVELS_MAX = 32, ORR_GRID_DIMS_MAX = 4 };

typedef struct orr_grid_level {
    float scale;      // 2^(l log2 b) N - 1
    uint32_t side;    // ceil(scale) + 1 vertices per axis
    uint32_t entries; // min(round up to 8 (side^D), 2^T)
    uint32_t first;   // entry at which the level begins in the table
    bool dense; // all vertices fit: index = x + y side + z side^2, modulo entries; otherwise hashed or tiled
} orr_grid_level;

// An encoding made ready. Composite encodings are a list of parts over consecutive inputs and outputs.
typedef struct orr_encoding {
    orr_encoding_config config;
    int input_dims;
    int output_dims;         // features, without padding
    int64_t parameter_count; // floats of the grid table; 0: nothing to learn
    int level_count;
    orr_grid_level levels[ORR_GRID_LEVELS_MAX];
    struct orr_encoding *parts; // composite: part_count
    int part_count;
} orr_encoding;

// input_dims: what the encoding is given. ORR_ERROR_ARGUMENT names what does not fit.
orr_result orr_encoding_create(const orr_encoding_config *config, int input_dims, orr_encoding *encoding,
                               orr_error *error);
void orr_encoding_destroy(orr_encoding *encoding);
// Uniform in -1e-4 .. 1e-4, a pure function of the seed.
void orr_encoding_initialise(const orr_encoding *encoding, uint32_t seed, float *table);

// ---- block kernels, one set per instruction set; table: parameter_count floats ----

typedef struct orr_encoding_kernels {
    // input: input_dims x ORR_SAMPLES in 0 .. 1 (directions of spherical harmonics too: (d + 1) / 2);
    // features: output_dims x ORR_SAMPLES
    void (*forward)(const orr_encoding *e, const float *table, const float *input, float *features);
    // input_gradient (input_dims x ORR_SAMPLES) = d loss / d input, from feature_gradient (output_dims x ORR_SAMPLES)
    void (*backward_input)(const orr_encoding *e, const float *table, const float *input,
                           const float *feature_gradient, float *input_gradient);
    // Adds the gradients of one level's entries for one block, in order of samples. Levels of one table may be scattered
    // by different threads at once: a level's sums then depend on the order of blocks alone, which the caller fixes.
    // Marks in `touched` (one bit per 16 floats of the table) what it wrote.
    void (*scatter_level)(const orr_encoding *e, int level, const float *input, const float *feature_gradient,
                          int count, float *table_gradient, uint32_t *touched);
} orr_encoding_kernels;

const orr_encoding_kernels *orr_encoding_kernels_of(orr_isa isa);
