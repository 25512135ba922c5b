// Between the stages of a step of training splats: the parameters, and the kernels that run over tiles and
// over splats.
#pragma once

#include "engine/core/isa.h"
#include "engine/maths/rng.h"
#include "render/cpu/splats_cpu.h"
#include "render/training/picture/picture_loss.h"

enum {
    // what is stored of a splat besides harmonics: position xyz, log scales xyz, rotation xyzw of any length,
    // logit of the opacity
    ORR_STORED = 11,
    ORR_MOMENTS = 9,        // six of splat_moments, then the gradient by the colour
    ORR_MOMENTS_MOST = 12,  // and that by the depth, and two magnitudes, each where it is wanted
    ORR_UPDATE_BLOCKS = 64, // blocks of 16 splats per job
    ORR_NO_RECORD = -1
};

// Parameters, and for each Adam's two moments, in a pack's layout: member k of splat i is at [((i / 16) *
// members + k) * 16 + i % 16]. Lanes behind the last splat have an opacity of 0.
typedef struct orr_splat_params {
    int64_t count, capacity; // splats
    int degree;              // of the harmonics
    float *stored[3];        // parameters, first and second moments
    float *harmonics[3];     // likewise, 3 (degree + 1)^2 members
    float *geometry;         // of orr_splat_pack, made from what is stored
    uint32_t *identity;      // capacity: 0, 1, 2 ...
    // capacity, where splats are divided by gradients: sums over steps of a splat's |dL/dcentre|, in
    // normalised device coordinates, and how many steps saw it; NULL otherwise
    float *statistic[2];
    bool has_statistic;
    // While splats of a device are relocated or divided: only the first array of what is stored, and the
    // statistic, are here; splat i has what else splat origin[i] had, and no moments where it is fresh.
    // NULL: all is here.
    uint32_t *origin;
    uint8_t *fresh;
} orr_splat_params;

static inline int64_t orr_param_index(int64_t splat, int members, int member)
{
    return (splat / ORR_PACK_BLOCK * members + member) * ORR_PACK_BLOCK + splat % ORR_PACK_BLOCK;
}

static inline int orr_harmonics_members(int degree)
{
    return 3 * (degree + 1) * (degree + 1);
}

// Of the walk of faint splats: a number of mean 0 and variance 1, nearly normal (a sum of four uniform ones),
// for an axis of a splat in a step.
ORR_INLINE float orr_splat_walk_number(uint32_t seed, uint32_t step, uint32_t splat, uint32_t axis)
{
    uint64_t bits = orr_random_bits(seed + axis * 0x9E3779B9u, step, splat);
    float sum = 0.0f;
    for (int n = 0; n < 4; n++, bits >>= 16) {
        sum += (float)(bits & 0xffff) * 0x1p-16f - 0.5f;
    }
    return sum * 1.7320508f; // the variance of the sum is 4 / 12
}

// What a frame left of its splats, and where the gradients of each meet: a splat has one row of `members`
// floats for each tile of its box, so that tiles write without locks and sums have a fixed order.
typedef struct orr_splat_rows {
    orr_cpu_splats frame;
    int32_t *record; // per splat: its record, or ORR_NO_RECORD
    uint32_t *first; // per splat: its first row
    bool depth;      // one more member follows the ORR_MOMENTS
    bool magnitude;  // and then two
    int members;
    float *rows;
} orr_splat_rows;

typedef struct orr_splat_backward_job {
    const orr_splat_rows *rows;
    int tile_x, tile_y;              // in tiles
    int width, height;               // of the picture [px]
    const float *rgba;               // as drawn without background: height x width x 4
    const orr_loss_planes *gradient; // of the loss, by the colour
    float background[3];             // behind the colour
    // height x width: the loss by alpha, with that of the background; NULL: it is by the background alone
    const float *by_alpha;
    // height x width: mean depth as drawn, and the loss by the sum of weights times depths, which goes with
    // by_alpha; NULL: depth is not in the loss
    const float *depth, *by_depth;
} orr_splat_backward_job;

typedef struct orr_splat_rates {
    float position, scale, rotation, opacity, colour, harmonics; // harmonics 0: they stay
    float noise;        // standard deviation of a position's walk, times the covariance; 0: none
    float opacity_pull; // derivative of the loss by the opacity
    float scale_pull;   // derivative by a scale, per scene unit
    float log_scale_low, log_scale_high;
    float correction, harmonics_correction; // Adam's, of the step number
} orr_splat_rates;

typedef struct orr_splat_update_job {
    const orr_splat_params *params;
    const orr_splat_rows *rows;
    const splat_lens_values *lens;
    const splat_photo_values *photo; // its distortion; NULL: none
    orr_splat_rates rates;
    uint32_t seed, step;
    int64_t first_block, end_block;
    double *motion; // ORR_MOTION: the loss by the eye's position and by a turn about it; NULL: nobody asks
} orr_splat_update_job;

typedef struct orr_training_kernels {
    void (*backward)(const orr_splat_backward_job *job);
    void (*update)(const orr_splat_update_job *job);
    // parameters to the pack's geometry, in the job's blocks
    void (*prepare)(const orr_splat_params *params, int64_t first_block, int64_t end_block);
} orr_training_kernels;

void orr_splat_backward_baseline(const orr_splat_backward_job *job);
void orr_splat_backward_avx2(const orr_splat_backward_job *job);
void orr_splat_backward_avx512(const orr_splat_backward_job *job);
void orr_splat_update_baseline(const orr_splat_update_job *job);
void orr_splat_update_avx2(const orr_splat_update_job *job);
void orr_splat_update_avx512(const orr_splat_update_job *job);
void orr_splat_prepare_baseline(const orr_splat_params *params, int64_t first_block, int64_t end_block);
void orr_splat_prepare_avx2(const orr_splat_params *params, int64_t first_block, int64_t end_block);
void orr_splat_prepare_avx512(const orr_splat_params *params, int64_t first_block, int64_t end_block);
#define ORR_TRAINING_KERNELS(isa)                                                                            \
    {                                                                                                        \
        orr_splat_backward_##isa, orr_splat_update_##isa, orr_splat_prepare_##isa                            \
    }
