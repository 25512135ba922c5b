#define ORR_SCALAR
#include "neural/fields/occupancy_cell.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { JOB_CELLS = 1 << 15, JOBS_PER_CASCADE = ORR_OCCUPANCY_CELLS / JOB_CELLS, WARM_UP_INTERVALS = 16 };

orr_result orr_occupancy_create(int aabb_scale, orr_occupancy *grid, orr_error *error)
{
    *grid = (orr_occupancy){.cascades = 1, .version = 1};
    while ((1 << (grid->cascades - 1)) < aabb_scale && grid->cascades < ORR_OCCUPANCY_CASCADES_MAX) {
        grid->cascades++;
    }
    grid->cells = (int64_t)grid->cascades * ORR_OCCUPANCY_CELLS;
    grid->thickness = orr_alloc_zero((size_t)grid->cells, sizeof *grid->thickness);
    grid->bits = orr_alloc_zero((size_t)grid->cells / 32, sizeof *grid->bits);
    grid->blocks = orr_alloc_zero((size_t)grid->cells / ORR_OCCUPANCY_BLOCK / 32, sizeof *grid->blocks);
    grid->live = orr_alloc_zero((size_t)grid->cells / 32, sizeof *grid->live);
    if (!grid->thickness || !grid->bits || !grid->blocks || !grid->live) {
        orr_occupancy_destroy(grid);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an occupancy grid of %d cascades",
                        grid->cascades);
    }
    return ORR_OK;
}

void orr_occupancy_destroy(orr_occupancy *grid)
{
    orr_free(grid->thickness);
    orr_free(grid->bits);
    orr_free(grid->blocks);
    orr_free(grid->live);
    *grid = (orr_occupancy){.cascades = 0};
}

typedef struct grid_task {
    orr_occupancy *grid;
    orr_occupancy_keep_fn keep;
    const void *context;
    float threshold; // cells above it are marched
    int cascade;
    double sums[JOBS_PER_CASCADE];
    int64_t live[JOBS_PER_CASCADE], sampled[JOBS_PER_CASCADE];
} grid_task;

static int64_t first_cell(const grid_task *task, int job)
{
    return (int64_t)task->cascade * ORR_OCCUPANCY_CELLS + (int64_t)job * JOB_CELLS;
}

static void cull_cells(void *context, int job, int worker)
{
    (void)worker;
    const grid_task *task = context;
    int64_t first = first_cell(task, job);
    for (int64_t cell = first; cell < first + JOB_CELLS; cell++) {
        float low[3], side;
        orr_occupancy_cell_box(cell, low, &side);
        if (!task->keep(task->context, low, side)) {
            task->grid->thickness[cell] = -1.0f;
        }
    }
}

void orr_occupancy_cull(orr_occupancy *grid, orr_jobs *jobs, orr_occupancy_keep_fn keep, const void *context)
{
    grid_task task = {.grid = grid, .keep = keep, .context = context};
    for (task.cascade = 0; task.cascade < grid->cascades; task.cascade++) {
        orr_jobs_for(jobs, JOBS_PER_CASCADE, cull_cells, &task);
    }
    orr_occupancy_refresh(grid, jobs);
}

bool orr_occupancy_due(int64_t step)
{
    int64_t interval = step / WARM_UP_INTERVALS;
    interval = interval < 1 ? 1 : interval > WARM_UP_INTERVALS ? WARM_UP_INTERVALS : interval;
    return step % interval == 0;
}

int orr_occupancy_pick(const orr_occupancy *grid, bool marched, uint32_t seed, uint32_t update, int count,
                       uint32_t *cells, float (*points)[3])
{
    int64_t population = marched ? grid->sampled_count : grid->live_count;
    if (count > population) {
        count = (int)population;
    }
    int64_t word = -1, before = 0, here = 0; // bits set before the word, and in it
    uint32_t bits = 0;
    for (int i = 0; i < count; i++) {
        orr_occupancy_draw draw = orr_occupancy_drawn(seed, update, marched, i, count, population);
        while (draw.rank >= before + here) {
            before += here;
            word++;
            bits = grid->live[word] & (marched ? grid->bits[word] : UINT32_MAX);
            here = __builtin_popcount(bits);
        }
        int64_t cell = word * 32 + orr_occupancy_select_bit(bits, (uint32_t)(draw.rank - before));
        cells[i] = (uint32_t)cell;
        orr_occupancy_point(cell, draw.numbers, points[i]);
    }
    return count;
}

static void decay_cells(void *context, int job, int worker)
{
    (void)worker;
    const grid_task *task = context;
    float *thickness = task->grid->thickness + first_cell(task, job);
    for (int i = 0; i < JOB_CELLS; i++) {
        thickness[i] = occupancy_decay(thickness[i]);
    }
}

