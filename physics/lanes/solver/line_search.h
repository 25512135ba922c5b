// The exact line search along a direction, and the step to what it finds.
#pragma once

#include "physics/lanes/solver/row_forces.h"

// The evaluation of a line search after which a lane that has seen no descent yet looks whether there is any.
enum { LANE_PROBE = 4 };

// Derivatives of dm / 2 (n - mu t)^2, where the position moves along efc_jv, or of the quadratic inside.
FN void add_slope_of_cone(const lane_data *d, int i, real step, lane_slope *sum, int dim)
{
    const lane_row *row = &d->row[i];
    real x[6], mu = row->friction[ORR_PAIR_MU];
    real inside = R(0.0), inside_slope = R(0.0), inside_size = R(0.0), towards = R(0.0), squared = R(0.0);
    for (int k = 0; k < dim; k++) {
        x[k] = fma_(step, d->efc_jv[i + k], d->efc_jar[i + k]);
    }
    lane_cone c = cone_of_rows(d, i, x, dim);
    for (int k = 0; k < dim; k++) {
        real v = d->efc_jv[i + k], weighted = d->efc_D[i + k] * v;
        inside = fma_(weighted, x[k], inside);
        inside_slope = fma_(weighted, v, inside_slope);
        inside_size = fma_(abs_(weighted), abs_(x[k]), inside_size);
        if (k > 0) {
            real w = v * row->friction[k - 1];
            towards = fma_(c.u[k], w, towards);
            squared = fma_(w, w, squared);
        }
    }
    real inverse = R(1.0) / sel(c.middle, c.t, R(1.0)), t_slope = towards * inverse;
    real bend = max_(squared - t_slope * t_slope, R(0.0)) * inverse; // of t
    real gap = c.n - mu * c.t, gap_slope = mu * (d->efc_jv[i] - t_slope);
    real along = c.dm * gap * gap_slope, along_slope = c.dm * (gap_slope * gap_slope - gap * mu * bend);
    real along_size =
        abs_(gap_slope) * (abs_(c.n) + mu * c.t) - gap * mu * (abs_(d->efc_jv[i]) + abs_(t_slope));
    sum->first = sum->first + sel(c.top, R(0.0), sel(c.middle, along, inside));
    sum->second = sum->second + sel(c.top, R(0.0), sel(c.middle, along_slope, inside_slope));
    sum->size = sum->size + sel(c.top, R(0.0), sel(c.middle, c.dm * along_size, inside_size));
}

LANE_FN void add_cone_slope(const lane_data *d, int i, real step, lane_slope *sum)
{
    LANE_UNROLLED_CONE(d->row[i].dim, add_slope_of_cone, d, i, step, sum);
}

FN void add_slope(const lane_data *d, int i, real step, lane_slope *sum)
{
    const lane_row *row = &d->row[i];
    real jv = d->efc_jv[i], at = fma_(step, jv, d->efc_jar[i]);
    if (row->type == LANE_ROW_UNILATERAL) {
        real pulls = sel(at < R(0.0), d->efc_D[i] * jv, R(0.0)), term = pulls * at;
        sum->first = sum->first + term;
        sum->second = fma_(pulls, jv, sum->second);
        sum->size = sum->size + abs_(term);
    } else if (row->type != LANE_ROW_CONE) {
        real force, weight;
        row_cost(d, i, at, &force, &weight);
        sum->first = fma_(-force, jv, sum->first);
        sum->second = fma_(weight * jv, jv, sum->second);
        sum->size = fma_(abs_(force), abs_(jv), sum->size);
    } else if (row->index == 0) {
        add_cone_slope(d, i, step, sum);
    }
}

#if !defined(__CUDACC__)
LANE_FN void slope_of_part(const lane_model *m, lane_data *part, const lane_task *task);
#endif

// Adds the derivatives of the constraints' cost along efc_jv at `step`.
LANE_FN void slope_along(const lane_model *m, lane_data *d, real step, lane_slope *sum)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = slope_of_part, .scale = step};
        run_on_parts(m, d, &task);
        sum->first = sum->first + sum_of_parts(d, 0);
        sum->second = sum->second + sum_of_parts(d, 1);
        sum->size = sum->size + sum_of_parts(d, 2);
        return;
    }
#endif
    (void)m;
    real firsts[LANE_STRANDS], seconds[LANE_STRANDS], sizes[LANE_STRANDS];
    for (int strand = team_first(d), k = 0; strand < LANE_STRANDS; strand += team_size(d), k++) {
        lane_slope own = {R(0.0), R(0.0), R(0.0)};
        if (strand == 0) {
            own = *sum;
        }
        for (int i = d->row_first + strand; i < d->unilateral_first; i += LANE_STRANDS) {
            add_slope(d, i, step, &own);
        }
        if (strand == 0) {
            add_unilateral_slopes(d, step, &own);
        }
        firsts[k] = own.first;
        seconds[k] = own.second;
        sizes[k] = own.size;
    }
    sum->first = team_sum(d, firsts);
    sum->second = team_sum(d, seconds);
    sum->size = team_sum(d, sizes);
}

