// The constraint solver: the acceleration that minimises
//     1/2 (a - a_smooth)^T M (a - a_smooth) + sum of s(J a - aref)
// by Newton's method, or conjugate gradients (solver/conjugate_gradient.h), with exact line search (Todorov,
// "Convex and analytically-invertible dynamics with contacts and constraints", ICRA 2014; MuJoCo's
// documentation, "Computation"). Each lane stops when it has converged; the others continue.
#pragma once

#include "physics/lanes/solver/alone.h"
#include "physics/lanes/solver/along_search.h"
#include "physics/lanes/solver/conjugate_gradient.h"
#include "physics/lanes/solver/dual.h"
#include "physics/lanes/solver/newton.h"

#if defined(ORR_SCALAR_DOUBLE)
#define SOLVER_TOLERANCE 1e-20 // of the scaled improvement: an error of 1e-10 in the acceleration
#define CONJUGATE_TOLERANCE 1e-12
#else
#define SOLVER_TOLERANCE 1e-7
#define CONJUGATE_TOLERANCE 1e-3 // of the squared residual of a direction
#endif
#define CONJUGATE_GAIN 0.01 // of what an iteration must gain: how far a direction need not be followed

// qacc starts from the last step's acceleration or the unconstrained one, whichever costs less.
LANE_FN void warm_start(const lane_model *m, lane_data *d, mask constrained)
{
    for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
        int k = d->dof[n];
        d->qacc[k] = d->qacc_smooth[k];
        d->Ma[k] = d->qfrc_smooth[k];
    }
    constraint_residual(m, d, d->qacc_smooth);
    if (!(m->opt.disableflags & ORR_DISABLE_WARMSTART)) {
        real cold_cost = constraint_forces(m, d);
        for (int i = team_first(d); i < d->row_count; i += team_size(d)) {
            d->efc_jv[i] = d->efc_jar[i];
        }
        island_inertia_times(m, d, d->qacc_warmstart, d->Mv);
        constraint_residual(m, d, d->qacc_warmstart);
        real gauss = R(0.0);
        for (int n = 0; n < d->dof_count; n++) {
            int k = d->dof[n];
            gauss = fma_(d->Mv[k] - d->qfrc_smooth[k], d->qacc_warmstart[k] - d->qacc_smooth[k], gauss);
        }
        mask warm = and_(constrained, R(0.5) * gauss + constraint_forces(m, d) < cold_cost);
        for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
            int k = d->dof[n];
            d->qacc[k] = sel(warm, d->qacc_warmstart[k], d->qacc_smooth[k]);
            d->Ma[k] = sel(warm, d->Mv[k], d->qfrc_smooth[k]);
        }
        for (int i = team_first(d); i < d->row_count; i += team_size(d)) {
            d->efc_jar[i] = sel(warm, d->efc_jar[i], d->efc_jv[i]);
        }
        team_wait(d);
    }
    constraint_forces(m, d);
}

// The step along `search`. slope: of the cost at step 0; rounding: of slopes at the step
LANE_FN real line_search(const lane_model *m, lane_data *d, real slope, mask running, real *rounding)
{
    return search_along(m, d, smooth_slopes(m, d), slope, running, rounding);
}

// The part of the slope along `search` that one group gets wrong when its efc_jar is wrong by
// residual_magnitude. efc_jv: |J| |search|
LANE_FN real group_slope_magnitude(const lane_data *d, int i)
{
    const lane_row *row = &d->row[i];
    real sum = R(0.0);
    if (row->type != LANE_ROW_CONE) {
        for (int k = i; k < i + row->dim; k++) {
            sum = fma_(d->efc_weight[k] * residual_magnitude(d, k), d->efc_jv[k], sum);
        }
        return sum;
    }
    real x[6], hessian[6][6];
    load_cone(d, i, d->efc_jar, x);
    cone_hessian(d, i, x, hessian);
    for (int k = 0; k < row->dim; k++) {
        for (int l = 0; l < row->dim; l++) {
            sum = fma_(abs_(hessian[k][l]) * residual_magnitude(d, i + l), d->efc_jv[i + k], sum);
        }
    }
    return sum;
}

// What rounding leaves of the slope along `search`: below it the sign of the descent is noise. A quarter of
// the worst case, where all errors have the same sign. Overwrites efc_jv.
LANE_FN real slope_rounding(const lane_model *m, const lane_data *d)
{
    for (int group = team_first(d); group < d->group_count; group += team_size(d)) {
        group_magnitudes(d, d->group[group], d->search, d->efc_jv);
        group_magnitudes(d, d->group[group], d->qacc, d->efc_magnitude);
    }
    team_wait(d);
    real magnitude[LANE_STRANDS];
    for (int strand = team_first(d), at = 0; strand < LANE_STRANDS; strand += team_size(d), at++) {
        magnitude[at] = R(0.0);
        for (int n = strand; n < d->dof_count; n += LANE_STRANDS) {
            magnitude[at] = magnitude[at] + inertia_magnitude(m, d, d->dof[n]);
        }
        for (int group = strand; group < d->group_count; group += LANE_STRANDS) {
            magnitude[at] = magnitude[at] + group_slope_magnitude(d, d->group[group]);
        }
    }
    real rounding = R(0.25 * LANE_EPSILON) * team_sum(d, magnitude);
    team_wait(d);
    return rounding;
}