static void pool_cells(void *context, int job, int worker)
{
    (void)worker;
    const grid_task *task = context;
    float *thickness = task->grid->thickness;
    int64_t first = first_cell(task, job);
    for (int64_t cell = first; cell < first + JOB_CELLS; cell++) {
        int64_t child = orr_occupancy_first_child(cell);
        if (child >= 0) {
            thickness[cell] = orr_occupancy_pooled(thickness, child);
        }
    }
}

static void sum_cells(void *context, int job, int worker)
{
    (void)worker;
    grid_task *task = context;
    const float *thickness = task->grid->thickness + first_cell(task, job);
    double sum = 0.0;
    for (int i = 0; i < JOB_CELLS; i++) {
        sum += (double)occupancy_counted(thickness[i]);
    }
    task->sums[job] = sum;
}

static void mark_cells(void *context, int job, int worker)
{
    (void)worker;
    grid_task *task = context;
    orr_occupancy *grid = task->grid;
    int64_t first = first_cell(task, job);
    int64_t live = 0, sampled = 0;
    for (int64_t word = first / 32; word < (first + JOB_CELLS) / 32; word++) {
        uint32_t bits = 0, sampleable = 0;
        for (int i = 0; i < 32; i++) {
            float thickness = grid->thickness[word * 32 + i];
            bits |= (uint32_t)occupancy_is_marched(thickness, task->threshold) << i;
            bool own = !occupancy_is_culled(thickness) &&
                       (task->cascade == 0 || orr_occupancy_first_child(word * 32 + i) < 0);
            sampleable |= (uint32_t)own << i;
        }
        grid->bits[word] = bits;
        grid->live[word] = sampleable;
        live += __builtin_popcount(sampleable);
        sampled += __builtin_popcount(sampleable & bits);
    }
    task->live[job] = live;
    task->sampled[job] = sampled;
    // a job has whole words of blocks
    for (int64_t block = first / ORR_OCCUPANCY_BLOCK; block < (first + JOB_CELLS) / ORR_OCCUPANCY_BLOCK;
         block++) {
        uint32_t some = 0;
        for (int i = 0; i < ORR_OCCUPANCY_BLOCK / 32; i++) {
            some |= grid->bits[block * (ORR_OCCUPANCY_BLOCK / 32) + i];
        }
        uint32_t bit = 1u << (block % 32);
        grid->blocks[block / 32] = some ? grid->blocks[block / 32] | bit : grid->blocks[block / 32] & ~bit;
    }
}

void orr_occupancy_refresh(orr_occupancy *grid, orr_jobs *jobs)
{
    grid_task task = {.grid = grid};
    orr_jobs_for(jobs, JOBS_PER_CASCADE, sum_cells, &task);
    double sum = 0.0;
    for (int i = 0; i < JOBS_PER_CASCADE; i++) {
        sum += task.sums[i];
    }
    grid->mean = (float)(sum / ORR_OCCUPANCY_CELLS);
    task.threshold = occupancy_threshold(grid->mean);
    grid->version++;
    grid->live_count = 0;
    grid->sampled_count = 0;
    for (task.cascade = 0; task.cascade < grid->cascades; task.cascade++) {
        if (task.cascade > 0) {
            orr_jobs_for(jobs, JOBS_PER_CASCADE, pool_cells, &task);
        }
        orr_jobs_for(jobs, JOBS_PER_CASCADE, mark_cells, &task);
        for (int i = 0; i < JOBS_PER_CASCADE; i++) {
            grid->live_count += task.live[i];
            grid->sampled_count += task.sampled[i];
        }
    }
}

void orr_occupancy_update(orr_occupancy *grid, orr_jobs *jobs, const uint32_t *cells, const float *densities,
                          int count)
{
    grid_task task = {.grid = grid};
    for (task.cascade = 0; task.cascade < grid->cascades; task.cascade++) {
        orr_jobs_for(jobs, JOBS_PER_CASCADE, decay_cells, &task);
    }
    for (int i = 0; i < count; i++) {
        float *thickness = &grid->thickness[cells[i]];
        if (!occupancy_is_culled(*thickness)) {
            float found = occupancy_thickness(densities[i], orr_occupancy_cascade_scale(cells[i]));
            *thickness = fmaxf(*thickness, found);
        }
    }
    orr_occupancy_refresh(grid, jobs);
}

bool orr_occupancy_bounds(const orr_occupancy *grid, float low[3], float high[3])
{
    bool any = false;
    for (int64_t cell = 0; cell < ORR_OCCUPANCY_CELLS; cell++) {
        if (!(grid->bits[cell / 32] >> (cell % 32) & 1)) {
            continue;
        }
        float corner[3], side;
        orr_occupancy_cell_box(cell, corner, &side);
        for (int k = 0; k < 3; k++) {
            low[k] = any ? fminf(low[k], corner[k]) : corner[k];
            high[k] = any ? fmaxf(high[k], corner[k] + side) : corner[k] + side;
        }
        any = true;
    }
    return any;
}