#if !defined(__CUDACC__)
LANE_FN void slope_of_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    lane_slope sum = {R(0.0), R(0.0), R(0.0)};
    slope_along(m, part, task->scale, &sum);
    leave_slope(part, sum);
}
#endif

// The lanes in which the derivative at step 0, added up like those at other steps, is not that of a descent
// by `slope`: what it is the sum of cancels, and rounding is all that a search would follow.
LANE_FN mask descends_no_more(const lane_model *m, lane_data *d, lane_slope start, real slope)
{
    slope_along(m, d, R(0.0), &start);
    return start.first > R(0.5) * slope;
}

// The step along efc_jv at which the cost is least; 0 where arithmetic shows no descent. Its derivative rises
// monotonically: Newton's method, clamped to the bracket of the signs seen, until it is small, or nothing but
// rounding. slope: of the cost at step 0; start: of the cost without the rows'. rounding: what it makes of a
// slope at the step.
FN real search_along(const lane_model *m, lane_data *d, lane_slope start, real slope, mask running,
                     real *rounding)
{
    real step = R(1.0), low = R(0.0), high = R(LANE_HUGE);
    real enough = abs_(slope) * R(m->opt.ls_tolerance);
    mask searched = running;
    *rounding = R(0.0);
    for (int i = 0; i < m->opt.ls_iterations; i++) {
        lane_slope at = {fma_(step, start.second, start.first), start.second,
                         fma_(step, start.second, start.size)};
        slope_along(m, d, step, &at);
        *rounding = sel(searched, R(LANE_EPSILON) * at.size, *rounding);
        searched = and_(searched, abs_(at.first) > max_(enough, *rounding));
        if (!any(searched)) {
            break;
        }
        mask rising = at.first > R(0.0);
        high = sel(rising, step, high);
        low = sel(rising, low, step);
        searched = and_(searched, high - low > R(2.0 * LANE_EPSILON) * high); // or no step is left between
        if (i == LANE_PROBE && any(and_(searched, not_(low > R(0.0))))) {
            mask blind = and_(not_(low > R(0.0)), descends_no_more(m, d, start, slope));
            step = sel(and_(searched, blind), R(0.0), step);
            searched = and_(searched, not_(blind));
        }
        real next = step - at.first / max_(at.second, R(LANE_TINY));
        real middle = sel(high < R(LANE_HUGE), R(0.5) * (low + high), R(2.0) * step);
        next = sel(and_(next > low, next < high), next, middle);
        step = sel(searched, next, step);
    }
    team_wait(d);
    return sel(running, step, R(0.0));
}

#if !defined(__CUDACC__)
LANE_FN void move_part(const lane_model *m, lane_data *part, const lane_task *task);
#endif

// Which piece of its cost a row is in: its second derivative. Friction that slips has none in both
// directions, and gets a number below 0 for each.
FN real piece_of_cost(const lane_data *d, int i)
{
    real weight = d->efc_weight[i];
    if (d->row[i].type == LANE_ROW_FRICTION) {
        real slips = sel(d->efc_force[i] < R(0.0), R(-1.0), R(-2.0));
        return sel(weight > R(0.0), weight, slips);
    }
    return weight;
}

// Moves efc_jar by `step` along efc_jv. Returns the lanes in which a row came to another piece of its cost,
// or with a force on a cone: in the others the cost was quadratic over the whole step, which has reached its
// minimum.
LANE_FN mask move_rows(const lane_model *m, lane_data *d, real step)
{
#if !defined(__CUDACC__)
    if (d->parts > 1) {
        const lane_task task = {.run = move_part, .scale = step};
        run_on_parts(m, d, &task);
        return sum_of_parts(d, 1) > R(0.0);
    }
#endif
    (void)m;
    for (int i = d->row_first + team_first(d); i < d->unilateral_first; i += team_size(d)) {
        d->efc_jar[i] = fma_(step, d->efc_jv[i], d->efc_jar[i]);
        d->efc_jv[i] = piece_of_cost(d, i);
    }
    mask changed = move_unilateral(d, step);
    team_wait(d);
    for (int i = d->row_first + team_first(d); i < d->unilateral_first; i += team_size(d)) {
        row_forces(d, i);
    }
    team_wait(d);
    for (int i = d->row_first + team_first(d); i < d->unilateral_first; i += team_size(d)) {
        if (d->row[i].type != LANE_ROW_CONE || d->row[i].index == 0) {
            real piece = piece_of_cost(d, i);
            mask curved = d->row[i].type == LANE_ROW_CONE ? piece < R(0.0) : not_(everywhere());
            changed = or_(changed, and_(d->efc_D[i] > R(0.0), or_(curved, not_(d->efc_jv[i] == piece))));
        }
    }
    return team_any(d, changed);
}

#if !defined(__CUDACC__)
LANE_FN void move_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    mask changed = move_rows(m, part, task->scale);
    part_sums(part)[1] = sel(changed, R(1.0), R(0.0));
}
#endif
