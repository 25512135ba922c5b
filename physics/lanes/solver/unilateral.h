// The rows from d->unilateral_first on, which only push (limits, contacts without friction, edges of friction
// pyramids): without a look at what each of them is. In one world alone eight at once, in models with blocks
// of dofs (solver/islands.h), whose islands have thousands of them.
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

// Forces and second derivatives at efc_jar; returns the cost, added to `others`.
FN real unilateral_forces(lane_data *d, real others)
{
    block_row cost = no_row();
    for (int i = d->unilateral_first; i < d->row_count; i += LANE_BLOCK_ROW) {
        block_row x = load_row(d->efc_jar + i), weight = where_negative(x, load_row(d->efc_D + i));
        block_row force = multiple_of_row(add_product(no_row(), weight, x), R(-1.0));
        store_row(d->efc_weight + i, weight);
        store_row(d->efc_force + i, force);
        cost = add_product(cost, force, x);
    }
    return R(-0.5) * sum_row(cost) + others;
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

// Adds a step along efc_jv to efc_jar; forces and second derivatives there. Returns whether a row has another
// second derivative, and leaves the old ones in efc_jv.
FN mask move_unilateral(lane_data *d, real step)
{
    block_bits changed = {0};
    for (int i = d->unilateral_first; i < d->row_count; i += LANE_BLOCK_ROW) {
        block_row x = add_multiple(load_row(d->efc_jar + i), step, load_row(d->efc_jv + i));
        block_row D = load_row(d->efc_D + i), last = load_row(d->efc_weight + i);
        block_row weight = where_negative(x, D);
        store_row(d->efc_jar + i, x);
        store_row(d->efc_jv + i, last);
        store_row(d->efc_weight + i, weight);
        store_row(d->efc_force + i, multiple_of_row(add_product(no_row(), weight, x), R(-1.0)));
        changed |= (last != weight) & (D > no_row());
    }
    int any_changed = 0;
    for (int k = 0; k < LANE_BLOCK_ROW; k++) {
        any_changed |= changed[k] != 0;
    }
    return any_changed;
}
#elif !defined(__CUDACC__)
// Where the rows begin behind which there are no others.
FN int first_unilateral(const lane_model *m, const lane_data *d)
{
    (void)m;
    int first = d->row_count;
    for (int g = d->group_count - 1; g >= 0 && d->row[d->group[g]].type == LANE_ROW_UNILATERAL; g--) {
        first = d->group[g];
    }
    return first;
}

FN real unilateral_forces(lane_data *d, real others)
{
    real cost = others;
    for (int i = d->unilateral_first; i < d->row_count; i++) {
        real x = d->efc_jar[i], weight = sel(x < R(0.0), d->efc_D[i], R(0.0)), force = -(weight * x);
        d->efc_weight[i] = weight;
        d->efc_force[i] = force;
        cost = cost + R(-0.5) * force * x;
    }
    return cost;
}

FN void add_unilateral_slopes(const lane_data *d, real step, lane_slope *sum)
{
    real first = sum->first, second = sum->second, size = sum->size;
    for (int i = d->unilateral_first; i < d->row_count; i++) {
        real jv = d->efc_jv[i], at = fma_(step, jv, d->efc_jar[i]);
        real pulls = sel(at < R(0.0), d->efc_D[i] * jv, R(0.0)), term = pulls * at;
        first = first + term;
        second = fma_(pulls, jv, second);
        size = size + abs_(term);
    }
    sum->first = first;
    sum->second = second;
    sum->size = size;
}

FN mask move_unilateral(lane_data *d, real step)
{
    mask changed = nowhere();
    for (int i = d->unilateral_first; i < d->row_count; i++) {
        real x = fma_(step, d->efc_jv[i], d->efc_jar[i]), D = d->efc_D[i], last = d->efc_weight[i];
        real weight = sel(x < R(0.0), D, R(0.0));
        d->efc_jar[i] = x;
        d->efc_jv[i] = last;
        d->efc_weight[i] = weight;
        d->efc_force[i] = -(weight * x);
        changed = or_(changed, and_(D > R(0.0), not_(last == weight)));
    }
    return changed;
}
#else
FN int first_unilateral(const lane_model *m, const lane_data *d)
{
    (void)m;
    return d->row_count;
}

FN real unilateral_forces(const lane_data *d, real others)
{
    (void)d;
    return others;
}

FN void add_unilateral_slopes(const lane_data *d, real step, const lane_slope *sum)
{
    (void)d;
    (void)step;
    (void)sum;
}

FN mask move_unilateral(const lane_data *d, real step)
{
    (void)d;
    (void)step;
    return nowhere();
}
#endif
