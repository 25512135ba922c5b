// What an iteration of the solver does dof by dof: the gradient, its slope along a direction, and the step.
// Of an island in parts, threads divide it.
#pragma once

#include "physics/lanes/solver/parts.h"

#if !defined(__CUDACC__)
LANE_FN void gradient_of_part(const lane_model *m, lane_data *part, const lane_task *task);
LANE_FN void descent_of_part(const lane_model *m, lane_data *part, const lane_task *task);
LANE_FN void smooth_slopes_of_part(const lane_model *m, lane_data *part, const lane_task *task);
LANE_FN void move_dofs_of_part(const lane_model *m, lane_data *part, const lane_task *task);
#endif

LANE_FN void find_gradient(const lane_model *m, lane_data *d)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = gradient_of_part};
        run_on_parts(m, d, &task);
        return;
    }
#endif
    (void)m;
    for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
        int k = d->dof[n];
        d->gradient[k] = d->Ma[k] - d->qfrc_smooth[k] - d->qfrc_constraint[k];
    }
}

// gradient . search
LANE_FN real descent(const lane_model *m, lane_data *d)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = descent_of_part};
        run_on_parts(m, d, &task);
        return sum_of_parts(d, 0);
    }
#endif
    (void)m;
    real slope = R(0.0);
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n];
        slope = fma_(d->gradient[k], d->search[k], slope);
    }
    return slope;
}

// Of the cost without the rows', along `search`.
LANE_FN lane_slope smooth_slopes(const lane_model *m, lane_data *d)
{
    lane_slope sum = {R(0.0), R(0.0), R(0.0)};
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = smooth_slopes_of_part};
        run_on_parts(m, d, &task);
        sum.first = sum_of_parts(d, 0);
        sum.second = sum_of_parts(d, 1);
        sum.size = sum_of_parts(d, 2);
        return sum;
    }
#endif
    (void)m;
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n];
        real force = d->Ma[k] - d->qfrc_smooth[k];
        sum.first = fma_(d->search[k], force, sum.first);
        sum.second = fma_(d->search[k], d->Mv[k], sum.second);
        sum.size = fma_(abs_(d->search[k]), abs_(force), sum.size);
    }
    return sum;
}

LANE_FN void move_dofs(const lane_model *m, lane_data *d, real step)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = move_dofs_of_part, .scale = step};
        run_on_parts(m, d, &task);
        return;
    }
#endif
    (void)m;
    for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
        int k = d->dof[n];
        d->qacc[k] = fma_(step, d->search[k], d->qacc[k]);
        d->Ma[k] = fma_(step, d->Mv[k], d->Ma[k]);
    }
}

#if !defined(__CUDACC__)
LANE_FN void gradient_of_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)task;
    find_gradient(m, part);
}

LANE_FN void descent_of_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)task;
    part_sums(part)[0] = descent(m, part);
}

LANE_FN void smooth_slopes_of_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)task;
    leave_slope(part, smooth_slopes(m, part));
}

LANE_FN void move_dofs_of_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    move_dofs(m, part, task->scale);
}
#endif
