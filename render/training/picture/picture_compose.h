// Pictures of splats as photos show them: through the photo's exposure, over a background; and back.
#pragma once

#include "render/training/picture/picture_grid.h"
#include "render/training/picture/picture_loss.h"

enum { ORR_COMPOSE_ROWS = 16, ORR_EXPOSURE = 12, ORR_COMPOSE_SUMS = ORR_EXPOSURE + 1 };

typedef struct orr_compose_job {
    const float *rgba; // as drawn without background: height x width x 4
    float background[3];
    const float *exposure; // 3x4, row by row; NULL: none
    const float *grid;     // ORR_GRID, in place of an exposure; NULL: none
    const uint8_t *mask;   // height x width: where it is 0 the picture is the photo; NULL: nowhere
    orr_loss_planes photo;
    const float *photo_alpha; // height x width; NULL: the photo is opaque, or nobody asks
    float alpha_weight;       // of the mean |alpha - photo_alpha| in the loss
    orr_loss_planes picture;  // what is compared with the photo
    orr_loss_planes gradient; // of the loss by `picture`; backward makes it that by the colours of rgba
    float *by_alpha;          // height x width: the loss by the alpha of rgba
    float *by_grid;           // per job ORR_GRID: the loss by the grid, where there is one
    double *sums; // per job ORR_COMPOSE_SUMS: the loss by the exposure; sum of |alpha - photo_alpha|
} orr_compose_job;

typedef struct orr_compose_kernels {
    void (*forward)(const orr_compose_job *job, int i);
    void (*backward)(const orr_compose_job *job, int i);
} orr_compose_kernels;

void orr_compose_forward_baseline(const orr_compose_job *job, int i);
void orr_compose_forward_avx2(const orr_compose_job *job, int i);
void orr_compose_forward_avx512(const orr_compose_job *job, int i);
void orr_compose_backward_baseline(const orr_compose_job *job, int i);
void orr_compose_backward_avx2(const orr_compose_job *job, int i);
void orr_compose_backward_avx512(const orr_compose_job *job, int i);

// Fills `picture`, in planes of the arena, from a job whose inputs are set.
orr_result orr_picture_compose(orr_jobs *jobs, orr_isa isa, orr_arena *arena, orr_compose_job *job,
                               orr_error *error);
// job->gradient, in place, through exposure and background; by_alpha in the arena; by_exposure where there is
// an exposure; job->by_grid of all of the picture, where there is a grid; and what alpha adds to the loss.
orr_result orr_picture_compose_backward(orr_jobs *jobs, orr_isa isa, orr_arena *arena, orr_compose_job *job,
                                        double by_exposure[ORR_EXPOSURE], double *alpha_loss,
                                        orr_error *error);
// The exposure with which the left half of rgba is most like that of `photo`, by least squares over the
// pixels that the mask leaves; near the identity where those are few.
void orr_exposure_fit(const orr_compose_job *job, float exposure[ORR_EXPOSURE]);
