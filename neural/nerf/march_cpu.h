// Radiance fields on the CPU: the records that pass between marching and networks, and the lane kernels (one
// set per instruction set).
#pragma once

#include "engine/core/isa.h"
#include "neural/nerf/march_formula.h"
#include "neural/network/block.h"

enum {
    ORR_NERF_RAYS = 256, // of one bundle, at most
    ORR_NERF_WAVE = 512, // samples marched before densities are evaluated: 8 blocks
    ORR_NERF_EACH = 8 // samples of one ray in a wave, at most: those behind a surface are evaluated in vain
};
_Static_assert(ORR_NERF_WAVE >= ORR_NERF_RAYS, "every ray takes a sample per wave");

// Rays in the field's space, member by member.
typedef struct orr_nerf_rays {
    int count;
    float origin[3][ORR_NERF_RAYS];
    float direction[3][ORR_NERF_RAYS];  // unit vectors
    float reciprocal[3][ORR_NERF_RAYS]; // 1 / direction, finite
    float at[ORR_NERF_RAYS];            // the next sample, in stepping space
    float end[ORR_NERF_RAYS];           // distance; negative: the ray has ended
    float transmittance[ORR_NERF_RAYS]; // so far
    int32_t taken[ORR_NERF_RAYS];       // samples so far
    float jitter[ORR_NERF_RAYS]; // of proposal sampling (proposal.h), where `at` is the distance it begins at
} orr_nerf_rays;

// Samples of one wave: each live ray's next few, ray by ray, in blocks for the encoding.
typedef struct orr_nerf_wave {
    int count;
    float positions[ORR_NERF_WAVE / ORR_SAMPLES][3 * ORR_SAMPLES]; // contracted to 0 .. 1
    float distance[ORR_NERF_WAVE], step[ORR_NERF_WAVE];
    int32_t ray[ORR_NERF_WAVE];
} orr_nerf_wave;

// Where to march.
typedef struct orr_nerf_space {
    march_stepping stepping;
    const uint32_t *bits, *blocks; // of an occupancy grid
    float last_cascade;
    float per_aabb_scale; // 1 / aabb_scale
} orr_nerf_space;

typedef struct orr_nerf_kernels {
    // Appends to `wave` at most `each` (ORR_NERF_EACH or fewer) samples of each of the `live_count` rays
    // whose indices are in `live` (readable for a whole vector beyond the last); ends rays that reach their
    // end.
    void (*march)(const orr_nerf_space *space, orr_nerf_rays *rays, const int32_t *live, int live_count,
                  int each, orr_nerf_wave *wave);
    // A block's density [per unit of length] and alpha from the raw output and the steps' lengths.
    void (*densities)(const float *raw, const float *step, float *density, float *alpha);
    // 3 x ORR_SAMPLES raw outputs to display colours.
    void (*colours)(const float *raw, float *colour);
} orr_nerf_kernels;

extern const orr_nerf_kernels orr_nerf_kernels_baseline, orr_nerf_kernels_avx2, orr_nerf_kernels_avx512;

// The kernels of one instruction set, which this build and this CPU must have.
const orr_nerf_kernels *orr_nerf_kernels_of(orr_isa isa);