// What a step has to gain to be worth another: of the solver's scale, whose unit is that of a cost.
FN real enough_gain(const lane_model *m, const lane_data *d, double tolerance)
{
    if (m->plan->block_count == 0) {
        return R(tolerance * m->stat.meaninertia * (m->nv > 1 ? m->nv : 1));
    }
    real trace = R(0.0);
    for (int n = 0; n < d->dof_count; n++) {
        int k = d->dof[n];
        trace = trace + d->qM[m->M_rowadr[k] + m->M_rownnz[k] - 1];
    }
    return trace * R(tolerance);
}

// In the lanes of `running`, by iterations over accelerations.
LANE_FN void solve_primal(const lane_model *m, lane_data *d, mask running)
{
#if LANE_ALONE
    if (fits_alone(m, d)) {
        d->gain_enough = enough_gain(m, d, SOLVER_TOLERANCE);
        solve_alone(m, d);
        return;
    }
#endif
    d->unilateral_first = first_unilateral(m, d);
    int newton = m->opt.solver != ORR_SOLVER_CG; // for PGS too: the minimum is the same
#if !defined(__CUDACC__)
    int divided = newton && m->plan->block_count > 0;
    if (divided) {
        divide_trees(m, d);
    }
#endif
    if (newton) {
        if (team_single_begin(d)) {
            find_pattern(m, d);
        }
        team_single_end(d);
        d->coupled_count = team_share(d, d->coupled_count);
    }
#if !defined(__CUDACC__)
    if (divided) {
        divide_rows(m, d);
    }
#endif
    warm_start(m, d, running);
    double tolerance = newton || m->opt.tolerance < SOLVER_TOLERANCE ? SOLVER_TOLERANCE : m->opt.tolerance;
    d->gain_enough = enough_gain(m, d, tolerance);
    d->weights_moved = 0;
    int iterations = 0, moved = 1; // since qfrc_constraint was found
    real checked_slope = R(0.0);
    for (int i = 0; i < m->opt.iterations; i++) {
        moved = 0;
        if (newton) {
            newton_direction(m, d, running);
        } else {
            constraint_force(m, d, d->qfrc_constraint);
            find_gradient(m, d);
            team_wait(d);
            if (team_single_begin(d)) {
                conjugate_direction(m, d, i == 0);
            }
            team_single_end(d);
        }
        real slope = descent(m, d);
        // half the slope is what a whole step would gain, in Newton's method at least
        running = and_(running, R(-0.5) * slope > d->gain_enough * R(i == 0 ? SOLVER_FIRST : 1.0));
        if (i > 0 && i % LANE_STALL == 0 && any(running)) {
            mask rounded = not_(-slope > slope_rounding(m, d));
            running = and_(running, not_(and_(rounded, slope < R(0.5) * checked_slope)));
        }
        checked_slope = i % LANE_STALL == 0 ? slope : checked_slope;
        if (!any(running)) {
            break;
        }
        iterations++;
        island_inertia_times(m, d, d->search, d->Mv);
        jacobian_times(m, d, d->search, d->efc_jv);
        real rounding, step = line_search(m, d, slope, running, &rounding);
        running = and_(running, and_(step > R(0.0), -slope > rounding));
        move_dofs(m, d, step);
        mask changed = or_(step<R(1.0), step> R(1.0));
        changed = or_(changed, move_rows(m, d, step));
        d->weights_moved = 1;
        moved = 1;
#if !defined(ORR_SCALAR_DOUBLE) // in double one more step improves the result where H is ill-conditioned
        running = newton && !d->trees_only ? and_(running, changed) : running;
#else
        (void)changed;
#endif
        if (!any(running)) {
            break;
        }
    }
    if (moved) {
        constraint_force(m, d, d->qfrc_constraint);
    }
    d->iterations = iterations > d->iterations ? iterations : d->iterations;
    d->inaccurate = or_(d->inaccurate, running); // those that have not converged
}

// The acceleration of the dofs in d->dof under the rows of d, which move no others.
LANE_FN void solve_rows(const lane_model *m, lane_data *d)
{
    if (d->row_count == 0) {
        for (int n = team_first(d); n < d->dof_count; n += team_size(d)) {
            int k = d->dof[n];
            d->qacc[k] = d->qacc_smooth[k];
            d->qfrc_constraint[k] = R(0.0);
        }
        team_wait(d);
        return;
    }
    mask constrained = constrained_lanes(d);
#if LANE_DUAL
    if (m->plan->dual_rows > 0) {
        mask few;
        find_few(m, d, &few);
        few = and_(few, constrained);
        if (any(few)) {
            mask many = and_(constrained, not_(few));
            int others = any(many);
            if (others) {
                solve_primal(m, d, many);
            }
            d->gain_enough = enough_gain(m, d, SOLVER_TOLERANCE);
            solve_few(m, d, &few, others);
            return;
        }
    }
#endif
    solve_primal(m, d, constrained);
}
