// The loss of a picture against a photo, and its gradient by each value of the picture.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"

enum {
    ORR_LOSS_MARGIN = 16, // zeros left and right of each row of a plane
    ORR_LOSS_ROWS = 16    // rows of one job
};

// Planes of red, green and blue, each height x stride floats; the first pixel of a row is at ORR_LOSS_MARGIN,
// and all outside of the picture is 0.
typedef struct orr_loss_planes {
    int width, height, stride;
    float *values; // 3 x height x stride
} orr_loss_planes;

static inline float *orr_loss_row(const orr_loss_planes *planes, int channel, int row)
{
    return planes->values + ((int64_t)channel * planes->height + row) * planes->stride + ORR_LOSS_MARGIN;
}

// Zeros, in the arena.
orr_result orr_loss_planes_take(orr_arena *arena, int width, int height, orr_loss_planes *planes,
                                orr_error *error);

typedef struct orr_loss_job {
    orr_loss_planes picture, photo;
    const uint8_t *mask;       // height x width, 0: no gradient there; NULL: everywhere
    float dissimilarity;       // its share of the loss; the rest is L1
    orr_loss_planes slopes[3]; // of the mean similarity, by the windows' means of x, xx and xy
    orr_loss_planes gradient;
    float *scratch;  // per worker: ORR_LOSS_SCRATCH x stride
    double *sums[2]; // per job: of absolute differences, of similarities
} orr_loss_job;

enum { ORR_LOSS_SCRATCH = 5 };

typedef struct orr_loss_kernels {
    void (*compare)(const orr_loss_job *job, int i, float *scratch); // fills slopes and sums
    void (*gradient)(const orr_loss_job *job, int i, float *scratch);
} orr_loss_kernels;

void orr_loss_compare_baseline(const orr_loss_job *job, int i, float *scratch);
void orr_loss_compare_avx2(const orr_loss_job *job, int i, float *scratch);
void orr_loss_compare_avx512(const orr_loss_job *job, int i, float *scratch);
void orr_loss_gradient_baseline(const orr_loss_job *job, int i, float *scratch);
void orr_loss_gradient_avx2(const orr_loss_job *job, int i, float *scratch);
void orr_loss_gradient_avx512(const orr_loss_job *job, int i, float *scratch);

// loss = (1 - dissimilarity) mean |x - y| + dissimilarity (1 - mean similarity), with windows of 11 x 11,
// sigma 1.5, of which what is outside the picture is black. Where the mask is 0 the picture should be the
// photo. `gradient` is in the arena.
orr_result orr_picture_loss(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_loss_planes *picture,
                            const orr_loss_planes *photo, const uint8_t *mask, float dissimilarity,
                            double *loss, orr_loss_planes *gradient, orr_error *error);
