#include "render/training/picture/picture_loss.h"

#include <string.h>

#define KERNELS(isa)                                                                                         \
    {                                                                                                        \
        orr_loss_compare_##isa, orr_loss_gradient_##isa                                                      \
    }
static const orr_loss_kernels kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(KERNELS);

orr_result orr_loss_planes_take(orr_arena *arena, int width, int height, orr_loss_planes *planes,
                                orr_error *error)
{
    int stride = (width + 15) / 16 * 16 + 2 * ORR_LOSS_MARGIN;
    size_t count = 3u * (size_t)height * (size_t)stride;
    *planes = (orr_loss_planes){width, height, stride, orr_arena_take(arena, count, sizeof(float))};
    if (!planes->values) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %d x %d", width, height);
    }
    memset(planes->values, 0, count * sizeof(float));
    return ORR_OK;
}

typedef struct loss_run {
    orr_loss_job job;
    const orr_loss_kernels *kernels;
} loss_run;

static float *scratch_of(const loss_run *run, int worker)
{
    return run->job.scratch + (int64_t)worker * ORR_LOSS_SCRATCH * run->job.picture.stride;
}

static void compare(void *context, int i, int worker)
{
    const loss_run *run = context;
    run->kernels->compare(&run->job, i, scratch_of(run, worker));
}

static void differentiate(void *context, int i, int worker)
{
    const loss_run *run = context;
    run->kernels->gradient(&run->job, i, scratch_of(run, worker));
}

orr_result orr_picture_loss(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_loss_planes *picture,
                            const orr_loss_planes *photo, const uint8_t *mask, float dissimilarity,
                            double *loss, orr_loss_planes *gradient, orr_error *error)
{
    const int width = picture->width, height = picture->height;
    const int count = 3 * orr_blocks(height, ORR_LOSS_ROWS);
    loss_run run = {.job = {.picture = *picture, .photo = *photo, .mask = mask}, .kernels = &kernels[isa]};
    orr_loss_job *job = &run.job;
    job->dissimilarity = dissimilarity;
    for (int k = 0; k < 3; k++) {
        ORR_TRY(orr_loss_planes_take(arena, width, height, &job->slopes[k], error));
    }
    ORR_TRY(orr_loss_planes_take(arena, width, height, &job->gradient, error));
    size_t scratch = (size_t)orr_jobs_workers(jobs) * ORR_LOSS_SCRATCH * (size_t)picture->stride;
    job->scratch = orr_arena_take(arena, scratch, sizeof(float));
    job->sums[0] = orr_arena_take(arena, (size_t)count, sizeof(double));
    job->sums[1] = orr_arena_take(arena, (size_t)count, sizeof(double));
    if (!job->scratch || !job->sums[0] || !job->sums[1]) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the loss of %d x %d pixels", width,
                        height);
    }
    memset(job->scratch, 0, scratch * sizeof(float));
    orr_jobs_for(jobs, count, compare, &run);
    orr_jobs_for(jobs, count, differentiate, &run);
    double difference = 0.0, similarity = 0.0;
    for (int i = 0; i < count; i++) {
        difference += job->sums[0][i];
        similarity += job->sums[1][i];
    }
    const double values = 3.0 * width * height, share = (double)dissimilarity;
    *loss = (1.0 - share) * difference / values + share * (1.0 - similarity / values);
    *gradient = job->gradient;
    return ORR_OK;
}
