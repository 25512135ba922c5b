#include "render/training/picture/picture_compose.h"

#include <string.h>

#define KERNELS(isa)                                                                                         \
    {                                                                                                        \
        orr_compose_forward_##isa, orr_compose_backward_##isa                                                \
    }
static const orr_compose_kernels kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(KERNELS);

typedef struct compose_run {
    const orr_compose_job *job;
    const orr_compose_kernels *kernels;
} compose_run;

static void run_forward(void *context, int i, int worker)
{
    (void)worker;
    const compose_run *run = context;
    run->kernels->forward(run->job, i);
}

static void run_backward(void *context, int i, int worker)
{
    (void)worker;
    const compose_run *run = context;
    run->kernels->backward(run->job, i);
}

orr_result orr_picture_compose(orr_jobs *jobs, orr_isa isa, orr_arena *arena, orr_compose_job *job,
                               orr_error *error)
{
    const int width = job->photo.width, height = job->photo.height;
    ORR_TRY(orr_loss_planes_take(arena, width, height, &job->picture, error));
    compose_run run = {job, &kernels[isa]};
    orr_jobs_for(jobs, orr_blocks(height, ORR_COMPOSE_ROWS), run_forward, &run);
    return ORR_OK;
}

orr_result orr_picture_compose_backward(orr_jobs *jobs, orr_isa isa, orr_arena *arena, orr_compose_job *job,
                                        double by_exposure[ORR_EXPOSURE], double *alpha_loss,
                                        orr_error *error)
{
    const size_t pixels = (size_t)job->photo.width * (size_t)job->photo.height;
    const int count = orr_blocks(job->photo.height, ORR_COMPOSE_ROWS);
    double sums[ORR_COMPOSE_SUMS] = {0};
    job->sums = orr_arena_take(arena, (size_t)count * ORR_COMPOSE_SUMS, sizeof(double));
    job->by_alpha = orr_arena_take(arena, pixels, sizeof(float));
    if (job->grid) {
        job->by_grid = orr_arena_take(arena, (size_t)count * ORR_GRID, sizeof(float));
    }
    if (!job->sums || !job->by_alpha || (job->grid && !job->by_grid)) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: gradients of %zu pixels", pixels);
    }
    for (int64_t i = 0; job->grid && i < (int64_t)count * ORR_GRID; i++) {
        job->by_grid[i] = 0.0f;
    }
    compose_run run = {job, &kernels[isa]};
    orr_jobs_for(jobs, count, run_backward, &run);
    for (int64_t i = ORR_GRID; job->grid && i < (int64_t)count * ORR_GRID; i++) {
        job->by_grid[i % ORR_GRID] += job->by_grid[i];
    }
    for (int i = 0; i < count * ORR_COMPOSE_SUMS; i++) {
        sums[i % ORR_COMPOSE_SUMS] += job->sums[i];
    }
    memcpy(by_exposure, sums, ORR_EXPOSURE * sizeof *sums);
    *alpha_loss = (double)job->alpha_weight * sums[ORR_EXPOSURE] / (double)pixels;
    return ORR_OK;
}

// Solves a x = b for three right sides; a is symmetric and positive definite.
static void solve(double a[4][7])
{
    for (int i = 0; i < 4; i++) {
        for (int r = 0; r < 4; r++) {
            double factor = r == i ? 0.0 : a[r][i] / a[i][i];
            for (int c = 0; c < 7; c++) {
                a[r][c] -= factor * a[i][c];
            }
        }
    }
}

void orr_exposure_fit(const orr_compose_job *job, float exposure[ORR_EXPOSURE])
{
    const int width = job->photo.width;
    double a[4][7] = {{0}};
    for (int i = 0; i < 4; i++) { // a pixel's weight on the identity, which decides where nothing else does
        a[i][i] = 1.0;
        if (i < 3) {
            a[i][4 + i] = 1.0;
        }
    }
    for (int y = 0; y < job->photo.height; y++) {
        for (int x = 0; x < width / 2; x++) {
            const int64_t at = (int64_t)y * width + x;
            if (job->mask && job->mask[at] == 0) {
                continue;
            }
            double row[7];
            for (int k = 0; k < 4; k++) {
                row[k] = (double)job->rgba[4 * at + k];
            }
            for (int k = 0; k < 3; k++) {
                row[4 + k] =
                    (double)orr_loss_row(&job->photo, k, y)[x] - (1.0 - row[3]) * (double)job->background[k];
            }
            for (int r = 0; r < 4; r++) {
                for (int c = 0; c < 7; c++) {
                    a[r][c] += row[r] * row[c];
                }
            }
        }
    }
    solve(a);
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 4; c++) {
            exposure[4 * k + c] = (float)(a[c][4 + k] / a[c][c]);
        }
    }
}
