// Encodings: from a few coordinates to the features a small network learns from. Semantics exactly those of
// tiny-cuda-nn (Müller 2021; hash grids: Müller et al. 2022, "Instant neural graphics primitives").
#pragma once

#include "neural/network/block.h"
#include "neural/network/config.h"

enum {
    ORR_GRID_LEVELS_MAX = 32,
    ORR_GRID_DIMS_MIN = 2,
    ORR_GRID_DIMS_MAX = 4,
    ORR_HARMONICS_DEGREE_MAX = 8,
    ORR_ENCODING_DIMS_MAX = 512 // inputs, and outputs, of an encoding
};

// How the vertex with coordinates c becomes an entry of its level.
typedef enum orr_grid_index {
    ORR_GRID_INDEX_DENSE = 0, // sum of c_d factor_d, all vertices fit: at most one time around
    ORR_GRID_INDEX_HASH,      // exclusive or of c_d factor_d, modulo a power of two
    ORR_GRID_INDEX_TILE       // sum of c_d factor_d modulo entries
} orr_grid_index;

typedef struct orr_grid_level {
    float scale;      // 2^(l log2 b) N - 1
    uint32_t side;    // ceil(scale) + 1 vertices per axis
    uint32_t entries; // hash: min(round up to 8 (side^D), 2^T)
    uint32_t first;   // entry at which the level begins in the table
    orr_grid_index index;
    uint32_t
        factor[ORR_GRID_DIMS_MAX]; // 1, side, side^2 ...; or the primes of the hash, in 32 bits that wrap
} orr_grid_level;

// An encoding made ready. A composite is a list of parts over consecutive inputs, outputs and stretches of
// the table.
typedef struct orr_encoding {
    orr_encoding_config config; // without `nested`
    int input_dims;
    int output_dims;                            // features, without padding
    int64_t parameter_count;                    // floats of the grid tables; 0: nothing to learn
    int level_count;                            // grid levels, those of all parts
    orr_grid_level levels[ORR_GRID_LEVELS_MAX]; // of a grid
    float harmonics[ORR_HARMONICS_DEGREE_MAX][ORR_HARMONICS_DEGREE_MAX]; // K(l, m) with its sign
    struct orr_encoding *parts;                                          // composite: part_count, owned
    int part_count;
} orr_encoding;

// input_dims: what the encoding is given. ORR_ERROR_ARGUMENT names what does not fit. A grid without
// per_level_scale gets tiny-cuda-nn's 2; see orr_grid_level_scale.
orr_result orr_encoding_create(const orr_encoding_config *config, int input_dims, orr_encoding *encoding,
                               orr_error *error);
void orr_encoding_destroy(orr_encoding *encoding);
// The per_level_scale with which the finest level has about `resolution` vertices per axis, in float as
// instant-ngp computes it.
double orr_grid_level_scale(const orr_encoding_config *grid, double resolution);
// Uniform in -1e-4 .. 1e-4, a pure function of the seed. table: parameter_count floats.
void orr_encoding_initialise(const orr_encoding *encoding, uint32_t seed, float *table);

// ---- block kernels, one set per instruction set; table: parameter_count floats, aligned to 64 bytes ----

// Inputs outside 0 .. 1, and NaN, read some entry of the table, never one outside.
typedef struct orr_encoding_kernels {
    // input: input_dims x ORR_SAMPLES in 0 .. 1 (directions of spherical harmonics too: (d + 1) / 2);
    // features: output_dims x ORR_SAMPLES
    void (*forward)(const orr_encoding *e, const float *table, const float *input, float *features);
    // input_gradient (input_dims x ORR_SAMPLES) = d loss / d input, from feature_gradient (output_dims x
    // ORR_SAMPLES)
    void (*backward_input)(const orr_encoding *e, const float *table, const float *input,
                           const float *feature_gradient, float *input_gradient);
    // Adds the gradients of one level's entries for the first `count` samples of a block, in order of
    // samples. Levels of one table may be scattered by different threads at once: a level's sums then depend
    // on the order of blocks alone, which the caller fixes. Marks in `touched` (one bit per 16 floats of the
    // table) what it wrote.
    void (*scatter_level)(const orr_encoding *e, int level, const float *input, const float *feature_gradient,
                          int count, float *table_gradient, uint32_t *touched);
} orr_encoding_kernels;

const orr_encoding_kernels *orr_encoding_kernels_of(orr_isa isa);
