// One world alone: the rows from d->unilateral_first on, which only push (limits, contacts without friction,
// edges of friction pyramids), eight at once. In models with blocks of dofs (solver/islands.h), whose islands
// have thousands of them.
#pragma once

#include "physics/lanes/solver/block_row.h"
#include "physics/lanes/solver/rounding.h"

#if defined(ORR_SCALAR)

// Where the rows begin behind which there are no others, in whole vectors from the end on.
FN int first_unilateral(const lane_model *m, const lane_data *d)
{
    int groups = m->plan->block_count > 0 ? d->group_count : 0, first = d->row_count;
    while (groups > 0 && d->row[d->group[groups - 1]].type == LANE_ROW_UNILATERAL) {
        first = d->group[--groups];
    }
    return d->row_count - (d->row_count - first) / LANE_BLOCK_ROW * LANE_BLOCK_ROW;
}

// `a` where x < 0, else 0
ROW_FN block_row where_negative(block_row x, block_row a)
{
    return (block_row)((block_bits)a & (x < no_row()));
}

ROW_FN block_row size_of_row(block_row a)
{
    return a + where_negative(a, multiple_of_row(a, R(-2.0)));
}

// Forces and second derivatives at efc_jar; returns the cost.
FN real unilateral_forces(lane_data *d)
{
    block_row cost = no_row();
    for (int i = d->unilateral_first; i < d->row_count; i += LANE_BLOCK_ROW) {
        block_row x = load_row(d->efc_jar + i), weight = where_negative(x, load_row(d->efc_D + i));
        block_row force = multiple_of_row(add_product(no_row(), weight, x), R(-1.0));
        store_row(d->efc_weight + i, weight);
        store_row(d->efc_force + i, force);
        cost = add_product(cost, force, x);
    }
    return R(-0.5) * sum_row(cost);
}

// Adds the derivatives of the cost along efc_jv at `step`.
FN void add_unilateral_slopes(const lane_data *d, real step, lane_slope *sum)
{
    block_row firsts = no_row(), seconds = no_row(), sizes = no_row();
    for (int i = d->unilateral_first; i < d->row_count; i += LANE_BLOCK_ROW) {
        block_row jv = load_row(d->efc_jv + i), at = add_multiple(load_row(d->efc_jar + i), step, jv);
        block_row pulls = where_negative(at, add_product(no_row(), load_row(d->efc_D + i), jv));
        firsts = add_product(firsts, pulls, at);
        seconds = add_product(seconds, pulls, jv);
        sizes = add_product(sizes, size_of_row(pulls), at); // at < 0 where it pulls
    }
    sum->first = sum->first + sum_row(firsts);
    sum->second = sum->second + sum_row(seconds);
    sum->size = sum->size - sum_row(sizes);
}

// Has a row another second derivative than the one in efc_jv?
FN mask unilateral_changed(const lane_data *d)
{
    block_bits changed = {0};
    for (int i = d->unilateral_first; i < d->row_count; i += LANE_BLOCK_ROW) {
        changed |=
            (load_row(d->efc_jv + i) != load_row(d->efc_weight + i)) & (load_row(d->efc_D + i) > no_row());
    }
    int any_changed = 0;
    for (int k = 0; k < LANE_BLOCK_ROW; k++) {
        any_changed |= changed[k] != 0;
    }
    return any_changed;
}
#else
FN int first_unilateral(const lane_model *m, const lane_data *d)
{
    (void)m;
    return d->row_count;
}

FN real unilateral_forces(const lane_data *d)
{
    (void)d;
    return R(0.0);
}

FN void add_unilateral_slopes(const lane_data *d, real step, const lane_slope *sum)
{
    (void)d;
    (void)step;
    (void)sum;
}

FN mask unilateral_changed(const lane_data *d)
{
    (void)d;
    return nowhere();
}
#endif
